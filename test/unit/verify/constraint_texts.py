# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a constraint is, and the texts that the lists of constraints are made of."""

from dataclasses import dataclass

MESHES = """
sdy.mesh @m = <["a"=2, "b"=2, "c"=4, "d"=2, "e"=24]>
sdy.mesh @turned = <["a"=2, "b"=2], device_ids=[3, 2, 1, 0]>
sdy.mesh @small = <["a"=2, "b"=2]>
sdy.mesh @renamed = <["a"=2, "x"=2]>
sdy.mesh @one = <[], device_ids=[3]>
sdy.mesh @empty = <[]>
"""

T = "tensor<8x8xf32>"
X4 = "tensor<4x8xf32>"
PLAIN = "<@m, [{}, {}]>"
A = '<@m, [{"a"}, {}]>'


@dataclass(frozen=True)
class Constraint:
    """One statement of a document.

    Attributes:
        about: the operation or attribute it belongs to.
        says: the statement.
        accepted: texts that keep to it.
        refused: texts that break it.
        because: what the message for the refused texts holds.
        unless: why it is not enforced; then nothing is refused, and `accepted` breaks it.
    """

    about: str
    says: str
    accepted: tuple[str, ...]
    refused: tuple[str, ...] = ()
    because: str = ""
    unless: str = ""


def mesh(body):
    return f"sdy.mesh @new = {body}\n"


def function(operations, type_=T, attributes=""):
    return (
        f"func.func @f(%a: {type_}{attributes}, %b: {type_}) {{\n"
        f"  {operations}\n  func.return\n}}\n"
    )


def sharded(body, type_=T):
    """An argument with a sharding."""
    return function("", type_, f" {{sdy.sharding = #sdy.sharding{body}}}")


def collective(name, axes, source, out, type_=T):
    """A collective of an argument that is sharded as `source`."""
    operation = f"%0 = sdy.{name} {axes} %a out_sharding={out} : {type_}"
    return function(operation, type_, f" {{sdy.sharding = #sdy.sharding{source}}}")


def manual(ins, outs, axes, local, result=None, *, types=(T, T), body="", returned="%c"):
    """A manual computation on one value."""
    return function(
        f"%0 = sdy.manual_computation(%a) in_shardings=[{ins}] out_shardings=[{outs}] "
        f"manual_axes={{{axes}}} (%c: {local}) {{ {body} sdy.return {returned} : "
        f"{result or local} }} : ({types[0]}) -> {types[1]}",
        types[0],
    )


def rule(body, operation="stablehlo.add %a, %b", type_=T):
    return function(
        f"%0 = {operation} {{sdy.sharding_rule = #sdy.op_sharding_rule<{body}>}} : {type_}", type_
    )


def on_result(attribute, type_=T):
    return function(f"%0 = stablehlo.negate %a {{sdy.sharding = {attribute}}} : {type_}", type_)


def barrier(direction, type_=T):
    return function(
        f"%0 = sdy.propagation_barrier %a allowed_direction={direction} : {type_}", type_
    )
