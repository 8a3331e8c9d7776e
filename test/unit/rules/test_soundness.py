# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What rules promise, checked with numbers: operations are computed on shards along one factor.

Along a pass-through factor, a shard of the results is what the operation makes of the shards of
the operands. Along a reduction factor, the results are the sum of what it makes of them.
"""

import math

import numpy as np
import pytest
from rule_cases import example_case, examples_of, module_of, registrations

from mlir_sdy.assembly import parse
from mlir_sdy.dialect import Context
from mlir_sdy.host import ir
from mlir_sdy.model import FactorType, OpShardingRule, TensorMapping
from pyshardy.backends.interpreter.engine import InterpreterEngine
from pyshardy.pipeline import run_pipeline
from pyshardy.rules import ShardingRuleLookup, TensorType

NUM_FACTORS = {
    "batch_norm_rule": 1,
    "bitcast_convert_rule": 2,
    "broadcast_in_dim_rule": 3,
    "broadcasting_rule": 2,
    "clamp_rule": 2,
    "convolution_rule": 3,
    "dimension_size_rule": 1,
    "dot_general_rule": 4,
    "dot_rule": 2,
    "dynamic_broadcast_in_dim_rule": 2,
    "dynamic_convolution_rule": 3,
    "dynamic_iota_rule": 1,
    "dynamic_reshape_rule": 2,
    "einsum_rule": 5,
    "pointwise_rule": 4,
    "reduce_rule": 3,
    "reduce_window_rule": 1,
    "reshape_rule": 7,
    "reverse_rule": 1,
    "select_and_scatter_rule": 1,
    "select_rule": 2,
    "sort_rule": 1,
    "top_k_rule": 1,
    "torch_index_select_rule": 3,
    "transpose_rule": 3,
}
"""The rules whose examples can be computed on shards as they are, and along how many factors.

Others have sizes in their attributes, or places in their operands, that depend on the shard; and
some cannot be computed here.
"""

EXPANSION = "func.func(chlo-legalize-to-stablehlo,stablehlo-legalize-deprecated-ops)"


@pytest.fixture(scope="module")
def context():
    return Context()


@pytest.fixture(scope="module")
def engine():
    engine = InterpreterEngine()
    yield engine
    engine.close()


# --- Computing an operation on operands of any shapes --------------------------------------------


def einsum(operation: ir.Operation, *operands: np.ndarray) -> list[np.ndarray]:
    return [np.einsum(operation.attributes["einsum_config"].value, *operands)]


def torch_index_select(
    operation: ir.Operation, operand: np.ndarray, index: np.ndarray
) -> list[np.ndarray]:
    dim = operation.attributes["dim"].value
    assert operation.attributes["batch_dims"].value == 1
    pairs = zip(operand, index, strict=True)
    return [np.stack([np.take(values, where, axis=dim - 1) for values, where in pairs])]


def batch_norm_training(
    operation: ir.Operation, operand: np.ndarray, scale: np.ndarray, offset: np.ndarray
) -> list[np.ndarray]:
    assert operation.attributes["feature_index"].value == operand.ndim - 1
    rest = tuple(range(operand.ndim - 1))
    mean, variance = operand.mean(axis=rest), operand.var(axis=rest) + 1
    return [(operand - mean) / np.sqrt(variance) * scale + offset, mean, variance]


# What the interpreter lacks.
BY_NUMPY = {
    "stablehlo.batch_norm_training": batch_norm_training,
    "stablehlo.einsum": einsum,
    "stablehlo.torch_index_select": torch_index_select,
    "stablehlo.unary_einsum": einsum,
}


def type_text(tensor: TensorType) -> str:
    return f"tensor<{''.join(f'{size}x' for size in tensor.shape)}{tensor.element_type}>"


def main_of(operation: ir.Operation, operands: list[TensorType], results: list[TensorType]) -> str:
    """A program of an operation with other types than its own."""
    generic = operation.get_asm(print_generic_op_form=True)
    head = generic.rpartition(" : ")[0].partition(" = ")[2]
    taken, given = (", ".join(map(type_text, tensors)) for tensors in (operands, results))
    arguments = ", ".join(f"%arg{at}: {type_text(tensor)}" for at, tensor in enumerate(operands))
    returned = ", ".join(f"%r#{at}" for at in range(len(results)))
    return (
        f"func.func @main({arguments}) -> ({given}) {{\n"
        f"%r:{len(results)} = {head} : ({taken}) -> ({given})\n"
        f"return {returned} : {given}\n}}"
    )


def compute(
    engine: InterpreterEngine,
    operation: ir.Operation,
    operands: list[np.ndarray],
    result_shapes: list[tuple[int, ...]],
) -> list[np.ndarray]:
    if operation.name in BY_NUMPY:
        return BY_NUMPY[operation.name](operation, *operands)

    def types(values, shapes) -> list[TensorType]:
        elements = [TensorType.of(value.type).element_type for value in values]
        return [TensorType(*pair) for pair in zip(shapes, elements, strict=True)]

    text = main_of(
        operation,
        types(operation.operands, [array.shape for array in operands]),
        types(operation.results, result_shapes),
    )
    module = parse(text, operation.context)
    run_pipeline(module, EXPANSION)
    return engine.compile(module).run([operands])[0]


def some_values(tensor: TensorType, rng: np.random.Generator) -> np.ndarray:
    """Small whole numbers, so that sums are exact; scalars, which may be initial values, are 0.

    Those that may be places, or sizes of groups, are 0 or 1.
    """
    if tensor.element_type == "i1":
        return rng.integers(0, 2, tensor.shape).astype("bool")
    if tensor.element_type.startswith("i"):
        return rng.integers(0, 2, tensor.shape).astype(f"int{tensor.element_type[1:]}")
    values = rng.integers(-4, 5, tensor.shape) if tensor.rank else np.array(0)
    return values.astype(np.float32)


# --- Cutting tensors along a factor --------------------------------------------------------------


def shard_of(
    values: np.ndarray, mapping: TensorMapping, rule: OpShardingRule, factor: int, cut: slice
) -> np.ndarray:
    """The part of a tensor that has the given part of a factor."""
    for dim, factors in enumerate(mapping.dim_mappings):
        indices = factors.factor_indices
        if factor in indices:
            before, after = values.shape[:dim], values.shape[dim + 1 :]
            split = values.reshape(*before, *(rule.factor_sizes[i] for i in indices), *after)
            where = [slice(None)] * split.ndim
            where[dim + indices.index(factor)] = cut
            return split[tuple(where)].reshape(*before, -1, *after)
    return values


def can_be_cut(rule: OpShardingRule, tensors: list[TensorType], factor: int) -> bool:
    """Whether the dimensions that have a factor are all made of factors, without a rest."""
    return rule.factor_sizes[factor] > 1 and all(
        math.prod(rule.factor_sizes[index] for index in factors.factor_indices) == size
        for mapping, tensor in zip(rule.mappings, tensors, strict=True)
        for factors, size in zip(mapping.dim_mappings, tensor.shape, strict=True)
        if factor in factors.factor_indices
    )


def is_shared(rule: OpShardingRule, factor: int) -> bool:
    return sum(mapping.contains_factor(factor) for mapping in rule.mappings) > 1


def check_factor(compute_on, rule, factor, operands, results) -> None:
    size = rule.factor_sizes[factor]
    parts = next(number for number in (2, 3, 5, 7) if size % number == 0)
    partial = []
    for at in range(parts):
        cut = slice(at * size // parts, (at + 1) * size // parts)
        shards, expected = (
            [
                shard_of(values, mapping, rule, factor, cut)
                for values, mapping in zip(tensors, mappings, strict=True)
            ]
            for tensors, mappings in (
                (operands, rule.operand_mappings),
                (results, rule.result_mappings),
            )
        )
        partial.append(compute_on(shards, [values.shape for values in expected]))
        if rule.factor_type(factor) is FactorType.PASS_THROUGH:
            for own, values in zip(partial[-1], expected, strict=True):
                np.testing.assert_allclose(own, values, rtol=1e-5)
    if rule.factor_type(factor) is FactorType.REDUCTION:
        for at, values in enumerate(results):
            np.testing.assert_allclose(sum(shard[at] for shard in partial), values, rtol=1e-5)


def check_example(context: Context, engine: InterpreterEngine, text: str) -> int:
    """Compute an operation on shards along each factor that can be cut; how many there are."""
    module = parse(module_of([example_case(text)]), context)
    operation = module.body.operations[0].operation.regions[0].blocks[0].operations[0].operation
    rule = ShardingRuleLookup().rule(operation)
    tensors = [TensorType.of(value.type) for value in (*operation.operands, *operation.results)]
    num_operands = len(operation.operands)
    rng = np.random.default_rng(0)
    operands = [some_values(tensor, rng) for tensor in tensors[:num_operands]]

    def compute_on(shards, result_shapes):
        return compute(engine, operation, shards, result_shapes)

    results = compute_on(operands, [tensor.shape for tensor in tensors[num_operands:]])
    factors = [
        factor
        for factor in range(rule.num_factors)
        if rule.factor_type(factor) in (FactorType.PASS_THROUGH, FactorType.REDUCTION)
        and can_be_cut(rule, tensors, factor)
        # The partitioner takes care of what only one side of a reshape has.
        and (is_shared(rule, factor) or "reshape" not in operation.name)
    ]
    for factor in factors:
        check_factor(compute_on, rule, factor, operands, results)
    return len(factors)


@pytest.mark.parametrize("name", NUM_FACTORS)
def test_examples_on_shards(context, engine, name):
    (entry,) = [entry for entry in registrations() if entry.function.__name__ == name]
    texts = [text for text, _ in examples_of(entry.function.__doc__)]
    assert sum(check_example(context, engine, text) for text in texts) == NUM_FACTORS[name]
