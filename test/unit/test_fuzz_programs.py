# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mutated programs end in a diagnostic or a valid program: parse, propagate and partition.

`tools/fuzz.py` runs them; it explains what counts as a defect. A long run:

    PYSHARDY_FUZZ_CASES=200000 pytest -n 2 test/unit/test_fuzz_programs.py
"""

import importlib
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

import pyshardy as sdy

TOOLS = Path(__file__).resolve().parents[2] / "tools"
CASES = int(os.environ.get("PYSHARDY_FUZZ_CASES", "600"))
BATCHES = 4

PROGRAM = """\
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}
"""


@pytest.mark.parametrize("batch", range(BATCHES))
def test_mutated_programs(batch):
    size = CASES // BATCHES
    command = [sys.executable, TOOLS / "fuzz.py", f"--first={batch * size}", f"--cases={size}"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    lines = re.findall(r"^ *(\d+) (\D+)$", result.stdout, re.MULTILINE)
    counts = {name: int(number) for number, name in lines}
    assert sum(counts.values()) == size
    for outcome in ("refused by parse", "refused by propagate", "refused by partition"):
        assert counts[outcome] > size // 50, result.stdout
    assert counts["partitioned"] > size // 10, result.stdout


def test_mutated_programs_with_dynamic_sizes():
    command = [sys.executable, TOOLS / "fuzz.py", "--dynamic", f"--cases={CASES // 10}"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    assert re.search(r"^ *\d\d+ partitioned$", result.stdout, re.MULTILINE), result.stdout


# --- The fuzzer finds what it looks for -----------------------------------------------------------


@pytest.fixture
def fuzzer(monkeypatch):
    """The modules of the fuzzer."""
    monkeypatch.syspath_prepend(str(TOOLS))
    from program_fuzzer import judgement, processes, sources  # noqa: PLC0415

    return judgement, processes, sources


def judged(fuzzer, text=PROGRAM):
    return fuzzer[0].judged(text, sdy.Context(), lambda _: None)


def test_outcomes(fuzzer):
    assert judged(fuzzer) == "partitioned"
    assert judged(fuzzer, "module {") == "refused by parse"
    assert judged(fuzzer, PROGRAM.replace("@main", "@a") + "func.func @b() { return }") == (
        "refused by propagate"
    )
    assert judged(fuzzer, "func.func @main() { return }") == "refused by partition"


def raising(exception):
    def fail(*_, **__):
        raise exception

    return fail


@pytest.mark.parametrize(
    ("exception", "found"),
    [
        (KeyError("x"), "defect: exception in propagate"),
        (RecursionError(), "defect: exception in propagate"),
        (sdy.SdyError(), "defect: an error of propagate without a message"),
    ],
)
def test_wrong_failures(fuzzer, monkeypatch, exception, found):
    monkeypatch.setattr(sdy, "propagate", raising(exception))
    assert judged(fuzzer).startswith(found)


def test_internal_errors(fuzzer, monkeypatch):
    place = "pyshardy.passes.partitioning.convert_global_to_local"
    module = importlib.import_module(place)
    monkeypatch.setattr(module, "first_free_channel", raising(KeyError("x")))
    assert judged(fuzzer).startswith("defect: internal error in partition")


def test_errors_without_a_place(fuzzer, monkeypatch):
    from mlir_sdy.diagnostics import error  # noqa: PLC0415

    monkeypatch.setattr(sdy, "propagate", raising(sdy.PassError(error("somewhere"))))
    assert judged(fuzzer).startswith("defect: an error of propagate without a location")


def test_invalid_programs(fuzzer, monkeypatch):
    def break_module(module):
        mesh = module.body.operations[0].operation
        mesh.attributes["sym_name"] = type(mesh.attributes["sym_name"]).get("m", module.context)

    monkeypatch.setattr(sdy, "propagate", break_module)
    assert judged(fuzzer).startswith("defect: invalid after propagate")


def test_crashes_and_hangs(fuzzer, monkeypatch):
    _, processes, sources = fuzzer

    def judge(_, __, note_stage):
        note_stage("propagate")
        os.abort()

    sampler = sources.Sampler([PROGRAM])
    monkeypatch.setattr(processes, "judged", judge)
    first, second = processes.outcomes([3, 4], sampler)
    assert (first.case, second.case) == (3, 4)
    assert first.is_defect
    assert first.text == "defect: propagate ended the process: SIGABRT"
    monkeypatch.setattr(processes, "judged", lambda *_: time.sleep(60))
    monkeypatch.setattr(processes, "SECONDS_PER_CASE", 0.5)
    (outcome,) = processes.outcomes([0], sampler)
    assert outcome.text == "defect: no end of start in 0.5 s"


def test_a_crash_of_the_parser_must_be_reported_by_the_guard(fuzzer, monkeypatch):
    _, processes, sources = fuzzer
    nested = f"func.func @f(%a: {'tuple<' * 100_000}i32{'>' * 100_000})"
    monkeypatch.setattr(processes, "program_of", lambda *_: nested)
    (outcome,) = processes.outcomes([0], sources.Sampler([PROGRAM]))
    assert outcome.text == "crash of the host in parse, reported by the guard"
    monkeypatch.setattr(sdy, "parse", lambda *_, **__: None)
    assert processes.judged_crash(0, None, "parse", "SIGSEGV").startswith("defect: parse ended")


def test_cases_can_be_repeated(fuzzer):
    _, processes, sources = fuzzer
    sampler = sources.Sampler(sources.programs())
    assert processes.program_of(7, sampler) == processes.program_of(7, sampler)
    assert len({processes.program_of(case, sampler) for case in range(20)}) == 20
    assert len(sources.programs()) > 250
