# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `sdy-pad-for-divisibility`: pad dimensions that their axes don't divide.

Padding is at the end of a dimension, and its contents are undefined. Arguments and results of
private functions are padded, too. Functions are changed in place: all types first, then the
operations that depend on them.

The tensors of each operation are compatible, and reshards are collectives.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping

from mlir_sdy.diagnostics import PassError, error
from mlir_sdy.host import identity, ir, location_of
from mlir_sdy.model import OpShardingRule, Shape, TensorSharding
from mlir_sdy.symbols import meshes_unchanged
from mlir_sdy.traversal import SCALAR_BODIES, named_operations_in
from mlir_sdy.uses import replace_by
from mlir_sdy.values import (
    DATA_FLOW_OPERATIONS,
    argument_shardings,
    get_sharding,
    look_through_barriers,
    result_shardings,
    sharded_operations,
)
from pyshardy.irtools.functions import functions_of, has_body, is_private
from pyshardy.irtools.shardings import result_kinds
from pyshardy.irtools.stablehlo_views import (
    FunctionView,
    callee_of,
    function_type_of,
    symbol_name,
)
from pyshardy.irtools.tensor_types import padded_shape, padded_shape_of, shape_of, with_shape
from pyshardy.irtools.walks import names_at_start, operations_named
from pyshardy.partition.function_context import READ_APART, FunctionContext
from pyshardy.partition.op_facts.data_flow import (
    Source,
    sources_of,
    sources_of_call,
    sources_of_function,
)
from pyshardy.partition.op_facts.forms import FormMemo, Forms
from pyshardy.partition.op_facts.record import record_of, rule_on_shards
from pyshardy.partition.op_facts.trailing_resize import REMOVED_BY, is_left
from pyshardy.partition.padding.collectives import COLLECTIVES, pad_collective
from pyshardy.partition.padding.indices import clamp_indices
from pyshardy.partition.padding.neutral import mask_operands
from pyshardy.partition.padding.replicated import (
    DimsPerTensor,
    replicate_dims_around,
    unpaddable_dims,
)
from pyshardy.partition.types.padding_builder import PaddingBuilder
from pyshardy.pipeline import register_pass
from pyshardy.rules.signature import OperationParts

_CALL, _RETURN = "func.call", "func.return"
_BOUNDARIES = frozenset({_CALL, _RETURN, "sdy.manual_computation", "sdy.return"})
"""Operations at which the shapes of values are fixed, or those of another function."""

_HAND_ON = DATA_FLOW_OPERATIONS | {_CALL, _RETURN, "stablehlo.return"}
_READ_APART = (READ_APART | {_CALL}) - {"sdy.mesh"}  # which is in no function
_EDGES = frozenset({"sdy.data_flow_edge", "sdy.func_data_flow_edge"})

_COLLECTIVES_IN_PLACE = frozenset({"sdy.all_reduce", "sdy.collective_permute"})
"""Collectives that keep the position of padding, and its zeros."""


@register_pass("sdy-pad-for-divisibility", release="0.10.2")
def pad_for_divisibility(module: ir.Module) -> None:
    """Pad dimensions that are not divisible by their number of shards.

    Rounds the size of every sharded dimension up to a multiple of its number of shards. The padding
    is at the end, and its contents are undefined. It is overwritten by the identity of the
    operation where it would affect a result: in reduced dimensions of contractions and reductions,
    and in divisors. Gathered dimensions are sliced to their original size. The dimensions of an
    operation that cannot be computed on padded dimensions, such as a reshape that splits one, are
    unsharded.

    Precondition: reshards have been converted to collectives, the shardings of each operation are
    compatible, and the dimensions of inputs and outputs of functions, calls and manual computations
    are divisible. Postcondition: all dimensions are divisible.

    ```mlir
    // on a mesh <["x"=4]>
    %1 = sdy.all_slice [{"x"}] %0 out_sharding=<@mesh, [{"x"}]> : tensor<7xf32>
    ```

    becomes

    ```mlir
    %1 = stablehlo.pad %0, %zero, low = [0], high = [1], interior = [0]
    %2 = sdy.all_slice [{"x"}] %1 out_sharding=<@mesh, [{"x"}]> : tensor<8xf32>
    ```

    Raises:
        PassError: an argument or a result of a public function or of a manual computation would
            have to be padded, or a reshard or a data-flow edge remains where shapes change, in
            which cases the module is unchanged; or an operation can't be padded.
    """
    with module.context, meshes_unchanged():
        functions = functions_of(module)
        padded = {
            symbol_name(each): each for each in functions if has_body(each) and is_private(each)
        }
        padders = [_FunctionPadder(function, padded) for function in functions]
        for padder in padders:
            padder.drop_barriers()
            padder.check_interface()
            padder.check_nothing_left()
        for padder in padders:
            padder.run()


class _FunctionPadder:
    """One run over a function.

    Args:
        function: the function.
        padded: the functions whose arguments and results are padded, by their names.
    """

    def __init__(self, function: ir.Operation, padded: Mapping[str, ir.Operation]):
        self.function = function
        self._padded = padded
        context = FunctionContext.of(function)
        self._module = context.module
        self.meshes = context.meshes
        self.cache = context.cache
        self.rules = context.rules
        self._found = FormMemo[DimsPerTensor](Forms(context.rules))
        self.contents: dict[ir.Value, Shape] = {}
        self.zeros: set[ir.Value] = set()
        self._replaced: list[ir.Operation] = []
        self._known: dict[tuple[int, TensorSharding], bool] = {}

    def run(self) -> None:
        values, uneven = self._uneven(reads_all=self._may_have_uneven_results(), is_first=True)
        if not uneven:
            return
        plans = [(operation, self._whole_dims(operation)) for operation in uneven]
        for operation, dims in plans:
            if any(dims):
                replicate_dims_around(operation, dims, self.cache, self.meshes)
        if any(any(dims) for _, dims in plans):
            values, uneven = self._uneven()
        rules = [self._rule(operation) for operation in uneven]  # before the types change
        for value in values:
            self.contents[value] = shape_of(value.type)
            value.set_type(with_shape(value.type, padded_shape_of(value, self.meshes)))
        self._pad_interface()
        builder = PaddingBuilder(self.cache)
        for operation, rule in zip(uneven, rules, strict=True):
            with operation.location, ir.InsertionPoint(operation):
                fit_sizes = record_of(operation.name).fit_sizes
                if fit_sizes is not None:
                    fit_sizes(operation)
                self._fit(operation, rule, builder)
        # Late, since a new value could have the address of an erased one in `contents`.
        for operation in self._replaced:
            operation.erase()

    def _pad_interface(self) -> None:
        """Give the function the types of its padded arguments and results."""
        view = FunctionView(self.function)
        inputs, results = (
            [
                each
                if sharding is None or not self._is_uneven(each, sharding)
                else with_shape(each, padded_shape(shape_of(each), sharding, self.meshes))
                for each, sharding in zip(types, shardings, strict=True)
            ]
            for types, shardings in (
                (view.function_type.inputs, argument_shardings(self.function)),
                (view.function_type.results, result_shardings(self.function)),
            )
        )
        view.function_type = ir.FunctionType.get(inputs, results)

    def drop_barriers(self) -> None:
        """Drop propagation barriers, which have no effect any more, with different shardings."""
        for barrier in self._operations_at_start({"sdy.propagation_barrier"}):
            ends: tuple[ir.Value, ...] = (*barrier.operands, *barrier.results)
            shardings = map(get_sharding, ends)
            if any(
                sharding is not None and self._is_uneven(end.type, sharding)
                for end, sharding in zip(ends, shardings, strict=True)
            ):
                replace_by(barrier, barrier.operands[0])

    def _fit(
        self, operation: ir.Operation, rule: OpShardingRule | None, builder: PaddingBuilder
    ) -> None:
        """Fit an operation to padded operands and results."""
        name = operation.name
        if name in COLLECTIVES:
            operand, result = operation.operands[0], operation.results[0]
            shape = self.contents.get(result) or self.contents.get(operand)
            assert shape is not None, "only padded values are checked"
            keeps_zeros = operand not in self.contents or operand in self.zeros
            new = pad_collective(operation, shape, builder, self.meshes)
            if new != result and not any(True for _ in result.uses):
                self._replaced.append(operation)
            if shape_of(new.type) != shape:
                self.contents[new] = shape
            if keeps_zeros:
                self.zeros.add(new)
        elif name in _COLLECTIVES_IN_PLACE:
            if operation.operands[0] in self.zeros:
                self.zeros.add(operation.results[0])
        elif rule is not None:
            mask_operands(operation, rule, self.contents, self.zeros, builder)
            clamp_indices(operation, self.contents, builder)

    def _whole_dims(self, operation: ir.Operation) -> DimsPerTensor:
        name = operation.name
        if _hands_on(name):
            return []
        parts = OperationParts.of(operation, name)
        inputs = [get_sharding(look_through_barriers(value)) for value in parts.operands]
        shardings = *inputs, *map(get_sharding, parts.values)
        return self._found.of(parts, shardings, self._unpaddable_dims)

    def _unpaddable_dims(self, operation: ir.Operation, _: object) -> DimsPerTensor:
        return unpaddable_dims(operation, self._rule(operation), self.meshes)

    def _rule(self, operation: ir.Operation) -> OpShardingRule | None:
        rule = None if _hands_on(operation.name) else self.rules.rule(operation)
        return None if rule is None else rule_on_shards(operation, rule)

    def _operations(self) -> list[tuple[ir.Operation, str]]:
        return named_operations_in(self.function, leaving_out=SCALAR_BODIES)

    def _operations_at_start(self, names: Collection[str]) -> list[ir.Operation]:
        """Return the operations of some names, before the pass has inserted any."""
        return operations_named(names_at_start(names, self.function), self.function)

    def _uneven(
        self, *, reads_all: bool = True, is_first: bool = False
    ) -> tuple[list[ir.Value], list[ir.Operation]]:
        """Return the values that need padding, and the operations that have one, in order.

        Args:
            reads_all: whether an operation with `sdy.sharding` may have a result that needs it.
            is_first: whether nothing has been inserted into the function yet.
        """
        apart = (
            self._operations_at_start(_READ_APART)
            if is_first
            else operations_named(_READ_APART, self.function)
        )
        uneven: dict[ir.Value, None] = {}

        def note(values: Iterable[ir.Value]) -> bool:
            """Whether any of these values is uneven."""
            found = [
                value
                for value in values
                if (sharding := get_sharding(value)) is not None
                and self._is_uneven(value.type, sharding)
            ]
            uneven.update(dict.fromkeys(found))
            return bool(found)

        are_uneven: dict[Hashable, bool] = {}
        for operation, name, key in sharded_operations(self.function) if reads_all else ():
            if name not in _READ_APART and are_uneven.get(key, True):
                are_uneven[key] = note(operation.results)
        note(_block_arguments(self.function))
        for operation in apart:
            note(operation.results)
            note(_block_arguments(operation))
        if not uneven:
            return [], []
        return list(uneven), [
            operation
            for operation, _ in self._operations()
            if not uneven.keys().isdisjoint((*operation.operands, *operation.results))
        ]

    def _may_have_uneven_results(self) -> bool:
        """Whether an operation with `sdy.sharding` has a result that needs padding, at first."""
        return self._module is None or any(
            self._is_uneven(value_type, sharding)
            for kind in result_kinds(self._module)
            for value_type, sharding in kind.results()
        )

    def _is_uneven(self, value_type: ir.Type, sharding: TensorSharding) -> bool:
        """Whether a value needs padding; computed once for each type and sharding."""
        key = identity(value_type), sharding  # types live as long as the context
        known = self._known.get(key)
        if known is None:
            shape = shape_of(value_type)
            known = self._known[key] = padded_shape(shape, sharding, self.meshes) != shape
        return known

    # --- Checks -----------------------------------------------------------------------------

    def check_interface(self) -> None:
        is_padded = symbol_name(self.function) in self._padded
        if not is_padded:
            types = function_type_of(self.function)
            for kind, values, shardings in (
                ("argument", types.inputs, argument_shardings(self.function)),
                ("result", types.results, result_shardings(self.function)),
            ):
                self._check_even(self.function, kind, zip(values, shardings, strict=True))
        for operation in self._operations_at_start(_BOUNDARIES):
            if operation.name == _CALL and callee_of(operation) in self._padded:
                self._check_call(operation, self._padded[callee_of(operation)])
            elif operation.name == _RETURN and is_padded:
                for source in sources_of_function(self.function):
                    self._check_source(source)
            elif operation.name != "sdy.return" or _ends_manual_computation(operation):
                self._check_boundary(operation)

    def _check_call(self, call: ir.Operation, callee: ir.Operation) -> None:
        """Check that operands and results are padded as the arguments and results of the callee."""
        for source in sources_of_call(call, callee, self.meshes):
            self._check_source(source)
        for index, (result, inside) in enumerate(
            zip(call.results, result_shardings(callee), strict=True)
        ):
            shape = shape_of(result.type)
            found, wanted = (
                padded_shape(shape, sharding, self.meshes)
                for sharding in (inside, get_sharding(result))
            )
            if found != wanted:
                raise PassError(
                    error(
                        f"'{call.name}' op result {index} would be padded to {list(wanted)}, but "
                        f"that of the callee would be padded to {list(found)}: run "
                        "'sdy-insert-func-call-reshards' and 'sdy-reshard-to-collectives' first",
                        location_of(call.location),
                    )
                )

    def _check_boundary(self, operation: ir.Operation) -> None:
        self._check_even(operation, "operand", _types_and_shardings(operation.operands))
        self._check_even(operation, "result", _types_and_shardings(operation.results))
        if operation.name == "sdy.manual_computation":
            arguments = _types_and_shardings(_block_arguments(operation))
            self._check_even(operation, "argument", arguments)

    def check_nothing_left(self) -> None:
        """Check that only collectives are between values with different padding."""
        for operation in self._operations_at_start(REMOVED_BY):
            ends: tuple[ir.Value, ...] = (*operation.operands, *operation.results)
            is_edge = operation.name in _EDGES
            if len({padded_shape_of(end, self.meshes) for end in ends}) > 1 or (
                is_edge and any(map(self._is_padded, ends))
            ):
                message = f"'{operation.name}' op {is_left(operation.name)}"
                raise PassError(error(message, location_of(operation.location)))
        for operation in self._operations_at_start(DATA_FLOW_OPERATIONS):
            for source in sources_of(operation):
                self._check_source(source)

    def _check_source(self, source: Source) -> None:
        """Check that a value has the same padding at the place to which it flows."""
        operand = source.operation.operands[source.index]
        shape = shape_of(operand.type)
        wanted = padded_shape(shape, source.sharding, self.meshes) if shape else shape
        found = padded_shape_of(operand, self.meshes)
        if found != wanted:
            raise PassError(
                error(
                    f"'{source.operation.name}' op operand {source.index} would be padded to "
                    f"{list(found)}, but the value that it flows to would be padded to "
                    f"{list(wanted)}: run "
                    "'sdy-insert-explicit-reshards{enable-full-version=true}' and "
                    "'sdy-reshard-to-collectives' first",
                    location_of(source.operation.location),
                )
            )

    def _is_padded(self, value: ir.Value) -> bool:
        return padded_shape_of(value, self.meshes) != shape_of(value.type)

    def _check_even(
        self,
        operation: ir.Operation,
        kind: str,
        values: Iterable[tuple[ir.Type, TensorSharding | None]],
    ) -> None:
        for index, (value_type, sharding) in enumerate(values):
            if sharding is not None and self._is_uneven(value_type, sharding):
                is_function = operation.name == "func.func"
                rule = " Shardy expects function IO to be divisible." if is_function else ""
                raise PassError(
                    error(
                        f"'{operation.name}' op {kind} #{index} has a non-divisible sharding."
                        f"{rule} Its type is {value_type}, its sharding {sharding}: run "
                        "'sdy-update-non-divisible-input-output-shardings' and "
                        "'sdy-insert-explicit-reshards{enable-full-version=true}' first",
                        location_of(operation.location),
                    )
                )


def _hands_on(name: str) -> bool:
    """Whether operations of a name forward values unchanged, or are the dialect's own."""
    if record_of(name).keeps_padding is not None:  # a constant of the dialect
        return False
    return name in _HAND_ON or name.startswith("sdy.")


def _ends_manual_computation(terminator: ir.Operation) -> bool:
    parent = terminator.parent
    return parent is not None and parent.name == "sdy.manual_computation"


def _block_arguments(operation: ir.Operation) -> list[ir.Value]:
    regions = operation.regions
    if not len(regions):
        return []
    return [
        argument for region in regions for block in region.blocks for argument in block.arguments
    ]


def _types_and_shardings(
    values: Iterable[ir.Value],
) -> Iterator[tuple[ir.Type, TensorSharding | None]]:
    for value in values:
        yield value.type, get_sharding(value)
