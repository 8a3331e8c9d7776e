# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The backends by name, and their interface.

A backend is registered by the path of its class, which is imported at the first use:

    register_backend(Registration("mine", "my_package:MyBackend", "runs it my way"))
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.suggest import did_you_mean

if TYPE_CHECKING:
    from mlir_sdy.host import ir
    from pyshardy.backends.custom_calls import Function
    from pyshardy.backends.engines import Arrays, LocalEngine
    from pyshardy.local_program.process_groups import Layout
    from pyshardy.local_program.tensor_spec import Array


@dataclass(frozen=True, slots=True)
class CompileOptions:
    """Options for compiling programs. A backend ignores the options that it doesn't support.

    Attributes:
        optimization: the level from 0 (fast compilation) to 3 (fast code); None for the default of
            the backend.
        cache_directory: a directory of compiled programs for later processes; None to keep them
            for this process only.
        custom_calls: functions that implement custom calls, by call target:

                CompileOptions(custom_calls={"my_scale": lambda x, factor: x * factor})

            A function is called in this process, once for each device in any order, with the
            shards of the operands as NumPy arrays. It returns an array of the local type of the
            result, or a tuple of them for several results. If it has a keyword-only parameter
            `call`, it also takes a `CustomCall`: the `backend_config` and the types of operands
            and results. All backends but `mpi` support this.
        nan_safe: whether all-reduces by maximum and minimum keep NaN on XLA's CPU, which drops it.
            A second all-reduce determines the elements that are NaN on a device.
        instance: programs of different instances run in processes of their own, so that threads
            may run them at the same time.
    """

    optimization: int | None = None
    cache_directory: str | None = None
    custom_calls: Mapping[str, Function] = field(default_factory=dict[str, Any], hash=False)
    nan_safe: bool = False
    instance: str = ""

    def __post_init__(self) -> None:
        """Copy the dictionary of functions."""
        object.__setattr__(self, "custom_calls", MappingProxyType(dict(self.custom_calls)))


class SpmdProgram(Protocol):
    """A program that is compiled for all devices: an executable."""

    def run(self, inputs: Sequence[Arrays]) -> list[list[Array]]:
        """Run the program on all processes.

        Args:
            inputs: for each process the arrays of its arguments, as `TensorSpec.dtype` has them.

        Returns:
            For each process the arrays of its results. Processes may share arrays.

        Raises:
            ExecutionError: the run failed.
        """
        ...


class Backend(Protocol):
    """Compiles programs for several devices."""

    def compile(self, module: ir.Module, layout: Layout, options: CompileOptions) -> SpmdProgram:
        """Prepare a program to be run.

        Args:
            module: local StableHLO, entered at `@main`. It isn't changed.
            layout: the replicas and partitions that run it.
            options: how to compile it.

        Raises:
            ExecutionError: the backend rejects the program.
        """
        ...


@dataclass(frozen=True, slots=True)
class Registration:
    """A registered backend or engine.

    Attributes:
        name: its name.
        made_by: the class or function that makes it, as `module:name`: a `Backend`, or an
            `LocalEngine` if `is_engine`.
        summary: a description of one line.
        is_engine: whether it is a local engine, which `lockstep` turns into a backend.
        arguments: the arguments of `made_by`.
        module: the module that must be installed for it; empty for none.
        package: the name of the package with the module for `pip`.
        extra: the extra of the package that installs the module.
        async_collectives: the collectives that it takes in an `async_start`; it gets the others,
            and all of them if it takes none, as synchronous ones (`sdy-legalize-async`).
    """

    name: str
    made_by: str
    summary: str
    is_engine: bool = False
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    module: str = ""
    package: str = ""
    extra: str = ""
    async_collectives: frozenset[str] = frozenset()

    @property
    def is_installed(self) -> bool:
        """Whether the required module is installed."""
        try:
            return not self.module or importlib.util.find_spec(self.module) is not None
        except ModuleNotFoundError:  # A package around the module is missing, too.
            return False

    def check_installed(self) -> None:
        """Raise an error if the required module isn't installed.

        Raises:
            UsageError: it isn't installed.
        """
        if not self.is_installed:
            from pyshardy.packages import MissingPackageError, missing  # noqa: PLC0415 (start-up)

            feature = f"the backend '{self.name}'"
            raise MissingPackageError(missing(self.package, feature, self.extra))

    def make(self, **arguments: Any) -> Any:
        """Return a new backend or engine.

        Warns once about packages in versions that the extra doesn't support.

        Raises:
            UsageError: the required module isn't installed.
        """
        self.check_installed()
        if self.extra:
            from pyshardy.packages import warn_of_versions  # noqa: PLC0415 (start-up)

            warn_of_versions(self.extra)
        module, _, name = self.made_by.partition(":")
        return getattr(importlib.import_module(module), name)(**self.arguments, **arguments)


_REGISTRY: dict[str, Registration] = {}

XLA_ASYNC_COLLECTIVES = frozenset(
    {"all_gather", "all_reduce", "collective_permute", "reduce_scatter"}
)
"""The asynchronous collectives of XLA.

It refuses slices, and all-to-alls, which it converts to several operations.
"""

AUTO = "auto"
"""The name of the fastest backend that is installed."""

_FASTEST_FIRST = ("xla", "jit")


def register_backend(registration: Registration) -> None:
    """Register a backend or engine under its name, replacing another one of that name."""
    _REGISTRY[registration.name] = registration


def unregister_backend(name: str) -> None:
    """Remove the backend or engine of a name, if there is one."""
    _REGISTRY.pop(name, None)


for _each in (
    Registration(
        "interpreter",
        "pyshardy.backends.interpreter.engine:InterpreterEngine",
        "lockstep with the StableHLO reference interpreter: slow, and correct by definition",
        is_engine=True,
    ),
    Registration(
        "jit",
        "pyshardy.backends.jit.engine:jit_engine",
        "lockstep with the MLIR host's own compiler: fast, without further packages",
        is_engine=True,
    ),
    Registration(
        "iree",
        "pyshardy.backends.iree.engine:IreeEngine",
        "lockstep with IREE's compiler and run time for this CPU",
        is_engine=True,
        module="iree.compiler",
        package="iree-base-compiler",
        extra="iree",
    ),
    Registration(
        "xla",
        "pyshardy.backends.xla.program:XlaBackend",
        "XLA on virtual CPU devices, as many as the mesh has",
        arguments={"platform": "cpu"},
        module="jaxlib",
        package="jaxlib",
        extra="jax",
        async_collectives=XLA_ASYNC_COLLECTIVES,
    ),
    Registration(
        "xla-gpu",
        "pyshardy.backends.xla.program:XlaBackend",
        "XLA on GPUs, as many as the mesh has",
        arguments={"platform": "gpu"},
        module="jaxlib",
        package="jaxlib",
        extra="jax",
        async_collectives=XLA_ASYNC_COLLECTIVES,
    ),
    Registration(
        "mpi",
        "pyshardy.backends.mpi:MpiBackend",
        "the processes of an MPI job, started by mpiexec, as many as the mesh has devices",
    ),
):
    register_backend(_each)


def backend_names() -> tuple[str, ...]:
    """Return the names of all backends."""
    return (*_REGISTRY, AUTO)


def registered(name: str) -> Registration:
    """Return the backend of a name.

    Raises:
        UsageError: there is none.
    """
    if name == AUTO:
        name = next(each for each in _FASTEST_FIRST if _REGISTRY[each].is_installed)
    if name not in _REGISTRY:
        known = ", ".join(f"'{known}'" for known in backend_names())
        advice = did_you_mean(name, backend_names()) or f"; there are: {known}"
        raise UsageError(error(f"unknown backend '{name}'{advice}"))
    return _REGISTRY[name]


def spmd_program(
    backend: str, module: ir.Module, layout: Layout, options: CompileOptions | None = None
) -> SpmdProgram:
    """Compile a local program for the devices of a layout.

    Args:
        backend: the name of a backend.
        module: local StableHLO, entered at `@main`. It isn't changed.
        layout: the replicas and partitions.
        options: how to compile it.

    Raises:
        UsageError: there is no such backend, or a required package is missing.
        ExecutionError: the backend rejects the program.
    """
    options = options or CompileOptions()
    registration = registered(backend)
    if not registration.is_engine:
        made: Backend = registration.make()
        return made.compile(module, layout, options)
    engine = local_engine(registration.name, options)
    from pyshardy.backends.lockstep.backend import LockstepProgram  # noqa: PLC0415 (loads the host)

    return LockstepProgram(module, engine, layout, options.custom_calls)


def local_engine(name: str, options: CompileOptions | None = None) -> LocalEngine:
    """Return the local engine of a name, one per process for equal options.

    Raises:
        UsageError: there is none, or a required package is missing.
    """
    registration = registered(name)
    if not registration.is_engine:
        message = f"'{name}' is not a local engine: it runs programs with collectives itself"
        raise UsageError(error(message))
    registration.check_installed()  # also for an engine in the cache
    # Engines don't execute custom calls that functions implement.
    return _engine(registration.name, replace(options or CompileOptions(), custom_calls={}))


@cache
def _engine(name: str, options: CompileOptions) -> LocalEngine:
    return _REGISTRY[name].make(options=options)
