# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs and hardware for tests of automatic sharding, and checks of plans."""

from __future__ import annotations

import random
import re

import numpy as np

import pyshardy as sdy
from pyshardy.irtools.named_values import NamedValues
from pyshardy.program import run_unpartitioned

HARDWARE = sdy.Hardware(
    name="small",
    flops_per_second=1e9,
    bytes_per_second=1e9,
    bytes_of_memory=1e9,
    link=sdy.Link(bytes_per_second=1e8, seconds_to_start=1e-8),
    axes={"y": sdy.Link(bytes_per_second=3e7, seconds_to_start=3e-8)},
)
"""Devices for which programs of a few elements are worth sharding."""


def random_program(seed: int, num_operations: int = 8) -> str:
    """Return a program of products, elementwise operations, transposes, slices and sums.

    Sizes are 2, which one axis of size 2 divides, 4, or 3, which none does.
    """
    source = random.Random(seed)
    values: list[tuple[str, tuple[int, int]]] = []
    arguments: list[str] = []
    for number in range(3):
        shape = source.choice([2, 3]), source.choice([2, 3, 4])
        values.append((f"%a{number}", shape))
        arguments.append(f"%a{number}: {_type(shape)}")
    lines: list[str] = []
    for number in range(num_operations):
        name = f"%v{number}"
        operand, shape = source.choice(values)
        others = [each for each, size in values if size == shape]
        products = [(each, size) for each, size in values if size[0] == shape[1]]
        kind = source.choice(
            ["add", "tanh", "transpose", "dot_general", "dot_general", "sum", "scale", "slice"]
        )
        if kind == "dot_general" and products:
            other, size = source.choice(products)
            result = shape[0], size[1]
            text = f"{operand}, {other}, contracting_dims = [1] x [0] : "
            text += f"({_type(shape)}, {_type(size)}) -> {_type(result)}"
        elif kind == "transpose":
            result = shape[1], shape[0]
            text = f"{operand}, dims = [1, 0] : ({_type(shape)}) -> {_type(result)}"
        elif kind == "sum":
            kind, result = "add", shape
            lines.append(f"  %z{number} = stablehlo.constant dense<0.0> : tensor<f32>")
            types = f"({_type(shape)}, tensor<f32>) -> tensor<{shape[0]}xf32>"
            lines.append(
                f"  %s{number} = stablehlo.reduce({operand} init: %z{number}) "
                f"applies stablehlo.add across dimensions = [1] : {types}"
            )
            lines.append(
                f"  %b{number} = stablehlo.broadcast_in_dim %s{number}, dims = [0] : "
                f"(tensor<{shape[0]}xf32>) -> {_type(shape)}"
            )
            text = f"{operand}, %b{number} : {_type(shape)}"
        elif kind == "slice" and shape[0] > 2:
            result = 2, shape[1]
            text = f"{operand} [0:2, 0:{shape[1]}] : ({_type(shape)}) -> {_type(result)}"
        elif kind == "scale":
            kind, result = "multiply", shape
            text = f"{operand}, {source.choice(others)} : {_type(shape)}"
        elif kind == "add":
            result, text = shape, f"{operand}, {source.choice(others)} : {_type(shape)}"
        else:
            kind, result, text = "tanh", shape, f"{operand} : {_type(shape)}"
        lines.append(f"  {name} = stablehlo.{kind} {text}")
        values.append((name, result))
    text = "\n".join(lines)
    left = [(name, shape) for name, shape in values[3:] if len(re.findall(name, text)) == 1]
    types = ", ".join(_type(shape) for _, shape in left)
    header = f"func.func @main({', '.join(arguments)}) -> ({types}) {{"
    mesh = 'sdy.mesh @mesh = <["x"=2, "y"=2]>'
    returned = ", ".join(name for name, _ in left)
    return "\n".join([mesh, header, text, f"  return {returned} : {types}", "}"])


def _type(shape: tuple[int, ...]) -> str:
    return f"tensor<{'x'.join(map(str, shape))}xf32>"


def assert_kept(plan) -> None:
    """Check that propagation keeps the sharding of each value, and the text of the module."""
    module = sdy.parse(sdy.asm(plan.module))
    values = NamedValues.marked(module)
    planned = {name: sdy.get_sharding(value) for name, value in values.items()}
    assert any(planned.values())
    sdy.propagate(module)
    for name, sharding in planned.items():
        assert sharding is None or sdy.get_sharding(values[name]) == sharding, name


def assert_correct(plan) -> None:
    """Check that the partitioned program computes what the unpartitioned one does."""
    generator = np.random.default_rng(0)
    inputs = [
        generator.standard_normal(port.spec.shape).astype(port.spec.dtype)
        for port in plan.program.inputs
    ]
    expected = run_unpartitioned(plan.module, inputs)
    for found, wanted in zip(plan.program.run(inputs), expected, strict=True):
        scale = max(1.0, float(np.abs(wanted).max()))
        np.testing.assert_allclose(found / scale, wanted / scale, rtol=1e-4, atol=1e-5)


def least_cost(problem) -> float:
    """Return the least cost of all choices of a small problem, by elimination of nodes.

    The costs are arrays with an axis for each node that they depend on. A node is removed by the
    minimum of the sum of the arrays that depend on it: an exact search of all choices.
    """
    sizes = [len(node.costs) for node in problem.nodes]
    factors = [((number,), node.costs) for number, node in enumerate(problem.nodes)]
    for value in problem.values:
        nodes = [value.producer, *dict.fromkeys(user.node for user in value.users)]
        shape = [sizes[node] for node in nodes]
        grid = np.indices(shape, sparse=True)
        choice = dict(zip(nodes, grid, strict=True))
        source = value.source[choice[value.producer]]
        cost = np.zeros(shape)
        for target in range(value.costs.shape[1]):
            needed = np.zeros(shape, bool)
            for user in value.users:
                needed = needed | (user.target[choice[user.node]] == target)
            with np.errstate(invalid="ignore"):
                cost = cost + np.where(needed, value.costs[source, target], 0.0)
        factors.append((tuple(nodes), cost))
    left = set(range(len(sizes)))
    while left:
        node = min(left, key=lambda each: _width(factors, each, sizes))
        left.remove(node)
        joined = [factor for factor in factors if node in factor[0]]
        factors = [factor for factor in factors if node not in factor[0]]
        nodes = [*dict.fromkeys(each for names, _ in joined for each in names if each != node)]
        order = [*nodes, node]
        total = np.zeros([sizes[each] for each in order])
        for names, array in joined:
            places = sorted(range(len(names)), key=lambda at: order.index(names[at]))
            shape = [sizes[each] if each in names else 1 for each in order]
            total = total + np.transpose(array, places).reshape(shape)
        factors.append((tuple(nodes), total.min(axis=-1)))
    return float(sum(array for _, array in factors))


def _width(factors, node, sizes) -> int:
    """Return the size of the array that the removal of a node makes."""
    names = {each for nodes, _ in factors if node in nodes for each in nodes if each != node}
    return int(np.prod([sizes[each] for each in names], initial=1))
