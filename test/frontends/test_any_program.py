# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Each function of the API with each kind of program, and with what is none."""

import inspect

import jax
import jax.export
import jax_devices  # noqa: F401 (before JAX looks for devices)
import numpy as np
import pytest
import torch

import pyshardy as sdy
from pyshardy.schedules import library
from pyshardy.testing import assert_communication, measure_communication

TEXT = """sdy.mesh @mesh = <["data"=2]>
func.func @main(%x: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>})
    -> tensor<4x4xf32> {
  %0 = stablehlo.tanh %x : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
"""
MESH = sdy.Mesh({"data": 2})
ARRAY = np.ones((4, 4), np.float32)


def step(x):
    return jax.numpy.tanh(x)


class Step(torch.nn.Module):
    def forward(self, x):
        return torch.tanh(x)


def jitted():
    mesh = jax.sharding.AbstractMesh((2,), ("data",))
    sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("data"))
    return jax.jit(step, in_shardings=sharding).trace(jax.ShapeDtypeStruct((4, 4), np.float32))


def propagated():
    module = sdy.parse(TEXT)
    sdy.propagate(module)
    return module


def training():
    return sdy.torch.trace_training(
        torch.nn.Linear(4, 4),
        torch.nn.functional.mse_loss,
        torch.ones(4, 4),
        torch.ones(4, 4),
        optimizer="sgd",
        mesh=MESH,
        shardings={"input": ("data", None)},
    )


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "program.mlir"
    path.write_text(TEXT, encoding="utf-8")
    return path


HOLDING_MODULES = {
    "module": lambda _: sdy.parse(TEXT),
    "propagated module": lambda _: propagated(),
    "traced by JAX for sdy": lambda _: sdy.jax.trace(
        step, ARRAY, mesh=MESH, in_shardings=(jax.sharding.PartitionSpec("data"),)
    ),
    "traced from PyTorch": lambda _: sdy.torch.trace(
        Step(), torch.ones(4, 4), mesh=MESH, shardings={"x": ("data", None)}
    ),
    "record of propagation": lambda _: sdy.propagate(TEXT),
    "plan": lambda _: sdy.auto_shard(TEXT),
}
OTHERS = {
    "text": lambda _: TEXT,
    "file": lambda file: file,
    "name of a file": str,
    "traced by JAX": lambda _: jitted(),
    "lowered by JAX": lambda _: jitted().lower(lowering_platforms=("cpu",)),
    "exported by JAX": lambda _: jax.export.export(jax.jit(step))(ARRAY),
}
PARTITIONED = {"partitioned": lambda _: sdy.partition(propagated())}

READING = {
    "asm": lambda program: "tanh" in sdy.asm(program),
    "write": lambda program: sdy.write(program, "/dev/null") is None,
    "values": lambda program: len(sdy.values(program)) >= 2,
}
TAKING_ALL = {
    "explain": lambda program: sdy.explain(program).program,
    "whatif": lambda program: sdy.whatif(program).explained,
    "measure": lambda program: measure_communication(program).peak_bytes > 0,
    "assert": lambda program: assert_communication(program, at_most={"all_gather": 0}),
}
UNPARTITIONED = {
    "propagate": lambda program: sdy.propagate(program).module,
    "partition": lambda program: sdy.partition(program).inputs,
    "auto_shard": lambda program: sdy.auto_shard(program, mesh=MESH).module,
    "Schedule.apply": lambda program: sdy.Schedule([sdy.batch("*", axis="data")]).apply(program),
    "Schedule.propagated": lambda program: sdy.Schedule([]).propagated(program),
}
IN_PLACE = {
    "run_pipeline": lambda program: sdy.run_pipeline(program, "cse") is None,
    "verify": lambda program: sdy.verify(program) is None,
}
ALL = {**READING, **TAKING_ALL, **UNPARTITIONED, **IN_PLACE}
WITHOUT_MESH = "exported by JAX"  # of `step`, which has no shardings
ON_MESH = ("explain", "whatif", "measure", "assert", "partition", "Schedule.apply")


@pytest.mark.parametrize("kind", [*HOLDING_MODULES, *OTHERS, *PARTITIONED])
@pytest.mark.parametrize("function", ALL)
def test_every_function_takes_every_program(function, kind, file):
    program = {**HOLDING_MODULES, **OTHERS, **PARTITIONED}[kind](file)
    call = ALL[function]
    if function in IN_PLACE and kind in OTHERS:
        with pytest.raises(TypeError, match=rf"'sdy.{function}' takes a module.*: \w+ .*sdy\."):
            call(program)
    elif kind == WITHOUT_MESH and (function in ON_MESH or function.startswith("Schedule")):
        with pytest.raises(sdy.UsageError, match=r"has no mesh|a program with a mesh"):
            call(program)
    elif function in UNPARTITIONED and kind in PARTITIONED:
        with pytest.raises(sdy.UsageError, match=r"takes no program that is partitioned already"):
            call(program)
    else:
        assert call(program)


def test_training_steps_are_programs():
    traced = training()
    assert sdy.propagate(traced).module is traced.module
    assert {each.name for each in sdy.partition(traced).inputs} == set(traced.arguments)
    assert repr(traced) == "TracedTraining(3 tensors of state, 2 inputs, 3 results)"
    assert "tensor<4x4xf32>" in str(traced.tables()[0])
    assert sdy.values(sdy.parse(str(traced)))["weight"]


def test_traced_modules_are_readable():
    traced = HOLDING_MODULES["traced from PyTorch"](None)
    assert repr(traced) == "TracedModule(0 tensors of state, 1 input, 1 result)"
    assert '<@mesh, [{"data"}, {}]>' in str(traced.tables()[0])
    assert sdy.values(sdy.parse(str(traced)))["x"]


NO_PROGRAMS = {
    "None": None,
    "a number": 3,
    "a list": [TEXT],
    "an object": object(),
    "an array": ARRAY,
    "a function": step,
    "a module of PyTorch": Step(),
}


@pytest.mark.parametrize("kind", NO_PROGRAMS)
@pytest.mark.parametrize("function", [*READING, *UNPARTITIONED, *IN_PLACE])
def test_what_is_no_program(function, kind):
    """The error names what the function takes, what it got, and what to write instead."""
    with pytest.raises(TypeError, match=rf"'sdy.{function}' takes .*, got .*: .*sdy\.") as refusal:
        ALL[function](NO_PROGRAMS[kind])
    assert isinstance(refusal.value, sdy.UsageError)
    if kind == "a function":
        assert "sdy.jax." in str(refusal.value)
    if kind == "a module of PyTorch":
        assert "sdy.torch." in str(refusal.value)


@pytest.mark.parametrize("kind", ["None", "a number", "a list", "an object", "an array"])
@pytest.mark.parametrize("function", TAKING_ALL)
def test_what_is_neither_a_program_nor_a_function(function, kind):
    with pytest.raises(TypeError, match=r"'sdy.\S+' takes a function or .*, got .*: modules come"):
        TAKING_ALL[function](NO_PROGRAMS[kind])


def test_modules_of_jax_are_imported_by_the_front_end():
    lowered = jax.jit(step).lower(ARRAY)
    with pytest.raises(TypeError, match=r"by 'sdy.jax.trace' or 'sdy.jax.from_lowered'"):
        sdy.propagate(lowered.compiler_ir("stablehlo"))


OTHER_FUNCTIONS = {
    "parse": sdy.parse,
    "sharding": sdy.sharding,
    "get_sharding": sdy.get_sharding,
    "set_sharding": lambda value: sdy.set_sharding(value, sdy.sharding("<@mesh, []>")),
    "load_hardware": sdy.load_hardware,
    "partition(hardware=)": lambda value: sdy.partition(TEXT, hardware=value),
    "auto_shard(mesh=)": lambda value: sdy.auto_shard(TEXT, mesh=value),
    "run_pipeline(pipeline)": lambda value: sdy.run_pipeline(sdy.parse(TEXT), value),
    "Schedule": sdy.Schedule,
    "load_schedule": sdy.load_schedule,
    "load_rules": sdy.load_rules,
    "rule": sdy.rule,
    "sharding_rule": sdy.sharding_rule,
    "Mesh": sdy.Mesh,
    "Mesh.of": sdy.Mesh.of,
    "draw_mesh": sdy.draw_mesh,
    "Contract.parse": sdy.Contract.parse,
    "Contract.of": lambda value: sdy.Contract.of(at_most=value),
    "observed_by": sdy.observed_by,
    "register": sdy.register,
    "register_pass": sdy.register_pass,
    "register_pipeline": sdy.register_pipeline,
    "tactic": sdy.tactic,
    "jax.trace": sdy.jax.trace,
    "jax.auto_shard": lambda value: sdy.jax.auto_shard(value, mesh=MESH),
    "jax.from_exported": sdy.jax.from_exported,
}


@pytest.mark.parametrize("name", OTHER_FUNCTIONS)
def test_other_arguments_of_a_wrong_type(name):
    with pytest.raises(TypeError) as refusal:
        OTHER_FUNCTIONS[name](3)
    assert "got" in str(refusal.value) or "not int" in str(refusal.value)  # as Python says it


def test_the_table_has_every_function_that_takes_a_program():
    """A function of the API with a parameter named like a program is in the table above."""
    named = {
        name
        for name in sdy.__all__
        if inspect.isroutine(value := getattr(sdy, name))
        and next(iter(inspect.signature(value).parameters), "") in ("module", "program")
    }
    tactics = {name for name in named if hasattr(library, name)}
    assert named - tactics == {name for name in ALL if hasattr(sdy, name)}


@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        (
            lambda: sdy.explain(step, ARRAY, msh=MESH),
            "'sdy.explain' has no argument 'msh'; did you mean 'mesh'?",
        ),
        (
            lambda: sdy.whatif(step, ARRAY, in_sharding=None),
            "'sdy.whatif' has no argument 'in_sharding'; did you mean 'in_shardings'?",
        ),
        (
            lambda: sdy.whatif(step, ARRAY, color="red"),
            "'sdy.whatif' has no argument 'color'; it has kwargs, static_argnames, mesh, "
            "in_shardings, out_shardings, hardware, report_hardware",
        ),
        (
            lambda: sdy.parse(sdy.parse(TEXT)),
            "'sdy.parse' takes the text or the file of a program, got a value of type "
            "torch_mlir._mlir_libs._mlir.ir.Module: it has a module already; 'sdy.asm' returns "
            "its text",
        ),
        (
            lambda: sdy.auto(sdy.parse(TEXT)),
            "'sdy.auto' takes options, since it is a tactic, got a value of type "
            "torch_mlir._mlir_libs._mlir.ir.Module: did you mean 'sdy.auto_shard(program)'? "
            "'sdy.Schedule([sdy.auto(...)]).apply(program)' applies it",
        ),
        (
            lambda: sdy.batch(sdy.parse(TEXT), axis="data"),
            "'sdy.batch' takes options, since it is a tactic, got a value of type "
            "torch_mlir._mlir_libs._mlir.ir.Module: "
            "'sdy.Schedule([sdy.batch(...)]).apply(program)' applies it",
        ),
        (
            lambda: sdy.Mesh(data=4),
            "the sizes of axes are given by a dictionary: Mesh({'data': 4})",
        ),
    ],
)
def test_arguments_that_do_not_exist(mistake, message):
    with pytest.raises(TypeError) as refusal:
        mistake()
    assert str(refusal.value) == message


def test_meshes_of_other_libraries():
    devices = np.array(jax.devices()[:1]).reshape(1, 1)
    assert sdy.Mesh.of(jax.sharding.Mesh(devices, ("a", "b"))) == sdy.Mesh({"a": 1, "b": 1})
    abstract = jax.sharding.AbstractMesh((2, 4), ("data", "model"))
    assert sdy.Mesh.of(abstract) == sdy.Mesh(abstract) == sdy.Mesh({"data": 2, "model": 4})
    reordered = sdy.Mesh({"x": 2}, [1, 0])
    assert sdy.Mesh.of(reordered) is reordered
    assert sdy.draw_mesh(abstract).svg == sdy.draw_mesh(sdy.Mesh.of(abstract)).svg


def test_automatic_sharding_takes_the_default_hardware_of_all_functions():
    for function in (sdy.auto_shard, sdy.jax.auto_shard, sdy.torch.auto_shard, sdy.auto):
        assert inspect.signature(function).parameters["hardware"].default == "default"
