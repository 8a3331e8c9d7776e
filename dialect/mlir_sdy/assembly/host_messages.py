# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Errors of the host's parser on unknown names, with suggestions.

MLIR's parser refers to flags of its own tools, and lists all dialects. The beginnings of its
messages stay, since tests expect them.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from dataclasses import replace

from mlir_sdy.diagnostics import Diagnostic
from mlir_sdy.host import ir
from mlir_sdy.suggest import did_you_mean

_UNKNOWN_OPERATION = re.compile(
    r"custom op '(?P<custom>[\w$.]+)' is unknown|unregistered operation '(?P<generic>[\w$.]+)'"
)
_UNKNOWN_DIALECT = re.compile(r"Dialect `(?P<dialect>[\w$]+)' not found for custom op '.*'")
_UNREGISTERED = "operation being parsed with an unregistered dialect"
_UNKNOWN_VALUE, _VALUE = "use of undeclared SSA value name", re.compile(r"%[\w$.-]+")
_QUOTED_NAME = re.compile(r'"(?P<dialect>[A-Za-z_][\w$]*)\.[\w$.]+"')
_ADVICE = (
    "; 'sdy-opt --show-dialects' lists the dialects; 'sdy-opt --allow-unregistered-dialect' reads "
    "others in generic form"
)
_CONVERSIONS = {
    "mhlo": "convert MHLO to StableHLO, as by 'mlir-hlo-opt --hlo-legalize-to-stablehlo'",
    "lmhlo": "convert LMHLO to StableHLO; it comes after bufferization",
    "tf": "convert TensorFlow to StableHLO, as by 'tf-mlir-translate' or 'jax2tf'",
    "tfl": "convert TensorFlow Lite to StableHLO",
    "torch": "convert it to StableHLO, as 'sdy.torch.trace' does",
}
"""Advice for programs in dialects that are close to those of this project."""


def with_suggestion(diagnostic: Diagnostic, text: str, at: int, context: ir.Context) -> Diagnostic:
    """Return a diagnostic of the host's parser with a suggestion, if it is on an unknown name.

    Args:
        diagnostic: the diagnostic.
        text: the source, from the beginning of the function to the end of the line.
        at: the place of the diagnostic in the text.
        context: the context of the parser.
    """
    message = diagnostic.message
    if message == _UNKNOWN_VALUE and (match := _VALUE.match(text, at)):
        known = {name[0] for name in _VALUE.finditer(text, 0, at)}
        advice = did_you_mean(match[0], sorted(known))
        return replace(diagnostic, message=f"{message} '{match[0]}'{advice}")
    line = text[text.rfind("\n", 0, at) + 1 :]
    if match := _UNKNOWN_OPERATION.search(message):
        name: str = match["custom"] or match["generic"]
        return replace(diagnostic, message=f"{message}{_near(name, context)}")
    if match := _UNKNOWN_DIALECT.match(message):
        stated = match[0]
    elif message.startswith(_UNREGISTERED) and (match := _QUOTED_NAME.search(line)):
        stated = f"{_UNREGISTERED}, '{match['dialect']}'"
    else:
        return diagnostic
    dialect = match["dialect"]
    if dialect in _CONVERSIONS:
        advice = f"; {_CONVERSIONS[dialect]}"
    else:
        advice = did_you_mean(dialect, filter(context.is_dialect_loaded, _edits(dialect)))
    return replace(diagnostic, message=stated + (advice or _ADVICE), notes=())


def _near(name: str, context: ir.Context) -> str:
    """Return the suggestion for an unknown operation; `func` is the dialect of short names."""
    dialect, dot, word = name.rpartition(".")
    prefix = f"{dialect or 'func'}."
    known = [each for each in _edits(word) if context.is_registered_operation(prefix + each)]
    return did_you_mean(word, known, prefix=dialect + dot)


def _edits(word: str) -> Iterator[str]:
    """Yield the words with one letter more, less, changed or exchanged.

    The bindings don't list dialects and operations, but say whether one exists.
    """
    letters = string.ascii_lowercase + string.digits + "_"
    for at in range(len(word) + 1):
        before, after = word[:at], word[at:]
        tails = [after[1:], after[1:2] + after[:1] + after[2:]]
        tails += [letter + tail for letter in letters for tail in (after, after[1:])]
        yield from (before + tail for tail in tails if before + tail)
