# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How operands and results of several types are declared to IRDL.

An IRDL variable stands for one type throughout an operation, so the values of a variadic group
are all of one type: `irdl.operands(values: variadic %0)` refuses `(i32, f32)` even where `%0` is
`irdl.any`. ODS has no such rule. A group of any types is therefore declared to IRDL as many groups
in a row, each with a variable of its own, and `operandSegmentSizes` or `resultSegmentSizes` says
how many values each of them has.

Written by hand.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from itertools import groupby

GROUPS = 256
"""The number of IRDL groups that a group of any types becomes."""

MPMD_GROUPS = 1024
"""The number of IRDL groups in mpmd, whose fragments take the weights of several layers.

More groups take more time when the dialect is loaded.
"""

OPERAND_SIZES = "operandSegmentSizes"
RESULT_SIZES = "resultSegmentSizes"

_OPERATION = re.compile(r"^  irdl\.operation .*?^  \}$", re.MULTILINE | re.DOTALL)
_SIZES = rf"(?:{OPERAND_SIZES}|{RESULT_SIZES}) = array<i32: (?:\d+, ){{{GROUPS - 1},}}\d+>"
_ENTRY_WITH_SIZES = re.compile(rf"{_SIZES}, |, {_SIZES}| \{{{_SIZES}\}}")
_ANY = re.compile(r"^ *(%\w+) = irdl\.any\n", re.MULTILINE)


def groups_of(operation: str) -> int:
    """Return the number of IRDL groups of an operation, or of the operations of a dialect."""
    return MPMD_GROUPS if operation.partition(".")[0] == "mpmd" else GROUPS


def expand_groups(module: str, groups: int = GROUPS) -> str:
    """Return the IRDL `module` with `groups` groups for a variadic group of any types."""
    return _OPERATION.sub(lambda operation: _expand_operation(operation[0], groups), module)


def _expand_operation(text: str, count: int) -> str:
    for variable in _ANY.findall(text):
        group = re.search(rf"(\w+): variadic {variable}\b", text)
        if group is None:
            continue
        variables = [f"%group{variable[1:]}_{index}" for index in range(count)]
        groups = ", ".join(
            f"{group[1]}_{index}: variadic {one}" for index, one in enumerate(variables)
        )
        definitions = "".join(f"{one} = irdl.any\n" for one in variables)
        text = text.replace(group[0], groups).replace(f"{variable} = irdl.any\n", definitions)
    return text


def group_sizes(types: Sequence[Hashable], groups: int = GROUPS) -> tuple[int, ...]:
    """How many values each IRDL group has, for values of the given types.

    Each value has its own group, so that types can change in place. Only where there are more
    values than groups do neighbours of one type share one.

    Raises:
        ValueError: there are more changes of type than groups.
    """
    if len(types) <= groups:
        return (1,) * len(types) + (0,) * (groups - len(types))
    sizes = tuple(len(tuple(run)) for _, run in groupby(types))
    if len(sizes) > groups:
        raise ValueError(
            f"{len(types)} values, whose type changes {len(sizes) - 1} times from one to the "
            f"next, are more than the {groups} groups that the operation is registered with"
        )
    return sizes + (0,) * (groups - len(sizes))


def without_group_sizes(text: str) -> str:
    """What MLIR printed in generic form, without the sizes of groups, which no user has written.

    `"sdy.return"(%0) {operandSegmentSizes = array<i32: 1, 0, ...>} : ...` becomes
    `"sdy.return"(%0) : ...`. Sizes of other operations, which have few groups, stay.
    """
    return _ENTRY_WITH_SIZES.sub("", text)
