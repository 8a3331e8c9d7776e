# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy.explain`: the explanation of a program in any form."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.host import ir
from mlir_sdy.model import Mesh
from pyshardy.api import parse
from pyshardy.cost.hardware import DEFAULT_HARDWARE, Hardware
from pyshardy.explain.program import COST_HARDWARE, explain_program
from pyshardy.explain.program_explanation import ProgramExplanation
from pyshardy.irtools.modules import copy_of
from pyshardy.irtools.source_text import remember_text, text_of
from pyshardy.program import PartitionedProgram

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from pyshardy.frontends.jax.mesh_type import MeshOfJax
    from pyshardy.frontends.torch import TracedModule
    from pyshardy.pipelines.option_types import PartitionOptions, PropagationOptions


class LoweredByJax(Protocol):
    """A function that JAX lowered: `jax.stages.Lowered`. One that it traced is callable."""

    def as_text(self) -> str:
        """Return the program."""
        ...


def explain(
    program: ir.Module
    | PartitionedProgram
    | TracedModule
    | LoweredByJax
    | Callable[..., Any]
    | str
    | os.PathLike[str],
    *args: Any,
    kwargs: Mapping[str, Any] | None = None,
    static_argnames: str | Sequence[str] = (),
    mesh: Mesh | MeshOfJax | None = None,
    in_shardings: Any = None,
    out_shardings: Any = None,
    hardware: Hardware | str = COST_HARDWARE,
    plan_hardware: Hardware | str = DEFAULT_HARDWARE,
    **options: Unpack[PropagationOptions],
) -> ProgramExplanation:
    """Propagate and partition a program, and explain its shardings and collectives.

        explained = sdy.explain(step, parameters, batch, mesh=sdy.Mesh({"data": 4}),
                                in_shardings=(None, PartitionSpec("data")))
        print(explained.collectives)
        print(explained.value("parameters['w']"))
        explained.to_html("report.html")

    Args:
        program: a module, which isn't changed, its text or its file; a function of JAX, also one
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
        hardware: the hardware of the cost estimate: a preset, a TOML file, or a value.
        plan_hardware: the hardware that the program is partitioned for, as in `partition`.
        options: the options of `sdy-propagation-pipeline`.

    Raises:
        UsageError: the arguments don't fit the program; there is no such option or hardware; the
            program has no mesh or no entry; the module of a partitioned program has changed.
        PipelineError: propagation or partitioning fails.
    """
    keywords: dict[str, Any] = {
        "mesh": mesh,
        "in_shardings": in_shardings,
        "out_shardings": out_shardings,
        "kwargs": kwargs,
        "static_argnames": static_argnames,
    }
    if isinstance(program, PartitionedProgram):
        _Arguments(args, **keywords).check_none()
        return _explain_partitioned(program, hardware, options)
    module, title = module_of(program, *args, **keywords)
    explained = explain_program(
        module, hardware=plan_hardware, cost_hardware=hardware, title=title, options=options
    )
    return ProgramExplanation.of(explained)


class _Arguments:
    """The arguments of a traced function."""

    def __init__(self, args: tuple[Any, ...], **keywords: Any):
        self.args = args
        self.keywords = keywords

    def check_none(self) -> None:
        """Check that no arguments are given, for a program that is traced already."""
        given = [name for name, value in self.keywords.items() if value not in (None, ())]
        if self.args or given:
            names = ", ".join(["the positional arguments"] * bool(self.args) + given)
            message = "the program is traced already, so it takes no arguments and shardings: drop"
            raise UsageError(error(f"{message} {names}"))


def module_of(program: Any, *args: Any, **keywords: Any) -> tuple[ir.Module, str]:
    """Return the annotated module of a program, which may be changed, and a title.

    Args:
        program: a program that `explain` takes, except a partitioned one.
        args: the positional arguments of a function or a module of PyTorch.
        keywords: `mesh`, `in_shardings`, `out_shardings`, `kwargs` and `static_argnames`.

    Raises:
        UsageError: the arguments don't fit the program.
    """
    arguments = _Arguments(args, **keywords)
    jax_stages = _loaded("jax.stages")
    torch = _loaded("torch")
    if torch is not None and isinstance(program, torch.nn.Module):
        from pyshardy.frontends.torch import trace  # noqa: PLC0415 (loads PyTorch)

        shardings = arguments.keywords.get("in_shardings")
        others = {name: arguments.keywords.get(name) for name in ("mesh", "kwargs")}
        traced = trace(program, *arguments.args, shardings=shardings, **others)
        return traced.module, type(program).__name__
    is_traced = jax_stages and isinstance(program, jax_stages.Traced | jax_stages.Lowered)
    if callable(program) and not is_traced:
        from pyshardy.frontends.jax import trace as trace_by_jax  # noqa: PLC0415 (loads JAX)

        module = trace_by_jax(program, *arguments.args, **arguments.keywords)
        return module, getattr(program, "__name__", "program")
    arguments.check_none()
    if isinstance(program, ir.Module):
        copy = copy_of(program)
        remember_text(copy, text_of(program))
        return copy, "program"
    if isinstance(program, str | os.PathLike):
        path = cast("str | os.PathLike[str]", program)
        return parse(path), Path(path).name if "\n" not in str(path) else "program"
    if is_traced:
        from pyshardy.frontends.jax import from_lowered  # noqa: PLC0415 (loads JAX)

        lower = getattr(program, "lower", None)
        return from_lowered(program if lower is None else lower()), "program"
    if isinstance(module := getattr(program, "module", None), ir.Module):
        return copy_of(module), "program"
    got = type(program).__name__
    message = "expected a module, its text or file, a function, or a traced or partitioned program"
    raise UsageError(error(f"{message}, got: {got}"))


def _loaded(name: str) -> Any:
    """Return a module of Python if it is loaded: without it, no value is of its classes."""
    return sys.modules.get(name)


def _explain_partitioned(
    program: PartitionedProgram, hardware: Hardware | str, options: PropagationOptions
) -> ProgramExplanation:
    """Explain the module that a program was made from, partitioned by the same options."""
    if program.origin is None:
        raise UsageError(error("it is unknown what the program was partitioned from"))
    partition_options = dict(program.origin.options)
    plan_hardware = partition_options.pop("hardware", DEFAULT_HARDWARE)
    explained = explain_program(
        module_of(program.origin.module)[0],
        hardware=str(plan_hardware),
        cost_hardware=hardware,
        options=options,
        partition_options=cast("PartitionOptions", partition_options),
    )
    if explained.program.collectives != program.collectives:
        message = (
            "the module of the partitioned program has changed, or was partitioned before its "
            "shardings were propagated; explain the module instead"
        )
        raise UsageError(error(message))
    return ProgramExplanation.of(explained)
