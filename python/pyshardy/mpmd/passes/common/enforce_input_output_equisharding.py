# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-enforce-input-output-equisharding`."""

from __future__ import annotations

from mlir_sdy.host import ir
from mlir_sdy.mpmd.building import transfer
from mlir_sdy.mpmd.reading import body_of, returned_values
from mlir_sdy.traversal import terminator_of
from mlir_sdy.values import (
    argument_shardings,
    result_shardings,
    set_argument_shardings,
    set_result_shardings,
)
from pyshardy.irtools.functions import update_type
from pyshardy.mpmd.options import Constraints, read_constraints
from pyshardy.mpmd.rewriting.functions import entry_points, set_returned
from pyshardy.pipeline import register_pass


@register_pass("mpmd-enforce-input-output-equisharding", release="0.10.2")
def enforce_input_output_equisharding(module: ir.Module, *, constraints: Constraints = ()) -> None:
    """Make results have the mesh, the memory and the sharding of the arguments they must match.

    A result on another mesh is transferred. If one of both has no sharding, it gets the other's.
    """
    for function in entry_points(module):
        arguments, returned = body_of(function).arguments, returned_values(function)
        terminator = terminator_of(body_of(function))
        given, made = argument_shardings(function), result_shardings(function)
        for index, output in read_constraints(constraints):
            expected = arguments[index].type
            if returned[output].type != expected:
                with ir.InsertionPoint(terminator), terminator.location:
                    returned[output] = transfer(returned[output], expected)
            given[index] = given[index] or made[output]
            made[output] = given[index]
        set_returned(function, returned)
        update_type(function)
        set_argument_shardings(function, dict(enumerate(given)))
        set_result_shardings(function, dict(enumerate(made)))
