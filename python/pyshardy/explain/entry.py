# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy.explain`: the explanation of a program in any form, whose texts are kept in the cache."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import astuple, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from mlir_sdy.diagnostics import UsageError, collect, error
from mlir_sdy.files import write_file
from mlir_sdy.host import ir
from mlir_sdy.model import Mesh
from pyshardy.any_program import (
    EXPLAIN_KEYWORDS,
    Program,
    check_keywords,
    check_no_arguments,
)
from pyshardy.caching.programs import stored_data
from pyshardy.caching.store import CacheFolder, Store
from pyshardy.cost.default_hardware import DEFAULT_HARDWARE
from pyshardy.cost.hardware import Hardware, load_hardware, report_hardware_of
from pyshardy.display import Table
from pyshardy.explain.contract_advice import explain_with_contracts
from pyshardy.explain.originals import annotated_module
from pyshardy.explain.page.render import render_page
from pyshardy.explain.program import ExplainedProgram, explain_program
from pyshardy.explain.program_explanation import ProgramExplanation
from pyshardy.explain.sizes import Sizes, SizesComparison, compare_sizes
from pyshardy.irtools.modules import copy_of, form_of
from pyshardy.pipelines.propagation import PropagationOptions
from pyshardy.program import PartitionedProgram
from pyshardy.sizes.signature import takes_sizes

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from pyshardy.frontends.jax.meshes import MeshOfJax
    from pyshardy.pipelines.partition import PartitionOptions

_FIELDS = frozenset(field.name for field in fields(ProgramExplanation))


class KeptExplanation(ProgramExplanation):
    """An explanation with stored texts: the summary, the tables and the page.

    The program is propagated and partitioned when more is asked for, such as the reason of a value.

    Args:
        store: the stored texts.
        annotated: the program before propagation.
        request: all that the explanation depends on beside the program.
        explain: explains a program, which it changes.

    Raises:
        PipelineError: there is no stored summary, and the program can't be explained.
    """

    def __init__(
        self,
        store: Store,
        annotated: Callable[[], ir.Module],
        request: str,
        explain: Callable[[ir.Module], ExplainedProgram],
    ):
        vars(self).update(
            _store=store,
            _annotated=annotated,
            _request=request,
            _explain=explain,
            _values={},
            _is_restored=False,
        )
        self.summary()
        vars(self)["_is_restored"] = not _FIELDS & vars(self).keys()

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the explanation, which is computed now."""
        if name not in _FIELDS:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        known = vars(self)
        # The summary has repeated the warnings.
        with collect() if known["_is_restored"] else nullcontext():
            explained = known["_explain"](known["_annotated"]())
        known.update((field, getattr(explained, field)) for field in _FIELDS)
        return known[name]

    def summary(self) -> str:
        """Return the mesh, the collectives and the cost in one line."""
        return self._kept("summary", super().summary)

    def tables(self) -> list[Table]:
        """Return tables of the arguments, the results, the collectives and the cost."""
        compute = super().tables
        tables = self._kept("tables", lambda: [astuple(_of_texts(each)) for each in compute()])
        return [
            Table(title, tuple(headings), [tuple(row) for row in rows], *numbers)
            for title, headings, rows, *numbers in tables
        ]

    def to_html(self, path: str | os.PathLike[str]) -> None:
        """Write the HTML report of the program to a file; see `ProgramExplanation.to_html`."""
        write_file(path, self._kept("page", lambda: render_page(self, self.title)))

    def __repr__(self) -> str:
        return f"{ProgramExplanation.__name__}({self.summary()})"

    def _kept(self, name: str, compute: Callable[[], Any]) -> Any:
        known = vars(self)
        values: dict[str, Any] = known["_values"]
        if name not in values:
            request = f"{known['_request']} {name}"
            data = stored_data(
                known["_store"], known["_annotated"](), request, lambda: {"value": compute()}
            )
            assert data is not None, "each text is stored"
            values[name] = data["value"]
        return values[name]


def _of_texts(table: Table) -> Table:
    """Return a table whose cells are the texts that are shown."""
    rows = [tuple(map(str, row)) for row in table.rows]
    return Table(table.title, table.headings, rows, table.num_rows, table.num_numeric)


def explain(
    program: Program | Callable[..., Any],
    *args: Any,
    kwargs: Mapping[str, Any] | None = None,
    static_argnames: str | Sequence[str] = (),
    mesh: Mesh | MeshOfJax | None = None,
    in_shardings: Any = None,
    out_shardings: Any = None,
    hardware: Hardware | str = DEFAULT_HARDWARE,
    report_hardware: Hardware | str | None = None,
    sizes: Sizes | None = None,
    cache: CacheFolder = None,
    **options: Unpack[PropagationOptions],
) -> ProgramExplanation:
    """Propagate and partition a program, and explain its shardings and collectives.

        explained = sdy.explain(step, parameters, batch, mesh=sdy.Mesh({"data": 4}),
                                in_shardings=(None, PartitionSpec("data")))
        print(explained.collectives)
        print(explained.value("parameters['w']"))
        explained.to_html("report.html")

    Args:
        program: a module, which isn't changed (one that `propagate` has changed is explained as it
            was before, with the same options), its text or its file; a function of JAX, also one
            made by `jax.jit`, or what it was traced or lowered to; a module of PyTorch, or what
            `sdy.torch.trace` returned; or a partitioned program, for which the module that it was
            made from is explained.
        args: for a function the arguments, as in `sdy.jax.trace`; for a module of PyTorch the
            inputs, as in `sdy.torch.trace`.
        kwargs: their keyword arguments.
        static_argnames: the names of arguments of a function that aren't arrays.
        mesh: the mesh of the shardings, for a function or a module of PyTorch.
        in_shardings: the shardings of the arguments of a function; for a module of PyTorch, the
            shardings by patterns of names.
        out_shardings: the shardings of the results of a function.
        hardware: the hardware that the program is partitioned for, as in `partition`; not for a
            partitioned program.
        report_hardware: the hardware of the cost estimate: a preset, a TOML file, or a value. By
            default it is that for which the program is partitioned, or an H100 if this is the
            default.
        sizes: for a program with dynamic sizes, the values of symbols for which it is explained,
            `{"b": 64}`, instead of their hints; or several, `{"b": [1, 64]}`: its tables then have
            the cost of its plan at each of them.
        cache: a folder in which the summary, the tables and the page are kept, and looked up if the
            program and all that it is explained by are equal, as for `partition`. What else is
            asked for, such as the reason of a value, is computed then. Not used for partitioned
            programs, and those with dynamic sizes.
        options: the options of `sdy-propagation-pipeline`.

    Raises:
        UsageError: the arguments don't fit the program; there is no such option or hardware; the
            program has no mesh or no entry; the module of a partitioned program has changed.
        WrongTypeError: it is no program, or there is no such argument.
        PipelineError: propagation or partitioning fails; if a contract in the program is violated,
            with constraints that were tried and send less.
    """
    own = *EXPLAIN_KEYWORDS, "cache"
    check_keywords("explain", options, own, "sdy-propagation-pipeline")
    keywords: dict[str, Any] = {
        "mesh": mesh,
        "in_shardings": in_shardings,
        "out_shardings": out_shardings,
        "kwargs": kwargs,
        "static_argnames": static_argnames,
    }
    if isinstance(program, PartitionedProgram):
        check_no_arguments(args, keywords)
        if hardware != DEFAULT_HARDWARE:
            reason = "the program is partitioned for its hardware already"
            raise UsageError(error(f"{reason}: pass report_hardware for the cost estimate"))
        return _explain_partitioned(program, report_hardware, options)
    module, title, used = annotated_module("explain", program, args, keywords)
    options = options or cast("PropagationOptions", used)
    compared: SizesComparison | None = None
    if takes_sizes(module, {"sizes": sizes}):
        compared, module = compare_sizes(
            module, sizes or {}, options, hardware=hardware, report_hardware=report_hardware
        )

    def explained(module: ir.Module) -> ExplainedProgram:
        found = explain_with_contracts(
            module, hardware=hardware, report_hardware=report_hardware, title=title, options=options
        )
        return replace(found, form=form_of(module), sizes=compared)

    store = Store.at(cache) if compared is None else None
    if store is None:
        return ProgramExplanation.of(explained(module))
    devices = load_hardware(hardware)
    asked = devices.text, report_hardware_of(hardware, report_hardware).text
    request = f"explain {asked} {title} {form_of(module)} {sorted(options.items())}"
    return KeptExplanation(store, partial(copy_of, module), request, explained)


def _explain_partitioned(
    program: PartitionedProgram,
    report_hardware: Hardware | str | None,
    options: PropagationOptions,
) -> ProgramExplanation:
    """Explain the module that a program was made from, partitioned by the same options."""
    module, title, _ = annotated_module("explain", program, (), {})
    partition_options = dict(program.origin.options if program.origin else {})
    hardware = partition_options.pop("hardware", DEFAULT_HARDWARE)
    explained = explain_program(
        module,
        title=title,
        hardware=str(hardware),
        report_hardware=report_hardware,
        options=options,
        partition_options=cast("PartitionOptions", partition_options),
    )
    if explained.program.collectives != program.collectives:
        message = (
            "the module of the partitioned program has changed, or was partitioned before its "
            "shardings were propagated; explain the module instead"
        )
        raise UsageError(error(message))
    return ProgramExplanation.of(replace(explained, form=form_of(module)))
