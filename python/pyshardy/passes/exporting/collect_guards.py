# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-collect-guards`: write the conditions on dynamic sizes under which a plan holds."""

from __future__ import annotations

from typing import Annotated, Literal

from mlir_sdy.host import ir
from pyshardy.dynamic.guards import assert_guards, conditions_of, guards_of, ports_of
from pyshardy.irtools.analyses import UNCHANGED, UNKNOWN, Changes
from pyshardy.irtools.modules import write_texts
from pyshardy.pipeline import register_pass
from pyshardy.pipeline.options import Help
from pyshardy.sizes.signature import GUARDS, is_dynamic, signature_of
from pyshardy.sizes.size_map import SizeMap


@register_pass("sdy-collect-guards", release="pyshardy")
def collect_guards(
    module: ir.Module,
    *,
    uneven: Annotated[
        Literal["default", "guard", "pad", "unshard"],
        Help("what is done at sizes that the shards don't divide"),
    ] = "default",
    assertions: Annotated[
        bool, Help("whether guards that refuse sizes become assertions of the program, too")
    ] = False,
) -> Changes:
    """Write the guards of a propagated program to its attribute `sdy.guards`.

    A guard is a condition on a size, such as that the number of the shards of a dimension divides
    it, with the reason and what is done where it doesn't hold. See the guide to guards. By default,
    dimensions that the user sharded are padded, and those that only propagation sharded are left
    unsharded.

    With `assertions`, the program itself checks what `uneven=guard` refuses, and which sizes are
    equal, by calls of `@shape_assertion`, as programs of `jax.export` do. Other tools check them
    when they refine its types; `sdy-dynamic-to-static` checks and erases them.
    """
    if not is_dynamic(module):
        return UNCHANGED
    signature = signature_of(module)
    sizes = SizeMap(module, signature)
    inputs, outputs = ports_of(module, signature, sizes)
    policy = None if uneven == "default" else uneven
    guards = guards_of((*inputs, *outputs), signature.symbols, policy)
    conditions = conditions_of(module, sizes)
    if assertions:
        assert_guards(module, signature, guards)
    write_texts(module, GUARDS, map(str, (*guards, *conditions)))
    return UNKNOWN
