# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shardings of traced functions refer to the mesh of the request, and wrong ones are errors."""

import re

import jax
import jax_devices  # noqa: F401 (before JAX looks for devices)
import numpy as np
import pytest
from jax import lax
from jax import numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec

import pyshardy as sdy

P = PartitionSpec
MESH = sdy.Mesh.of({"a": 2, "b": 4})
X = np.ones((8, 16), np.float32)


def constrained(mesh):
    """A function with a constraint on a mesh of JAX, which JAX declares as `@mesh`."""
    return lambda x: jax.lax.with_sharding_constraint(jnp.sin(x), NamedSharding(mesh, P(None, "a")))


def names_of_meshes(module):
    return [
        view.operation.attributes["sym_name"].value
        for view in module.body.operations
        if view.operation.name == "sdy.mesh"
    ]


@pytest.mark.parametrize("name", ["mesh", "other"])
def test_a_name_that_jax_gave_to_another_mesh(name):
    """The axes are those of the request, not those of the constraint."""
    wide = jax.make_mesh((4, 2), ("a", "b"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
    rows = sdy.sharding(f'<@{name}, [{{"a"}}, {{}}]>')
    module = sdy.jax.trace(
        constrained(wide), X, mesh=MESH, in_shardings=rows, out_shardings=sdy.sharding(P("b", None))
    )
    sdy.propagate(module)
    program = sdy.partition(module)
    assert program.inputs[0].local_spec.shape == (4, 16)
    assert program.outputs[0].local_spec.shape == (2, 16)
    np.testing.assert_allclose(program.as_jax()(X), np.sin(X), rtol=1e-6)


def test_a_name_that_jax_gave_to_the_same_mesh():
    same = jax.make_mesh((2, 4), ("a", "b"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
    module = sdy.jax.trace(constrained(same), X, mesh=MESH, in_shardings=sdy.sharding(P("a", None)))
    assert names_of_meshes(module) == ["mesh"]


@pytest.mark.parametrize(
    ("shardings", "reason"),
    [
        (P("aa"), "P('aa',) has the unknown axis 'aa'; the axes of the mesh are: 'a', 'b'"),
        (P(("a", "b"), "a"), "has the axis 'a' twice"),
        (P(None, None, "a"), "the shardings do not match the function: One of pjit arguments"),
        (P(None, ("a", "b")), "may be uneven: sdy.sharding(PartitionSpec('x', None))"),
    ],
)
def test_partition_specs_that_do_not_fit(shardings, reason):
    with pytest.raises(sdy.UsageError, match=re.escape(reason)):
        sdy.jax.trace(jnp.sin, X[:, :12], mesh=MESH, in_shardings=shardings)


def test_a_similar_axis_is_suggested():
    with pytest.raises(sdy.UsageError, match="'data', 'model'; did you mean 'model'"):
        sdy.jax.trace(
            jnp.sin, X, mesh=sdy.Mesh.of({"data": 2, "model": 4}), in_shardings=P("modle")
        )


def test_unconstrained_dimensions():
    spec = P(P.UNCONSTRAINED, "b")
    with pytest.raises(sdy.UsageError, match=r"use sdy.sharding\(P\(UNCONSTRAINED, 'b'\)\)"):
        sdy.jax.trace(jnp.sin, X, mesh=MESH, in_shardings=spec)
    module = sdy.jax.trace(jnp.sin, X, mesh=MESH, in_shardings=sdy.sharding(spec))
    sdy.propagate(module)
    assert sdy.partition(module).inputs[0].local_spec.shape == (8, 4)


def test_shardings_of_other_results():
    with pytest.raises(sdy.UsageError, match="out_shardings must be a tree prefix of the results"):
        sdy.jax.trace(jnp.sin, X, mesh=MESH, out_shardings=(P("a"), P("b")))


@pytest.mark.parametrize("mesh", [{"a": 2}, 8, "a=2"])
def test_what_is_no_mesh(mesh):
    with pytest.raises(
        sdy.UsageError, match=r"expected an sdy.Mesh .* got: .*; a mesh is sdy.Mesh"
    ):
        sdy.jax.trace(jnp.sin, X, mesh=mesh)


@pytest.mark.parametrize("name", ["\u03b1", "a\\b", ""])
def test_names_of_axes_at_which_xla_ends_the_process(name):
    mesh = sdy.Mesh.of({name: 2, "b": 4})
    rows = sdy.TensorSharding(
        "mesh", (sdy.DimensionSharding((sdy.AxisRef(name),)), sdy.DimensionSharding())
    )
    module = sdy.jax.trace(jnp.sin, X, mesh=mesh, in_shardings=rows)
    sdy.propagate(module)
    program = sdy.partition(module)
    with pytest.raises(sdy.UsageError, match="XLA cannot read the name of the mesh axis"):
        program.as_jax()
    (found,) = program.run([X], "xla")
    np.testing.assert_allclose(found, np.sin(X), rtol=1e-6)


@pytest.mark.parametrize("name", ["a b", '"', "a\n"])
def test_unusual_names_of_axes(name):
    mesh = sdy.Mesh.of({name: 2, "b": 4})
    module = sdy.jax.trace(jnp.sin, X, mesh=mesh, in_shardings=P(name))
    sdy.propagate(module)
    np.testing.assert_allclose(sdy.partition(module).as_jax()(X), np.sin(X), rtol=1e-6)


def by_columns(x):
    return lax.with_sharding_constraint(jnp.sin(x), P(None, "a"))


@pytest.mark.parametrize("shardings", [None, P("b"), sdy.sharding(P("b", None))])
@pytest.mark.parametrize("argument", [X, jnp.asarray(X), jax.ShapeDtypeStruct(X.shape, X.dtype)])
@pytest.mark.parametrize("kind", ["ours", "abstract", "devices"])
def test_partition_specs_inside_the_function(kind, argument, shardings):
    """They refer to the mesh of the request."""
    automatic = (jax.sharding.AxisType.Auto,) * 2
    mesh = {
        "ours": lambda: MESH,
        "abstract": lambda: jax.sharding.AbstractMesh((2, 4), ("a", "b"), axis_types=automatic),
        "devices": lambda: jax.make_mesh((2, 4), ("a", "b"), axis_types=automatic),
    }[kind]()
    for function in (by_columns, jax.jit(by_columns)):
        module = sdy.jax.trace(function, argument, mesh=mesh, in_shardings=shardings)
        sdy.propagate(module)
        program = sdy.partition(module)
        assert program.outputs[0].local_spec.shape[1] == 8
        np.testing.assert_allclose(program.run([X])[0], np.sin(X), rtol=1e-6)


def test_a_shard_map_without_a_mesh():
    def total(x):
        return jax.shard_map(lambda rows: lax.psum(rows, "a"), in_specs=P("a"), out_specs=P())(x)

    module = sdy.jax.trace(total, X, mesh=MESH)
    sdy.propagate(module)
    (found,) = sdy.partition(module).run([X])
    np.testing.assert_array_equal(found, X[:4] + X[4:])
    with pytest.raises(ValueError, match="context mesh cannot be empty"):
        sdy.jax.trace(total, X)


def test_partition_specs_beside_a_shard_map_over_a_mesh_of_its_own():
    """The function has no need of a mesh in force, so that there is none."""
    own = jax.make_mesh((2, 4), ("i", "j"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
    function = jax.shard_map(jnp.sin, mesh=own, in_specs=P("i"), out_specs=P("i"))
    module = sdy.jax.trace(function, X, mesh=MESH, in_shardings=sdy.sharding(P("a", None)))
    assert set(names_of_meshes(module)) >= {"mesh"}


@pytest.mark.parametrize("mesh", [None, "explicit"])
def test_partition_specs_without_a_mesh_that_fits(mesh):
    """JAX says how to give one: axes of other kinds change what the function may do."""
    if mesh == "explicit":
        mesh = jax.make_mesh((2, 4), ("a", "b"), axis_types=(jax.sharding.AxisType.Explicit,) * 2)
    with pytest.raises(RuntimeError, match=r"define a context mesh via `jax\.set_mesh"):
        sdy.jax.trace(by_columns, X, mesh=mesh)


@pytest.mark.parametrize("order", [1, -1])
def test_arrays_are_drawn_as_jax_shards_them(order):
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:8][::order]).reshape(2, 4), ("a", "b"))
    for spec in (P("a", "b"), P(("a", "b")), P(None, "b"), P()):
        array = jax.device_put(X, NamedSharding(mesh, spec))
        drawn = {
            tile.where: set(tile.devices)
            for (panel,) in sdy.draw(array).figure.panels
            for row in panel.tiles
            for tile in row
        }
        held = {}
        for device, index in array.sharding.devices_indices_map(X.shape).items():
            ends = (each.indices(size)[:2] for each, size in zip(index, X.shape, strict=True))
            where = ", ".join(f"{start}:{end}" for start, end in ends)
            held.setdefault(f"[{where}]", set()).add(device.id)
        assert drawn == held
    assert "1 device" in repr(sdy.draw(jnp.ones(3)))
