# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The default hardware and types of options, apart from the model so that these load without it."""

from typing import Annotated, Literal, TypeAlias

from pyshardy.pipeline.options import Help

DEFAULT_HARDWARE = "default"
"""The preset that the partitioner assumes: fast links between hosts, of power-of-two rates."""

REPORT_HARDWARE = "h100"
"""The preset of estimates and of automatic sharding, whose times are those of a real device."""

HardwareOption = Annotated[
    str,
    Help(
        "devices and links whose cost counts: a preset, a TOML file, or an inline table of TOML",
        release="pyshardy",
    ),
]
"""The type of the option `hardware` of passes."""

PreferredKind: TypeAlias = Literal[
    "none", "all_gather", "all_reduce", "all_to_all", "collective_permute", "reduce_scatter"
]
"""A kind of collective that users prefer to others, or none."""
