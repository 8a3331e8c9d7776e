# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Large arrays that traced functions close over."""

import contextlib
import functools
import itertools
import re
import subprocess
import sys
import textwrap

import jax
import jax_devices  # noqa: F401 (before JAX looks for devices)
import numpy as np
import pytest
from case_counts import spread
from jax import lax
from jax import numpy as jnp
from jax.experimental.xla_metadata import set_xla_metadata
from jax.sharding import PartitionSpec

import pyshardy as sdy
from mlir_sdy.diagnostics import collect
from pyshardy.frontends.jax import closed_over, lowered
from pyshardy.irtools.stablehlo_views import ConstantView
from pyshardy.irtools.walks import operations_named

P = PartitionSpec
MESH = sdy.Mesh.of({"x": 2, "y": 2})
RANDOM = np.random.default_rng(0)
C = RANDOM.standard_normal((64, 128)).astype(np.float32)
X = RANDOM.standard_normal((32, 64)).astype(np.float32)
TYPES = (
    *("bool", "int4", "uint2", "int8", "uint32", "float16", "float32", "bfloat16", "complex64"),
    *("float8_e4m3fn", "float8_e8m0fnu", "float4_e2m1fn"),
)


@pytest.mark.parametrize("dtype", TYPES)
def test_elements_without_text(monkeypatch, dtype):
    """They are those of the text of JAX, in the order of the program."""
    first, second = (RANDOM.integers(0, 2, (200, 300)).astype(jnp.dtype(dtype)) for _ in "ab")

    def function():
        return jnp.asarray(first), jnp.ones((200, 300)), jnp.asarray(second), jnp.asarray(first).T

    text = jax.jit(function).lower().as_text()
    monkeypatch.setattr(lowered, "MOST_IN_TEXT", 2**14)
    module = sdy.jax.trace(function, mesh=MESH)
    found, wanted = (
        [ConstantView(each).value for each in operations_named({"stablehlo.constant"}, program)]
        for program in (module, sdy.parse(text, module.context))
    )
    assert found == wanted
    assert len(found) >= 2


@pytest.mark.parametrize("inline", [True, False])
def test_functions_that_close_over_one_array(inline):
    """Their program has it once, unless a function must stay a function."""
    stay = {"inlineable": "false"}

    @jax.jit
    def first(x):
        return jnp.tanh(x @ C)

    @jax.jit
    def second(x):
        return first(x) @ jnp.transpose(C)

    def function(x):
        with contextlib.nullcontext() if inline else set_xla_metadata(**stay):
            for _ in range(3):
                x = second(x) + x
        return x + C.sum()

    module = sdy.jax.trace(function, X, mesh=MESH, in_shardings=(P("x"),))
    constants = operations_named({"stablehlo.constant"}, module)
    large = [each for each in constants if ConstantView(each).value.type.shape == [64, 128]]
    assert len(large) == (1 if inline else 2)
    sdy.propagate(module)
    (result,) = sdy.partition(module).run([X])
    np.testing.assert_allclose(result, jax.jit(function)(X), rtol=1e-4, atol=1e-3)


MEMORY = """
import resource
import jax, numpy as np, pyshardy as sdy
constant = np.zeros((8192, 1024), np.{dtype})
constant[1, 1] = 1
argument = jax.ShapeDtypeStruct((64, 8192), constant.dtype)
mesh = sdy.Mesh.of({{"x": 8}})
def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
sdy.jax.trace(lambda x: x + 1, argument, mesh=mesh)
jax.jit(lambda x: x @ constant).lower(argument)
before = peak()
module = sdy.jax.trace(
    lambda x: x @ constant, argument, mesh=mesh, in_shardings=(jax.sharding.PartitionSpec("x"),)
)
sdy.propagate(module)
sdy.partition(module)
print((peak() - before) / constant.nbytes)
"""


@pytest.mark.parametrize(("dtype", "most"), [("float32", 1.8), ("complex64", 2.4)])
def test_memory(dtype, most):
    program = textwrap.dedent(MEMORY.format(dtype=dtype))
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert float(run.stdout) < most


J = jnp.asarray(C)
INNER = jax.jit(lambda y: y @ J)
USES = {
    "two products": lambda x: (x @ J, (x * 2) @ J),
    "whole and sharded": lambda x: (x @ J, x.sum() + J),
    "functions": lambda x: INNER(x) + INNER(x * 2) + x @ J,
    "a loop": lambda x: (
        lax.scan(lambda c, _: ((c @ J)[:, :64] / 64, None), x, None, length=2)[0] @ J
    ),
    "branches": lambda x: lax.cond(x[0, 0] > 0, lambda a: a @ J, lambda a: (a * 2) @ J, x) + x @ J,
    "transposed": lambda x: (x @ J, J.T @ J, J * 3),
}


SPECS = P("x"), P(None, "y"), P("x", "y")


@pytest.mark.parametrize(("name", "spec"), spread([*itertools.product(USES, SPECS)], 6))
def test_once_in_the_partitioned_text(name, spec):
    module = sdy.jax.trace(USES[name], X, mesh=MESH, in_shardings=(spec,))
    sdy.propagate(module)
    program = sdy.partition(module)
    large = [text for text in re.findall(r'"0x(\w+)"', sdy.asm(program.module)) if len(text) > 9999]
    assert len(large) == 1
    for found, wanted in zip(
        program.run([X]), jax.tree.leaves(jax.jit(USES[name])(X)), strict=True
    ):
        np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-4)


class Layer:
    def __init__(self):
        self.weight = C

    def __call__(self, x):
        return x @ self.weight

    def forward(self, x):
        return x @ self.weight


def closed_over_functions():
    matrix, tree, layer = C, {"w": [C]}, Layer()
    return [
        (lambda x: x @ C, "C"),
        (lambda x: x @ matrix, "matrix"),
        (lambda x: x @ tree["w"][0], "tree['w'][0]"),
        (lambda x: layer(x) + 0, "layer.weight"),
        (layer, "self.weight"),
        (layer.forward, "self.weight"),
        (functools.partial(lambda w, x: x @ w, C), "w"),
        (jax.jit(lambda x: x @ matrix), "matrix"),
        (lambda x: jax.jit(lambda y: y @ matrix)(x * 2), "matrix"),
    ]


@pytest.mark.parametrize("number", range(len(closed_over_functions())))
def test_a_warning_names_the_variable(monkeypatch, number):
    function, name = closed_over_functions()[number]
    monkeypatch.setattr(closed_over, "LARGE_BYTES", C.nbytes)
    with collect() as found:
        sdy.jax.trace(function, X, mesh=MESH)
    (warning,) = found
    assert f"closes over '{name}' of type tensor<64x128xf32>" in warning.message
    assert warning.location.filename == __file__


def test_no_warning_for_smaller_constants(monkeypatch):
    assert closed_over.LARGE_BYTES == 64_000_000
    monkeypatch.setattr(closed_over, "LARGE_BYTES", C.nbytes + 1)
    with collect() as found:
        sdy.jax.trace(lambda x: x @ C, X, mesh=MESH)
        sdy.jax.trace(lambda x: x @ jnp.ones((64, 1024)), X, mesh=MESH)
    assert not found
