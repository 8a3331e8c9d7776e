#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Record the module after each pass on the corpus, to show that a change of the code changes none.

    python tools/record_outputs.py before.json     # at the old commit
    python tools/record_outputs.py after.json      # at the new one
    python tools/record_outputs.py --compare before.json after.json

A recording has, for each program, the passes of propagation and partitioning with a digest of the
module after each, and the collectives of the local program with their bytes. `--compare` prints
the first pass that differs in each program, and exits with 1 if there is any. It takes about two
minutes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import pyshardy as sdy
from pyshardy.pipeline import Instrumentation, Step

ROOT = Path(__file__).resolve().parents[1]
CORPUS = ROOT / "test" / "corpus" / "mlir"

Recording = dict[str, list[list[str]]]
"""For each program its passes and collectives, each with a digest or its text."""


class _Recorder(Instrumentation):
    """Records the name of each pass and a digest of its output."""

    def __init__(self, entries: list[list[str]]):
        self.entries = entries

    def after_pass(self, step: Step, module: Any) -> None:
        """Record a digest of the module."""
        text = module.operation.get_asm(enable_debug_info=False)
        self.entries.append([step.argument, hashlib.sha256(text.encode()).hexdigest()[:16]])


def record(path: Path) -> list[list[str]]:
    """Return the passes and collectives of one program."""
    entries: list[list[str]] = []
    recorder = _Recorder(entries)
    module = sdy.parse(path.read_text(encoding="utf-8"), sdy.Context())
    try:
        sdy.run_pipeline(module, "sdy-propagation-pipeline", instrumentation=[recorder])
        program = sdy.partition(module, instrumentation=[recorder])
    except sdy.SdyError as failure:
        return [*entries, ["failed", str(failure).splitlines()[0]]]
    sent = [
        ["collective", f"{one.kind} {one.axes} {one.nbytes_sent} x {one.repetitions}"]
        for one in program.collectives
    ]
    return [*entries, *sent]


def compare(before: Recording, after: Recording) -> list[str]:
    """Return a line for each program with different entries: the first pass that differs."""
    lines: list[str] = []
    for name in sorted({*before, *after}):
        old, new = before.get(name), after.get(name)
        if old is None or new is None:
            lines.append(f"{name}: in one recording only")
            continue
        if old != new:
            pairs = [(a, b) for a, b in zip(old, new, strict=False) if a != b]
            lines.append(f"{name}: {pairs[0] if pairs else 'another number of entries'}")
    return lines


def main() -> int:
    """Run the command line; return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("recordings", nargs="+", type=Path)
    parser.add_argument("--compare", action="store_true")
    arguments = parser.parse_args()
    if not arguments.compare:
        (target,) = arguments.recordings
        recording = {path.stem: record(path) for path in sorted(CORPUS.glob("*.mlir"))}
        target.write_text(json.dumps(recording, indent=1), encoding="utf-8")
        return 0
    before, after = (json.loads(path.read_text()) for path in arguments.recordings)
    lines = compare(before, after)
    print("\n".join(lines) if lines else f"{len(after)} programs: all entries are the same")
    return bool(lines)


if __name__ == "__main__":
    sys.exit(main())
