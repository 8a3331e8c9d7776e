# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Conversion between programs of other frameworks or formats and modules of the dialect.

| module     | contents                                                             |
|------------|----------------------------------------------------------------------|
| `jax`      | import of JAX functions, and partitioned programs as JAX functions   |
| `torch`    | import of PyTorch modules                                            |
| `portable` | portable artifacts of StableHLO, in which strings represent sdy      |
| `files`    | program files of all formats                                         |
| `meshes`   | shardings that users give, and declaration of their meshes           |

Frameworks are imported at their first use.
"""

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
