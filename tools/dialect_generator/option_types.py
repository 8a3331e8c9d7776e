# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The types of the options of named pipelines, for type checkers and editors."""

from __future__ import annotations

import textwrap

from dialect_generator.layout import PYTHON_HEADER
from pyshardy.pipeline import Option, pipelines
from pyshardy.pipeline.options import OptionType

CLASSES = {
    "sdy-propagation-pipeline": "PropagationOptions",
    "sdy-partition-pipeline": "PartitionOptions",
}
"""The pipelines whose options functions of the API take, with the names of the classes."""

_PARAMETERS = {"sdy-partition-pipeline": {"hardware"}}
"""The options that functions of the API declare as parameters."""


def option_types_source() -> str:
    """Return `option_types.py`, a `TypedDict` for each pipeline of the API."""
    classes = "\n\n".join(
        _class(name, argument, pipelines()[argument].options) for argument, name in CLASSES.items()
    )
    return (
        f'{PYTHON_HEADER}"""The options of named pipelines as keyword arguments."""\n\n'
        "from __future__ import annotations\n\n"
        f"from typing import Literal, TypedDict\n\n\n{classes}"
    )


def _class(name: str, argument: str, options: tuple[Option, ...]) -> str:
    left_out = _PARAMETERS.get(argument, set())
    fields = [_field(option) for option in options if option.keyword not in left_out]
    head = f'class {name}(TypedDict, total=False):\n    """The options of `{argument}`."""\n\n'
    return head + "".join(fields)


def _field(option: Option) -> str:
    annotation = _annotation(option.type)
    text = f"    {option.keyword}: {annotation}\n"
    if not option.description:
        return text
    summary = f"{option.description[0].upper()}{option.description[1:]}."
    lines = textwrap.wrap(f'"""{summary}', width=96)
    lines[-1] += '"""' if len(lines) == 1 else ""
    if len(lines) > 1:
        lines.append('"""')
    return text + "".join(f"    {line}\n" for line in lines)


def _annotation(option_type: OptionType) -> str:
    own = option_type.scalar
    if option_type.choices:
        own = f"Literal[{', '.join(map(_quoted, option_type.choices))}]"
    return f"tuple[{own}, ...]" if option_type.is_list else own


def _quoted(text: str) -> str:
    return f'"{text}"'
