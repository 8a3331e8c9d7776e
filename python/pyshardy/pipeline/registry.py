# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The registry of passes and named pipelines.

The decorators `register_pass` and `register_pipeline` declare a pass or a pipeline by its function.
Users import the files of their passes. Those of the project are imported when they are looked up:
the file `passes/<stage>/<name>.py` contains the pass of that name (see `pass_package`).

Pipelines are values, made from names, options and other pipelines:

    pipeline_of("sdy-close-shardings", on_functions("cse"), use("inline", max_iterations=2))

is `builtin.module(sdy-close-shardings,func.func(cse),inline{max-iterations=2})`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from mlir_sdy.diagnostics import UsageError, error, wrong_type
from mlir_sdy.suggest import did_you_mean
from pyshardy.pipeline.options import (
    Option,
    OptionValue,
    call_with_options,
    option_text,
    options_of,
    sections_of,
)
from pyshardy.pipeline.pass_package import pass_modules, summary_in_source
from pyshardy.pipeline.syntax import (
    MODULE_ANCHOR,
    OptionText,
    PassPipeline,
    PassUse,
    parse_pipeline,
)

if TYPE_CHECKING:  # the help of the tools needs no host
    from pyshardy.irtools.analyses import Changes

PassFunction = Callable[..., "Changes | None"]
PipelineFunction = Callable[..., PassPipeline | str]
_Function = TypeVar("_Function", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class PassInfo:
    """A pass written in Python.

    Attributes:
        argument: its name in pipelines.
        summary: one line for the help.
        description: the documentation after the summary, without options and errors.
        anchor: the operation it runs on. A pass on "builtin.module" gets the `ir.Module`; any
            other gets, one by one, the operations of that name directly in the module.
        options: the options, each passed as a keyword argument.
        function: the function that implements the pass.
        display_name: the name in IR dumps and timing reports: `BasicPropagatePass`.
        release: the first release of jaxlib whose Shardy has it (`0.12`), `0.10.2` for all that are
            supported, `pyshardy` for none; empty for passes that aren't Shardy's matter.
        may_hide: whether a pass of MLIR may have the same name.
    """

    argument: str
    summary: str
    description: str
    anchor: str
    options: tuple[Option, ...]
    function: PassFunction
    display_name: str
    release: str = ""
    may_hide: bool = True

    @property
    def tells_changes(self) -> bool:
        """Whether the pass returns `Changes` in any case, by its signature."""
        returned = getattr(self.function, "__annotations__", {}).get("return")
        return "Changes" in (returned, getattr(returned, "__name__", None))

    def run(self, target: Any, keywords: Mapping[str, OptionValue]) -> Changes | None:
        """Run the pass on the operation of its anchor, with options by their keywords.

        Returns:
            What it tells of its changes; None for a pass that tells nothing.
        """
        return call_with_options(self.function, target, keywords=keywords)


@dataclass(frozen=True, slots=True)
class PipelineInfo:
    """A named pipeline: a function of its options.

    Attributes:
        argument: its name in pipelines.
        summary: one line for the help.
        options: the options, each passed as a keyword argument or as a field of a dataclass.
        function: the function that returns the pipeline.
        release: the release of its origin; see `PassInfo`.
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


def display_name(argument: str) -> str:
    """The argument in camel case: `symbol-dce` becomes `SymbolDce`.

    A pass of the project is named as in C++: `sdy-close-shardings` becomes `CloseShardingsPass`.
    """
    is_own = argument in pass_modules()
    without_dialect = argument.removeprefix("sdy-").removeprefix("mpmd-")
    words = (without_dialect if is_own else argument).split("-")
    name = "".join(_INITIALS.get(word, word[:1].upper() + word[1:]) for word in words)
    return f"{name}Pass" if is_own else name


_INITIALS = {"cmv1": "CMV1"}

_own_passes: dict[str, PassInfo] = {}
_added_passes: dict[str, PassInfo] = {}
_added_pipelines: dict[str, PipelineInfo] = {}


class _Passes(Mapping[str, PassInfo]):
    """The passes by name; a pass of the project is imported when its value is read."""

    def __getitem__(self, argument: str) -> PassInfo:
        if argument in _added_passes:
            return _added_passes[argument]
        if argument not in _own_passes:
            importlib.import_module(pass_modules()[argument])
        return _own_passes[argument]

    def __contains__(self, argument: object) -> bool:
        return argument in _added_passes or argument in pass_modules()

    def __iter__(self) -> Iterator[str]:
        return iter({**pass_modules(), **_added_passes})

    def __len__(self) -> int:
        return len({**pass_modules(), **_added_passes})


def passes() -> Mapping[str, PassInfo]:
    """Return all passes written in Python by name, without those of the host.

    The names are known without importing the passes of the project.
    """
    return _Passes()


def pass_summaries() -> dict[str, str]:
    """Return the summary of each pass by name, in this order, without importing the passes."""
    known = {**_own_passes, **_added_passes}
    return {
        name: known[name].summary if name in known else summary_in_source(name)
        for name in sorted(passes())
    }


def pipelines() -> Mapping[str, PipelineInfo]:
    """Return all named pipelines by name."""
    for package in ("pyshardy.pipelines", "pyshardy.mpmd.pipelines"):
        importlib.import_module(package)  # which registers those of the project
    return MappingProxyType(_added_pipelines)


def added_functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield the names and functions of all pipelines, and of passes beside those of the project."""
    for added in (_added_passes, _added_pipelines):
        yield from ((name, info.function) for name, info in added.items())


def register_pass(
    argument: str,
    *,
    summary: str = "",
    anchor: str = MODULE_ANCHOR,
    replace: bool = False,
    release: str = "",
) -> Callable[[_Function], _Function]:
    """Register a function as a pass for use in pipelines.

    The options of the pass are the keyword-only parameters of the function:

        @register_pass("count-ops", summary="Count operations", anchor="func.func")
        def count_ops(function, *, only_sdy: bool = False) -> None: ...

        run_pipeline(module, "func.func(count-ops{only-sdy=true})")

    The docstring is the help: its first line, the text after it, and its section `Options:`.

    The function changes its argument in place. It fails by raising an `SdyError`, and warns
    through `mlir_sdy.diagnostics.emit`.

    Args:
        argument: the name in pipelines.
        summary: one line for the help; the first line of the docstring by default.
        anchor: the operation the pass runs on. On "builtin.module" the function gets the
            `ir.Module`; else it gets each operation of that name directly in the module.
        replace: whether to replace a pass of that name, of the project or of MLIR, too.
        release: the release of its origin, for passes of Shardy; see `PassInfo`.

    Raises:
        ValueError: the name is taken.
        TypeError: an option has no default, or an unsupported type.
    """
    _check_text("register_pass", argument)

    def register(function: _Function) -> _Function:
        is_own = pass_modules().get(argument) == function.__module__
        if not is_own and not replace:
            _check_name(argument)
        first_line, _, description = sections_of(function)[""].partition("\n")
        (_own_passes if is_own else _added_passes)[argument] = PassInfo(
            argument,
            summary or first_line.removesuffix("."),
            description.strip("\n"),
            anchor,
            options_of(function),
            function,
            display_name(argument),
            release,
            may_hide=is_own or replace,
        )
        return function

    return register


def register_pipeline(
    argument: str, *, summary: str = "", replace: bool = False, release: str = ""
) -> Callable[[_Function], _Function]:
    """Register a named pipeline.

    The function returns a `PassPipeline`, or the text of one, or raises a `ValueError` with the
    reason why it refuses its options. The options are its keyword-only parameters, or the fields of
    the dataclass or `TypedDict` that is the type of its parameter `options`:

        @register_pipeline("tidy", summary="Clean up")
        def tidy(*, rounds: int = 1) -> PassPipeline:
            return pipeline_of(*["canonicalize", "cse"] * rounds)

    Args:
        argument: the name in pipelines.
        summary: one line for the help; the first line of the docstring by default.
        replace: whether to replace a pipeline of that name.
        release: the release of its origin, for pipelines of Shardy; see `PassInfo`.

    Raises:
        ValueError: the name is taken.
        TypeError: an option has no default, or an unsupported type.
    """
    _check_text("register_pipeline", argument)

    def register(function: _Function) -> _Function:
        first_line = sections_of(function)[""].partition("\n")[0].removesuffix(".")
        info = PipelineInfo(
            argument, summary or first_line, options_of(function), function, release
        )
        if not replace:
            _check_name(argument)
        _added_pipelines[argument] = info
        return function

    return register


def _check_text(function: str, name: object) -> None:
    if not isinstance(name, str):
        raise wrong_type(function, f"a name, as in @sdy.{function}('my-name')", name)


def unregister(argument: str) -> None:
    """Remove the pass or pipeline that was registered under a name."""
    _added_passes.pop(argument, None)
    _added_pipelines.pop(argument, None)


def _check_name(argument: str) -> None:
    if argument in passes() or argument in _added_pipelines:
        raise ValueError(f"'{argument}' is registered already; pass replace=True to replace it")


# --- Pipelines as values --------------------------------------------------------------------------


Element = str | PassUse | PassPipeline
"""A pass by its name, a pass with options, or passes on operations inside of the current one."""


def declared_options(argument: str) -> tuple[Option, ...] | None:
    """Return the options of a pass or pipeline; None if it isn't one of this project."""
    info = passes().get(argument) or pipelines().get(argument)
    return None if info is None else info.options


def use(argument: str, /, **options: OptionValue) -> PassUse:
    """Return a pass, or a named pipeline, with options by their keywords, underscores for dashes.

    Options that equal their default are omitted; a pass of the host keeps all options.

    Example: `use("a-pass", keep_rules=True, directory="")` is `a-pass{keep-rules=true}`, if the
    default of `directory` is the empty string.

    Raises:
        UsageError: a pass or pipeline of this project has no such option.
    """
    declared = declared_options(argument) if options else None
    defaults = {} if declared is None else {each.keyword: each.default for each in declared}
    for keyword in options if declared is not None else ():
        if keyword not in defaults:
            listed = f"; the options are {', '.join(sorted(defaults))}" if defaults else ""
            advice = did_you_mean(keyword.replace("-", "_"), defaults) or listed
            raise UsageError(error(f"'{argument}' has no option '{keyword}'{advice}"))
    written = tuple(
        OptionText(keyword.replace("_", "-"), option_text(value))
        for keyword, value in options.items()
        if keyword not in defaults or defaults[keyword] != value
    )
    return PassUse(argument, written)


def on_functions(*elements: Element) -> PassPipeline:
    """Return passes to run on each function."""
    return PassPipeline("func.func", tuple(map(_element, elements)))


def pipeline_of(*elements: Element) -> PassPipeline:
    """Return passes to run on the module.

    A pipeline on the module among the elements is replaced by its passes.
    """
    found: list[PassUse | PassPipeline] = []
    for element in map(_element, elements):
        if isinstance(element, PassPipeline) and element.anchor == MODULE_ANCHOR:
            found += element.elements
        else:
            found.append(element)
    return PassPipeline(MODULE_ANCHOR, tuple(found))


def _element(element: Element) -> PassUse | PassPipeline:
    return PassUse(element) if isinstance(element, str) else element
