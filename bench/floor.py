# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The least time that a program takes in Python: what the MLIR bindings cost.

    python bench/floor.py                 # a training step of 24 layers
    python bench/floor.py program.mlir

The floor of a pipeline is to read each operation once, with its name, operands, types of results
and sharding, and to write each sharding once, without computing anything. The ways in which the
host can do this are compared, all on the propagated program:

- `loop`: loops over blocks, and properties of operations. This is the floor: the pipelines can't
  use another way for all of it;
- `walk`: the walk of the bindings, which calls back for each operation, and properties;
- `driver`: patterns that never match, whose names C++ compares; only the operations that are found
  call back. It is the fastest for a few operations, and slower than a loop for all;
- `bytecode`: writing bytecode and reading it, without looking into it;
- `text`: printing generic text and parsing it, without looking into it.
"""

from __future__ import annotations

import argparse
import gc
import io
import time
from collections.abc import Callable
from pathlib import Path

from workload import program_text

from mlir_sdy.assembly import parse
from mlir_sdy.dialect import Context
from mlir_sdy.host import identity, ir
from mlir_sdy.traversal import named_operations_in
from pyshardy.irtools.walks import operations_named
from pyshardy.pipeline import run_pipeline

SHARDING = "sdy.sharding"


def read_and_write(module: ir.Module) -> int:
    """Read everything once, and write each sharding once; return the number of operations."""
    operations = named_operations_in(module)
    for operation, _ in operations:
        _touch(operation)
    return len(operations)


def _touch(operation: ir.Operation) -> None:
    for value in operation.operands:
        identity(value)
    for result in operation.results:
        identity(result.type)
    attributes = operation.attributes
    sharding = attributes.get(SHARDING)
    if sharding is not None:
        attributes[SHARDING] = sharding


def _by_walk(module: ir.Module) -> None:
    def visit(operation: ir.Operation) -> ir.WalkResult:
        assert operation.name
        _touch(operation)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)


def _by_driver(module: ir.Module) -> None:
    names = {name for _, name in named_operations_in(module)}
    for operation in operations_named(names - {"builtin.module"}, module):
        assert operation.name
        _touch(operation)


def _by_bytecode(module: ir.Module) -> None:
    buffer = io.BytesIO()
    module.operation.write_bytecode(buffer)
    ir.Module.parse(buffer.getvalue(), module.context)


def _by_text(module: ir.Module) -> None:
    ir.Module.parse(module.operation.get_asm(print_generic_op_form=True), module.context)


WAYS: dict[str, Callable[[ir.Module], object]] = {
    "loop": read_and_write,
    "walk": _by_walk,
    "driver": _by_driver,
    "bytecode": _by_bytecode,
    "text": _by_text,
}
"""The ways of reading and writing, by name."""


def seconds(way: Callable[[ir.Module], object], module: ir.Module, runs: int = 7) -> float:
    """Return the best time of a way on a module."""
    times: list[float] = []
    for _ in range(runs):
        gc.collect()
        start = time.perf_counter()
        way(module)
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("program", nargs="?", type=Path, help="an MLIR file; made if not given")
    module = parse(program_text(parser.parse_args().program), Context())
    run_pipeline(module, "sdy-propagation-pipeline")
    count = read_and_write(module)
    print(f"{count:,} operations")
    for name, way in WAYS.items():
        taken = seconds(way, module)
        print(f"  {name:10} {1e3 * taken:8.1f} ms {1e6 * taken / count:6.2f} us/op")


if __name__ == "__main__":
    main()
