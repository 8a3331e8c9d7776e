# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Results of a step have the shardings of the arguments that they replace."""

from pathlib import Path

import pytest

import pyshardy as sdy
from pyshardy.auto.graph.replaced_arguments import replaced_arguments
from pyshardy.irtools.functions import main_function


def replaced(arguments, results):
    """Return the names of the results that replace arguments, with these.

    Args:
        arguments: the name, or None, and the size of each.
        results: the same.
    """
    inputs = ", ".join(
        f"%a{at}: tensor<{size}xf32>" + (f' loc("{name}")' if name else "")
        for at, (name, size) in enumerate(arguments)
    )
    made = "\n".join(
        f"%r{at} = stablehlo.constant dense<0.0> : tensor<{size}xf32>"
        for at, (_, size) in enumerate(results)
    )
    types = ", ".join(
        f"tensor<{size}xf32>" + (f' {{jax.result_info = "{name}"}}' if name else "")
        for name, size in results
    )
    values = ", ".join(f"%r{at}" for at in range(len(results)))
    kinds = ", ".join(f"tensor<{size}xf32>" for _, size in results)
    module = sdy.parse(
        f"func.func @main({inputs}) -> ({types}) {{\n{made}\nreturn {values} : {kinds}\n}}",
        sdy.Context(),
    )
    found = replaced_arguments(main_function(module))
    return {results[number][0]: argument for number, argument in found.items()}


def test_trees_of_equal_paths_and_types():
    arguments = [("p['b']", 4), ("p['w']", 8), ("m[0].mu['b']", 4), ("m[0].mu['w']", 8), ("x", 8)]
    results = [
        ("result[0]['b']", 4),
        ("result[0]['w']", 8),
        ("result[1][0].mu['b']", 4),
        ("result[1][0].mu['w']", 8),
        ("result[2]", 8),
    ]
    assert replaced(arguments, results) == {
        "result[0]['b']": 0,
        "result[0]['w']": 1,
        "result[1][0].mu['b']": 2,
        "result[1][0].mu['w']": 3,
    }


def test_the_only_result_is_the_tree():
    assert replaced([("p['w']", 8), ("x", 8)], [("result['w']", 8)]) == {"result['w']": 0}


def test_equal_names():
    assert replaced([("x", 4), ("w", 4)], [("loss", 4), ("w", 4)]) == {"w": 1}


@pytest.mark.parametrize(
    ("arguments", "results"),
    [
        ([("p['w']", 8)], [("result['w']", 4)]),  # another type
        ([("p['w']", 8), ("p['b']", 4)], [("result['w']", 8)]),  # a part of a tree
        ([("x", 8)], [("result", 8)]),  # no tree: the layers of an inference are no steps
        ([(None, 8)], [("result[0]", 8)]),
    ],
)
def test_others_replace_nothing(arguments, results):
    assert replaced(arguments, results) == {}


def test_arguments_without_names_are_found_by_their_types():
    results = [("result[0]", 2), ("result[1]['b']", 4), ("result[1]['w']", 8)]
    assert replaced([(None, 8), (None, 4), (None, 8)], results) == {
        "result[1]['b']": 1,
        "result[1]['w']": 2,
    }
    twice = [(None, 4), (None, 8), (None, 4), (None, 8)]
    assert replaced(twice, results) == {}


def test_a_training_step_can_be_called_again():
    module = sdy.parse(Path(__file__).parents[3] / "examples/mlp.mlir", sdy.Context())
    plan = sdy.auto_shard(module, hardware="h100", fixed=False)
    names = ("b1", "b2", "b3", "w1", "w2", "w3")
    shardings = {name: plan.shardings[f"result[1]['{name}']"].dim_axes for name in names}
    assert shardings == {name: plan.shardings[f"arg{at}"].dim_axes for at, name in enumerate(names)}
    once = sdy.auto_shard(module, hardware="h100", fixed=False, once=True)
    assert once.cost <= plan.cost
    assert any(once.shardings[f"result[1]['{name}']"].dim_axes != ((),) for name in names)
