# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Named computations, and calls that ask for it, are calls in the partitioned program."""

import random

import numpy as np
import pytest
from case_counts import cases

import pyshardy as sdy
from mlir_sdy.host import ir
from mlir_sdy.traversal import operations_in
from pyshardy.backends.arrays.comparison import compare
from pyshardy.program import run_unpartitioned

KEEPS = (
    'mhlo.frontend_attributes = {_xla_compute_type = "host"}',
    'mhlo.frontend_attributes = {_xla_compute_type = "dense", inlineable = "false"}',
    'mhlo.frontend_attributes = {_xla_stream_annotation = "1", inlineable = "false"}',
    '_xla_compute_type = "host"',
    'inlineable = "false"',
    "inlineable = false",
    "no_inline",
)
INLINED = ('mhlo.frontend_attributes = {inlineable = "true"}', 'note = "x"', "inlineable = true")
AXES = ("", '"x"', '"y"', '"x", "y"', '"y":(1)2')


class Writer:
    """Writes a random program, and remembers which calls have to stay."""

    def __init__(self, rng):
        self.rng = rng
        self.shape = (rng.choice([4, 7, 8]), rng.choice([8, 13]))
        self.type = f"tensor<{self.shape[0]}x{self.shape[1]}xf32>"
        self.count = 0
        self.kept = {}  # the name and attributes by the tags of calls
        self.inlined = set()
        self.functions = []

    def new(self):
        self.count += 1
        return self.count

    def body(self, value, depth, terminator):
        """Lines that make a value of `value`, and return it."""
        lines = []
        for _ in range(self.rng.choice([1, 2, 3])):
            write = self.rng.choice([self.plain, self.computation, self.call])
            value, text = (write if depth < 2 else self.plain)(value, depth)
            lines.append(text)
        return "\n".join([*lines, f"{terminator} {value} : {self.type}"])

    def plain(self, value, _):
        """Operations that need communication or not, under a sharding."""
        number, sharding = self.new(), ", ".join(f"{{{self.rng.choice(AXES)}}}" for _ in range(2))
        if sharding.count('"') > 2:
            sharding = '{"x"}, {"y"}'
        return (
            f"%r{number}",
            f"""
          %c{number} = sdy.sharding_constraint {value} <@mesh, [{sharding}]> : {self.type}
          %n{number} = stablehlo.negate %c{number} : {self.type}
          %t{number} = stablehlo.reverse %n{number}, dims = [0] : {self.type}
          %r{number} = stablehlo.add %t{number}, {value} : {self.type}""",
        )

    def computation(self, value, depth):
        """A named computation, whose name others may have, too."""
        number, name = self.new(), self.rng.choice(["block", "layer", "f2"])
        self.kept[number] = (name, self.rng.choice(["", KEEPS[0], INLINED[1]]))
        tags = ", ".join(filter(None, (f"tag = {number}", self.kept[number][1])))
        return (
            f"%v{number}",
            f"""
          %v{number} = sdy.named_computation<"{name}">({value}) (%a{number}: {self.type}) {{
            {self.body(f"%a{number}", depth + 1, "sdy.return")}
          }} {{{tags}}} : ({self.type}) -> {self.type}""",
        )

    def call(self, value, depth):
        """A call of a function, once or twice, that may have to stay."""
        name = f"f{self.new()}"
        function = f"func.func private @{name}(%a: {self.type}) -> {self.type} "
        # Not in the order of the calls.
        self.functions.append(f"{function}{{\n{self.body('%a', depth + 1, 'return')}\n}}")
        lines = []
        for _ in range(self.rng.choice([1, 2])):
            number = self.new()
            attributes = self.rng.choice([*KEEPS, *INLINED])
            if attributes in KEEPS:
                self.kept[number] = (name, attributes)
            else:
                self.inlined.add(number)
            lines.append(
                f"%v{number} = call @{name}({value}) {{{attributes}, tag = {number}}}"
                f" : ({self.type}) -> {self.type}"
            )
            value = f"%v{number}"
        return value, "\n".join(lines)


@pytest.mark.parametrize("propagates", [True, False])
@pytest.mark.parametrize("seed", range(cases(5)))
def test_calls_stay(seed, propagates):
    rng = random.Random(seed)
    writer = Writer(rng)
    main = writer.body("%x", 0, "return")
    text = f"""
      sdy.mesh @mesh = <["x"=2, "y"=4]>
      func.func @main(%x: {writer.type} {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{"y"}}]>}})
          -> {writer.type} {{ {main} }}
      """ + "\n".join(writer.functions)
    context = sdy.Context()
    module = sdy.parse(text, context)
    if propagates:
        sdy.propagate(module)
    made = sdy.partition(module)
    found = set()
    for each in operations_in(made.module.operation):
        if each.name == "func.call":
            tag = each.attributes["tag"].value
            assert tag not in writer.inlined, text
            name, attributes = writer.kept[tag]
            callee = each.attributes["callee"].value
            assert callee == name or callee.startswith(f"{name}_"), text
            given = context_attributes(attributes, context)
            assert dict(each.attributes.items()) == {
                **given,
                "callee": each.attributes["callee"],
                "tag": each.attributes["tag"],
            }
            found.add(tag)
    assert found == writer.kept.keys(), text
    x = np.random.default_rng(seed).standard_normal(writer.shape).astype(np.float32)
    expected = run_unpartitioned(module, [x], "interpreter")
    for port, result, wanted in zip(made.outputs, made.run([x]), expected, strict=True):
        assert compare(result, wanted, port.spec).is_small, text


def context_attributes(text, context):
    """The attributes that stand in a text."""
    dictionary = ir.Attribute.parse(f"{{{text}}}", context) if text else ()
    return {each.name: each.attr for each in dictionary}
