# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Write the programs of the corpus, as the installed JAX lowers them.

    python test/corpus/make_corpus.py             # all of them, to test/corpus/mlir
    python test/corpus/make_corpus.py moe_top_k   # some

The files are checked in, so that tests don't depend on the version of JAX.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
from pathlib import Path

import programs
from registry import PROGRAMS

FOLDER = Path(__file__).with_name("mlir")


def main() -> None:
    for module in pkgutil.iter_modules(programs.__path__):
        importlib.import_module(f"programs.{module.name}")
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="programs to write; default: all")
    names = parser.parse_args().names or sorted(PROGRAMS)
    FOLDER.mkdir(exist_ok=True)
    for name in names:
        (FOLDER / f"{name}.mlir").write_text(PROGRAMS[name]())


if __name__ == "__main__":
    main()
