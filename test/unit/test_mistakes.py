# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mistakes of users of the Python interface: what the errors and warnings say."""

from dataclasses import replace

import numpy as np
import pytest

import pyshardy as sdy
from mlir_sdy.diagnostics import collect
from pyshardy.backends import registry
from pyshardy.cost.hardware import load_hardware, presets
from pyshardy.frontends.files import load

PROGRAM = """sdy.mesh @mesh = <["data"=2]>
func.func @main(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}]>},
                %weights: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.subtract %a, %weights : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""


@pytest.fixture(scope="module")
def context():
    return sdy.Context()


@pytest.fixture(scope="module")
def module(context):
    module = sdy.parse(PROGRAM, context)
    sdy.propagate(module)
    return module


@pytest.fixture(scope="module")
def program(module):
    return sdy.partition(module)


@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        (
            lambda _: sdy.propagate(_, conservative=True),
            "'sdy.propagate' has no argument 'conservative'; did you mean "
            "'conservative_propagation'?",
        ),
        (
            lambda _: sdy.run_pipeline(_, "sdy-basic-propagat"),
            "<pass-pipeline>:1:1: error: unknown pass 'sdy-basic-propagat'; did you mean "
            "'sdy-basic-propagate'?",
        ),
        (
            lambda _: sdy.run_pipeline("text", "cse"),
            "'sdy.run_pipeline' takes a module, or a traced program that holds one, got 'text': "
            "read it by 'module = sdy.parse(...)' first",
        ),
        (
            lambda _: sdy.partition(_, hardware="h10"),
            "unknown hardware 'h10': expected one of {presets}, or a .toml file; did you mean "
            "'h100'?",
        ),
        (lambda _: registry.registered("qq"), "unknown backend 'qq'; there are: {backends}"),
        (lambda _: registry.registered("ire"), "unknown backend 'ire'; did you mean 'iree'?"),
        (
            lambda _: sdy.parse("nosuch.txt", _.context),
            "'nosuch.txt' looks like a path: pass pathlib.Path('nosuch.txt') to read that file",
        ),
        (lambda _: load(b" \n", _.context, "f"), "f: error: the file is empty"),
        (
            lambda _: load(b"\x1b[2J\xff", _.context, "f"),
            "f:1:5: error: the file is neither bytecode nor UTF-8 text: byte 0xff is not valid "
            "here (invalid start byte); save it as UTF-8",
        ),
    ],
)
def test_mistakes_in_calls(mistake, message, module):
    listed = ", ".join(presets())
    backends = ", ".join(f"'{name}'" for name in registry.backend_names())
    with pytest.raises(sdy.UsageError) as refusal:
        mistake(module)
    expected = message.format(presets=listed, backends=backends) if "{" in message else message
    assert str(refusal.value) == expected


def test_names_of_values(context):
    values = sdy.values(sdy.parse(PROGRAM, context))
    with pytest.raises(sdy.UsageError, match=r"no value '%weigths': .*; did you mean '%weights'\?"):
        values.find("%weigths")


def test_modules_of_other_bindings_are_refused():
    jax = pytest.importorskip("jax")
    lowered = jax.jit(abs).lower(np.ones(2, np.float32))
    with pytest.raises(sdy.UsageError, match=r"by 'sdy.jax.trace' or 'sdy.jax.from_lowered'"):
        sdy.propagate(lowered.compiler_ir("stablehlo"))


def test_inputs_by_name(program):
    one, two = np.ones(4, np.float32), np.full(4, 2, np.float32)
    assert program.run({"%arg1": two, "arg0": one})[0].tolist() == [-1] * 4
    with pytest.raises(sdy.UsageError, match="no argument 'ag0'; did you mean 'arg0'"):
        program.run({"ag0": one, "arg1": one})
    with pytest.raises(sdy.UsageError, match="no array 'weights'; the arguments are 'a'"):
        program.run({"arg0": one})


def test_arrays_that_are_no_list(program):
    one = np.ones(4, np.float32)
    with pytest.raises(sdy.UsageError, match=r"arrays are one list: 'program.run\(\[x, y\]\)'"):
        program.run(one, one)


@pytest.mark.parametrize("word", [3, None])
def test_values_that_are_no_text(word, module):
    with pytest.raises(sdy.UsageError, match=f"by its name or its line, .* got {word}"):
        sdy.explain(PROGRAM).value(word)
    assert word not in sdy.values(module)


def test_links_along_axes_that_no_mesh_has(module):
    hardware = load_hardware("h100")
    with collect() as found:
        sdy.partition(module, hardware=replace(hardware, axes={"dta": hardware.link}))
    assert [each.message.partition("link along ")[2] for each in found] == [
        'the axis "dta", which no mesh has: it isn\'t used; the axes are "data"; did you mean '
        '"data"?'
    ]


def test_arguments_that_do_not_exist(module):
    with pytest.raises(sdy.UsageError, match="no argument 'unevn'; did you mean 'uneven'"):
        sdy.partition(module, unevn="pad")
    with pytest.raises(sdy.UsageError, match="no argument 'cahce'; did you mean 'cache'"):
        sdy.propagate(module, cahce="folder")
    with pytest.raises(sdy.UsageError, match="takes a function or a module of PyTorch"):
        sdy.explain([module], mesh={"data": 2})


def test_a_program_is_told_the_arrays_that_it_takes(program):
    with pytest.raises(sdy.UsageError, match="takes 2 arrays, but got 1: %a, %weights"):
        program.run([np.zeros(4, np.float32)])
