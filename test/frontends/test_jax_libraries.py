# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules and functions of flax, equinox and haiku: their weights are arguments of the program."""

import equinox as eqx
import haiku as hk
import jax
import jax.numpy as jnp
import jax_devices  # noqa: F401 (before JAX looks for devices)
import numpy as np
import optax
import pytest
from flax import linen, nnx
from jax.sharding import PartitionSpec as P

import pyshardy as sdy
from mlir_sdy.diagnostics import collect

MESH = sdy.Mesh({"data": 2, "model": 4})
X = np.linspace(-1, 1, 8 * 16, dtype=np.float32).reshape(8, 16)
KEY = jax.random.key(0)


class NnxModel(nnx.Module):
    def __init__(self, rngs):
        self.up = nnx.Linear(16, 32, rngs=rngs)
        self.dropout = nnx.Dropout(0.5, rngs=rngs)
        self.down = nnx.Linear(32, 16, rngs=rngs)

    def __call__(self, x):
        return self.down(nnx.relu(self.up(x)))


class LinenModel(linen.Module):
    @linen.compact
    def __call__(self, x):
        return linen.Dense(16)(linen.relu(linen.Dense(32)(x)))


def apply(model, x):
    return model(x)


def apply_to_each(model, x):
    return jax.vmap(model)(x)


@pytest.fixture
def nnx_model():
    return NnxModel(nnx.Rngs(0))


@pytest.fixture(scope="module")
def eqx_model():
    return eqx.nn.MLP(16, 16, 32, 1, key=KEY)


NNX_NAMES = ["down.bias", "down.kernel", "up.bias", "up.kernel"]
EQX_NAMES = ["layers[0].weight", "layers[0].bias", "layers[1].weight", "layers[1].bias"]


def names_of(program):
    return [each.name for each in program.inputs]


def partitioned(function, *arguments, **keywords):
    module = sdy.jax.trace(function, *arguments, mesh=MESH, **keywords)
    return sdy.partition(sdy.propagate(module))


def weights_in(names, model):
    return [f"{model}.{name}" for name in names]


# --- flax.nnx -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "name"),
    [(apply, "model"), (nnx.jit(apply), "model")],
)
def test_functions_of_nnx_modules(function, name, nnx_model):
    program = partitioned(function, nnx_model, X, in_shardings=(None, P("data")))
    names = [each.removesuffix(".value") for each in names_of(program)]
    assert set(weights_in(NNX_NAMES, name)) < set(names)
    assert names[-1] == "x"
    assert len(program.outputs) == 1, "weights that don't change are no results"
    assert np.allclose(program.as_jax()(nnx_model, X), nnx_model(X), atol=1e-5)


@pytest.mark.parametrize("jit", [lambda model: model, nnx.jit])
def test_an_nnx_module_in_place_of_a_function(jit, nnx_model):
    """Its weights are arguments, not constants, and shardings may leave it out."""
    program = partitioned(jit(nnx_model), X, in_shardings=(P("data"),))
    names = [each.removesuffix(".value") for each in names_of(program)]
    assert set(weights_in(NNX_NAMES, "model")) < set(names)
    assert program.inputs[-1].name == "x"
    assert program.inputs[-1].local_spec.shape == (4, 16)
    arrays = [np.asarray(each) for each in jax.tree.leaves(nnx_model) if each.dtype == np.float32]
    assert len(arrays) == len(NNX_NAMES)


def test_shardings_of_a_module_as_a_tree(nnx_model):
    def sharding(path, leaf):
        if leaf.ndim < 2:
            return P()
        return P(None, "model") if "up" in jax.tree_util.keystr(path) else P("model", None)

    tree = jax.tree.map_with_path(sharding, nnx_model)
    explained = sdy.explain(nnx.jit(apply), nnx_model, X, mesh=MESH, in_shardings=(tree, P("data")))
    assert [each.kind for each in explained.program.collectives] == ["all_reduce"]
    explained = sdy.explain(nnx_model, X, mesh=MESH, in_shardings=(tree, P("data")))
    assert [each.kind for each in explained.program.collectives] == ["all_reduce"]


def test_a_training_step_of_nnx_returns_what_it_changes(nnx_model):
    @nnx.jit
    def train(model, optimizer, x):
        loss, gradients = nnx.value_and_grad(lambda model: jnp.mean(model(x) ** 2))(model)
        optimizer.update(model, gradients)
        return loss

    optimizer = nnx.Optimizer(nnx_model, optax.sgd(0.5, momentum=0.9), wrt=nnx.Param)
    program = partitioned(train, nnx_model, optimizer, X, in_shardings=(None, None, P("data")))
    names = [each.name.removesuffix(".value") for each in program.outputs]
    assert names[0] == "result[0]"
    assert set(weights_in(NNX_NAMES, "result[1]")) < set(names)
    assert any("opt_state" in name and name.startswith("result[2]") for name in names)
    flat = [np.asarray(leaf) for leaf in _arrays((nnx_model, optimizer, X))]
    results = program.run(flat)
    loss = train(nnx_model, optimizer, X)
    assert np.allclose(results[0], loss, atol=1e-5)
    kernel = program.outputs[names.index("result[1].up.kernel")]
    assert np.allclose(results[program.outputs.index(kernel)], nnx_model.up.kernel[...], atol=1e-5)


def _arrays(tree):
    """The leaves of a tree, with the bits of random number keys."""
    leaves = jax.tree.leaves(tree)
    is_key = [jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key) for leaf in leaves]
    pairs = zip(leaves, is_key, strict=True)
    return [jax.random.key_data(leaf) if key else leaf for leaf, key in pairs]


def test_arguments_that_nnx_jit_donates(nnx_model):
    @nnx.jit(donate_argnums=0)
    def scale(model):
        model.up.kernel[...] *= 2

    program = partitioned(scale, nnx_model)
    donated = {each.name: each.donated_to for each in program.inputs}
    assert donated["model.up.kernel.value"] is not None


# --- flax.linen and haiku -------------------------------------------------------------------------


def test_linen_modules_are_traced_by_apply():
    model = LinenModel()
    variables = model.init(KEY, X)
    program = partitioned(model.apply, variables, X, in_shardings=(None, P("data")))
    assert "variables['params']['Dense_0']['kernel']" in names_of(program)
    for wrong in (model, model.bind(variables)):
        with pytest.raises(
            sdy.UsageError,
            match=r"'LinenModel' of flax.linen is no function: pass "
            r"'model.apply', and the variables of 'model.init'",
        ):
            sdy.jax.trace(wrong, X)


def test_boxed_variables_of_linen():
    init = linen.with_partitioning(linen.initializers.lecun_normal(), (None, "model"))
    model = linen.Dense(32, kernel_init=init)
    variables = jax.eval_shape(model.init, KEY, X)
    shardings = linen.get_partition_spec(variables)
    program = partitioned(
        model.apply, linen.unbox(variables), X, in_shardings=(shardings, P("data"))
    )
    kernel = next(each for each in program.inputs if "kernel" in each.name)
    assert kernel.local_spec.shape == (16, 8)
    assert any("kernel" in name for name in names_of(partitioned(model.apply, variables, X)))


def _haiku_model(x):
    return hk.nets.MLP([32, 16])(x)


def test_haiku_functions_are_traced_by_apply():
    transformed = hk.without_apply_rng(hk.transform(_haiku_model))
    parameters = transformed.init(KEY, X)
    program = partitioned(transformed.apply, parameters, X, in_shardings=(None, P("data")))
    assert "params['mlp/~/linear_0']['w']" in names_of(program)
    for take in (sdy.jax.trace, sdy.explain, sdy.jax.auto_shard):
        with pytest.raises(
            sdy.UsageError,
            match=r"a 'Transformed' of haiku is a pair .*: pass "
            r"'transformed.apply'",
        ):
            take(transformed, parameters, X, mesh=MESH)


# --- equinox --------------------------------------------------------------------------------------


@pytest.mark.parametrize("function", [apply_to_each, eqx.filter_jit(apply_to_each)])
def test_functions_of_equinox_modules(function, eqx_model):
    """The activation function of the module is a leaf of its tree, and no argument."""
    program = partitioned(function, eqx_model, X, in_shardings=(None, P("data")))
    assert names_of(program) == [*weights_in(EQX_NAMES, "model"), "x"]
    arrays = [np.asarray(each) for each in jax.tree.leaves(eqx.filter(eqx_model, eqx.is_array))]
    (result,) = program.run([*arrays, X])
    assert np.allclose(result, apply_to_each(eqx_model, X), atol=1e-5)


@pytest.mark.parametrize("jit", [lambda model: model, eqx.filter_jit])
def test_an_equinox_module_in_place_of_a_function(jit, eqx_model):
    with collect() as warnings:
        program = partitioned(jit(eqx_model), X[0])
    assert not warnings
    assert names_of(program)[:-1] == weights_in(EQX_NAMES, "model")


def test_a_training_step_of_equinox(eqx_model):
    @eqx.filter_jit(donate="all")
    def train(model, x):
        def loss_of(model):
            return jnp.mean(jax.vmap(model)(x) ** 2)

        loss, gradients = eqx.filter_value_and_grad(loss_of)(model)
        return eqx.apply_updates(model, jax.tree.map(lambda each: -each, gradients)), loss

    with collect():  # x is donated, and no result has its type
        program = partitioned(train, eqx_model, X, in_shardings=(None, P("data")))
    assert [each.name for each in program.outputs] == [
        *weights_in(EQX_NAMES, "result[0]"),
        "result[1]",
    ]
    assert [each.donated_to for each in program.inputs] == [0, 1, 2, 3, None]


# --- Automatic sharding, explanations and mistakes ------------------------------------------------


def test_automatic_sharding_of_modules(nnx_model, eqx_model):
    found = sdy.jax.auto_shard(nnx.jit(apply), nnx_model, X, mesh=MESH)
    own, of_x = found.in_shardings
    assert isinstance(own, NnxModel)
    assert isinstance(of_x, jax.sharding.NamedSharding)
    own, _ = sdy.jax.auto_shard(nnx_model, X, mesh=MESH).in_shardings
    assert isinstance(own, NnxModel)
    own, _ = sdy.jax.auto_shard(apply_to_each, eqx_model, X, mesh=MESH).in_shardings
    assert isinstance(own, eqx.nn.MLP)
    assert len(jax.tree.leaves(own)) == len(EQX_NAMES)


@pytest.mark.parametrize("call", [sdy.explain, sdy.whatif])
def test_explanations_of_modules(call, nnx_model, eqx_model):
    assert call(nnx.jit(apply), nnx_model, X, mesh=MESH, in_shardings=(None, P("data")))
    assert call(nnx_model, X, mesh=MESH, in_shardings=(P("data"),))
    function = eqx.filter_jit(apply_to_each)
    assert call(function, eqx_model, X, mesh=MESH, in_shardings=(None, P("data")))


def test_why_a_bias_of_nnx_is_replicated(nnx_model):
    step = nnx.jit(lambda model, x: jnp.mean(model(x) ** 2))
    explained = sdy.explain(step, nnx_model, X, mesh=MESH, in_shardings=(None, P("data")))
    said = str(explained.value("model.up.bias.value"))
    assert 'not by "data", "model": no value that it is tied to has it' in said
    assert "model.up.kernel.value" in said
    assert "shard dimension 0 of model.up.bias.value" in said
    assert all(each.verify() for each in explained.value("model.up.bias.value").axes.values())


def test_leaves_that_are_no_arrays_stay_errors_of_jax_elsewhere():
    with pytest.raises(TypeError, match=r"<class 'str'> and was passed .* at path kind"):
        sdy.jax.trace(lambda x, kind: x * len(kind), X, "relu")
    with pytest.raises(TypeError, match=r"'sdy.jax.trace' takes a function, got 3"):
        sdy.jax.trace(3, X)
