# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prefetch in loops: all gathers of weights move, with equal numbers, and equal bytes if peeled."""

import itertools
import random

import jax_devices  # noqa: F401 (before JAX)
import numpy as np
import pytest
from case_counts import cases, spread
from local_programs import GROUPS, MESH, reduce
from scanned_layers import DEVICES, KINDS, LAYERS, traced

from mlir_sdy.assembly import parse
from mlir_sdy.model import Mesh, MeshAxis
from pyshardy.backends import spmd_program
from pyshardy.cost.hardware import Hardware, Link, load_hardware
from pyshardy.irtools.functions import main_function
from pyshardy.irtools.modules import copy_of
from pyshardy.irtools.stablehlo_views import function_type_of
from pyshardy.irtools.walks import operations_named
from pyshardy.local_program.communication import collectives_of
from pyshardy.local_program.process_groups import Layout
from pyshardy.local_program.values import spec_of
from pyshardy.pipeline import pipeline_of, run_pipeline, use
from pyshardy.program import partition
from pyshardy.timeline.durations import resource_use_of
from pyshardy.timeline.loop_collectives import loop_collectives
from pyshardy.timeline.loop_iterations import pipeline_loop
from pyshardy.timeline.run import run_timeline

WHILE = "stablehlo.while"
DATA = Mesh((MeshAxis("data", DEVICES),))
SLOW = Hardware("slow", 1e8, 1e12, 1e9, Link(1e9, 1e-6))
"""A layer of the tests computes longer than it communicates."""


def pipelined(module, schedule=False, **options):
    copy = copy_of(module)
    options = {"hardware": SLOW.text, "min_gain": 0.0, **options}
    passes = [use("sdy-pipeline-collectives", **options)]
    if schedule:
        passes.append(use("sdy-schedule-collectives", hardware=options["hardware"]))
    run_pipeline(copy, pipeline_of(*passes))
    return copy


def in_loops(module, name):
    """Return the operations of a name directly in bodies of loops without loops inside."""
    loops = operations_named({WHILE}, module)
    inner = [loop for loop in loops if not operations_named({WHILE}, loop)]
    found = operations_named({name}, module)
    return [each for each in found if each.parent.operation in inner]


def sent(module, mesh=DATA):
    return sum(each.nbytes_total for each in collectives_of(module, mesh))


def random_inputs(module, seed=0):
    rng = np.random.default_rng(seed)
    specs = [spec_of(each) for each in function_type_of(main_function(module)).inputs]
    return [
        [np.asarray(rng.standard_normal(spec.shape, np.float32) / 3) for spec in specs]
        for _ in range(DEVICES)
    ]


def outputs(engine, module, inputs):
    return spmd_program(engine, module, Layout(1, DEVICES)).run(inputs)


def assert_equal(found, expected):
    for one, other in zip(found, expected, strict=True):
        for array, wanted in zip(one, other, strict=True):
            assert np.array_equal(array, wanted, equal_nan=True)


COUNTS = {
    (layer, kind): count
    for layer in LAYERS
    for kind, count in zip(KINDS, (2, 3, 12, 4), strict=True)
}
"""The numbers of layers."""


@pytest.mark.parametrize(("layer", "kind"), COUNTS)
@pytest.mark.parametrize("zero", [False, True], ids=["annotated", "zero"])
def test_all_gathers_of_weights_move(layer, kind, zero):
    """In forward passes each weight of a layer is gathered in one loop, else in two loops."""
    count = COUNTS[layer, kind]
    module, weights = traced(kind, layer, count, zero=zero)
    local = partition(module).module
    gathers = weights * (1 if kind == "forward" else 2)
    assert len(in_loops(local, "stablehlo.all_gather")) >= gathers
    carried = [len(loop.results) for loop in operations_named({WHILE}, local)]
    found = pipelined(local, reductions=False)
    assert len(in_loops(found, "stablehlo.all_gather")) == 0
    if count > 3:
        starts = in_loops(found, "stablehlo.async_start")
        assert len(starts) >= gathers
        more = [len(loop.results) for loop in operations_named({WHILE}, found)]
        assert sum(more) - sum(carried) == len(starts)
    assert sent(found) == sent(local)
    if count == 12:
        clamped = pipelined(local, reductions=False, peel="false")
        assert len(in_loops(clamped, "stablehlo.async_start")) >= gathers
        assert sent(clamped) > sent(local)


NUMBERS = [
    (engine, layer, kind, options)
    for layer in (LAYERS if cases(1) > 1 else ["mlp"])
    for kind in KINDS
    for engine in ("xla", "jit")
    if cases(1) > 1 or engine == "xla" or kind in ("forward", "checkpointed")
    for options in ({"schedule": True}, {"peel": "false"})
]


@pytest.mark.parametrize(("engine", "layer", "kind", "options"), spread(NUMBERS, 4))
def test_numbers_are_equal(engine, layer, kind, options):
    """The weekly run takes all programs."""
    local = partition(traced(kind, layer, 3)[0]).module
    inputs = random_inputs(local)
    found = outputs(engine, pipelined(local, **options), inputs)
    assert_equal(found, outputs(engine, local, inputs))


HIDING = [each for each in COUNTS if each != ("attention", "gradient")]
"""Without the one whose saved activations are resharded, for which the link has no time left."""


@pytest.mark.parametrize("count", [4, 12])
@pytest.mark.parametrize(("layer", "kind"), HIDING)
def test_what_layers_hide(layer, kind, count):
    """On H100 with 400 Gbit/s along `data`, layers of 1.1 to 6 ms hide gathers of 1.2 ms."""
    h100 = load_hardware("h100")
    hosts = Hardware(
        "hosts",
        *(h100.flops_per_second, h100.bytes_per_second, h100.bytes_of_memory, h100.link),
        dict.fromkeys(("data", "devices"), Link(5e10, 1e-5)),  # the mesh of a local program
        flops_by_element=h100.flops_by_element,
    )
    sizes = {"batch": 512, "length": 512, "width": 4096, "hidden": 8192, "element": "bfloat16"}
    module, _ = traced(kind, layer, count, **sizes)
    before = partition(module, hardware=hosts)
    after = pipelined(before.module, hardware=hosts.text)
    assert sent(after) == sent(before.module)
    timeline = run_timeline(resource_use_of(after), collectives_of(after, DATA), hosts)
    assert timeline.seconds <= before.timeline(hosts).seconds * (1 + 1e-9)
    gathers = [
        each
        for each in timeline.collectives
        if each.collective.kind == "all_gather" and each.times > 1
    ]
    busy = sum(each.busy for each in gathers)
    assert sum(each.exposed for each in gathers) <= 0.1 * busy


# --- Random loops ---------------------------------------------------------------------------------


class RandomLoop:
    """The text of a random local program with a loop over slices of stacked values.

    Args:
        seed: the program.
    """

    def __init__(self, seed: int):
        self._random = random.Random(seed)
        self._count = 0

    def text(self) -> str:
        trips = self._random.randrange(2, 6)
        step = self._random.choice([1, 1, 2])
        start = self._random.choice([0, 0, 3])
        end = start + trips * step - self._random.randrange(step)
        rows, compared = end + 2, self._random.choice(["LT", "LE"])
        stack, row, pair = f"tensor<{rows}x4xf32>", "tensor<4xf32>", "(tensor<i32>, tensor<i32>)"
        self._rows = rows
        body, last, total = self._body()
        return f"""
          func.func @main(%w: {stack}, %v: {stack}, %x: {row}) -> ({row}, {stack}, {row}) {{
            %start = stablehlo.constant dense<{start}> : tensor<i32>
            %s:6 = stablehlo.while(%i = %start, %a = %w, %b = %v, %h = %x, %g = %w, %t = %x)
              : tensor<i32>, {stack}, {stack}, {row}, {stack}, {row}
            cond {{
              %end = stablehlo.constant dense<{end - (compared == "LE")}> : tensor<i32>
              %less = stablehlo.compare {compared}, %i, %end : {pair} -> tensor<i1>
              stablehlo.return %less : tensor<i1>
            }} do {{
              %zero = stablehlo.constant dense<0> : tensor<i32>
              %one = stablehlo.constant dense<{step}> : tensor<i32>
              %top = stablehlo.constant dense<{end}> : tensor<i32>
              %back = stablehlo.subtract %top, %i : tensor<i32>
              {body}
              %n = stablehlo.add %i, %one : tensor<i32>
              stablehlo.return %n, %a, %b, %{last}, %{total[0]}, %{total[1]}
                : tensor<i32>, {stack}, {stack}, {row}, {stack}, {row}
            }}
            return %s#3, %s#4, %s#5 : {row}, {stack}, {row}
          }}"""

    def _body(self) -> tuple[str, str, tuple[str, str]]:
        """Return the body, the value that it carries, and the sums that it writes and adds."""
        text = ""
        values = ["h"]
        for _ in range(self._random.randrange(2, 6)):
            fetched, lines = self._fetch()
            text += lines
            if self._random.random() < 0.3:
                other = self._name()
                text += f"%{other}:2 = stablehlo.optimization_barrier %{fetched}, %{values[-1]}"
                text += " : tensor<4xf32>, tensor<4xf32>\n"
                fetched, carried = f"{other}#0", f"{other}#1"
                values.append(carried)
            if self._random.random() < 0.7:
                name = self._name()
                text += reduce(name, fetched, self._random.choice([*GROUPS]))
                fetched = name
            values.append(self._name())
            kind = self._random.choice(["add", "multiply", "maximum"])
            text += f"%{values[-1]} = stablehlo.{kind} %{values[-2]}, %{fetched} : tensor<4xf32>\n"
        last = self._name()
        text += f"%{last} = stablehlo.tanh %{values[-1]} : tensor<4xf32>\n"
        row, lines = self._written(self._random.choice(values[1:]))
        text += lines
        total = self._name()
        text += reduce(f"{total}_", self._random.choice(values[1:]), "y")
        text += f"%{total} = stablehlo.add %{total}_, %t : tensor<4xf32>\n"
        return text, last, (row, total)

    def _fetch(self) -> tuple[str, str]:
        """Return a slice of a stack at the counter, from the start or the end."""
        name = self._name()
        stack, at = self._random.choice("ab"), self._random.choice(["i", "back"])
        kind = f"tensor<{self._rows}x4xf32>"
        text = (
            f"%{name}s = stablehlo.dynamic_slice %{stack}, %{at}, %zero, sizes = [1, 4]"
            f" : ({kind}, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>\n"
            f"%{name} = stablehlo.reshape %{name}s : (tensor<1x4xf32>) -> tensor<4xf32>\n"
        )
        return name, text

    def _written(self, value: str) -> tuple[str, str]:
        """Return the stack of sums with a row that is written at the counter."""
        name, kind = self._name(), f"tensor<{self._rows}x4xf32>"
        text = reduce(f"{name}_", value, self._random.choice([*GROUPS]))
        text += (
            f"%{name}r = stablehlo.reshape %{name}_ : (tensor<4xf32>) -> tensor<1x4xf32>\n"
            f"%{name} = stablehlo.dynamic_update_slice %g, %{name}r, "
            f"%{self._random.choice(['i', 'back'])}, %zero"
            f" : ({kind}, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> {kind}\n"
        )
        return name, text

    def _name(self) -> str:
        self._count += 1
        return f"v{self._count}"


def moved(module, *, first, last):
    """Move all that can be, whether it gains time or not, and return the number."""
    (loop,) = operations_named({WHILE}, module)
    found = loop_collectives(loop)
    late = [each for each in found.late if first or each.is_written]
    pipeline_loop(found, found.early, late, first=first, last=last)
    assert module.operation.verify()
    return len(found.early) + len(late)


@pytest.mark.parametrize("seed", range(cases(12)))
def test_random_loops(context, seed):
    text = RandomLoop(seed).text()
    counter = ("i32", "ui32", "i8", "ui8", "i64")[seed % 5]
    module = parse(text.replace("tensor<i32>", f"tensor<{counter}>"), context)
    inputs = random_inputs(module, seed)
    expected = outputs("interpreter", module, inputs)
    for first, last in itertools.product((False, True), repeat=2):
        found = copy_of(module)
        assert moved(found, first=first, last=last)
        if first and last:
            assert sent(found, MESH) == sent(module, MESH)
            counted = [each for each in collectives_of(found, MESH) if not each.is_peeled]
            assert len(counted) == len(collectives_of(module, MESH))
        if seed % 2:
            schedule = use("sdy-schedule-collectives", hardware=SLOW.text)
            run_pipeline(found, pipeline_of(schedule))
        assert_equal(outputs("interpreter", found, inputs), expected)
