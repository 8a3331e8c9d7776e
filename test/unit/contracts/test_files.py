# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Contracts in TOML files."""

import pytest

import pyshardy as sdy
from pyshardy.contracts.files import load_contract, read_contract

CONTRACT = """
at_most = { all_reduce = 2, all-gather = 0 }
no_axes = { data = ["all_to_all"] }
max_bytes = "8MB"
max_memory = "1GiB"
limits = ["no collectives in layer_3/*"]
"""


def test_the_entries_are_the_arguments_of_of(tmp_path):
    path = tmp_path / "contract.toml"
    path.write_text(CONTRACT)
    expected = sdy.Contract.of(
        at_most={"all_reduce": 2, "all_gather": 0},
        no_axes={"data": ["all_to_all"]},
        max_bytes=8_000_000,
        max_memory=2**30,
        limits=["no collectives in layer_3/*"],
    )
    assert load_contract(path) == read_contract(str(path)) == expected
    assert read_contract(str(expected)) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("at_mst = {}", r"contract.toml:1:1: .*no key 'at_mst'; did you mean 'at_most'"),
        ("\nat_most = { all_gather = '0' }", r"contract.toml:2:1: .*a table of numbers by kind"),
        ("at_most = 3", "a table of numbers by kind, got: 3"),
        ("no_axes = { data = 'all_gather' }", "a table of lists of kinds by axis"),
        ("max_bytes = 1.5", "a number of bytes or a text such as '8MB'"),
        ("limits = 'no all_gather'", "a list of texts"),
        ("limits = ['no all_gathr']", "did you mean 'all_gather'"),
        ("max_bytes =", "is not valid TOML"),
        ("", "has no limits"),
    ],
)
def test_invalid_files(tmp_path, text, message):
    path = tmp_path / "contract.toml"
    path.write_text(text)
    with pytest.raises(sdy.UsageError, match=message):
        load_contract(path)


def test_a_missing_file(tmp_path):
    with pytest.raises(sdy.UsageError, match=r"cannot read the contract .*No such file"):
        load_contract(tmp_path / "contract.toml")
