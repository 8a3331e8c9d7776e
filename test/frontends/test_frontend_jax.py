# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of JAX come in, and what is made of them runs on arrays of JAX."""

import importlib
import inspect
import re
from typing import NamedTuple

import jax
import jax.export
import jax_devices  # noqa: F401 (before JAX looks for devices)
import numpy as np
import pytest
from case_counts import cases
from jax import numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec
from jax_programs import RandomFunction

import pyshardy as sdy
from mlir_sdy.diagnostics import UsageError, redirect, remarks
from mlir_sdy.values import argument_shardings, result_shardings
from pyshardy.program import run_unpartitioned

P = PartitionSpec
MESH = sdy.Mesh.of({"a": 2, "b": 4})
ROWS = sdy.sharding('<@mesh, [{"a"}, {}]>')


def layer(parameters, x):
    return jnp.tanh(x @ parameters["in"]) @ parameters["out"] + parameters["bias"]


PARAMETERS = {
    "in": jnp.linspace(-1, 1, 16 * 8).reshape(16, 8),
    "out": jnp.linspace(1, -1, 8 * 16).reshape(8, 16),
    "bias": jnp.arange(16.0),
}
X = jnp.linspace(0, 1, 64).reshape(4, 16)
MEGATRON = {"in": P(None, "b"), "out": P("b", None), "bias": P()}


def mesh_of_devices(kind=AxisType.Auto):
    return jax.make_mesh((2, 4), ("a", "b"), axis_types=(kind, kind))


def entry_of(module):
    return next(view for view in module.body.operations if view.operation.name == "func.func")


def partitioned(module):
    sdy.propagate(module)
    return sdy.partition(module)


def traced_layer(mesh=MESH, **options):
    return sdy.jax.trace(
        layer, PARAMETERS, X, in_shardings=(MEGATRON, P("a")), mesh=mesh, **options
    )


def check(outputs, expected):
    jax.tree.map(
        lambda a, b: np.testing.assert_allclose(a, b, rtol=2e-4, atol=1e-3), outputs, expected
    )


# --- In -----------------------------------------------------------------------------------------


def test_arguments_are_named_by_their_paths():
    program = partitioned(traced_layer())
    names = [port.name for port in program.inputs]
    assert names == ["parameters['bias']", "parameters['in']", "parameters['out']", "x"]


def test_collectives_lead_to_the_source():
    (collective,) = partitioned(traced_layer()).collectives
    _, first_line = inspect.getsourcelines(layer)
    assert collective.location.filename == __file__
    assert collective.location.line == first_line + 1


def test_records_lead_to_the_source():
    module = traced_layer()
    record = sdy.propagate(module)
    product = next(
        view.operation.results[0]
        for view in entry_of(module).operation.regions[0].blocks[0].operations
        if view.operation.name == "stablehlo.tanh"
    )
    assert f"{__file__}:" in str(record.explain(product))


def test_diagnostics_lead_to_the_source():
    def sorted_along_shards(x):
        return jnp.sort(x, axis=0)  # which is a function of its own

    module = sdy.jax.trace(sorted_along_shards, X, in_shardings=ROWS, mesh=MESH)
    sdy.propagate(module)
    found = []
    with remarks(), redirect(found.append):
        sdy.partition(module)
    _, first_line = inspect.getsourcelines(sorted_along_shards)
    place = next(one.location for one in found if "stablehlo.sort" in one.message)
    assert (place.filename, place.line) == (__file__, first_line + 1)


def test_what_a_function_does_not_use_is_an_argument_still():
    module = sdy.jax.trace(lambda x, _: x, X, X, in_shardings=(None, ROWS), mesh=MESH)
    assert argument_shardings(entry_of(module)) == [None, ROWS]


def test_prefixes_of_trees_and_all_kinds_of_shardings():
    module = sdy.jax.trace(
        lambda tree, x: (tree["u"] + x, {"v": tree["v"]}),
        {"u": X, "v": X},
        X,
        in_shardings=(ROWS, P("b")),
        out_shardings=(NamedSharding(mesh_of_devices(), P(None, "b")), ROWS),
        mesh=mesh_of_devices(),
    )
    along_b = sdy.sharding('<@mesh, [{"b"}, {}]>')
    columns = sdy.sharding('<@mesh, [{}, {"b"}]>')
    assert argument_shardings(entry_of(module)) == [ROWS, ROWS, along_b]
    assert result_shardings(entry_of(module)) == [columns, ROWS]


def test_the_mesh_in_force_counts():
    with jax.set_mesh(mesh_of_devices()):
        module = sdy.jax.trace(lambda x: x, X, in_shardings=P("a"))
    assert argument_shardings(entry_of(module)) == [ROWS]


def test_shardings_of_arrays_count():
    array = jax.device_put(X, NamedSharding(mesh_of_devices(), P("a")))
    module = sdy.jax.trace(lambda x: x * 2, array)
    assert argument_shardings(entry_of(module)) == [ROWS]


def test_manual_regions_and_constraints_are_kept():
    mesh = mesh_of_devices()

    def function(x):
        y = jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P("a")))
        total = jax.shard_map(
            lambda part: jax.lax.psum(part, "b"), mesh=mesh, in_specs=P("a", "b"), out_specs=P("a")
        )
        return total(y)

    lowered = jax.jit(function).lower(X)
    text = sdy.asm(sdy.jax.from_lowered(lowered))
    assert 'sdy.sharding_constraint %arg0 <@mesh, [{"a"}, {}]>' in text
    assert 'manual_axes={"a", "b"}' in text


def test_what_is_lowered_leaves_out_what_it_does_not_use():
    lowered = jax.jit(
        lambda tree: tree["v"] + 1, in_shardings=NamedSharding(mesh_of_devices(), P("a"))
    ).lower({"u": X, "v": X})
    program = partitioned(sdy.jax.from_lowered(lowered))
    assert len(program.inputs) == 1
    check(program.as_jax()({"u": X, "v": X}), X + 1)


@pytest.mark.parametrize("form", ["object", "bytes", "file"])
def test_exported_functions(form, tmp_path):
    shardings = {name: NamedSharding(mesh_of_devices(), spec) for name, spec in MEGATRON.items()}
    rows = NamedSharding(mesh_of_devices(), P("a"))
    exported = jax.export.export(jax.jit(layer, in_shardings=(shardings, rows)))(PARAMETERS, X)
    source = exported
    if form != "object":
        pytest.importorskip("flatbuffers", reason="JAX serializes by this package")
        source = bytes(exported.serialize())
    if form == "file":
        path = tmp_path / "layer.jax"
        path.write_bytes(source)
        source = path
    program = partitioned(sdy.jax.from_exported(source))
    assert [one.kind for one in program.collectives] == ["all_reduce"]
    check(program.as_jax()(PARAMETERS, X), layer(PARAMETERS, X))


# --- Out ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(cases(6)))
def test_random_functions(seed):
    function = RandomFunction(seed)
    module = sdy.jax.trace(
        function, *function.arguments, in_shardings=function.in_shardings, mesh=function.mesh
    )
    compiled = partitioned(module).as_jax()
    on_devices = jax.device_put(function.arguments, compiled.in_shardings[0])
    with jax.transfer_guard("disallow"):
        outputs = compiled(*on_devices)
    assert jax.tree.map(lambda array: array.sharding, outputs) == compiled.out_shardings
    check(outputs, function(*function.arguments, constrained=False))


@pytest.mark.parametrize("kind", [AxisType.Auto, AxisType.Explicit])
def test_between_compiled_functions_nothing_goes_by_the_host(kind):
    mesh = mesh_of_devices(kind)
    compiled = partitioned(traced_layer(mesh)).as_jax(mesh)
    assert compiled.out_shardings == NamedSharding(compiled.mesh, P("a", None))
    before = jax.jit(lambda x: x * 2)
    after = jax.jit(jnp.sin)

    def all_in_one(parameters, x):
        return after(compiled(parameters, before(x)))

    arguments = jax.device_put((PARAMETERS, X), compiled.in_shardings[0])
    with jax.transfer_guard("disallow"):
        step_by_step = all_in_one(*arguments)
        at_once = jax.jit(all_in_one)(*arguments)
    for outputs in (step_by_step, at_once):
        check(outputs, jnp.sin(layer(PARAMETERS, X * 2)))
        assert outputs.sharding.is_equivalent_to(compiled.out_shardings, 2)


@pytest.mark.parametrize("where", ["given", "traced", "in force"])
def test_arrays_whose_types_tell_their_shardings(where):
    mesh = mesh_of_devices(AxisType.Explicit)
    program = partitioned(traced_layer(mesh if where == "traced" else MESH))
    with jax.set_mesh(mesh):
        compiled = program.as_jax(mesh if where == "given" else None)
        assert compiled.mesh == mesh
        columns = jax.device_put(X, NamedSharding(mesh, P(None, "b")))
        rows = jax.device_put(X, NamedSharding(mesh, P("a", None)))
        for x in (rows, columns, X, np.asarray(X)):
            check(compiled(PARAMETERS, x), layer(PARAMETERS, X))
            check(jax.jit(compiled)(PARAMETERS, x), layer(PARAMETERS, X))
        with_residual = jax.jit(lambda x: compiled(PARAMETERS, x) + x)(rows)
    check(with_residual, layer(PARAMETERS, X) + X)


def test_gradients_are_refused():
    compiled = partitioned(traced_layer()).as_jax()
    with pytest.raises(
        UsageError, match="cannot be differentiated: trace and partition its gradient"
    ):
        jax.grad(lambda x: compiled(PARAMETERS, x).sum())(X)


def test_the_program_inside_is_the_partitioned_one():
    compiled = partitioned(traced_layer()).as_jax()
    arguments = jax.device_put((PARAMETERS, X), compiled.in_shardings[0])
    text = jax.jit(compiled).lower(*arguments).compile().as_text()
    assert text.count("all-reduce(") == 1
    assert "f32[2,2]" in text, "the local rows by the local columns"


def test_what_is_laid_out_otherwise_is_laid_out_anew():
    compiled = partitioned(traced_layer()).as_jax()
    elsewhere = NamedSharding(mesh_of_devices(AxisType.Explicit), P(None, "b"))
    x = jax.device_put(X, elsewhere)
    check(compiled(PARAMETERS, x), layer(PARAMETERS, X))


def test_the_devices_of_the_trace_are_used():
    devices = jax.devices()[::-1]
    mesh = jax.sharding.Mesh(np.array(devices).reshape(2, 4), ("a", "b"))
    compiled = partitioned(traced_layer(mesh)).as_jax()
    assert list(compiled.mesh.devices.flat) == devices
    check(compiled(PARAMETERS, X), layer(PARAMETERS, X))


def test_less_devices_than_there_are():
    mesh = sdy.Mesh.of({"a": 3})
    x = jnp.arange(12.0)
    module = sdy.jax.trace(jnp.cumsum, x, in_shardings=P("a"), mesh=mesh)
    compiled = partitioned(module).as_jax()
    assert compiled.mesh.size == 3
    check(compiled(x), jnp.cumsum(x))


SHUFFLED = """
sdy.mesh @mesh = <["x"=4, "y"=2], device_ids=[5, 0, 3, 7, 1, 2, 6, 4]>
func.func @main(%a: tensor<16x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>})
    -> (tensor<16x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", "x"}, {}]>}, tensor<6xf32>,
        tensor<3x6xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%a, %zero) <{
    padding = dense<[[1, 1], [0, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 3, 1>
  }> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %s = stablehlo.add %l, %r : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<16x6xf32>, tensor<f32>) -> tensor<16x6xf32>
  %1 = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0]
    : (tensor<16x6xf32>, tensor<f32>) -> tensor<6xf32>
  %2 = stablehlo.slice %a [5:8, 0:6] : (tensor<16x6xf32>) -> tensor<3x6xf32>
  return %0, %1, %2 : tensor<16x6xf32>, tensor<6xf32>, tensor<3x6xf32>
}
"""


def test_devices_with_ids_in_another_order():
    module = sdy.parse(SHUFFLED, sdy.Context())
    program = partitioned(module)
    a = jnp.arange(96.0).reshape(16, 6)
    kinds = {one.kind for one in program.collectives}
    assert {"all_reduce", "collective_permute"} <= kinds
    assert "partition_id" in sdy.asm(program.module)
    compiled = program.as_jax()
    assert [device.id for device in compiled.mesh.devices.flat] == [5, 0, 3, 7, 1, 2, 6, 4]
    padded = jnp.pad(a, ((1, 1), (0, 0)))
    check(compiled(a), (padded[:-2] + a + padded[2:], a.sum(0), a[5:8]))


def test_small_types():
    def function(x, y, z, flag):
        return (x * 2, y.astype(jnp.float8_e4m3fn) + jnp.float8_e4m3fn(1), z.real, ~flag)

    x = jnp.arange(8, dtype=jnp.bfloat16)
    y = jnp.arange(8, dtype=jnp.float16)
    z = jnp.arange(8) * (1 + 2j)
    flag = x > 3
    module = sdy.jax.trace(function, x, y, z, flag, in_shardings=P("b"), mesh=MESH)
    outputs = partitioned(module).as_jax()(x, y, z, flag)
    for found, expected in zip(outputs, function(x, y, z, flag), strict=True):
        assert found.dtype == expected.dtype
        assert (found == expected).all()


@pytest.mark.parametrize("implementation", ["threefry2x32", "rbg"])
def test_keys_of_random_numbers(implementation):
    def noisy(state, x):
        key, own = jax.random.split(state["key"])
        return {"key": key}, x + jax.random.normal(own, x.shape)

    state = {"key": jax.random.key(1, impl=implementation)}
    module = sdy.jax.trace(noisy, state, X, in_shardings=(None, P("a")), mesh=MESH)
    compiled = partitioned(module).as_jax()
    (after, y), (expected, expected_y) = compiled(state, X), noisy(state, X)
    assert after["key"].dtype == state["key"].dtype
    assert (jax.random.key_data(after["key"]) == jax.random.key_data(expected["key"])).all()
    check(y, expected_y)


def test_classes_of_the_user():
    class State(NamedTuple):
        weights: dict
        step: int

    def advance(state, x):
        return State({"w": state.weights["w"] + x}, state.step + 1)

    state = State({"w": X}, 3)
    module = sdy.jax.trace(advance, state, X, in_shardings=(None, P("a")), mesh=MESH)
    after = partitioned(module).as_jax()(state, X)
    assert isinstance(after, State)
    check(after, State({"w": X * 2}, jnp.int32(4)))


# --- Errors -------------------------------------------------------------------------------------


def test_wrong_arguments():
    compiled = partitioned(traced_layer()).as_jax()
    with pytest.raises(
        UsageError,
        match=r"x must be an array of float32 of shape \(4, 16\), got: float32 of shape \(3, 16\)",
    ):
        compiled(PARAMETERS, X[:3])
    with pytest.raises(UsageError, match=r"x must be an array of float32 .*, got: int32 of shape"):
        compiled(PARAMETERS, X.astype(int))
    with pytest.raises(UsageError, match=r"x must be an array of float32 .*, got: str"):
        compiled(PARAMETERS, "x")
    expected = "arguments like (({'bias': *, 'in': *, 'out': *}, *), {}), got: ((*,), {})"
    with pytest.raises(UsageError, match=re.escape(expected)):
        compiled(X)


def test_wrong_arguments_of_programs_that_jax_has_not_traced():
    program = partitioned(sdy.parse(SHUFFLED, sdy.Context()))
    with pytest.raises(UsageError, match="takes 1 array, but got 2: %a"):
        program.as_jax()(X, X)
    with pytest.raises(UsageError, match="no keyword arguments, got: a"):
        program.as_jax()(a=X)


def test_too_few_devices():
    module = sdy.jax.trace(
        lambda x: x, jnp.ones(16), in_shardings=P("a"), mesh=sdy.Mesh.of({"a": 16})
    )
    program = partitioned(module)
    message = (
        "the program is for 16 devices, but JAX has 8; .*--xla_force_host_platform_device_count=16"
    )
    with pytest.raises(UsageError, match=message):
        program.as_jax()


def test_another_mesh():
    program = partitioned(traced_layer())
    mesh = jax.make_mesh((4, 2), ("a", "b"))
    with pytest.raises(
        UsageError, match=r'for the mesh <\["a"=2, "b"=4\]> and cannot run on <\["a"=4, "b"=2\]>'
    ):
        program.as_jax(mesh)
    with pytest.raises(UsageError, match=r"expected a jax.sharding.Mesh to run on, got: int"):
        program.as_jax(8)


def test_shardings_on_meshes_of_different_orders():
    text = """
    sdy.mesh @one = <["x"=8]>
    sdy.mesh @other = <["y"=8], device_ids=[7, 6, 5, 4, 3, 2, 1, 0]>
    func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@one, [{"x"}]>})
        -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@other, [{"y"}]>}) {
      return %a : tensor<8xf32>
    }
    """
    program = partitioned(sdy.parse(text, sdy.Context()))
    with pytest.raises(
        UsageError, match="no JAX mesh fits the shardings of all arguments and results"
    ):
        program.as_jax()


def test_wrong_shardings():
    with pytest.raises(UsageError, match=r"requires a mesh: pass 'mesh'"):
        sdy.jax.trace(layer, PARAMETERS, X, in_shardings=(None, P("a")))
    with pytest.raises(
        UsageError, match=r"refers to the mesh @mesh, which is not declared; pass 'mesh'"
    ):
        sdy.jax.trace(layer, PARAMETERS, X, in_shardings=(None, ROWS))
    with pytest.raises(UsageError, match=r"expected a NamedSharding, .* got: 'a'"):
        sdy.jax.trace(layer, PARAMETERS, X, in_shardings=(None, "a"), mesh=MESH)
    with pytest.raises(
        UsageError, match="the shardings do not match the function: pjit in_shardings"
    ):
        sdy.jax.trace(lambda x: x, X, in_shardings={"x": ROWS}, mesh=MESH)
    with pytest.raises(UsageError, match=r"x has 2 dimensions, but its .* has 1: give None"):
        sdy.jax.trace(lambda x: x, X, in_shardings=sdy.sharding("<@mesh, [{}]>"), mesh=MESH)
    with pytest.raises(UsageError, match="JAX orders the devices itself"):
        sdy.jax.trace(lambda x: x, X, mesh=sdy.Mesh.of({"a": 2}, [1, 0]))


def test_what_is_not_from_jax():
    with pytest.raises(
        UsageError, match=r"expected the result of 'jax.jit\(f\).lower\(...\)', got: str"
    ):
        sdy.jax.from_lowered("module {}")
    with pytest.raises(UsageError, match=r"the data is not a program that 'jax.export' serialized"):
        sdy.jax.from_exported(b"nonsense")
    with pytest.raises(UsageError, match=r"cannot read '/nowhere/f.jax': No such file"):
        sdy.jax.from_exported("/nowhere/f.jax")


def test_a_function_for_several_platforms():
    def step(x):
        return jax.lax.platform_dependent(x, cpu=jnp.sin, tpu=jnp.cos) + jnp.linalg.cholesky(x)

    matrix = jnp.eye(4) * 2
    exported = jax.export.export(jax.jit(step), platforms=("tpu", "cpu"))(matrix)
    module = sdy.jax.from_exported(exported, platform="cpu")
    assert "stablehlo.case" not in sdy.asm(module)
    assert "cosine" not in sdy.asm(module)
    (result,) = run_unpartitioned(module, [np.asarray(matrix)])
    np.testing.assert_allclose(result, step(matrix), rtol=1e-6)
    assert "cosine" in sdy.asm(sdy.jax.from_exported(exported.serialize(), platform="tpu"))
    with pytest.raises(UsageError, match=r"'step' was exported for tpu and cpu: use .*'tpu' or"):
        sdy.jax.from_exported(exported)
    with pytest.raises(UsageError, match="'step' was exported for tpu and cpu, not for 'cuda'"):
        sdy.jax.from_exported(exported, platform="cuda")


def test_types_of_64_bits():
    text = """
    sdy.mesh @m = <["x"=2]>
    func.func @main(%a: tensor<4xi64>) -> tensor<4xi64> { return %a : tensor<4xi64> }
    """
    program = partitioned(sdy.parse(text, sdy.Context()))
    with pytest.raises(
        UsageError, match=r"values of int64, for which JAX requires jax.config.update"
    ):
        program.as_jax()


# --- Keyword arguments, shardings of JAX, errors ----------------------------------------------


def scaled(x, w, *, mode="product", scale=2):
    return (x @ w) * scale if mode == "product" else x + w


def test_keyword_arguments():
    x = np.ones((8, 8), np.float32)
    static = ("mode", "scale")
    kwargs = {"w": x, "mode": "sum"}
    plain = sdy.jax.trace(scaled, x, kwargs=kwargs, static_argnames=static)
    assert list(sdy.values(plain)) == ["x", "w", "%0", "result"]
    specs = (P("a"), P("a"))
    sharded = sdy.jax.trace(
        scaled, x, kwargs=kwargs, static_argnames=static, mesh=MESH, in_shardings=specs
    )
    assert sdy.get_sharding(sdy.values(sharded)["w"]) == ROWS
    by_name = sdy.jax.trace(lambda x, n: x * n, x, 3, static_argnames="n")
    assert next(iter(sdy.values(by_name))) == "x"
    with pytest.raises(UsageError, match="can't shard the keyword-only arguments scale"):
        sdy.jax.trace(scaled, x, x, kwargs={"scale": x}, mesh=MESH, in_shardings=specs)
    with pytest.raises(UsageError, match="unexpected keyword argument 'q'"):
        sdy.jax.trace(scaled, x, x, kwargs={"q": x}, mesh=MESH, in_shardings=specs)


def test_shardings_of_partition_specs():
    assert sdy.sharding(P("a", None)) == ROWS
    assert str(sdy.sharding(P(P.UNCONSTRAINED, ("a", "b")), "m")) == '<@m, [{?}, {"a", "b"}]>'


def test_batching_and_foreign_devices_are_refused_with_names():
    x = np.ones((8, 8), np.float32)
    module = sdy.jax.trace(
        lambda weights, x: x @ weights["in"], {"in": x}, x, mesh=MESH, in_shardings=(P("a"), P())
    )
    sdy.propagate(module)
    program = sdy.partition(module).as_jax(jax.make_mesh((2, 4), ("a", "b")))
    assert repr(program) == "JaxProgram(mesh {'a': 2, 'b': 4}, 2 arguments, 1 result)"
    with pytest.raises(UsageError, match=r"trace and partition jax\.vmap\(f\) instead"):
        jax.vmap(program, (None, 0))({"in": x}, np.ones((3, 8, 8), np.float32))
    elsewhere = jax.device_put(x, jax.sharding.SingleDeviceSharding(jax.devices()[5]))
    with pytest.raises(UsageError, match=r"Got argument weights\['in'\] with shape"):
        program({"in": elsewhere}, x)


def test_texts_keep_names_and_the_lines_of_the_user(tmp_path, monkeypatch):
    library = tmp_path / "site-packages"
    library.mkdir()
    (library / "installed_layers.py").write_text("def dense(x, w):\n    return x @ w\n")
    monkeypatch.syspath_prepend(library)
    layers = importlib.import_module("installed_layers")

    def step(params, x):
        with jax.named_scope("mlp"):
            return layers.dense(x, params["w"])  # the line of the user

    x = np.ones((8, 8), np.float32)
    module = sdy.jax.trace(step, {"w": x}, x, mesh=MESH, in_shardings=(P("a"), P()))
    path = tmp_path / "step.mlir"
    sdy.write(module, path)
    again = sdy.values(sdy.parse(path))
    assert str(sdy.get_sharding(again["params['w']"])) == str(ROWS)
    line = inspect.getsourcelines(step)[1] + 2
    (product,) = again.find(f"test_frontend_jax.py:{line}")
    assert product == again["result[0]"] == again["result"]
    text = path.read_text()
    assert "jit(step)/mlp/dot_general" in text
    assert "installed_layers" not in text
    assert text.strip() == sdy.asm(module).strip()
    assert "loc(" not in sdy.asm(module, debug_info=False)
    sdy.write(module, path, debug_info=False)
    assert "loc(" not in path.read_text()
