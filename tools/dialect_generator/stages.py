# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The reference documentation of passes, by the stages of their implementations."""

from __future__ import annotations

import re

from pyshardy.pipeline.pass_package import STAGES, function_name, pass_modules

_SECTION = re.compile(r"^### `-(?P<name>[\w-]+)`\n.*?(?=^### |\Z)", re.MULTILINE | re.DOTALL)

TITLES = {
    "importing": "Import",
    "propagating": "Propagation",
    "exporting": "Export",
    "partitioning": "Partitioning",
    "shard": "The shard dialect",
}
"""The headings of the stages, in the order of a compilation."""


def by_stage(reference: str) -> str:
    """Return the documentation of passes with a heading for each stage.

    Args:
        reference: the documentation in the format of mlir-tblgen, sorted by names.
    """
    assert set(TITLES) == set(STAGES)
    modules = pass_modules()
    sections: dict[str, list[str]] = {stage: [] for stage in TITLES}
    first = next(_SECTION.finditer(reference)).start()
    for section in _SECTION.finditer(reference):
        module = modules[function_name(section["name"])]
        stage = next(stage for stage in TITLES if f".{stage}." in module)
        sections[stage].append(section[0].rstrip() + "\n")
    parts = [reference[:first].rstrip() + "\n"]
    for stage, passes in sections.items():
        if passes:
            parts += [f"## {TITLES[stage]}\n", *passes]
    return "\n".join(parts)
