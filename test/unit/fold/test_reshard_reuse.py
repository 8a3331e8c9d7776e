# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reshards of one value: taken together or one by one, the outcome is the same."""

import random

import pytest

from mlir_sdy.assembly import asm, parse
from mlir_sdy.dialect import Context
from mlir_sdy.fold import canonicalize, reshard_reuse

T = "tensor<8x8xf32>"
SHARDINGS = [
    '<@m, [{"a"}, {}]>',
    '<@m, [{"b"}, {}]>',
    '<@m, [{}, {"a"}]>',
    '<@m, [{"a", ?}, {}]>',
    '<@m, [{}, {}], unreduced={"a"}>',
]


@pytest.fixture(scope="module")
def context():
    return Context()


def function(operations, returned):
    mesh = 'sdy.mesh @m = <["a"=2, "b"=2]>'
    body = "\n".join(operations)
    return f"{mesh}\nfunc.func @f(%x: {T}) -> {T} {{\n{body}\nreturn {returned} : {T}\n}}"


def used(result, value):
    return (
        f"{result} = stablehlo.custom_call @use({value}) {{has_side_effect = true}} : ({T}) -> {T}"
    )


def random_program(rng):
    """Reshards of few values, some of them dead, among operations of other kinds."""
    values, operations = ["%x"], []
    for index in range(rng.randrange(3, 25)):
        value, result = rng.choice([*values[-4:], "%x"]), f"%v{index}"
        sharding = rng.choice(SHARDINGS[: rng.choice((1, 2, 5))])
        reshard = f"{result} = sdy.reshard {value} {sharding} : {T}"
        operations += rng.choices(
            [
                [reshard],
                [used(result, value)],
                [f"{result} = stablehlo.negate {value} : {T}"],
                [f"{result} = stablehlo.transpose {value}, dims = [1, 0] : ({T}) -> {T}"],
                [
                    f"%flat{index} = stablehlo.reshape {value} : ({T}) -> tensor<64xf32>",
                    f"{result} = stablehlo.reshape %flat{index} : (tensor<64xf32>) -> {T}",
                ],
            ],
            [60, 15, 10, 7, 8],
        )[0]
        values.append(result)
    return function(operations, rng.choice(values))


def test_together_as_one_by_one(context, monkeypatch):
    together = reshard_reuse.serve_equal_ones
    served = 0

    def counted(reshard, rewriter):
        nonlocal served
        has_served = together(reshard, rewriter)
        served += has_served
        return has_served

    for seed in range(300):
        text = random_program(random.Random(seed))
        printed = []
        for step in (counted, lambda *_: False):
            monkeypatch.setattr(reshard_reuse, "serve_equal_ones", step)
            module = parse(text, context)
            canonicalize(module)
            printed.append(asm(module))
        assert printed[0] == printed[1], f"seed {seed}\n{text}"
    assert served > 50


@pytest.mark.parametrize("kinds", [1, 5])
def test_many_reshards_of_one_value(kinds, context, monkeypatch):
    """Not every one is compared with every other."""
    compared = 0
    serves = reshard_reuse.serves

    def counted(*arguments):
        nonlocal compared
        compared += 1
        return serves(*arguments)

    monkeypatch.setattr(reshard_reuse, "serves", counted)
    count = 500
    operations = []
    for index in range(count):
        sharding = SHARDINGS[index % kinds]
        operations += [
            f"%r{index} = sdy.reshard %x {sharding} : {T}",
            used(f"%u{index}", f"%r{index}"),
        ]
    module = parse(function(operations, "%x"), context)
    canonicalize(module)
    distinct = len(set(SHARDINGS[:kinds]) - {SHARDINGS[3]})  # which places data as the first does
    assert asm(module).count("sdy.reshard") == distinct
    assert compared < 2 * kinds * count
