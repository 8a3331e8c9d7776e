# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-collect-guards`: write the conditions on dynamic sizes under which a plan holds."""

from __future__ import annotations

from typing import Annotated, Literal

from mlir_sdy.host import ir
from pyshardy.dynamic.guards import conditions_of, guards_of, ports_of
from pyshardy.irtools.analyses import UNCHANGED, UNKNOWN, Changes
from pyshardy.irtools.modules import write_texts
from pyshardy.pipeline import register_pass
from pyshardy.pipeline.options import Help
from pyshardy.sizes.signature import GUARDS, is_dynamic, signature_of


@register_pass("sdy-collect-guards", release="pyshardy")
def collect_guards(
    module: ir.Module,
    *,
    uneven: Annotated[
        Literal["default", "guard", "pad", "unshard"],
        Help("what is done at sizes that the shards don't divide"),
    ] = "default",
) -> Changes:
    """Write the guards of a propagated program to its attribute `sdy.guards`.

    A guard is a condition on a size, such as that the number of the shards of a dimension divides
    it, with the reason and what is done where it doesn't hold. See the guide to guards. By default,
    dimensions that the user sharded are padded, and those that only propagation sharded are left
    unsharded.
    """
    if not is_dynamic(module):
        return UNCHANGED
    signature = signature_of(module)
    inputs, outputs = ports_of(module, signature)
    policy = None if uneven == "default" else uneven
    guards = guards_of((*inputs, *outputs), signature.symbols, policy)
    conditions = conditions_of(module, signature.symbols)
    write_texts(module, GUARDS, map(str, (*guards, *conditions)))
    return UNKNOWN
