# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Passes are declared by their functions, those of the project in files of their names."""

import subprocess
import sys
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
from pyshardy.pipeline.options import option_text
from pyshardy.pipeline.pass_package import pass_modules
from pyshardy.pipeline.registry import display_name, pass_summaries


@pytest.fixture(autouse=True)
def _clean_registry() -> Iterator[None]:
    yield
    for name in ("my-pass", "my-pipeline", "sdy-close-shardings"):
        unregister(name)


@pytest.mark.parametrize("name", pass_modules())
def test_each_file_declares_the_pass_of_its_name(name: str):
    info = passes()[name]
    assert (info.argument, info.function.__module__) == (name, pass_modules()[name])
    assert info.anchor in {"builtin.module", "func.func"}
    assert info.summary
    assert info.summary[-1] != "."
    assert not name.startswith("sdy-") or info.release


@pytest.mark.parametrize("name", [*pass_modules(), *pipelines()])
def test_options_are_described_and_have_values_of_their_type(name: str):
    info = passes().get(name) or pipelines()[name]
    for option in info.options:
        assert option.description
        assert option.type.read(option_text(option.default)) == option.default


def test_passes_are_imported_when_they_are_looked_up():
    code = """if True:
        import sys
        from pyshardy.pipeline.registry import pass_summaries, passes, pipelines
        def imported():
            return [name for name in sys.modules if "pyshardy.passes." in name and "_" in name]
        assert "sdy-close-shardings" in passes() and "sdy-no-pass" not in passes()
        assert len([*passes(), *pipelines(), *pass_summaries()]) > 100 and imported() == []
        passes()["sdy-close-shardings"]
        assert imported() == ["pyshardy.passes.exporting.close_shardings"]
    """
    subprocess.run([sys.executable, "-c", code], check=True)


def test_summaries_are_those_of_the_passes():
    code = "from pyshardy.pipeline.registry import *; print(pass_summaries())"
    read = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    expected = {name: passes()[name].summary for name in sorted(pass_modules())}
    assert read.stdout == f"{expected}\n"
    assert {name: pass_summaries()[name] for name in expected} == expected


def test_registering_a_pass():
    @register_pass("my-pass", anchor="func.func")
    def my_pass(function: object, *, deep_down: bool = True) -> None:
        """Do nothing.

        At all.

        Options:
            deep_down: whether it would
                do nothing.

        Raises:
            PassError: never.
        """

    info = passes()["my-pass"]
    assert (info.summary, info.anchor) == ("Do nothing", "func.func")
    assert info.description == "At all."
    (option,) = info.options
    assert (option.name, option.description) == ("deep-down", "whether it would do nothing")
    assert info.function is my_pass
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
    assert display_name("sdy-close-shardings") == "CloseShardingsPass"
    longest = "sdy-remove-all-gather-reduce-scatter-for-cmv1"
    assert display_name(longest) == "RemoveAllGatherReduceScatterForCMV1Pass"
