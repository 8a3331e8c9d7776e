# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs whose reports are opened in a browser."""

from pathlib import Path

from mlir_sdy.assembly import parse
from mlir_sdy.dialect import Context
from pyshardy.explain.program import explain_program

EXAMPLES = Path(__file__).parents[2] / "examples"
CORPUS = EXAMPLES.parent / "test" / "corpus" / "mlir"
HOSTILE = "</script><b id='injected'>"
LAYERS = 24


def explained_file(name, title="program"):
    path = CORPUS / f"{name}.mlir"
    return explain_program(parse(path.read_text(), Context(), path.name), title=title)


def flat_plan(name="transformer_block"):
    """A program without scopes, whose operations have a line each."""
    return explain_program(parse((EXAMPLES / f"{name}.mlir").read_text(), Context()), title=name)


def in_view(page, pane, selector):
    """The heights on the screen of the texts that match in a pane and can be seen."""
    return page.evaluate(
        """([pane, selector]) => {
          const frame = document.querySelectorAll("svg.canvas")[pane].getBoundingClientRect();
          return [...document.querySelectorAll("svg.canvas")[pane].querySelectorAll(selector)]
            .map((each) => each.getBoundingClientRect())
            .filter(({ left, right, top, bottom }) => left >= frame.left && right <= frame.right
              && top >= frame.top && bottom <= frame.bottom)
            .map(({ height }) => height);
        }""",
        [pane, selector],
    )
