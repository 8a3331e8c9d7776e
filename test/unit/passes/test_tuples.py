# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Parts of tuples, and what becomes of attributes of tuples."""

import pytest

from mlir_sdy.host import ir
from pyshardy.passes.importing.flatten_tuples import (
    UnfitAttributeError,
    part_types,
    path_text,
    paths_of,
    split_sharding,
)


@pytest.fixture(scope="module")
def nested():
    with ir.Context():
        yield ir.Type.parse("tuple<i1, tuple<i2, tuple<>, i4>>")


def test_paths(nested):
    assert paths_of(nested) == [(0,), (1, 0), (1, 2)]
    assert paths_of(nested.get_type(0)) == [()]


def test_types(nested):
    assert list(map(str, part_types([nested.get_type(0), nested]))) == ["i1", "i1", "i2", "i4"]


def test_text_of_a_path():
    assert path_text((0, 1)) == "[0][1]"


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("{{replicated}, {maximal device=1}}", ["{replicated}", "{maximal device=1}"]),
        ("{manual}", ["{manual}", "{manual}"]),
        (
            '{{devices=[2,1]<=[2] metadata={op_name="a"}},{manual}}',
            ['{devices=[2,1]<=[2] metadata={op_name="a"}}', "{manual}"],
        ),
    ],
)
def test_shardings_of_parts(text, parts):
    assert split_sharding(text, 2) == parts


def test_shardings_of_other_parts():
    with pytest.raises(UnfitAttributeError, match="has a length of 1, but the tuple of 2"):
        split_sharding("{{replicated}}", 2)
