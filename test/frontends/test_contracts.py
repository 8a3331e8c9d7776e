# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Contracts for functions of JAX and modules of PyTorch, with both partitioners."""

import jax
import jax_devices  # noqa: F401 (before JAX looks for devices)
import numpy as np
import pytest
import torch

import pyshardy as sdy
from pyshardy.testing import ContractViolation, assert_communication, measure_communication

MESH = sdy.Mesh.of({"data": 4, "model": 2})
X, W = np.ones((16, 8), np.float32), np.ones((8, 8), np.float32)


def product(x, w):
    with jax.named_scope("mlp"):
        return jax.numpy.tanh(x @ w)


def kinds(measured):
    return [(each.kind, each.axes) for each in measured.collectives]


@pytest.mark.parametrize("backend", ["pyshardy", "xla"])
def test_automatic_sharding(backend):
    specs = jax.P("data", "model"), jax.P("model", None)
    keywords = {"mesh": MESH, "in_shardings": specs, "backend": backend}
    found = assert_communication(
        product, X, W, at_most={"all_reduce": 1, "all_gather": 0}, max_bytes=128, **keywords
    )
    assert kinds(found) == [("all_reduce", ("model",))]
    assert found.collectives[0].place.filename == __file__
    assert found.peak_bytes >= (16 * 8 + 8 * 8) * 4 / 8
    with pytest.raises(ContractViolation) as failure:
        assert_communication(
            jax.jit(product),
            X,
            W,
            no_axes={"model": ["all_reduce"]},
            contract="no collectives in mlp*; at most 100 bytes of memory",
            **keywords,
        )
    first, second, third = failure.value.violations
    assert (first.limit, second.limit) == ("no all_reduce along model", "no collectives in mlp*")
    assert third.limit == "at most 100 bytes of memory"
    assert "test_contracts.py:" in str(failure.value)


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"at_most": {"all_gahter": 0}}, "no collective 'all_gahter'; did you mean 'all_gather'?"),
        ({"at_most": {"all_gather": 0}, "msh": MESH}, "has no argument 'msh'"),
        (
            {"at_most": {"all_gather": 0}, "mesh": MESH, "in_shardings": (jax.P("dta"), None)},
            "has the unknown axis 'dta'",
        ),
    ],
)
def test_mistakes_in_a_contract_are_shown_in_the_test_alone(keywords, message):
    """pytest hides the frames of the package and of JAX."""
    with pytest.raises(sdy.UsageError) as failure:
        assert_communication(product, X, W, **keywords)
    assert message in str(failure.value)
    shown = [each for each in failure.traceback if not each.ishidden(failure)]
    assert [str(each.path) for each in shown] == [__file__]


@pytest.mark.parametrize("backend", ["pyshardy", "xla"])
@pytest.mark.parametrize("kind", ["Auto", "Explicit"])
def test_shard_map(backend, kind):
    kinds_of_axes = (jax.sharding.AxisType[kind],) * 2
    mesh = jax.make_mesh((4, 2), ("data", "model"), axis_types=kinds_of_axes)
    spec = jax.P("data", "model")
    mapped = jax.shard_map(
        lambda x: jax.lax.psum(x, "model"), mesh=mesh, in_specs=spec, out_specs=jax.P("data", None)
    )
    placed = jax.device_put(X, jax.sharding.NamedSharding(mesh, spec))
    found = measure_communication(mapped, placed, backend=backend)
    assert kinds(found) == [("all_reduce", ("model",))]


def test_modules_of_pytorch():
    model = torch.nn.Linear(8, 8)
    shardings = {"weight": (None, "model"), "input": ("data", "model")}
    keywords = {"mesh": MESH, "in_shardings": shardings}
    found = assert_communication(model, torch.ones(16, 8), at_most={"all_reduce": 1}, **keywords)
    assert kinds(found) == [("all_reduce", ("model",))]


def test_mistakes():
    with pytest.raises(sdy.UsageError, match="there are no limits"):
        assert_communication(product, X, W, mesh=MESH)
    with pytest.raises(sdy.UsageError, match="unknown backend 'gspmd'"):
        measure_communication(product, X, W, mesh=MESH, backend="gspmd")
    with pytest.raises(sdy.UsageError, match="drop conservative_propagation"):
        measure_communication(
            product, X, W, mesh=MESH, backend="xla", conservative_propagation=True
        )
