# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scheduled collectives: equal numbers, no more time, and no more memory than allowed."""

import itertools
import random

import numpy as np
import pytest
from case_counts import cases, spread
from corpus_programs import OPTIONS, PROGRAMS, CorpusProgram
from local_programs import GROUPS, HARDWARE, MESH, reduce, tanh

from mlir_sdy.assembly import asm, parse
from pyshardy.api import propagate
from pyshardy.backends import spmd_program
from pyshardy.irtools.modules import copy_of
from pyshardy.local_program.communication import collectives_of
from pyshardy.local_program.errors import ExecutionError
from pyshardy.local_program.process_groups import Layout
from pyshardy.pipeline import pipeline_of, run_pipeline, use
from pyshardy.program import partition
from pyshardy.timeline.durations import resource_use_of
from pyshardy.timeline.run import run_timeline

KIND = "tensor<4xf32>"


class RandomProgram:
    """The text of a random local program, with loops and branches.

    Args:
        seed: the program.
    """

    def __init__(self, seed: int):
        self._random = random.Random(seed)
        self._count = 0

    def text(self) -> str:
        values = ["a", "b", "c"]
        body = self._block(values, self._random.randrange(4, 30), 0)
        returned = values[-2:]
        kinds = ", ".join([KIND] * len(returned))
        names = ", ".join(f"%{each}" for each in returned)
        arguments = f"%a: {KIND}, %b: {KIND}, %c: {KIND}, %p: tensor<i1>"
        return (
            f"func.func @main({arguments}) -> ({kinds}) {{\n"
            "%zero = stablehlo.constant dense<0> : tensor<i32>\n"
            "%one = stablehlo.constant dense<1> : tensor<i32>\n"
            "%three = stablehlo.constant dense<3> : tensor<i32>\n"
            f"{body}return {names} : {kinds}\n}}\n"
        )

    def _block(self, values: list[str], size: int, depth: int) -> str:
        """Return operations, and add the names of their results to `values`."""
        return "".join(self._operation(values, depth) for _ in range(size))

    def _operation(self, values: list[str], depth: int) -> str:
        self._count += 1
        name = f"v{self._count}"
        first, second = self._random.choices(values[-6:], k=2)
        kind = self._random.choice(
            ["tanh", "tanh", "add", "reverse", "reduce", "reduce", "permute", "barrier", "pair"]
            + ["loop", "branch"] * (depth < 2)
        )
        text = getattr(self, f"_{kind}")(name, first, second, depth)
        values.append(name)
        return text

    def _tanh(self, name: str, first: str, *_: object) -> str:
        return tanh(name, first)

    def _add(self, name: str, first: str, second: str, _: int) -> str:
        return f"%{name} = stablehlo.add %{first}, %{second} : {KIND}\n"

    def _reverse(self, name: str, first: str, *_: object) -> str:
        return f"%{name} = stablehlo.reverse %{first}, dims = [0] : {KIND}\n"

    def _reduce(self, name: str, first: str, *_: object) -> str:
        return reduce(name, first, self._random.choice([*GROUPS]))

    def _permute(self, name: str, first: str, *_: object) -> str:
        devices = [*range(8)]
        self._random.shuffle(devices)
        pairs = [[at, to] for at, to in enumerate(devices)]
        return (
            f'%{name} = "stablehlo.collective_permute"(%{first}) <{{source_target_pairs = '
            f"dense<{pairs}> : tensor<8x2xi64>, channel_handle = "
            f"#stablehlo.channel_handle<handle = 1, type = 1>}}> : ({KIND}) -> {KIND}\n"
        )

    def _barrier(self, name: str, first: str, second: str, _: int) -> str:
        return (
            f"%{name}_:2 = stablehlo.optimization_barrier %{first}, %{second} : {KIND}, {KIND}\n"
            f"%{name} = stablehlo.add %{name}_#0, %{name}_#1 : {KIND}\n"
        )

    def _pair(self, name: str, first: str, second: str, _: int) -> str:
        """A collective of two operands, which stays synchronous."""
        one = reduce(f"{name}_", first)
        one = one.replace(f'"(%{first})', f'"(%{first}, %{second})').replace("_ =", "_:2 =", 1)
        one = one.replace(
            f"}}) : ({KIND}) -> {KIND}", f"}}) : ({KIND}, {KIND}) -> ({KIND}, {KIND})"
        )
        return f"{one}%{name} = stablehlo.add %{name}_#0, %{name}_#1 : {KIND}\n"

    def _loop(self, name: str, first: str, second: str, depth: int) -> str:
        inner = [f"{name}c", second]
        body = self._block(inner, self._random.randrange(2, 8), depth + 1)
        return (
            f"%{name}r:2 = stablehlo.while(%{name}i = %zero, %{name}c = %{first})"
            f" : tensor<i32>, {KIND}\n"
            f"cond {{ %{name}l = stablehlo.compare LT, %{name}i, %three"
            " : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
            f"stablehlo.return %{name}l : tensor<i1> }} do {{\n{body}"
            f"%{name}n = stablehlo.add %{name}i, %one : tensor<i32>\n"
            f"stablehlo.return %{name}n, %{inner[-1]} : tensor<i32>, {KIND} }}\n"
            f"%{name} = stablehlo.negate %{name}r#1 : {KIND}\n"
        )

    def _branch(self, name: str, first: str, second: str, depth: int) -> str:
        texts: list[str] = []
        for _ in range(2):
            inner = [first, second]
            text = self._block(inner, self._random.randrange(1, 6), depth + 1)
            texts.append(f"{text}stablehlo.return %{inner[-1]} : {KIND}\n")
        both = "}, {\n".join(texts)
        return f'%{name} = "stablehlo.if"(%p) ({{\n{both}}}) : (tensor<i1>) -> {KIND}\n'


def scheduled(module, **options):
    copy = copy_of(module)
    options = {"hardware": HARDWARE.text, "window": 1e-5, **options}
    run_pipeline(copy, pipeline_of(use("sdy-schedule-collectives", **options)))
    return copy


def written(module):
    use_of = resource_use_of(module)
    return run_timeline(use_of, collectives_of(module, MESH), HARDWARE, "written")


@pytest.mark.parametrize("seed", range(cases(8)))
def test_random_programs(context, seed):
    """The weekly run has 160."""
    module = parse(RandomProgram(seed).text(), context)
    before = written(module)
    found = scheduled(module, in_flight=1 + seed % 2)
    after = written(found)
    assert after.seconds <= before.seconds * (1 + 1e-9)
    assert asm(scheduled(found, in_flight=1 + seed % 2)) == asm(found)
    tight = scheduled(module, memory=f"{before.peak_bytes}B")
    assert written(tight).peak_bytes <= before.peak_bytes
    layout = Layout(1, MESH.total_size)
    rng = np.random.default_rng(seed)
    inputs = [
        [*(rng.standard_normal(4, np.float32) for _ in range(3)), np.array(bool(seed % 2))]
        for _ in range(layout.size)
    ]
    expected = spmd_program("interpreter", module, layout).run(inputs)
    for each in (found, tight):
        for one, other in zip(
            spmd_program("interpreter", each, layout).run(inputs), expected, strict=True
        ):
            for array, wanted in zip(one, other, strict=True):
                assert np.array_equal(array, wanted, equal_nan=True)


def nbytes_total(program):
    return sum(each.nbytes_total for each in program.collectives)


ENGINES = ("xla", "jit")


@pytest.mark.parametrize(
    ("engine", "path"),
    spread([*itertools.product(ENGINES, PROGRAMS)], 8),
    ids=lambda each: getattr(each, "stem", each),
)
def test_corpus(context, engine, path):
    """XLA takes asynchronous collectives; all compute what they compute without overlap."""
    corpus = CorpusProgram(path, context)
    module = parse(path.read_text(), context)
    propagate(module)
    program = partition(module, hardware="h100", overlap="all")
    plain = partition(module, hardware="h100")
    counted = [each for each in program.collectives if not each.is_peeled]
    assert len(counted) == len(plain.collectives)
    assert nbytes_total(program) == nbytes_total(plain)
    try:
        expected = plain.run(corpus.inputs, engine, OPTIONS)
    except ExecutionError:  # a custom call of JAX, which XLA alone runs
        with pytest.raises(ExecutionError):
            program.run(corpus.inputs, engine, OPTIONS)
        return
    found = program.run(corpus.inputs, engine, OPTIONS)
    for one, other in zip(found, expected, strict=True):
        assert np.array_equal(one, other, equal_nan=True)
