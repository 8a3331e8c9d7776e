# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy.parse(..., guard=True)`: a crash of the host's parser is an exception."""

import os
import subprocess
import sys
import threading

import pytest

import pyshardy as sdy
from mlir_sdy.diagnostics import UsageError
from mlir_sdy.last_words import last_words
from pyshardy.processes.crash import Crash
from pyshardy.processes.fork import raise_if_crashing

NESTED = f"func.func @f(%a: {'tuple<' * 100_000}i32{'>' * 100_000})"
FUNCTION = "func.func @f(%a: tensor<4xf32>) {\n  return\n}\n"


@pytest.fixture(scope="module")
def context():
    return sdy.Context()


def test_a_crash_is_an_exception(context, capfd):
    with pytest.raises(sdy.HostCrashError) as caught:
        sdy.parse(NESTED, context, guard=True)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.message.startswith("the MLIR host crashed while parsing the text: SIGSEGV")
    assert capfd.readouterr() == ("", "")
    assert isinstance(caught.value, sdy.SdyError)


def test_a_crash_in_a_file(context, tmp_path):
    path = tmp_path / "deep.mlir"
    path.write_text(NESTED)
    with pytest.raises(sdy.HostCrashError, match=f"while parsing '{path}'"):
        sdy.parse(path, context, guard=True)


def test_all_else_is_as_without_a_guard(context, capfd):
    guarded = sdy.parse(FUNCTION, context, guard=True)
    assert sdy.asm(guarded) == sdy.asm(sdy.parse(FUNCTION, context))
    with pytest.raises(sdy.ParseError) as caught:
        sdy.parse("func.func @f(", context, guard=True)
    assert len(caught.value.diagnostics) == 1
    with pytest.raises(UsageError, match="cannot read the file"):
        sdy.parse("no/such/file.mlir", context, guard=True)
    assert capfd.readouterr() == ("", "")


def test_a_context_with_threads():
    """Its threads are not there in a forked process, which must not wait for them."""
    code = f"""
import pyshardy as sdy
context = sdy.Context()
context.enable_multithreading(True)
text = "".join({FUNCTION!r}.replace("@f", f"@f{{i}}") for i in range(500))
sdy.parse(text, context)
sdy.parse(text, context, guard=True)
try:
    sdy.parse({NESTED[:40]!r} * 3, context, guard=True)
except sdy.ParseError:
    print("done")
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=400, check=True
    )
    assert done.stdout == "done\n"


def test_other_threads_are_no_hindrance(context):
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait)
    thread.start()
    try:
        sdy.parse(FUNCTION, context, guard=True)
    finally:
        stop.set()
        thread.join()


def test_nothing_is_left_open(context):
    before = len(os.listdir("/proc/self/fd"))
    sdy.parse(FUNCTION, context, guard=True)
    with pytest.raises(sdy.HostCrashError):
        sdy.parse(NESTED, context, guard=True)
    assert len(os.listdir("/proc/self/fd")) == before


def test_systems_without_fork(monkeypatch):
    monkeypatch.delattr(os, "fork")
    with pytest.raises(UsageError, match="a guard needs 'fork'"):
        raise_if_crashing(lambda: None)


# --- What is said ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("", None),
        ("Stack dump:\n0. x\n", None),
        ("a warning\nLLVM ERROR: out of memory\nStack dump:\n", "out of memory"),
        ("terminate called after ...\n  what():  std::bad_alloc\n", "std::bad_alloc"),
        ("F0707 11:22:33.4 12 x.cc:7] Check failed: a\n", "Check failed: a"),
        (
            "python: IR.cpp:3: void f(): Assertion `x' failed.\n",
            "python: IR.cpp:3: void f(): Assertion `x' failed.",
        ),
        ("Fatal Python error: Segmentation fault\n", None),
        (
            "Fatal Python error: none_dealloc: deallocating None\n",
            "none_dealloc: deallocating None",
        ),
    ],
)
def test_last_words(said, reason):
    assert last_words(said) == reason


def test_messages():
    assert Crash(9, (), "").message == (
        "the MLIR host crashed while starting: SIGKILL (killed, possibly by the system for "
        "lack of memory)"
    )
    assert Crash(6, ("partitioning", "running pass 'cse'"), "LLVM ERROR: no\n").message == (
        "the MLIR host crashed while partitioning, running pass 'cse': no; SIGABRT (abort)"
    )
    assert Crash(40, ("printing",), "").message.endswith("while printing: signal 40")
