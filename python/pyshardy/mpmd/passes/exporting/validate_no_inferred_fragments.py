# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-validate-no-inferred-fragments`."""

from __future__ import annotations

from mlir_sdy.host import ir
from mlir_sdy.mpmd.reading import FRAGMENT, is_user_fragment
from pyshardy.irtools.walks import operations_named
from pyshardy.mpmd.options import FailOnInferredFragments
from pyshardy.mpmd.rewriting.marks import inferred_by
from pyshardy.mpmd.rewriting.meshes import report
from pyshardy.pipeline import register_pass


@register_pass("mpmd-validate-no-inferred-fragments", release="0.10.2")
def validate_no_inferred_fragments(
    module: ir.Module, *, fail_on_inferred_fragments: FailOnInferredFragments = False
) -> None:
    """Report inferred fragments that are left.

    Raises:
        PassError: there is one, and it is an error.
    """
    for fragment in operations_named({FRAGMENT}, module):
        if not is_user_fragment(fragment):
            passes = ", ".join(inferred_by([fragment])) or "an unknown pass"
            message = f"Inferred fragment has not been merged (inferred by {passes})"
            report(fragment, message, fails=fail_on_inferred_fragments)
