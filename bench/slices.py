# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Time of partitioning operations that cross shards: slices, pads, rolls, updates, reverses.

    python bench/slices.py              # all kinds
    python bench/slices.py pads rolls

A program has some hundreds of steps of one kind along a dimension of 4 shards; the offsets of 37
successive ones differ, so that these are as many forms. Prints the milliseconds for each
operation in the smaller program, which include what is done once for each form, and those that
each further operation takes. Times are of the processor, the least of several runs, without
verification.
"""

from __future__ import annotations

import argparse
import gc
import time
from collections.abc import Callable

from mlir_sdy.assembly import parse
from mlir_sdy.dialect import Context
from pyshardy.pipeline import run_pipeline

ROWS, PART, FORMS = 64, 24, 37
WHOLE, SOME = f"tensor<{ROWS}x128xf32>", f"tensor<{PART}x128xf32>"

HEAD = f"""
sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @main(
    %v0: {WHOLE} {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{"y"}}]>}},
    %u: {SOME} {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{"y"}}]>}},
    %i: tensor<i32>, %j: tensor<i32>) -> {WHOLE} {{
  %z = stablehlo.constant dense<0.0> : tensor<f32>
"""


def pad(name: str, value: str, low: int, high: int, before: str, after: str) -> str:
    """Return a pad of rows."""
    amounts = f"low = [{low}, 0], high = [{high}, 0], interior = [0, 0]"
    return f"%{name} = stablehlo.pad %{value}, %z, {amounts} : ({before}, tensor<f32>) -> {after}"


def rows(name: str, value: str, start: int, stop: int, before: str) -> str:
    """Return a slice of rows."""
    after = f"tensor<{stop - start}x128xf32>"
    return f"%{name} = stablehlo.slice %{value} [{start}:{stop}, 0:128] : ({before}) -> {after}"


def slices(k: int, offset: int) -> list[str]:
    return [
        rows(f"s{k}", f"v{k}", offset, offset + PART, WHOLE),
        pad(f"r{k}", f"s{k}", offset, ROWS - PART - offset, SOME, WHOLE),
    ]


def pads(k: int, offset: int) -> list[str]:
    wide = f"tensor<{ROWS + 2 * offset}x128xf32>"
    return [
        pad(f"p{k}", f"v{k}", offset, offset, WHOLE, wide),
        rows(f"r{k}", f"p{k}", 0, ROWS, wide),
    ]


def rolls(k: int, offset: int) -> list[str]:
    first, second = (f"tensor<{size}x128xf32>" for size in (ROWS - offset, offset))
    return [
        rows(f"s{k}", f"v{k}", offset, ROWS, WHOLE),
        rows(f"t{k}", f"v{k}", 0, offset, WHOLE),
        f"%r{k} = stablehlo.concatenate %s{k}, %t{k}, dim = 0 : ({first}, {second}) -> {WHOLE}",
    ]


def _update(k: int, start: str) -> str:
    types = f"({WHOLE}, {SOME}, tensor<i32>, tensor<i32>) -> {WHOLE}"
    return f"%r{k} = stablehlo.dynamic_update_slice %v{k}, %u, {start}, %j : {types}"


def updates(k: int, _: int) -> list[str]:
    return [_update(k, "%i")]


def static_updates(k: int, offset: int) -> list[str]:
    return [f"%c{k} = stablehlo.constant dense<{offset}> : tensor<i32>", _update(k, f"%c{k}")]


def dynamic_slices(k: int, _: int) -> list[str]:
    types = f"({WHOLE}, tensor<i32>, tensor<i32>) -> {SOME}"
    return [
        f"%s{k} = stablehlo.dynamic_slice %v{k}, %i, %j, sizes = [{PART}, 128] : {types}",
        pad(f"r{k}", f"s{k}", 0, ROWS - PART, SOME, WHOLE),
    ]


def reverses(k: int, _: int) -> list[str]:
    return [f"%r{k} = stablehlo.reverse %v{k}, dims = [0] : {WHOLE}"]


KINDS: dict[str, tuple[Callable[[int, int], list[str]], int]] = {
    "slices": (slices, 2),
    "pads": (pads, 2),
    "rolls": (rolls, 3),
    "updates": (updates, 1),
    "static_updates": (static_updates, 1),
    "dynamic_slices": (dynamic_slices, 2),
    "reverses": (reverses, 1),
}
"""Steps from `%vK` to `%rK`, and the number of operations in them that cross shards."""


def program(steps: Callable[[int, int], list[str]], count: int) -> str:
    """Return a program of so many steps."""
    lines: list[str] = []
    for k in range(count):
        lines += steps(k, k % FORMS + 1)
        lines.append(f"%v{k + 1} = stablehlo.add %v{k}, %r{k} : {WHOLE}")
    return HEAD + "\n".join(lines) + f"\nreturn %v{count} : {WHOLE}\n}}\n"


def seconds(text: str, runs: int) -> float:
    """Return the time of the processor that partitioning takes."""
    found: list[float] = []
    for _ in range(runs):
        module = parse(text, Context())
        run_pipeline(module, "sdy-propagation-pipeline", verify_each=False)
        gc.collect()
        start = time.process_time()
        run_pipeline(module, "sdy-partition-pipeline", verify_each=False, restore_on_failure=False)
        found.append(time.process_time() - start)
    return min(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("kinds", nargs="*", default=[*KINDS], help=f"of {', '.join(KINDS)}")
    parser.add_argument("--steps", type=int, nargs=2, default=[150, 450])
    parser.add_argument("--runs", type=int, default=4)
    arguments = parser.parse_args()
    if wrong := {*arguments.kinds} - KINDS.keys():
        parser.error(f"there are no kinds {', '.join(sorted(wrong))}")
    few, many = arguments.steps
    print(f"{'':16} {'each':>8} {'further':>8}   ms")
    for kind in arguments.kinds:
        steps, crossing = KINDS[kind]
        least, most = (seconds(program(steps, n), arguments.runs) for n in (few, many))
        each, further = least / few, (most - least) / (many - few)
        print(f"{kind:16} {1e3 * each / crossing:8.2f} {1e3 * further / crossing:8.2f}", flush=True)


if __name__ == "__main__":
    main()
