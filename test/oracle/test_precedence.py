# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Of two things that are wrong, the one that C++ Shardy reports is reported."""

import itertools
import random
import re

import pytest
from case_counts import cases
from random_changes import mutated
from random_modules import random_module
from shardy import ShardyAborted, ShardyRefused

from mlir_sdy.assembly import parse
from mlir_sdy.diagnostics import SdyError

MESH = 'sdy.mesh @mesh = <["a"=2, "b"=4]>\n'
T = "tensor<8xf32>"

WRONG = {
    "the invariants of another dialect's operation": (
        f'%r = "stablehlo.add"(%a, %a) : ({T}, {T}) -> tensor<9xf32>'
    ),
    "a sharding among the attributes of an operation": (
        "%r = stablehlo.negate %a "
        f'{{sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{{"q"}}]>]>}} : {T}'
    ),
    "the sharding of an operation of the dialect": (
        f'%r = sdy.reshard %a <@mesh, [{{"q"}}]> : {T}'
    ),
    "the invariants of an operation of the dialect": (
        f"%r = sdy.propagation_barrier %a allowed_direction=BOTH : {T}"
    ),
    "a call of an unknown function": f"%r = func.call @none(%a) : ({T}) -> {T}",
    "a use before the definition": f"%r = stablehlo.abs %z : {T}\n%z = stablehlo.abs %a : {T}",
    "the axes of a collective": (
        f'%r = sdy.all_gather [{{"q"}}] %a out_sharding=<@mesh, [{{}}]> : {T}'
    ),
    "the sharding of a collective": (
        f'%r = sdy.all_gather [{{"a"}}] %a out_sharding=<@mesh, [{{}}, {{}}]> : {T}'
    ),
}
"""Lines of a function with an argument `%a`; each is refused, most by another moment's check."""


def function(name, *lines, axis="a"):
    argument = f'%a: {T} {{sdy.sharding = #sdy.sharding<@mesh, [{{"{axis}"}}]>}}'
    body = "\n".join(line.replace("%r", f"%r{n}") for n, line in enumerate(lines))
    index = "%i = stablehlo.constant dense<0> : tensor<i32>"
    return f"func.func @{name}({argument}) {{\n{index}\n{body}\nfunc.return\n}}\n"


def nested(line):
    line = line.replace("%r", "%inner").replace("%z", "%later")
    return (
        f'%r = "stablehlo.case"(%i) ({{\n{line}\nstablehlo.return %a : {T}\n}}) '
        f": (tensor<i32>) -> {T}"
    )


ARRANGEMENTS = {
    "one block": lambda x, y: MESH + function("f", x, y.replace("%z", "%y")),
    "the first in a region": lambda x, y: MESH + function("f", nested(x), y),
    "the second in a region": lambda x, y: MESH + function("f", x, nested(y)),
    "two regions": lambda x, y: MESH + function("f", nested(x), nested(y)),
    "two functions": lambda x, y: MESH + function("f", x) + function("g", y),
    "a module in front": lambda x, y: (
        f"module {{ module {{\n{MESH}{function('f', x)}}}\n{MESH}{function('g', y)}}}"
    ),
    "a module behind": lambda x, y: (
        f"module {{\n{MESH}{function('g', y)} module {{\n{MESH}{function('f', x)}}}\n}}"
    ),
    "an argument": lambda x, _: MESH + function("f", x, axis="q"),
    "an argument behind": lambda x, _: MESH + function("f", x) + function("g", axis="q"),
    "a symbol in front": lambda x, _: MESH + function("f", x) + function("f"),
    "a symbol behind": lambda x, _: MESH + function("f") + function("f", x),
    "a mesh of the same name": lambda x, _: MESH + MESH + function("f", x),
}


def place_in_shardy(text, shardy):
    """The line of the first error; None if there is none, or it is without a place."""
    try:
        shardy.run(text)
    except ShardyRefused as failure:
        if match := re.search(r'"[^"]*":(\d+):\d+', str(failure)):
            return int(match[1])
    except ShardyAborted:
        pass
    return None


def place_here(text, context):
    try:
        parse(text, context)
    except SdyError as failure:
        diagnostic = failure.diagnostics[0]
        return diagnostic.location.line, diagnostic.message
    return None, ""


@pytest.mark.parametrize("arrangement", ARRANGEMENTS)
def test_the_first_of_two(arrangement, context, shardy):
    for x, y in itertools.product(WRONG, repeat=2):
        text = ARRANGEMENTS[arrangement](WRONG[x], WRONG[y])
        line, message = place_here(text, context)
        assert line == place_in_shardy(text, shardy), f"{x}; {y}: {message}\n{text}"


def test_modules_changed_twice(context, shardy):
    """Texts that can't be read included; at the end of one the places differ now and then."""
    refused, different = 0, []
    for seed in range(cases(100)):
        rng = random.Random(seed)
        text = mutated(rng, mutated(rng, random_module(seed))[1])[1]
        line, message = place_here(text, context)
        theirs = place_in_shardy(text, shardy)
        if None in (line, theirs):
            continue
        refused += 1
        if line != theirs and '@""' not in text and "UTF-8" not in message:
            different.append((seed, line, theirs, message))
    assert refused > cases(100) * 4 // 5
    assert len(different) <= max(1, refused // 50), different
