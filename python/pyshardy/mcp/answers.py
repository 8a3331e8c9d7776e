# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The answers to requests, as data for JSON.

Each is what a tool or a function of the project says, with the parts that an agent needs. Lists are
cut at `most` entries, and then have the number of all beside them. Files lie in the served folder.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from mlir_sdy import assembly
from mlir_sdy.assembly import asm
from mlir_sdy.diagnostics import UsageError, emit, error, warning
from mlir_sdy.dialect import Context
from mlir_sdy.host import ir
from mlir_sdy.model import TensorSharding
from mlir_sdy.suggest import did_you_mean, nearest
from pyshardy import forms
from pyshardy.auto.entry import auto_shard
from pyshardy.cli import auto, calibrate, explain, run, translate
from pyshardy.cli.mesh_flag import give_mesh
from pyshardy.cli.opt import all_summaries, help_text, pass_help_text
from pyshardy.cli.reading import at_sizes, read_shardings
from pyshardy.cli.source_files import SourceFiles
from pyshardy.contracts import contract as contracts
from pyshardy.contracts.files import read_contract
from pyshardy.cost.hardware import presets
from pyshardy.display import beginning_of
from pyshardy.explain.collectives import CollectiveExplanation
from pyshardy.explain.contract_advice import advice_on_contract, explain_with_contracts
from pyshardy.explain.plain import plain
from pyshardy.explain.program import ExplainedProgram
from pyshardy.explain.reasons import Reason
from pyshardy.explain.what_if import WhatIf, whatif
from pyshardy.forms import spec_text
from pyshardy.frontends.files import load
from pyshardy.irtools import named_values
from pyshardy.irtools.user_files import run_user_file
from pyshardy.lsp.analysis import problem_of, traced_by_script
from pyshardy.mcp.requests import (
    AutoShardRequest,
    CheckContractRequest,
    CollectivesRequest,
    ExplainRequest,
    HelpRequest,
    ListPassesRequest,
    ListRequest,
    PartitionRequest,
    ProgramRequest,
    Request,
    RunPipelineRequest,
    WhatIfRequest,
)
from pyshardy.pipeline.host_pass_names import WELL_KNOWN_HOST_PASSES
from pyshardy.pipeline.plan import plan_pipeline
from pyshardy.pipeline.runner import run_pipeline
from pyshardy.program_interface import Port


class ServedFolder:
    """A folder with programs.

    Args:
        folder: the folder.
        allows_code: whether files of Python may be run.
    """

    def __init__(self, folder: str | Path, *, allows_code: bool):
        self._folder = Path(folder).resolve()
        self._allows_code = allows_code

    def file(self, name: str) -> Path:
        """Return the path of a file from the folder on.

        Raises:
            UsageError: it is outside of the folder, also by `..` or a symbolic link; or there is no
                such file.
        """
        try:
            path = Path(os.path.realpath(self._folder / name))
            is_file = path.is_file()
        except (OSError, ValueError) as refusal:  # a name that is too long, a null character
            raise UsageError(error(f"cannot open '{name}': {refusal}")) from None
        if not path.is_relative_to(self._folder):
            message = f"cannot open '{name}': it is outside of the folder that the server reads"
            raise UsageError(error(f"{message}; pass a path from that folder on"))
        if not is_file:
            names = [each.name for each in path.parent.iterdir()] if path.parent.is_dir() else []
            what = "it is no regular file" if path.exists() else "there is no such file"
            raise UsageError(error(f"cannot open '{name}': {what}{did_you_mean(path.name, names)}"))
        return path.relative_to(self._folder)

    def file_or_text(self, text: str) -> str:
        """Return an argument that is a text or a TOML file, which has to be in the folder.

        Raises:
            UsageError: as for `file`.
        """
        return str(self.file(text)) if text.endswith(".toml") else text

    def check_code(self, *what: str) -> None:
        """Check that the server may run code, and passes with access to files.

        Args:
            what: descriptions of what would be run; none is always allowed.

        Raises:
            UsageError: it may not.
        """
        if what and not self._allows_code:
            remedy = "ask the user to start it by 'sdy-mcp --allow-code'"
            raise UsageError(error(f"this server doesn't run {what[0]}: {remedy}"))


Answer = dict[str, Any]


def answer(folder: ServedFolder, request: Request) -> Answer:
    """Return the answer to a request.

    Args:
        folder: the files that may be read.
        request: the request.

    Raises:
        SdyError: a file is not allowed, a program is invalid, or whatever the tools raise.
    """
    folder.check_code(*(f"code, such as '{each}'" for each in request.code))
    match request:
        case ExplainRequest():
            return _explain(folder, request)
        case CollectivesRequest():
            return _collectives(folder, request)
        case WhatIfRequest():
            return _what_if(folder, request)
        case AutoShardRequest():
            return _auto_shard(folder, request)
        case CheckContractRequest():
            return _check_contract(folder, request)
        case RunPipelineRequest():
            return _run_pipeline(folder, request)
        case ListPassesRequest():
            return _list_passes(request.word)
        case HelpRequest():
            return {"help": _help(request.topic)}
        case _:
            raise TypeError(type(request).__name__)


# --- Programs -----------------------------------------------------------------------------------


def _module(folder: ServedFolder, request: ProgramRequest) -> ir.Module:
    """Return the program of a request, on its mesh."""
    path = folder.file(request.program)
    if path.suffix == ".py":
        texts, problems = traced_by_script(str(path.absolute()))
        if problems:
            raise UsageError(*problems)
        if len(texts) != 1:
            message = f"'{path}' has to trace one program by sdy.jax.trace or sdy.torch.trace"
            raise UsageError(error(f"{message}, but it traces {len(texts)}"))
        module = assembly.parse(texts[0], Context())
    else:
        module = load(path.read_bytes(), Context(), str(path))
    if request.mesh:
        give_mesh(module, request.mesh, SourceFiles())
    return module


def _explained(folder: ServedFolder, request: ListRequest) -> ExplainedProgram:
    explained = explain_with_contracts(
        _at_hints(_module(folder, request)),
        hardware=folder.file_or_text(request.hardware),
        title=request.program,
    )
    return replace(explained, form=request.form or ("jax" if request.code else "sdy"))


def _what_if_of(folder: ServedFolder, request: PartitionRequest) -> WhatIf:
    module = _at_hints(_module(folder, request))
    return whatif(module, hardware=folder.file_or_text(request.hardware))


def _at_hints(module: ir.Module) -> ir.Module:
    """Return a program with static sizes, and say so if it has other ones."""
    static = at_sizes(module, ())
    if static is not module:
        emit(warning("the program has dynamic sizes: all is told for their hints alone"))
    return static


# --- Explanations -------------------------------------------------------------------------------


def _explain(folder: ServedFolder, request: ExplainRequest) -> Answer:
    explained = _explained(folder, request)
    if request.values:
        return {"values": {word: _values(explained, word, request) for word in request.values}}
    program = explained.program

    def ports(several: Iterable[Port]) -> Sequence[str]:
        return [
            f"{each.name}: {each.spec} {_sharding(explained, each.sharding)}" for each in several
        ]

    replicated = [
        {
            "value": each.name,
            "count": each.count,
            "nbytes_saved": each.nbytes_saved,
            "axis": each.reason.axis,
            "reason": each.reason.text,
            **_remedy(each.reason),
        }
        for each in explained.replicated(request.most)
    ]
    groups = [
        {"kind": kind, "axes": axes, "count": len(own), "nbytes_sent": own.nbytes_sent}
        for kind, group in explained.collectives.by_kind().items()
        for axes, own in group.by_axes().items()
    ]
    return {
        "mesh": str(program.mesh),
        **_list("inputs", ports(program.inputs), request.most),
        **_list("outputs", ports(program.outputs), request.most),
        "cost": plain(explained.cost),
        "collectives": groups,
        "replicated": replicated,
    }


def _values(explained: ExplainedProgram, word: str, request: ExplainRequest) -> list[Answer]:
    """Return the explanations of the values that a word stands for."""
    return [
        {
            "value": each.explanation.tensor.description,
            "location": plain(each.explanation.tensor.location),
            "sharding": _sharding(explained, each.explanation.sharding),
            "text": str(each),
            "axes": {
                axis: {"kind": plain(reason.kind), **_remedy(reason)}
                for axis, reason in each.axes.items()
            },
        }
        for each in explained.find(word)[: request.most]
    ]


def _remedy(reason: Reason) -> Answer:
    """Return the argument of what_if that changes a reason, and how well it does is tried there."""
    remedy = reason.remedy
    if remedy is None:
        return {}
    return {"what_if": dict(read_shardings("what_if", remedy.what_if))}


def _sharding(explained: ExplainedProgram, sharding: TensorSharding | None) -> str | None:
    if sharding is None:
        return None
    return explained.in_form(str(sharding))


def _collectives(folder: ServedFolder, request: CollectivesRequest) -> Answer:
    if request.kind:
        _check_word("kind", request.kind, contracts.KINDS)
    explained = _explained(folder, request)
    if request.axis:
        _check_word("axis", request.axis, explained.program.mesh.axis_names)
    found = [
        _collective(each)
        for each in explained.collectives
        if request.kind in ("", each.collective.kind)
        and (not request.axis or request.axis in _names(each))
    ]
    sent = sum(each["nbytes_sent"] for each in found)
    return {**_list("collectives", found, request.most), "nbytes_sent": sent}


def _check_word(name: str, given: str, known: Collection[str]) -> None:
    if given not in known:
        advice = did_you_mean(given, known) or f"; expected one of {', '.join(known)}"
        raise UsageError(error(f"there is no {name} '{given}'{advice}"))


def _names(explanation: CollectiveExplanation) -> set[str]:
    """Return the names of the axes of a collective, of which some may be parts: `"x":(1)2`."""
    return {each.partition(":")[0].strip('"') for each in explanation.collective.axes or ()}


def _collective(explanation: CollectiveExplanation) -> Answer:
    one = explanation.collective
    return {
        "kind": one.kind,
        "axes": plain(one.axes),
        "nbytes_sent": explanation.nbytes_total,
        "location": plain(one.location),
        "text": str(explanation),
    }


def _list(name: str, entries: Sequence[Any], most: int) -> Answer:
    """Return the first entries of a list, and the number of all if there are more."""
    cut = {f"{name}_in_all": len(entries)} if len(entries) > most else {}
    return {name: list(entries[:most]), **cut}


# --- Changes ------------------------------------------------------------------------------------


def _what_if(folder: ServedFolder, request: WhatIfRequest) -> Answer:
    for name, text in request.shardings.items():
        if text is not None and not text.startswith(("[", "<", "P(")):
            forms_of_it = "\"[{'model'}, {}]\" or \"P('model', None)\""
            message = f"the sharding of '{name}' has to be of the form {forms_of_it}, got: '{text}'"
            raise UsageError(error(message))
    change = _what_if_of(folder, request).shard_all(request.shardings)
    return {
        "summary": change.effect(),
        "difference": plain(change.difference),
        "added": [str(each) for each in change.added],
    }


def _auto_shard(folder: ServedFolder, request: AutoShardRequest) -> Answer:
    plan = auto_shard(
        _module(folder, request),
        hardware=folder.file_or_text(request.hardware),
        memory=request.memory or None,
        objective=request.objective,
        fixed=not request.free,
        timeout=request.seconds,
    )
    return {
        "summary": plan.summary(),
        "shardings": {name: spec_text(own) for name, own in plan.shardings.items()},
        "cost": plan.cost,
        "bound": plan.bound,
        "nbytes_sent": plan.bytes,
        "peak_bytes": plan.memory,
        "notes": list(plan.notes),
    }


def _check_contract(folder: ServedFolder, request: CheckContractRequest) -> Answer:
    contract = read_contract(folder.file_or_text(request.contract))
    what_if = _what_if_of(folder, request)
    contract.warn_of_unknown_places(what_if.explained.measured)
    violations = contract.violations(what_if.explained.measured)
    advice = advice_on_contract(what_if, contract) if violations else []
    return {
        "holds": not violations,
        "violations": [
            {"message": each.message, "because": list(each.notes)}
            for each in (problem_of(violation.diagnostic) for violation in violations)
        ],
        "advice": [each.message for each in advice],
    }


# --- Passes -------------------------------------------------------------------------------------


def _run_pipeline(folder: ServedFolder, request: RunPipelineRequest) -> Answer:
    for path in [folder.file(name) for name in request.load_passes]:
        run_user_file(path, "passes")
    steps = plan_pipeline(request.pipeline)
    folder.check_code(
        *(
            f"passes that may read or write files, such as '{step.argument}'"
            for step in steps
            if step.argument == "sdy-save-module"
            or (step.info is None and step.argument not in WELL_KNOWN_HOST_PASSES)
        )
    )
    for step in steps:
        for option in step.use.options:
            folder.file_or_text(option.value or "")  # of hardware
    module = _module(folder, request)
    run_pipeline(module, request.pipeline)
    return {"module": beginning_of(asm(module, debug_info=False, large_elements_limit=16))}


def _list_passes(word: str) -> Answer:
    wanted = word.lower()
    entries = all_summaries().items()
    return {"passes": {name: text for name, text in entries if wanted in f"{name} {text}".lower()}}


def _help(topic: str) -> str:
    tools = {
        "sdy-auto": auto.parser,
        "sdy-calibrate": calibrate.parser,
        "sdy-explain": explain.parser,
        "sdy-run": run.parser,
        "sdy-translate": translate.parser,
    }
    if topic in tools:
        return tools[topic]().format_help()
    texts = {
        "contracts": contracts.__doc__,
        "forms": forms.__doc__,
        "hardware": f"{', '.join(presets())}, or a TOML file like these",
        "sdy-opt": help_text(),
        "values": named_values.__doc__,
    }
    if topic in texts:
        return texts[topic] or ""
    if advice := did_you_mean(topic, [*tools, *texts]):
        raise UsageError(error(f"no help on '{topic}'{advice}"))
    if not nearest(topic, all_summaries()):
        known = ", ".join(sorted([*tools, *texts]))
        advice = f"; there are {known}, and the passes that 'list_passes' returns"
        raise UsageError(error(f"no help on '{topic}'{advice}"))
    return pass_help_text(topic)
