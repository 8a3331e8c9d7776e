# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Passes and options come from the releases of C++ Shardy that the help and the docs name."""

import pytest
from shardy import Shardy, ShardyRefused

from pyshardy.pipeline import passes, pipelines
from pyshardy.pipeline.options import option_text

PROGRAM = """
sdy.mesh @m = <["x"=2]>
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> { return %a : tensor<8xf32> }
"""
ALL = {
    name: info
    for name, info in {**passes(), **pipelines()}.items()
    if not name.startswith("mpmd-")  # jaxlib runs these as one function only
}


def has(shardy: Shardy, use: str) -> bool:
    """Whether Shardy knows a pass, on a module or on functions."""
    for pipeline in (f"builtin.module({use})", f"builtin.module(func.func({use}))"):
        try:
            shardy.run(PROGRAM, pipeline)
        except ShardyRefused:
            continue
        return True
    return False


def is_in(release: str, shardy: Shardy) -> bool:
    """Whether something that comes from a release is in that of the oracle."""
    if release in ("", "pyshardy"):
        return False
    return tuple(map(int, release.split(".")[:2])) <= shardy.release


@pytest.mark.parametrize("name", ALL)
def test_release(shardy, name):
    info = ALL[name]
    assert has(shardy, name) == is_in(info.release, shardy)
    for option in info.options:
        value = option_text(option.default) or "''"
        if value == "none":  # Shardy has no name for no stage
            value = "convert-global-to-local"
        expected = is_in(option.release or info.release, shardy) and is_in(info.release, shardy)
        assert has(shardy, f"{name}{{{option.name}={value}}}") == expected, option.name
