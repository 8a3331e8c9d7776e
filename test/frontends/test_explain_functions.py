# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy.explain` takes functions of JAX and modules of PyTorch."""

import jax
import jax_devices  # noqa: F401 (before JAX looks for devices)
import numpy as np
import pytest
import torch

import pyshardy as sdy


def kinds(explained):
    return [each.collective.kind for each in explained.collectives]


def test_functions_and_what_they_were_traced_to():
    mesh = sdy.Mesh.of({"data": 2})

    def step(params, x):
        return jax.numpy.tanh(x @ params["w"])

    args = {"w": np.ones((8, 4), np.float32)}, np.ones((8, 8), np.float32)
    shardings = {"w": jax.P("data", None)}, jax.P(None, "data")
    for function in (step, jax.jit(step)):
        found = sdy.explain(function, *args, mesh=mesh, in_shardings=shardings)
        assert found.title == "step"
        assert kinds(found) == ["all_reduce"]
        assert "given in the program" in str(found.value("params['w']"))
        assert "test_explain_functions.py" in str(found.collectives[0].collective.location)
    placed = jax.sharding.NamedSharding(jax.make_mesh((2,), ("data",)), jax.P())
    traced = jax.jit(step, in_shardings=placed).trace(*args)
    for program in (traced, traced.lower()):
        found = sdy.explain(program)
        assert list(found.values)[:2] == ["params['w']", "x"]
    with pytest.raises(sdy.UsageError, match="drop the positional arguments, mesh"):
        sdy.explain(traced, *args, mesh=mesh)


def test_modules_of_pytorch():
    model = torch.nn.Linear(8, 4)
    mesh = sdy.Mesh.of({"data": 2})
    x = torch.ones(2, 8)
    by_model = sdy.explain(model, x, mesh=mesh, in_shardings={"weight": (None, "data")})
    traced = sdy.torch.trace(model, x, mesh=mesh, shardings={"weight": (None, "data")})
    assert kinds(by_model) == kinds(sdy.explain(traced))
    assert str(by_model.value("weight")).startswith("weight")


def test_scopes_of_functions():

    def step(x, w):
        with jax.named_scope("mlp"):
            return x @ w

    shapes = [np.ones((4, 4), np.float32)] * 2
    specs = jax.P(None, "data"), jax.P("data", None)
    found = sdy.explain(step, *shapes, mesh=sdy.Mesh.of({"data": 2}), in_shardings=specs)
    found.check("no collectives in attention*")
    with pytest.raises(sdy.ContractViolation):
        found.check("no collectives in mlp*")


def test_tables_have_the_form_of_jax():
    """A traced module, its explanation and its partitioned program agree."""
    mesh = sdy.Mesh({"data": 4})
    module = sdy.jax.trace(
        jax.numpy.tanh, np.ones((8, 2), np.float32), mesh=mesh, in_shardings=(jax.P("data"),)
    )
    sdy.propagate(module)
    program = sdy.partition(module)
    for explained in (program, sdy.explain(module), sdy.explain(program)):
        assert "P('data', None)" in str(explained.tables()[0])
    assert '<@mesh, [{"data"}, {}]>' in str(program.tables("sdy")[0])
