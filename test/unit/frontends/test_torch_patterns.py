# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shardings by patterns of names, and places in the user's source; without PyTorch."""

import pytest

from mlir_sdy.diagnostics import UsageError
from pyshardy.forms import sharding
from pyshardy.frontends.meshes import match
from pyshardy.frontends.torch.failures import of_importer
from pyshardy.frontends.torch.frames import frames_outside

RANKS = {"layers.0.weight": 2, "layers.0.bias": 1, "layers.1.weight": 2, "x": 3}
COLUMNS = sharding('<@mesh, [{"model"}, {}]>')


def test_axes_of_dimensions():
    assert sharding(("model", None)) == COLUMNS
    assert sharding((("a", "b"), ())) == sharding('<@mesh, [{"a", "b"}, {}]>')
    assert sharding(COLUMNS) is COLUMNS


def test_the_first_pattern_that_matches_counts():
    found = match({"*.bias": (None,), "layers.1.*": (None, None), "layers.*": COLUMNS}, RANKS)
    assert found == {
        "layers.0.bias": sharding("<@mesh, [{}]>"),
        "layers.1.weight": sharding("<@mesh, [{}, {}]>"),
        "layers.0.weight": COLUMNS,
    }


def test_a_pattern_that_matches_nothing():
    with pytest.raises(
        UsageError, match=r"matches 'layers.0.weigth'; did you mean 'layers.0.weight'"
    ):
        match({"layers.0.weigth": COLUMNS}, RANKS)
    with pytest.raises(UsageError, match=r"matches '\*.1.wieght'; did you mean '\*.1.weight'\?"):
        match({"*.1.wieght": COLUMNS}, RANKS)
    many = {f"layers.{number}.weight": 2 for number in range(40)}
    with pytest.raises(UsageError, match=r"the arguments are: .*'layers.11.weight' and 28 more$"):
        match({"q*": COLUMNS}, many)
    with pytest.raises(
        UsageError, match=r"matches 'q\*'; the arguments are: 'layers.0.weight', .*, 'x'"
    ):
        match({"q*": COLUMNS}, RANKS)


def test_a_sharding_of_another_rank():
    message = r"'layers.\*' matches 'layers.0.bias', which has 1 dimensions, but its sharding has 2"
    with pytest.raises(UsageError, match=message):
        match({"layers.*": COLUMNS}, RANKS)


TRACE = """File "/home/user/model.py", line 3, in forward
    x = self.layer(x)
  File "/lib/torch/nn/linear.py", line 134, in forward
    return F.linear(input)"""


def test_frames_of_a_folder_are_left_out():
    kept = frames_outside(TRACE, "/lib/torch")
    assert kept == 'File "/home/user/model.py", line 3, in forward\n    x = self.layer(x)'


def test_the_innermost_frame_stays_if_there_are_no_others():
    kept = frames_outside(TRACE.replace("/home/user", "/lib/torch"), "/lib/torch")
    assert (
        kept == '  File "/lib/torch/nn/linear.py", line 134, in forward\n    return F.linear(input)'
    )


def test_failures_of_the_importer_without_an_operation_are_passed_on():
    """Refused operations are found in the graph: see `test/frontends/test_frontend_torch.py`."""
    found = of_importer((), lambda _: False, ValueError("unsupported\n  by the importer"))
    assert found.message == "cannot import the PyTorch program: unsupported by the importer"
