#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fuzz parse, propagate and partition with mutated programs.

    python tools/fuzz.py --cases=20000 --jobs=2   # run cases 0 to 19999
    python tools/fuzz.py --first=812 --cases=1    # run one again
    python tools/fuzz.py --show=812               # print the program of a case

Each case ends in a diagnostic or in a valid program; anything else is a defect, which is printed
with the number of its case. Exit status: 1 if there is any.
"""

from __future__ import annotations

import argparse
import collections
import multiprocessing
import sys
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "dialect"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

from program_fuzzer.processes import Outcome, outcomes, program_of
from program_fuzzer.sources import Sampler, programs


def main() -> int:
    """Run the command line, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--first", type=int, default=0, help="the first case (default: 0)")
    parser.add_argument("--cases", type=int, default=6000, help="how many (default: 6000)")
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time (default: 1)")
    parser.add_argument("--show", type=int, metavar="CASE", help="print the program of a case")
    parser.add_argument("--dynamic", action="store_true", help="only programs with dynamic sizes")
    arguments = parser.parse_args()
    texts = [each for each in programs() if "tensor<?" in each or not arguments.dynamic]
    sampler = Sampler(texts)
    if arguments.show is not None:
        sys.stdout.write(program_of(arguments.show, sampler))
        return 0
    started = time.monotonic()
    counts: collections.Counter[str] = collections.Counter()
    cases = range(arguments.first, arguments.first + arguments.cases)
    for outcome in _outcomes(cases, arguments.jobs, sampler):
        if outcome.is_defect:
            counts["defect"] += 1
            print(f"case {outcome.case}: {outcome.text}\n", flush=True)
        else:
            counts[outcome.text] += 1
    for name, count in sorted(counts.items()):
        print(f"{count:7} {name}")
    print(f"{time.monotonic() - started:7.1f} s")
    return 1 if counts["defect"] else 0


def _outcomes(cases: range, jobs: int, sampler: Sampler) -> Iterator[Outcome]:
    if jobs == 1:
        yield from outcomes(cases, sampler)
        return
    results: multiprocessing.SimpleQueue[Outcome] = multiprocessing.SimpleQueue()

    def work(some: range) -> None:
        for outcome in outcomes(some, sampler):
            results.put(outcome)

    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=work, args=(cases[job::jobs],)) for job in range(jobs)]
    for worker in workers:
        worker.start()
    for _ in cases:
        yield results.get()
    for worker in workers:
        worker.join()


if __name__ == "__main__":
    sys.exit(main())
