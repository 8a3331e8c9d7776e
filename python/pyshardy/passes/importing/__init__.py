# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Passes that prepare a module for propagation, each a function of a module or of a function.

    from pyshardy.passes import importing

    importing.apply_sharding_constraints(module)

They are imported when first used.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from pyshardy.passes.package import PassPackage

if TYPE_CHECKING:
    from pyshardy.passes.importing.add_data_flow_edges import add_data_flow_edges
    from pyshardy.passes.importing.add_func_data_flow_edges import add_func_data_flow_edges
    from pyshardy.passes.importing.apply_sharding_constraints import apply_sharding_constraints
    from pyshardy.passes.importing.constant_or_scalar_splitter import constant_or_scalar_splitter
    from pyshardy.passes.importing.explicit_gather_scatter_batching import (
        explicit_gather_scatter_batching,
    )
    from pyshardy.passes.importing.flatten_call_graph import flatten_call_graph
    from pyshardy.passes.importing.flatten_tuples import flatten_tuples
    from pyshardy.passes.importing.import_func_calls import import_func_calls
    from pyshardy.passes.importing.lift_inlined_meshes import lift_inlined_meshes
    from pyshardy.passes.importing.manual_axes_cleanup import manual_axes_cleanup
    from pyshardy.passes.importing.pre_order_funcs import pre_order_funcs
    from pyshardy.passes.importing.propagate_sharding_from_func_to_call import (
        propagate_sharding_from_func_to_call,
    )
    from pyshardy.passes.importing.remove_size_one_axes import remove_size_one_axes
    from pyshardy.passes.importing.sharding_group_import import sharding_group_import

__all__ = [
    "add_data_flow_edges",
    "add_func_data_flow_edges",
    "apply_sharding_constraints",
    "constant_or_scalar_splitter",
    "explicit_gather_scatter_batching",
    "flatten_call_graph",
    "flatten_tuples",
    "import_func_calls",
    "lift_inlined_meshes",
    "manual_axes_cleanup",
    "pre_order_funcs",
    "propagate_sharding_from_func_to_call",
    "remove_size_one_axes",
    "sharding_group_import",
]


sys.modules[__name__].__class__ = PassPackage
