# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The registry of passes and named pipelines.

The project's own passes are declared in `td/`. The file `passes/<stage>/<name>.py` contains the
function that implements the pass of that name (see `pass_package`). Passes are imported when they
run, so that listing them is cheap. Users add their own with the decorators `register_pass` and
`register_pipeline`.
"""

from __future__ import annotations

import functools
import importlib
import inspect
from collections import ChainMap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeVar

from pyshardy.pipeline.options import (
    Option,
    OptionValue,
    call_with_options,
    declared_option,
    options_of,
)
from pyshardy.pipeline.pass_package import function_name, pass_modules
from pyshardy.pipeline.syntax import MODULE_ANCHOR, PassPipeline, parse_pipeline

PassFunction = Callable[..., None]
PipelineFunction = Callable[..., PassPipeline | str]
_Function = TypeVar("_Function", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class PassInfo:
    """A pass written in Python.

    Attributes:
        argument: its name in pipelines.
        summary: one line for the help.
        description: the full documentation.
        anchor: the operation it runs on. A pass on "builtin.module" gets the `ir.Module`; any
            other gets, one by one, the operations of that name directly in the module.
        options: the options, each passed as a keyword argument.
        implementation: the function, or its location: `module:function`.
        display_name: the name in IR dumps and timing reports: `BasicPropagatePass`.
        release: the release of its origin; see `PassDecl`.
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
        """Return the function that implements the pass."""
        given = self.implementation
        return _imported(given) if isinstance(given, str) else given

    def run(self, target: Any, keywords: Mapping[str, OptionValue]) -> None:
        """Run the pass on the operation of its anchor, with options by their keywords."""
        call_with_options(self.load(), target, keywords=keywords)


@dataclass(frozen=True, slots=True)
class PipelineInfo:
    """A named pipeline: a function of its options.

    Attributes:
        argument: its name in pipelines.
        summary: one line for the help.
        options: the options, each passed as a keyword argument or as a field of a dataclass.
        function: the function that returns the pipeline.
        release: the release of its origin; see `PassDecl`.
    """

    argument: str
    summary: str
    options: tuple[Option, ...]
    function: PipelineFunction
    release: str = ""

    def build(self, **options: OptionValue) -> PassPipeline:
        """Return the passes of the pipeline with some options.

        Raises:
            ValueError: the pipeline refuses these options, for the reason in the message.
        """
        built = call_with_options(self.function, keywords=options)
        return parse_pipeline(built, f"<{self.argument}>") if isinstance(built, str) else built

    def default_steps(self) -> list[str]:
        """Return the passes of the pipeline with default options."""
        return list(map(str, self.build().elements))


@functools.cache
def _imported(implementation: str) -> PassFunction:
    """Return the function of a name such as `module:function`."""
    module, _, function = implementation.partition(":")
    return getattr(importlib.import_module(module), function)


def display_name(argument: str) -> str:
    """The argument in camel case: `sdy-close-shardings` becomes `SdyCloseShardings`."""
    return "".join(word[:1].upper() + word[1:] for word in argument.split("-"))


PIPELINES = "pyshardy.pipelines"
"""The package that registers the project's named pipelines when it is imported."""

_added_passes: dict[str, PassInfo] = {}
_added_pipelines: dict[str, PipelineInfo] = {}


@functools.cache
def _own_passes() -> dict[str, PassInfo]:
    """Return the project's passes: those that are declared and have an implementation."""
    from pyshardy.pipeline.pass_table import PASSES  # noqa: PLC0415 - only to run or list passes

    modules = pass_modules()
    return {
        name: PassInfo(
            name,
            declaration.summary,
            declaration.description,
            declaration.anchor,
            tuple(map(declared_option, declaration.options)),
            f"{modules[function_name(name)]}:{function_name(name)}",
            declaration.class_name,
            declaration.release,
        )
        for name, declaration in PASSES.items()
        if function_name(name) in modules
    }


def passes() -> Mapping[str, PassInfo]:
    """Return all passes written in Python by name, without those of the host."""
    return MappingProxyType(ChainMap(_added_passes, _own_passes()))


def pipelines() -> Mapping[str, PipelineInfo]:
    """Return all named pipelines by name."""
    _load_own_pipelines()
    return MappingProxyType(_added_pipelines)


@functools.cache
def _load_own_pipelines() -> None:
    importlib.import_module(PIPELINES)


def register_pass(
    argument: str, *, summary: str = "", anchor: str = MODULE_ANCHOR, replace: bool = False
) -> Callable[[_Function], _Function]:
    """Register a function as a pass for use in pipelines.

    The options of the pass are the keyword-only parameters of the function:

        @register_pass("count-ops", summary="Counts operations", anchor="func.func")
        def count_ops(function, *, only_sdy: bool = False) -> None: ...

        run_pipeline(module, "func.func(count-ops{only-sdy=true})")

    The function changes its argument in place. It fails by raising an `SdyError`, and warns
    through `mlir_sdy.diagnostics.emit`.

    Args:
        argument: the name in pipelines.
        summary: one line for the help; the first line of the docstring by default.
        anchor: the operation the pass runs on. On "builtin.module" the function gets the
            `ir.Module`; else it gets each operation of that name directly in the module.
        replace: whether to replace a pass of that name, including those of the project.

    Raises:
        ValueError: the name is taken.
        TypeError: an option has no default, or an unsupported type.
    """

    def register(function: _Function) -> _Function:
        _check_name(argument, replace)
        _added_passes[argument] = PassInfo(
            argument,
            summary or _first_line(function),
            inspect.getdoc(function) or "",
            anchor,
            options_of(function),
            function,
            display_name(argument),
        )
        return function

    return register


def register_pipeline(
    argument: str, *, summary: str = "", replace: bool = False, release: str = ""
) -> Callable[[_Function], _Function]:
    """Register a named pipeline.

    The function returns a `PassPipeline`, or the text of one, or raises a `ValueError` with the
    reason why it refuses its options. The options are its keyword-only parameters, or the fields of
    the dataclass that is the type of its parameter `options`:

        @register_pipeline("tidy", summary="Cleans up")
        def tidy(*, rounds: int = 1) -> PassPipeline:
            return pipeline_of(*["canonicalize", "cse"] * rounds)

    Args:
        argument: the name in pipelines.
        summary: one line for the help; the first line of the docstring by default.
        replace: whether to replace a pipeline of that name.
        release: the release of its origin, for pipelines of Shardy; see `PassDecl`.

    Raises:
        ValueError: the name is taken.
        TypeError: an option has no default, or an unsupported type.
    """

    def register(function: _Function) -> _Function:
        info = PipelineInfo(
            argument, summary or _first_line(function), options_of(function), function, release
        )
        _check_name(argument, replace)
        _added_pipelines[argument] = info
        return function

    return register


def unregister(argument: str) -> None:
    """Remove the pass or pipeline that was registered under a name."""
    _added_passes.pop(argument, None)
    _added_pipelines.pop(argument, None)


def _first_line(function: Callable[..., object]) -> str:
    return (inspect.getdoc(function) or "").partition("\n")[0]


def _check_name(argument: str, replace: bool) -> None:
    if not replace and (argument in passes() or argument in _added_pipelines):
        raise ValueError(f"'{argument}' is registered already; pass replace=True to replace it")
