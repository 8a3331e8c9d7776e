# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Run every program of the corpus on every backend, and write the table of outcomes.

    python tools/backend_table.py                        # all of it: half an hour
    python tools/backend_table.py --only fourier,unet_step --backends jit,iree --output -

Each program runs partitioned, on as many devices as its mesh has, and its results are compared
with those of the unpartitioned program on XLA.
"""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

from mlir_sdy.diagnostics import SdyError
from mlir_sdy.dialect import Context

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "test" / "support"))

from corpus_programs import OPTIONS, PROGRAMS, CorpusProgram  # noqa: E402

TABLE = ROOT / "docs" / "guide" / "backends_table.md"
BACKENDS = ("xla", "interpreter", "jit", "iree")
TITLES = {"xla": "XLA", "interpreter": "interpreter", "jit": "JIT", "iree": "IREE"}
LONGEST_REASON = 120

HEAD = """\
<!-- Written by tools/backend_table.py -->
# Backend coverage

This table lists every program of `test/corpus/mlir` on every backend. Each program is propagated,
partitioned, and run on all devices of its mesh: in lockstep with an engine, or by XLA with as many
virtual CPU devices. A number means that the results match those of the unpartitioned program on
XLA; it is the time of the first run in seconds, including compilation (the JIT and IREE compile
without optimization). [Backends](backends.md) describes the backends, and the
[glossary](../glossary.md) defines the terms.

```python
from pyshardy.backends import backend_names

{"interpreter", "iree", "jit", "xla"} <= set(backend_names())  # -> True
```

"""


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", help="the programs, with commas between (default: all)")
    parser.add_argument("--backends", default=",".join(BACKENDS), help="(default: %(default)s)")
    parser.add_argument("--output", default=str(TABLE), help="the file; - for standard output")
    arguments = parser.parse_args()
    backends = arguments.backends.split(",")
    names = arguments.only.split(",") if arguments.only else [path.stem for path in PROGRAMS]
    context = Context()
    rows: dict[str, list[str]] = {}
    for path in PROGRAMS:
        if path.stem in names:
            rows[path.stem] = cells(path, backends, context)
            print(path.stem, *rows[path.stem], sep=" | ", file=sys.stderr, flush=True)
    text = HEAD + "\n".join(table(rows, backends)) + "\n"
    if arguments.output == "-":
        print(text, end="")
    else:
        Path(arguments.output).write_text(text, encoding="utf-8")


def cells(path: Path, backends: Iterable[str], context: Context) -> list[str]:
    """Return the outcome of a program for each backend."""
    corpus = CorpusProgram(path, context)
    expected = corpus.expected()
    found: list[str] = []
    for backend in backends:
        start = time.perf_counter()
        try:
            outputs = corpus.program.run(corpus.inputs, backend, OPTIONS)
        except SdyError as failure:
            found.append(failure.diagnostics[0].message[:LONGEST_REASON].replace("|", "\\|"))
            continue
        seconds = time.perf_counter() - start
        differences = corpus.differences(outputs, expected)
        worst = max(each.relative for each in differences)
        is_equal = all(each.is_small for each in differences)
        found.append(f"{seconds:.2f}" if is_equal else f"differs by {worst:.2g}")
    return found


def table(rows: Mapping[str, list[str]], backends: list[str]) -> list[str]:
    """Return the lines of the table, with a summary."""
    runs = [sum(is_number(row[at]) for row in rows.values()) for at in range(len(backends))]
    counts = ", ".join(
        f"{TITLES[name]} {count}" for name, count in zip(backends, runs, strict=True)
    )
    titles = " | ".join(TITLES[name] for name in backends)
    return [
        f"Programs with matching results, of {len(rows)}: {counts}.",
        "",
        f"| program (times in seconds) | {titles} |",
        f"|---|{'---:|' * len(backends)}",
        *(f"| `{name}` | {' | '.join(row)} |" for name, row in rows.items()),
    ]


def is_number(cell: str) -> bool:
    """Whether a cell is a time, which means that the program ran correctly."""
    return cell.replace(".", "", 1).isdigit()


if __name__ == "__main__":
    main()
