#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Check that programs are propagated and partitioned to the same text each time.

    python tools/check_determinism.py                  # all of test/corpus/mlir, in three minutes
    python tools/check_determinism.py FILE.mlir ...

Each program is partitioned eight times in this process, and once in each of four other processes.
These hash strings differently and allocate memory differently, which reveals orders that depend on
hashes or addresses. Hosts that partition a program separately rely on equal texts.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CORPUS = ROOT / "test" / "corpus" / "mlir"
TIMES = 8

PROCESSES = (
    {"PYTHONHASHSEED": "1"},
    {"PYTHONHASHSEED": "2", "PYTHONMALLOC": "malloc"},
    {"PYTHONHASHSEED": "3", "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"},
    {"PYTHONHASHSEED": "4", "MALLOC_MMAP_THRESHOLD_": "4096"},
)
"""The environments of the other processes."""


def texts_of(path: Path, times: int, rng: random.Random) -> list[str]:
    """Return the distinct outcomes of a program, as hashes of their texts.

    Args:
        path: the program.
        times: the number of repetitions, each in a new context.
        rng: determines the size of other allocations.
    """
    import pyshardy as sdy  # noqa: PLC0415 (the parent of other processes needs none)
    from mlir_sdy.diagnostics import SdyError, collect  # noqa: PLC0415

    found: dict[str, None] = {}
    for _ in range(times):
        context = sdy.Context()
        in_the_way = [object() for _ in range(rng.randrange(100_000))]
        with collect() as said:
            try:
                module = sdy.parse(path.read_text(), context)
                sdy.propagate(module)
                outcome = sdy.asm(module) + sdy.asm(sdy.partition(module).module)
            except SdyError as failure:
                outcome = str(failure)
        outcome += "\n".join(map(str, said))
        found[hashlib.sha256(outcome.encode()).hexdigest()] = None
        del in_the_way
    return list(found)


def texts_elsewhere(paths: Sequence[Path], environment: dict[str, str]) -> dict[str, list[str]]:
    """Return the outcomes of programs in a separate process."""
    seed = environment["PYTHONHASHSEED"]
    command = [sys.executable, __file__, "--times=1", f"--seed={seed}", "--json", *map(str, paths)]
    variables = {**os.environ, **environment}
    answer = subprocess.run(command, env=variables, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(answer.stdout)


def differences(paths: Sequence[Path], times: int = TIMES) -> Iterator[str]:
    """Yield the differences, a line for each program and process.

    Args:
        paths: the programs.
        times: the number of repetitions in this process.
    """
    rng = random.Random(0)
    here = {str(path): texts_of(path, times, rng) for path in paths}
    for path, texts in here.items():
        if len(texts) > 1:
            yield f"{path}: {len(texts)} texts in {times} runs of one process"
    for environment in PROCESSES:
        there = texts_elsewhere(paths, environment)
        variables = " ".join(f"{name}={value}" for name, value in environment.items())
        for path, texts in here.items():
            if there[path] != texts[:1]:
                yield f"{path}: another text with {variables}"


def main() -> int:
    """Check programs; the exit status is 0 if every program has one text."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("paths", nargs="*", type=Path, help="programs (default: the corpus)")
    parser.add_argument("--times", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--seed", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--json", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    paths = arguments.paths or sorted(CORPUS.glob("*.mlir"))
    if arguments.json:
        rng = random.Random(arguments.seed)
        print(json.dumps({str(path): texts_of(path, arguments.times, rng) for path in paths}))
        return 0
    found = list(differences(paths))
    print("\n".join(found) or f"{len(paths)} programs have one text each")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
