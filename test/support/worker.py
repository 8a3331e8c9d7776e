"""Runs C++ Shardy from the jaxlib wheel on requests from standard input.

It aborts on some inputs and doesn't end on others, so the tests talk to it in a child process (see
`shardy.py`). Each request and each answer is one line of JSON. A forked process answers; when it
ends, the next one is there in milliseconds, where loading jaxlib takes a second or more.
"""

import contextlib
import ctypes
import functools
import importlib
import json
import operator
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from jax._src.interpreters import mlir as jax_mlir
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import mpmd, sdy  # noqa: F401 (registers the dialect)
from jaxlib.mlir.passmanager import PassManager
from mpmd_passes import register_passes

RENEW = 3
"""The exit status of a process that is asked to make room for another one."""

SECONDS = 60
"""The time of the processor that a request may take; those that end take less than two seconds."""

PR_SET_PDEATHSIG = 1

ANSWERS = os.fdopen(os.dup(1), "w")
"""The standard output of the process, to which C++ code prints notes otherwise."""

os.dup2(2, 1)


def answer(request: dict) -> dict:
    with jax_mlir.make_ir_context() as context, ir.Location.unknown():
        # A thread of MLIR that reports an error waits for Python, which waits for the thread.
        context.enable_multithreading(False)
        context.allow_unregistered_dialects = request.get("allow_unregistered", False)
        warnings: list[str] = []

        def keep(diagnostic: ir.Diagnostic) -> bool:
            is_warning = diagnostic.severity == ir.DiagnosticSeverity.WARNING
            if is_warning:
                warnings.append(str(diagnostic.message))
            return is_warning

        context.attach_diagnostic_handler(keep)
        if "mpmd" in request["text"]:
            mpmd.register_dialect(context)
        try:
            module = ir.Module.parse(request["text"])
            if (phase := request.get("phase")) is not None:
                partition_on_meshes(module, phase)
            if steps := request.get("steps"):
                return {"texts": list(texts_after(steps, module))}
            if pipeline := request.get("pipeline"):
                PassManager.parse(pipeline).run(module.operation)
            text = module.operation.get_asm(
                print_generic_op_form=request.get("generic", False),
                enable_debug_info=request.get("debug_info", False),
            )
        except Exception as error:
            return {"error": str(error)}
        return {"text": text, "warnings": warnings}


def partition_on_meshes(module: ir.Module, phase: dict) -> None:
    """Run phases of the partitioner of MPMD programs on a module."""
    apply = partitioner_of_mpmd()
    main = next(
        each for each in module.body.operations if each.attributes["sym_name"].value == "main"
    )
    kind = ir.FunctionType(ir.TypeAttr(main.attributes["function_type"]).value)
    inputs, outputs = ([None] * len(each) for each in (kind.inputs, kind.results))
    apply.apply_mpmd_partitioning(
        module,
        "main",
        [(name, [tuple(axis) for axis in axes]) for name, axes in phase["topology"]],
        {
            name: tuple(mesh) if isinstance(mesh, list) else mesh
            for name, mesh in phase["assignment"].items()
        },
        phase.get("inputs") or inputs,
        phase.get("outputs") or outputs,
        phase.get("donated", []),
        partitioning_options=phase.get("options", {}),
        fragment_merge_rules=[],
        fragment_schedule_rules=[],
        phases=functools.reduce(
            operator.or_,
            (getattr(apply.PartitioningPhase, name) for name in phase["until"].split("|")),
        ),
    )


def partitioner_of_mpmd() -> ModuleType:
    """Import the partitioner, which looks for its package under another name."""
    for name, module in list(sys.modules.items()):
        if name == "jaxlib" or name.startswith("jaxlib."):
            sys.modules[f"jax.{name}"] = module
    return importlib.import_module("jaxlib._sdy_mpmd")


def texts_after(steps: list[str], module: ir.Module) -> Iterator[str | None]:
    """The module after each step; None for those that leave it as it is."""
    before = str(module)
    for step in steps:
        PassManager.parse(step).run(module.operation)
        after = str(module)
        yield None if after == before else after
        before = after


def serve() -> None:
    """Answer requests until there are no more, or until one asks for another process."""
    for line in sys.stdin:
        request = json.loads(line)
        if "renew" in request:
            os._exit(RENEW)
        # Its signal ends the process, also inside of C++.
        signal.setitimer(signal.ITIMER_VIRTUAL, request.pop("seconds", SECONDS))
        print(json.dumps(answer(request)), file=ANSWERS, flush=True)


def main() -> None:
    """Fork a process that answers, and another one whenever it ends before its input does.

    The argument is a file with the addresses of MPMD passes, if these are to be registered.
    """
    for table in sys.argv[1:]:
        register_passes(Path(table))
    parent = os.getpid()
    while True:
        child = os.fork()
        if child == 0:
            with contextlib.suppress(AttributeError):  # exists on Linux only
                ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() == parent:
                serve()
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if status == 0:
            return
        how = os.waitstatus_to_exitcode(status)
        reasons = {RENEW: "renewed", -signal.SIGVTALRM: "did not end"}
        print(json.dumps({"ended": reasons.get(how, "aborted")}), file=ANSWERS, flush=True)


main()
