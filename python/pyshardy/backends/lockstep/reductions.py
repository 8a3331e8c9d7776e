# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The bodies of reducing collectives as functions on arrays.

A body of one known operation becomes a NumPy function. The local engine runs any other body as a
program that maps it over the two arrays. The same applies to arithmetic on element types that NumPy
lacks, which rounds every result.
"""

from __future__ import annotations

import numpy as np

from mlir_sdy.host import ir
from pyshardy.backends.engines.interface import Engine
from pyshardy.backends.lockstep.collectives import Combine
from pyshardy.local_program.tensor_spec import Array, TensorSpec
from pyshardy.local_program.values import spec_of

_SELECTING: dict[str, np.ufunc] = {
    "stablehlo.maximum": np.maximum,
    "stablehlo.minimum": np.minimum,
    "stablehlo.and": np.bitwise_and,
    "stablehlo.or": np.bitwise_or,
    "stablehlo.xor": np.bitwise_xor,
}
_ARITHMETIC: dict[str, np.ufunc] = {
    "stablehlo.add": np.add,
    "stablehlo.multiply": np.multiply,
}


def combination(body: ir.Region, spec: TensorSpec, engine: Engine) -> Combine:
    """The elementwise function on arrays that `body` defines for two numbers.

    Args:
        body: a region with two scalar arguments that returns one scalar.
        spec: the type of the arrays.
        engine: runs a body that is not a single known operation.
    """
    function = _numpy_function(body.blocks[0], spec)
    if function is None:
        return _evaluated(body, spec, engine)

    def combine(left: Array, right: Array) -> Array:
        with np.errstate(all="ignore"):
            # A function of arrays of rank 0 returns a bare number.
            return np.asarray(function(left, right), dtype=spec.dtype)

    return combine


def _numpy_function(block: ir.Block, spec: TensorSpec) -> np.ufunc | None:
    operations = [view.operation for view in block.operations]
    if len(operations) != 2:
        return None
    operation, terminator = operations
    function = _SELECTING.get(operation.name)
    if function is None and not spec.is_carried:
        function = _ARITHMETIC.get(operation.name)
    takes_both = {*operation.operands} == {*block.arguments}
    is_returned = list(terminator.operands) == list(operation.results)
    return function if takes_both and is_returned else None


def _evaluated(body: ir.Region, spec: TensorSpec, engine: Engine) -> Combine:
    owner = body.owner.operation
    with owner.context, ir.Location.unknown():
        element = spec_of(body.blocks[0].arguments[0].type).element
        inner = spec.with_element(element)
        dims = ", ".join(map(str, range(len(spec.shape))))
        module = ir.Module.parse(
            f"func.func @main(%a: {spec}, %b: {spec}) -> {spec} {{\n"
            f"%l = stablehlo.convert %a : ({spec}) -> {inner}\n"
            f"%r = stablehlo.convert %b : ({spec}) -> {inner}\n"
            f'%m = "stablehlo.map"(%l, %r) ({{\n'
            f"^bb0(%x: tensor<{element}>, %y: tensor<{element}>):\n"
            f"stablehlo.return %x : tensor<{element}>\n"
            f"}}) {{dimensions = array<i64{': ' + dims if dims else ''}>}} : "
            f"({inner}, {inner}) -> {inner}\n"
            f"%o = stablehlo.convert %m : ({inner}) -> {spec}\n"
            f"return %o : {spec}\n}}"
        )
        function = module.body.operations[0]
        mapping = function.regions[0].blocks[0].operations[2].operation
        region = mapping.regions[0]
        copy = owner.clone(ip=False).operation
        region.blocks[0].append_to(copy.regions[0])
        copy.regions[0].blocks[0].append_to(region)
    program = engine.compile(module)

    def combine(left: Array, right: Array) -> Array:
        return program.run([[left, right]])[0][0]

    return combine
