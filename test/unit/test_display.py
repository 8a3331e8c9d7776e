# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values of the API are displayed by a line in a REPL, and by tables in notebooks."""

import io

import pytest
from rich.console import Console

import pyshardy as sdy
from pyshardy.display import MOST_ROWS, Table
from pyshardy.explain.estimate import estimate

TEXT = """
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>},
                %b: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>})
    -> tensor<8x6xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
    : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}
"""


@pytest.fixture(scope="module")
def shown():
    """Values of the API by their classes' names."""
    module = sdy.parse(TEXT, sdy.Context())
    empty = sdy.Propagation()
    record = sdy.propagate(module)
    program = sdy.partition(module)
    cost = estimate(program, sdy.load_hardware("h100"))
    values = [record, record[0], program, program.inputs[0], program.collectives[0], cost]
    return {"empty": empty} | {type(value).__name__: value for value in values}


LINES = {
    "empty": "Propagation(nothing propagated)",
    "Propagation": "Propagation(2 steps on 4 operations)",
    "PropagationStep": 'PropagationStep(0: stablehlo.dot_general (-:6:8), result 0 got "x")',
    "PartitionedProgram": 'PartitionedProgram(mesh <["x"=2, "y"=2]>, 2 arguments, 1 result, '
    "1 collective, 96 bytes sent)",
    "Port": 'Port(%a: tensor<8x4xf32>, <@mesh, [{"x"}, {"y"}]>)',
    "Collective": "Collective(all_reduce along y, 96 bytes sent, -:6:8)",
}


@pytest.mark.parametrize("name", LINES)
def test_lines(shown, name):
    assert repr(shown[name]) == LINES[name]


def test_costs(shown):
    assert repr(shown["Estimate"]).startswith("Estimate(NVIDIA H100 SXM: ")
    assert "along y</td>" in shown["Estimate"]._repr_html_()


def printed(value):
    """The text that `rich.print` prints."""
    file = io.StringIO()
    Console(file=file, width=100).print(value)
    return file.getvalue()


def test_tables(shown):
    program = shown["PartitionedProgram"]
    for text in (program._repr_html_(), printed(program)):
        assert "%b" in text
        assert "all_reduce" in text
        assert "pyshardy's partitioner" in text.replace("&#x27;", "'")
    for text in (shown["Propagation"]._repr_html_(), printed(shown["Propagation"])):
        assert "stablehlo.dot_general" in text
    assert "<table>" not in shown["Collective"]._repr_html_()


def test_long_tables_are_cut():
    table = Table("Numbers", ("n", "<n²>"), [(n, n * n) for n in range(50)], num_numeric=1)
    text = table.html()
    assert text.count("<tr>") == MOST_ROWS + 1
    assert "… 30 more" in text
    assert "&lt;n²&gt;" in text
    assert "... 30 more" in printed(table)
