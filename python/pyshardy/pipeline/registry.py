# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The passes and named pipelines that a textual pipeline can name.

The project's own passes are declared in `td/`; the table below says which function implements
each. Nothing is imported before a pass runs, so that listing them is cheap. Users add their own
with the decorators `register_pass` and `register_pipeline`.
"""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from dataclasses import replace as replace_fields
from types import MappingProxyType
from typing import Any, TypeVar

from pyshardy.pipeline.options import Option, declared_option, options_of
from pyshardy.pipeline.syntax import MODULE_ANCHOR, parse_pipeline

PassFunction = Callable[..., None]
PipelineFunction = Callable[..., str]
_Function = TypeVar("_Function", bound=Callable[..., Any])

IMPLEMENTATIONS: dict[str, str] = {
    "sdy-basic-propagate": "pyshardy.propagation.passes:basic_propagate",
    "sdy-aggressive-propagate": "pyshardy.propagation.passes:aggressive_propagate",
    "sdy-op-priority-propagate": "pyshardy.propagation.passes:op_priority_propagate",
    "sdy-user-priority-propagate": "pyshardy.propagation.passes:user_priority_propagate",
    "sdy-populate-op-sharding-rules": (
        "pyshardy.propagation.rule_attributes:populate_op_sharding_rules"
    ),
    "sdy-drop-sharding-rules": (
        "pyshardy.passes.exporting.drop_sharding_rules:drop_sharding_rules"
    ),
    "sdy-lift-inlined-meshes": (
        "pyshardy.passes.importing.lift_inlined_meshes:lift_inlined_meshes"
    ),
    "sdy-remove-size-one-axes": (
        "pyshardy.passes.importing.remove_size_one_axes:remove_size_one_axes"
    ),
    "sdy-propagate-sharding-from-func-to-call": (
        "pyshardy.passes.importing.propagate_sharding_from_func_to_call:propagate_sharding_from_func_to_call"
    ),
    "sdy-explicit-gather-scatter-batching": (
        "pyshardy.passes.importing.explicit_gather_scatter_batching:explicit_gather_scatter_batching"
    ),
    "sdy-manual-axes-cleanup": (
        "pyshardy.passes.importing.manual_axes_cleanup:manual_axes_cleanup"
    ),
    "sdy-add-data-flow-edges": (
        "pyshardy.passes.importing.add_data_flow_edges:add_data_flow_edges"
    ),
    "sdy-apply-sharding-constraints": (
        "pyshardy.passes.importing.apply_sharding_constraints:apply_sharding_constraints"
    ),
    "sdy-sharding-group-import": (
        "pyshardy.passes.importing.sharding_group_import:sharding_group_import"
    ),
    "sdy-flatten-call-graph": ("pyshardy.passes.importing.flatten_call_graph:flatten_call_graph"),
    "sdy-import-func-calls": ("pyshardy.passes.importing.import_func_calls:import_func_calls"),
    "sdy-flatten-tuples": "pyshardy.passes.importing.flatten_tuples:flatten_tuples",
    "sdy-pre-order-funcs": ("pyshardy.passes.importing.pre_order_funcs:pre_order_funcs"),
    "sdy-constant-or-scalar-splitter": (
        "pyshardy.passes.importing.constant_or_scalar_splitter:constant_or_scalar_splitter"
    ),
    "sdy-constant-splitter": (
        "pyshardy.passes.importing.constant_or_scalar_splitter:constant_or_scalar_splitter"
    ),
    "sdy-add-func-data-flow-edges": (
        "pyshardy.passes.importing.add_func_data_flow_edges:add_func_data_flow_edges"
    ),
    "sdy-constant-or-scalar-merger": (
        "pyshardy.passes.exporting.constant_or_scalar_merger:constant_or_scalar_merger"
    ),
    "sdy-sink-data-flow-edges": (
        "pyshardy.passes.exporting.sink_data_flow_edges:sink_data_flow_edges"
    ),
    "sdy-sink-func-data-flow-edges": (
        "pyshardy.passes.exporting.sink_func_data_flow_edges:sink_func_data_flow_edges"
    ),
    "sdy-export-named-computations": (
        "pyshardy.passes.exporting.export_named_computations:export_named_computations"
    ),
    "sdy-propagate-to-func-results": (
        "pyshardy.passes.exporting.propagate_to_func_results:propagate_to_func_results"
    ),
    "sdy-unflatten-call-graph": (
        "pyshardy.passes.exporting.unflatten_call_graph:unflatten_call_graph"
    ),
    "sdy-remove-sharding-groups": (
        "pyshardy.passes.exporting.remove_sharding_groups:remove_sharding_groups"
    ),
    "sdy-sharding-constraint-to-reshard": (
        "pyshardy.passes.exporting.sharding_constraint_to_reshard:sharding_constraint_to_reshard"
    ),
    "sdy-update-non-divisible-input-output-shardings": (
        "pyshardy.passes.exporting.update_non_divisible_input_output_shardings:"
        "update_non_divisible_input_output_shardings"
    ),
    "sdy-remove-sub-axes-in-input-output-shardings": (
        "pyshardy.passes.exporting.remove_sub_axes_in_input_output_shardings:"
        "remove_sub_axes_in_input_output_shardings"
    ),
    "sdy-close-shardings": "pyshardy.passes.exporting.close_shardings:close_shardings",
    "sdy-remove-propagation-debug-info": (
        "pyshardy.passes.exporting.remove_propagation_debug_info:remove_propagation_debug_info"
    ),
    "sdy-remove-all-gather-reduce-scatter-for-cmv1": (
        "pyshardy.passes.exporting.remove_all_gather_reduce_scatter_for_cmv1:"
        "remove_all_gather_reduce_scatter_for_cmv1"
    ),
    "sdy-verify-unreduced-axes": (
        "pyshardy.passes.exporting.verify_unreduced_axes:verify_unreduced_axes"
    ),
    "sdy-inline-meshes": "pyshardy.passes.exporting.inline_meshes:inline_meshes",
    "sdy-save-module": "pyshardy.pipeline.save_module:save_module",
    "sdy-insert-func-call-reshards": (
        "pyshardy.passes.exporting.insert_func_call_reshards:insert_func_call_reshards"
    ),
    "sdy-call-sharded-composites": (
        "pyshardy.partition.call_sharded_composites:call_sharded_composites"
    ),
    "sdy-inline-small-functions": ("pyshardy.partition.inline_functions:inline_small_functions"),
    "sdy-propagate-past-calls": ("pyshardy.partition.propagate_past_calls:propagate_past_calls"),
    "sdy-collectives-to-reshards": (
        "pyshardy.partition.collectives_to_reshards:collectives_to_reshards"
    ),
    "sdy-remove-propagation-barriers": (
        "pyshardy.partition.remove_propagation_barriers:remove_propagation_barriers"
    ),
    "sdy-unshard-short-dimensions": (
        "pyshardy.partition.short_dimensions:unshard_short_dimensions"
    ),
    "sdy-insert-explicit-reshards": (
        "pyshardy.partition.explicit_reshards:insert_explicit_reshards"
    ),
    "sdy-resolve-permutation-factors": (
        "pyshardy.partition.permutation_factors:resolve_permutation_factors"
    ),
    "sdy-optimize-reshards": "pyshardy.partition.optimize_reshards:optimize_reshards",
    "sdy-reshard-to-collectives": (
        "pyshardy.partition.reshard_to_collectives:reshard_to_collectives"
    ),
    "sdy-unshard-uneven-regions": "pyshardy.partition.uneven_regions:unshard_uneven_regions",
    "sdy-static-updates-to-pads": (
        "pyshardy.partition.static_updates_to_pads:static_updates_to_pads"
    ),
    "sdy-hoist-reshards": "pyshardy.partition.hoist_reshards:hoist_reshards",
    "sdy-reassociate-reductions": (
        "pyshardy.partition.reassociate_reductions:reassociate_reductions"
    ),
    "sdy-optimize-collectives": "pyshardy.partition.optimize_collectives:optimize_collectives",
    "sdy-pad-for-divisibility": "pyshardy.partition.pad_for_divisibility:pad_for_divisibility",
    "sdy-per-instruction-partitioning": (
        "pyshardy.partition.per_instruction_partitioning:per_instruction_partitioning"
    ),
    "sdy-resolve-single-device-sharding": (
        "pyshardy.partition.resolve_single_device_sharding:resolve_single_device_sharding"
    ),
    "sdy-convert-global-to-local": "pyshardy.partition.global_to_local:convert_global_to_local",
    "sdy-combine-collectives": "pyshardy.partition.combine_collectives:combine_collectives",
    "sdy-drop-sharding-and-mesh": (
        "pyshardy.passes.exporting.drop_sharding_and_mesh:drop_sharding_and_mesh"
    ),
    "convert-shard-to-sdy": "pyshardy.shard.to_sdy:convert_shard_to_sdy",
    "convert-sdy-to-shard": "pyshardy.shard.from_sdy:convert_sdy_to_shard",
    "shard-to-stablehlo": "pyshardy.shard.lowering.to_stablehlo:shard_to_stablehlo",
    "stablehlo-to-shard": "pyshardy.shard.from_stablehlo:stablehlo_to_shard",
    "shard-prepare-for-mpi": "pyshardy.shard.mpi.prepare:shard_prepare_for_mpi",
    "shard-partition": "pyshardy.shard.upstream.partition:shard_partition",
    "shard-simplify": "pyshardy.shard.upstream.simplify:shard_simplify",
    "convert-shard-to-mpi": "pyshardy.shard.upstream.to_mpi:convert_shard_to_mpi",
}
"""The function that implements each pass declared in `td/`, as `module:function`."""


@dataclass(frozen=True, slots=True)
class PassInfo:
    """A pass written in Python.

    Attributes:
        argument: its name in pipelines.
        summary: one line for the help.
        description: the whole documentation.
        anchor: the operation it runs on. A pass on "builtin.module" gets the `ir.Module`; any
            other gets, one by one, the operations of that name directly in the module.
        options: what can be set, each handed over as a keyword argument.
        implementation: the function, or where it is: `module:function`.
        display_name: the name in IR dumps and timing reports: `BasicPropagatePass`.
        release: where it comes from; see `PassDecl`.
    """

    argument: str
    summary: str
    description: str
    anchor: str
    options: tuple[Option, ...]
    implementation: PassFunction | str
    display_name: str
    release: str = ""

    def load(self) -> PassFunction:
        """The function that does the work."""
        if not isinstance(self.implementation, str):
            return self.implementation
        module, _, function = self.implementation.partition(":")
        return getattr(importlib.import_module(module), function)


@dataclass(frozen=True, slots=True)
class PipelineInfo:
    """A named pipeline: options in, the text of a pipeline out.

    Attributes:
        argument: its name in pipelines.
        summary: one line for the help.
        options: what can be set, each handed over as a keyword argument.
        text: writes the pipeline that it stands for.
        release: where it comes from; see `PassDecl`.
    """

    argument: str
    summary: str
    options: tuple[Option, ...]
    text: PipelineFunction
    release: str = ""

    def default_steps(self) -> list[str]:
        """The passes that it stands for when no option is given."""
        return [str(element) for element in parse_pipeline(self.text()).elements]


def display_name(argument: str) -> str:
    """`argument` in camel case: `sdy-close-shardings` becomes `SdyCloseShardings`."""
    return "".join(word[:1].upper() + word[1:] for word in argument.split("-"))


_added_passes: dict[str, PassInfo] = {}
_added_pipelines: dict[str, PipelineInfo] = {}


@functools.cache
def _own_passes() -> Mapping[str, PassInfo]:
    """The project's passes: those that are declared and have an implementation."""
    from mlir_sdy.ods import tables  # noqa: PLC0415 - only needed to run or list passes

    return MappingProxyType(
        {
            name: PassInfo(
                name,
                declaration.summary,
                declaration.description,
                declaration.anchor,
                tuple(map(declared_option, declaration.options)),
                IMPLEMENTATIONS[name],
                declaration.class_name,
                declaration.release,
            )
            for name, declaration in tables.PASSES.items()
            if name in IMPLEMENTATIONS
        }
    )


def passes() -> Mapping[str, PassInfo]:
    """All passes written in Python, by name; the host's own are not among them."""
    return MappingProxyType({**_own_passes(), **_added_passes})


def pipelines() -> Mapping[str, PipelineInfo]:
    """All named pipelines, by name."""
    return MappingProxyType(_added_pipelines)


def register_pass(
    argument: str, *, summary: str = "", anchor: str = MODULE_ANCHOR, replace: bool = False
) -> Callable[[_Function], _Function]:
    """Make a function a pass that pipelines can name.

    The options of the pass are the keyword-only parameters of the function:

        @register_pass("count-ops", summary="Counts operations", anchor="func.func")
        def count_ops(function, *, only_sdy: bool = False) -> None: ...

        run_pipeline(module, "func.func(count-ops{only-sdy=true})")

    The function changes what it is given in place. It fails by raising an `SdyError`, and warns
    through `mlir_sdy.diagnostics.emit`.

    Args:
        argument: the name in pipelines.
        summary: one line for the help; the first line of the docstring by default.
        anchor: the operation the pass runs on. On "builtin.module" the function gets the
            `ir.Module`; else it gets each operation of that name directly in the module.
        replace: take the place of a pass of that name, of the project's own too.

    Raises:
        ValueError: the name is taken.
        TypeError: an option has no default, or a type that text can't stand for.
    """

    def register(function: _Function) -> _Function:
        _check_name(argument, replace)
        description = inspect.getdoc(function) or ""
        _added_passes[argument] = PassInfo(
            argument,
            summary or description.partition("\n")[0],
            description,
            anchor,
            options_of(function),
            function,
            display_name(argument),
        )
        return function

    return register


def register_pipeline(
    argument: str,
    *,
    summary: str = "",
    replace: bool = False,
    release: str = "",
    option_releases: Mapping[str, str] | None = None,
) -> Callable[[_Function], _Function]:
    """Give a pipeline a name.

    The function writes the text of the pipeline, or raises a `ValueError` that says why it refuses
    its options; these are its keyword-only parameters:

        @register_pipeline("tidy", summary="Cleans up")
        def tidy(*, rounds: int = 1) -> str:
            return ",".join(["canonicalize", "cse"] * rounds)

    Args:
        argument: the name in pipelines.
        summary: one line for the help; the first line of the docstring by default.
        replace: take the place of a pipeline of that name.
        release: where it comes from, for those that Shardy has; see `PassDecl`.
        option_releases: where options come from, by their keywords, if that is elsewhere.

    Raises:
        ValueError: the name is taken.
        TypeError: an option has no default, or a type that text can't stand for.
    """

    def register(function: _Function) -> _Function:
        _check_name(argument, replace)
        description = inspect.getdoc(function) or ""
        origins = option_releases or {}
        options = tuple(
            replace_fields(option, release=origins.get(option.keyword, ""))
            for option in options_of(function)
        )
        _added_pipelines[argument] = PipelineInfo(
            argument, summary or description.partition("\n")[0], options, function, release
        )
        return function

    return register


def unregister(argument: str) -> None:
    """Take back what `register_pass` or `register_pipeline` added under that name."""
    _added_passes.pop(argument, None)
    _added_pipelines.pop(argument, None)


def _check_name(argument: str, replace: bool) -> None:
    if not replace and (argument in passes() or argument in _added_pipelines):
        raise ValueError(f"'{argument}' is registered already; pass replace=True to replace it")
