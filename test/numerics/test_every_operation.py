# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What each operation becomes, with one dimension of one operand sharded.

The programs are the examples of all sharding rules. `every_operation.txt` lists what devices
communicate in each case; `PYTHONPATH=test/support python test/numerics/test_every_operation.py`
writes it anew.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from rule_cases import example_case, examples_of, registrations

from mlir_sdy import values
from mlir_sdy.assembly import parse
from mlir_sdy.dialect import Context
from mlir_sdy.host import ir
from mlir_sdy.model import AxisRef, DimensionSharding, TensorSharding
from pyshardy.api import propagate
from pyshardy.backends.arrays.comparison import compare
from pyshardy.local_program.errors import ExecutionError
from pyshardy.program import partition, run_unpartitioned

TABLE = Path(__file__).with_name("every_operation.txt")

# Programs with collectives of their own are for several devices, not for one.
FOR_SEVERAL_DEVICES = {"stablehlo.all_gather", "stablehlo.all_to_all", "stablehlo.reduce_scatter"}
# NumPy has nothing like their types.
WITHOUT_ARRAYS = {"stablehlo.uniform_quantize", "stablehlo.uniform_dequantize"}


def programs(context: Context, case: str) -> Iterator[tuple[str, ir.Module]]:
    """The programs of an example, with what is sharded; each returns what the operation makes."""
    example = parse(f"func.func @main{case}", context)
    places = [
        (index, dim, size)
        for index, argument in enumerate(function_of(example).arguments)
        for dim, size in enumerate(shape_of(argument.type))
        if size > 1
    ]
    for index, dim, size in places:
        devices = next(count for count in range(2, size + 1) if size % count == 0)
        mesh = f'sdy.mesh @mesh = <["x"={devices}]>'
        module = parse(f"{mesh}\nfunc.func @main{case}", context)
        name = return_results(module)
        rank = len(shape_of(function_of(module).arguments[index].type))
        dims = tuple(DimensionSharding((AxisRef("x"),) if at == dim else ()) for at in range(rank))
        function = module.body.operations[1].operation
        values.set_argument_shardings(function, {index: TensorSharding("mesh", dims)})
        yield f"{name}, operand {index}, dimension {dim}", module


def shape_of(value_type: ir.Type) -> list[int]:
    return value_type.shape if isinstance(value_type, ir.RankedTensorType) else []


def function_of(module: ir.Module) -> ir.Block:
    operations = module.body.operations
    return operations[len(operations) - 1].regions[0].blocks[0]


def return_results(module: ir.Module) -> str:
    """Let the function return the results of its last operation, whose name is the result."""
    block = function_of(module)
    function = block.owner.operation
    *_, operation, terminator = (view.operation for view in block.operations)
    results = list(operation.results)
    with module.context, terminator.location:
        ir.Operation.create("func.return", operands=results, ip=ir.InsertionPoint(terminator))
        terminator.erase()
        types = [[value.type for value in some] for some in (block.arguments, results)]
        function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(*types))
    if operation.name == "stablehlo.custom_call":
        return f"{operation.name} @{operation.attributes['call_target_name'].value}"
    return operation.name


def outcomes(context: Context, *, numbers: bool) -> list[str]:
    """A line for each program."""
    lines: list[str] = []
    for entry in registrations():
        for operation, _ in examples_of(entry.function.__doc__ or ""):
            for name, module in programs(context, example_case(operation)):
                if name.partition(",")[0] in FOR_SEVERAL_DEVICES | WITHOUT_ARRAYS:
                    continue
                propagate(module)
                program = partition(module)
                if numbers:
                    check_numbers(name, module, program)
                counts = Counter(each.kind for each in program.collectives)
                listed = ", ".join(f"{count} {kind}" for kind, count in counts.items())
                lines.append(f"{name}: {listed or 'nothing'}")
    return lines


def check_numbers(name, module, program) -> None:
    generator = np.random.default_rng(0)
    inputs = [
        generator.integers(0, 4, port.spec.shape).astype(port.spec.dtype) for port in program.inputs
    ]
    for backend in ("interpreter", "xla"):
        try:
            wanted = run_unpartitioned(module, inputs, backend)
        except ExecutionError:  # Not every engine can run everything.
            continue
        found = program.run(inputs, backend)  # devices agree on what several of them hold
        if name.startswith("stablehlo.rng,"):
            return  # its numbers are others in each program
        for port, array, expected in zip(program.outputs, found, wanted, strict=True):
            assert compare(array, expected, port.spec).is_small, name
        return


def test_table(context):
    found = outcomes(context, numbers=True)
    assert found == TABLE.read_text().splitlines()


if __name__ == "__main__":
    TABLE.write_text("\n".join(outcomes(Context(), numbers=False)) + "\n")
