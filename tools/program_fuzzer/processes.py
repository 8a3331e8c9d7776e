# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs of cases in forked processes, so that a crash or a hang ends one case only.

The process that forks has loaded the host and the programs, but runs no case itself. A worker runs
cases until it dies, hangs, or reaches a maximum number, after which its memory is released.
"""

from __future__ import annotations

import json
import os
import random
import resource
import select
import signal
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import pyshardy as sdy
from program_fuzzer.judgement import DEFECT, judged, warm_up
from program_fuzzer.mutations import mutated
from program_fuzzer.sources import Sampler

SECONDS_PER_CASE = 60
"""The time limit of a case, sufficient on a busy machine."""

_CASES_PER_WORKER = 200
_CASES_PER_CONTEXT = 25
_MEMORY = 8 << 30


@dataclass(frozen=True)
class Outcome:
    """The outcome of a case.

    Attributes:
        case: its number, which is the seed of its mutations.
        text: the outcome; see `judged`.
    """

    case: int
    text: str

    @property
    def is_defect(self) -> bool:
        """Whether the outcome is a defect."""
        return self.text.startswith(DEFECT)


def program_of(case: int, sampler: Sampler) -> str:
    """Return the mutated program of a case."""
    return mutated(random.Random(case), sampler)


def outcomes(cases: Iterable[int], sampler: Sampler) -> Iterator[Outcome]:
    """Run cases in turn."""
    warm_up()
    remaining = list(cases)
    while remaining:
        batch = remaining[:_CASES_PER_WORKER]
        done = 0
        for outcome in _batch(batch, sampler):
            yield outcome
            done += 1
        remaining = remaining[done:]


def _batch(cases: Sequence[int], sampler: Sampler) -> Iterator[Outcome]:
    """Yield the outcomes of cases in a worker, up to the case that ends it."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _work(cases, sampler, writing)
    os.close(writing)
    buffer, stage, done = b"", "start", 0
    try:
        while done < len(cases):
            ready, _, _ = select.select([reading], [], [], SECONDS_PER_CASE)
            if not ready:
                yield Outcome(cases[done], f"{DEFECT}: no end of {stage} in {SECONDS_PER_CASE} s")
                return
            data = os.read(reading, 1 << 16)
            if not data:
                how = _end(child)
                child = 0
                yield Outcome(cases[done], judged_crash(cases[done], sampler, stage, how))
                return
            *lines, buffer = (buffer + data).split(b"\n")
            for line in lines:
                message = json.loads(line)
                if "outcome" in message:
                    yield Outcome(cases[done], message["outcome"])
                    done += 1
                else:
                    stage = message["stage"]
    finally:
        os.close(reading)
        if child:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def judged_crash(case: int, sampler: Sampler, stage: str, how: str) -> str:
    """Return the outcome of a case that ended its process.

    Crashes of the host's parser can't be excluded, but a guard has to report them.
    """
    if stage == "parse":
        try:
            sdy.parse(program_of(case, sampler), sdy.Context(), guard=True)
        except sdy.HostCrashError:
            return "crash of the host in parse, reported by the guard"
        except sdy.SdyError:
            pass
    return f"{DEFECT}: {stage} ended the process: {how}"


def _end(child: int) -> str:
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return signal.Signals(os.WTERMSIG(status)).name
    return f"status {os.WEXITSTATUS(status)}"


def _work(cases: Sequence[int], sampler: Sampler, writing: int) -> None:
    """Run cases in this process, which is a worker, and end it."""
    try:
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)

        def tell(**message: str) -> None:
            os.write(writing, json.dumps(message).encode() + b"\n")

        for number, case in enumerate(cases):
            if number % _CASES_PER_CONTEXT == 0:
                context = sdy.Context()  # attributes live as long as their context
            text = program_of(case, sampler)
            tell(outcome=judged(text, context, lambda stage: tell(stage=stage)))
    finally:
        os._exit(0)
