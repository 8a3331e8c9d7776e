# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The mark of shardings that automatic sharding is to find."""

from __future__ import annotations


class Auto:
    """The type of `AUTO`."""

    def __repr__(self) -> str:
        return "AUTO"


AUTO = Auto()
"""In place of the sharding of an argument or a result: `sdy.auto_shard` is to find one.

For propagation alone, such a value has an open sharding.
"""


def is_auto(value: object) -> bool:
    """Whether a value stands for a sharding to find: `AUTO`, or the word "auto"."""
    return isinstance(value, Auto) or (isinstance(value, str) and value == "auto")
