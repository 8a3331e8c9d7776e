# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table of passes agrees with the declarations; users can add to it."""

from collections.abc import Iterator

import pytest

from pyshardy.pipeline import (
    passes,
    pipeline_of,
    pipelines,
    register_pass,
    register_pipeline,
    unregister,
)
from pyshardy.pipeline.options import options_of
from pyshardy.pipeline.pass_package import function_name, pass_modules
from pyshardy.pipeline.pass_table import PASSES
from pyshardy.pipeline.registry import display_name


@pytest.fixture(autouse=True)
def _clean_registry() -> Iterator[None]:
    yield
    for name in ("my-pass", "my-pipeline", "sdy-close-shardings"):
        unregister(name)


def test_declared_passes_are_the_implemented_ones():
    assert set(map(function_name, PASSES)) == set(pass_modules())


@pytest.mark.parametrize("name", PASSES)
def test_parameters_are_the_declared_options(name: str):
    info = passes()[name]
    declared = {option.name: (option.type, option.default) for option in info.options}
    implemented = options_of(info.load())
    assert {option.name: (option.type, option.default) for option in implemented} == declared


def test_registering_a_pass():
    @register_pass("my-pass", anchor="func.func")
    def my_pass(function: object, *, deep_down: bool = True) -> None:
        """Does nothing.

        At all.
        """

    info = passes()["my-pass"]
    assert (info.summary, info.anchor) == ("Does nothing.", "func.func")
    assert info.description == "Does nothing.\n\nAt all."
    assert [option.name for option in info.options] == ["deep-down"]
    assert info.load() is my_pass
    unregister("my-pass")
    assert "my-pass" not in passes()


def test_registering_a_pipeline():
    @register_pipeline("my-pipeline", summary="Cleans")
    def my_pipeline(*, rounds: int = 1) -> str:
        return ",".join(["cse"] * rounds)

    assert pipelines()["my-pipeline"].build(rounds=2) == pipeline_of("cse", "cse")


def test_a_name_is_taken_once():
    with pytest.raises(ValueError, match="'sdy-close-shardings' is registered already"):
        register_pass("sdy-close-shardings")(lambda _: None)
    with pytest.raises(ValueError, match="registered already"):
        register_pipeline("sdy-partition-pipeline")(lambda: "")
    own = passes()["sdy-close-shardings"]
    register_pass("sdy-close-shardings", replace=True)(lambda _: None)
    assert passes()["sdy-close-shardings"] is not own
    unregister("sdy-close-shardings")
    assert passes()["sdy-close-shardings"] is own


def test_display_name():
    assert display_name("symbol-dce") == "SymbolDce"
