# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Passes that clean a module up after propagation, each a function of a module or of a function.

    from pyshardy.passes import exporting

    exporting.close_shardings(module)

They are imported when first used.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from pyshardy.passes.package import PassPackage

if TYPE_CHECKING:
    from pyshardy.passes.exporting.close_shardings import close_shardings
    from pyshardy.passes.exporting.constant_or_scalar_merger import constant_or_scalar_merger
    from pyshardy.passes.exporting.drop_sharding_and_mesh import drop_sharding_and_mesh
    from pyshardy.passes.exporting.drop_sharding_rules import drop_sharding_rules
    from pyshardy.passes.exporting.export_named_computations import export_named_computations
    from pyshardy.passes.exporting.inline_meshes import inline_meshes
    from pyshardy.passes.exporting.insert_func_call_reshards import insert_func_call_reshards
    from pyshardy.passes.exporting.propagate_to_func_results import propagate_to_func_results
    from pyshardy.passes.exporting.remove_all_gather_reduce_scatter_for_cmv1 import (
        remove_all_gather_reduce_scatter_for_cmv1,
    )
    from pyshardy.passes.exporting.remove_propagation_debug_info import (
        remove_propagation_debug_info,
    )
    from pyshardy.passes.exporting.remove_sharding_groups import remove_sharding_groups
    from pyshardy.passes.exporting.remove_sub_axes_in_input_output_shardings import (
        remove_sub_axes_in_input_output_shardings,
    )
    from pyshardy.passes.exporting.sharding_constraint_to_reshard import (
        sharding_constraint_to_reshard,
    )
    from pyshardy.passes.exporting.sink_data_flow_edges import sink_data_flow_edges
    from pyshardy.passes.exporting.sink_func_data_flow_edges import sink_func_data_flow_edges
    from pyshardy.passes.exporting.unflatten_call_graph import unflatten_call_graph
    from pyshardy.passes.exporting.update_non_divisible_input_output_shardings import (
        update_non_divisible_input_output_shardings,
    )
    from pyshardy.passes.exporting.verify_unreduced_axes import verify_unreduced_axes

__all__ = [
    "close_shardings",
    "constant_or_scalar_merger",
    "drop_sharding_and_mesh",
    "drop_sharding_rules",
    "export_named_computations",
    "inline_meshes",
    "insert_func_call_reshards",
    "propagate_to_func_results",
    "remove_all_gather_reduce_scatter_for_cmv1",
    "remove_propagation_debug_info",
    "remove_sharding_groups",
    "remove_sub_axes_in_input_output_shardings",
    "sharding_constraint_to_reshard",
    "sink_data_flow_edges",
    "sink_func_data_flow_edges",
    "unflatten_call_graph",
    "update_non_divisible_input_output_shardings",
    "verify_unreduced_axes",
]


sys.modules[__name__].__class__ = PassPackage
