# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Changes of the text of a module that may break it: one place, of one kind, at random."""

import random
import re

AXIS = re.compile(r'"(?:[^"\\]|\\.)*"(?::\(-?\d+\)-?\d+)?')
"""A reference to an axis, or another string."""

NUMBERS = ("0", "1", "2", "3", "4", "5", "-1", "6", "8", "9223372036854775807")


def _in_sharding(change):
    """A change within one of the shardings or lists of axes of a module."""
    pieces = re.compile(r"[{\[<][^{}\[\]<>%\n]*(?:\{[^{}\n]*\}[^{}\[\]<>\n]*)*[}\]>]")

    def changed(rng, text):
        spans = [match.span() for match in pieces.finditer(text)]
        if not spans:
            return text
        start, end = rng.choice(spans)
        return text[:start] + change(rng, text[start:end]) + text[end:]

    return changed


def _replace_one(pattern, replacement):
    """A change of one match of a pattern; `replacement` makes the new text."""
    compiled = re.compile(pattern)

    def changed(rng, text):
        matches = list(compiled.finditer(text))
        if not matches:
            return text
        match = rng.choice(matches)
        return text[: match.start()] + replacement(rng, match, text) + text[match.end() :]

    return changed


def _some_axis(rng, text):
    names = AXIS.findall(text)
    return rng.choice([*names, '"u"', '"nowhere"'])


MUTATIONS = {
    "rename an axis": _replace_one(AXIS.pattern, lambda rng, _, text: _some_axis(rng, text)),
    "duplicate an axis": _replace_one(AXIS.pattern, lambda _, match, __: f"{match[0]}, {match[0]}"),
    "add an axis": _replace_one(
        AXIS.pattern, lambda rng, match, text: f"{match[0]}, {_some_axis(rng, text)}"
    ),
    "add an axis to an empty list": _replace_one(
        r"\{\}", lambda rng, _, text: f"{{{_some_axis(rng, text)}}}"
    ),
    "drop an axis": _replace_one(rf"{AXIS.pattern}, |, {AXIS.pattern}", lambda *_: ""),
    "swap axes": _replace_one(
        rf"({AXIS.pattern}), ({AXIS.pattern})", lambda _, match, __: f"{match[2]}, {match[1]}"
    ),
    "add a dimension": _replace_one(
        r"(?<=, \[)(?=\{|\])", lambda rng, *_: rng.choice(("{}, ", "{?}, ", "{}", "{?}p1, "))
    ),
    "drop a dimension": _replace_one(r"\{[^{}\n]*\}(?:p\d+)?, ", lambda *_: ""),
    "open a dimension": _replace_one(r"(?<=[\"\d])\}(?=p|,|\])", lambda *_: ", ?}"),
    "close a dimension": _replace_one(r"(?:, )?\?\}", lambda *_: "}"),
    "change a priority": _replace_one(
        r"(?<=\})(?:p\d+)?(?=, \{|\])", lambda rng, *_: rng.choice(("", "p0", "p1", "p-1", "p01"))
    ),
    "change a sub-axis": _replace_one(
        r"\((\d+)\)(\d+)",
        lambda rng, match, _: rng.choice(
            (f"({rng.choice(NUMBERS)}){match[2]}", f"({match[1]}){rng.choice(NUMBERS)}")
        ),
    ),
    "make a sub-axis": _replace_one(
        r'(?<=\w")(?=[,}])',
        lambda rng, *_: f":({rng.choice(NUMBERS[:7])}){rng.choice(NUMBERS[:7])}",
    ),
    "change a mesh": _replace_one(
        r"(?<=<)@(?:\w|\.|\"[^\"\\]*\")+(?=,)",
        lambda rng, _, text: rng.choice(
            [*re.findall(r"sdy\.mesh (@\S+|@\"[^\"]*\") =", text), "@unknown", "mesh<[]>"]
        ),
    ),
    "change a clause": _replace_one(
        r"(replicated|unreduced)=",
        lambda rng, *_: rng.choice(("replicated=", "unreduced=", "reduced=", "replicated")),
    ),
    "change a list of axes to replicated": _replace_one(
        r"\]>", lambda rng, _, text: f"], replicated={{{_some_axis(rng, text)}}}>"
    ),
    "change a number": _replace_one(
        r"(?<=[=\s(-])-?\d+(?![\w.])", lambda rng, *_: rng.choice(NUMBERS)
    ),
    "change a size": _replace_one(
        r"(?<=[<x])(?:\d+|\?)(?=x)", lambda rng, *_: rng.choice(("1", "2", "4", "?", "24"))
    ),
    "drop a size": _replace_one(r"(?<=[<x])(?:\d+|\?)x", lambda *_: ""),
    "change an element type": _replace_one(r"(?<=[<x])(?:f32|i8)(?=>)", lambda *_: "f64"),
    "change manual axes": _replace_one(
        r"manual_axes=\{[^}]*\}",
        lambda rng, _, text: rng.choice(
            ("manual_axes={}", f"manual_axes={{{_some_axis(rng, text)}}}")
        ),
    ),
    "change an operation": _replace_one(
        r"\bsdy\.(?:all|reduce|collective|shard|repl|resh|propagation_b)\w+",
        lambda rng, _, text: rng.choice(
            [*re.findall(r"\bsdy\.\w+", text), "sdy.all_gather", "sdy.all_slice", "sdy.reshard"]
        ),
    ),
    "change moved axes": _replace_one(
        r"\d+->\d+", lambda rng, *_: f"{rng.choice((-1, 0, 1, 2))}->{rng.choice((0, 1, 2, 3))}"
    ),
    "change a factor": _replace_one(
        r"(?<=[\[, {=])(?:i|j|k|l|ij|jk)(?=[\],}=])",
        lambda rng, *_: rng.choice(("i", "j", "k", "ij", "*", "z_1", "ii")),
    ),
    "change an edge": _replace_one(
        r"(?:operand|result|step)-\d+",
        lambda rng, *_: rng.choice(("operand-0", "result-0", "operand-2", "step-1", "step--1")),
    ),
    "change a direction": _replace_one(
        r"allowed_direction=\S+", lambda rng, *_: f"allowed_direction={rng.choice(('BOTH', 'UP'))}"
    ),
    "change a kind": _replace_one(
        r"#sdy\.sharding_per_value<\[|#sdy\.sharding<",
        lambda rng, *_: rng.choice(("#sdy.sharding<", "#sdy.sharding_per_value<[", "#sdy.mesh<")),
    ),
    "drop a line": _replace_one(r"(?m)^.*\n", lambda *_: ""),
    "drop a character": _in_sharding(
        lambda rng, text: text[: (at := rng.randrange(len(text)))] + text[at + 1 :]
    ),
    "double a character": _in_sharding(
        lambda rng, text: text[: (at := rng.randrange(len(text)))] + text[at] + text[at:]
    ),
}


def mutated(rng: random.Random, text: str) -> tuple[str, str]:
    """A name for what was changed, and the changed text, which may still be valid."""
    while True:
        name = rng.choice(list(MUTATIONS))
        changed = MUTATIONS[name](rng, text)
        if changed != text:
            return name, changed
