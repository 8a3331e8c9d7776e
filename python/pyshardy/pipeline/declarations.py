# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The declarations of passes in `td/` as plain data; `pass_table` holds them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class OptionDecl:
    """An option of a pass.

    Attributes:
        name: as in a textual pipeline, such as `keep-sharding-rules`.
        type: `bool`, `int`, `string`, or `list:` and one of these.
        default: a Python value of that type.
        choices: the values that a string may have; any if there are none.
        release: where it comes from if that isn't where its pass does; see `PassDecl`.
    """

    name: str
    type: str
    default: bool | int | str | tuple[()]
    description: str
    choices: tuple[str, ...] = ()
    release: str = ""


@dataclass(frozen=True, slots=True)
class PassDecl:
    """A pass.

    Attributes:
        argument: its name in a textual pipeline, such as `sdy-basic-propagate`.
        anchor: the operation that it runs on, such as `builtin.module`.
        release: the first release of jaxlib whose Shardy has it (`0.12`), `0.10.2` for all that are
            supported, `pyshardy` for none; empty for passes that aren't Shardy's matter.
    """

    argument: str
    class_name: str
    anchor: str
    summary: str
    description: str
    options: tuple[OptionDecl, ...] = ()
    release: str = ""
