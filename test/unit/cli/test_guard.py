# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""No input ends a tool by a signal: a crash is a diagnostic, and all else is as without a guard."""

import os
import pty
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pyshardy.cli import opt

PROGRAM = """\
sdy.mesh @mesh = <["x"=2]>
func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> tensor<8xf32> {
  %0 = stablehlo.custom_call @target(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
"""

RULE = """
import ctypes, os, signal, sys, time
from pyshardy.rules import sharding_rule

@sharding_rule("stablehlo.custom_call", target="target")
def rule(op):
    {body}
"""

CRASH = "ctypes.string_at(0)"

ABORT = """\
#p = dense<0> : tensor<4611686018427387904x2xi64>
func.func @main(%a: tensor<8xf32>, %b: tensor<f32>) -> tensor<4xf32> {
  %0 = "stablehlo.reduce_window"(%a, %b)
      <{padding = #p, window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %1 = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %1 : tensor<f32>
  }) : (tensor<8xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
"""MLIR's parser ends the process on it, by a message of LLVM."""

CROSSED = """\
module @m attributes {mhlo.num_partitions = 8 : i32} {
  func.func public @main(%arg0: tensor<4xf32>) -> (tensor<4xf32> {jax.result_info = "result"}) {
    %1 = stablehlo.abs %0 : tensor<4xf32>
  }
  func.func private @f(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.abs %arg0 : tensor<4xf32>
  }
}
"""


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A program, and rules that do something when its custom call is asked for one."""
    monkeypatch.setenv("TMPDIR", str(tmp_path / "kept"))
    (tmp_path / "kept").mkdir()

    def made(body):
        program, rules = tmp_path / "program.mlir", tmp_path / "rules.py"
        program.write_text(PROGRAM)
        rules.write_text(RULE.format(body=body))
        return program, f"--load-rules={rules}"

    return made


def command(tool, *arguments):
    return [sys.executable, "-m", f"pyshardy.cli.{tool}", *map(str, arguments)]


def run(tool, *arguments, **options):
    return subprocess.run(
        command(tool, *arguments), capture_output=True, check=False, timeout=400, **options
    )


def kept_files(stderr):
    return [Path(name.decode()) for name in re.findall(rb"the input was saved to '(.*)'", stderr)]


@pytest.mark.parametrize(
    ("tool", "flags", "stage"),
    [
        ("opt", ["-sdy-basic-propagate"], "running pass 'sdy-basic-propagate'"),
        ("run", [], "partitioning, running pass 'sdy-user-priority-propagate'"),
    ],
)
def test_crash_in_a_pass(files, tool, flags, stage):
    program, rules = files(CRASH)
    result = run(tool, program, rules, *flags)
    assert result.returncode == 1
    assert result.stdout == b""
    first, *notes = result.stderr.decode().splitlines()
    assert first == (
        f"sdy-{tool}: error: the MLIR host crashed while {stage}: SIGSEGV (segmentation fault: an "
        "invalid memory access, or a stack overflow)"
    )
    assert len(notes) == 2
    (kept,) = kept_files(result.stderr)
    assert kept.read_text() == PROGRAM
    # The command reproduces it without a guard: the process dies.
    again = shlex.split(notes[1].partition("to reproduce the crash: ")[2])
    assert again[:2] == [f"sdy-{tool}", "--no-guard"]
    assert run(tool, *again[1:]).returncode == -signal.SIGSEGV


def test_reason_of_llvm_is_kept(files):
    files("")
    result = run("opt", input=ABORT.encode())
    assert result.returncode == 1
    assert b"while parsing '<stdin>': SmallVector unable to grow" in result.stderr
    assert b"SIGABRT (abort)" in result.stderr
    assert b"LLVM ERROR" not in result.stderr
    assert b"Stack dump" not in result.stderr
    (kept,) = kept_files(result.stderr)
    assert kept.read_text() == ABORT
    assert f"sdy-opt --no-guard {kept}" in result.stderr.decode()


@pytest.mark.parametrize("tool", ["explain", "opt", "run", "translate"])
@pytest.mark.parametrize(
    "text",
    [
        "module {\n" * 100_000 + "}\n" * 100_000,
        f"func.func @f(%a: {'tuple<' * 100_000}i32{'>' * 100_000}) {{ return }}",
    ],
    ids=["modules", "types"],
)
def test_stack_overflow(files, tmp_path, tool, text):
    files("")
    program = tmp_path / "deep.mlir"
    program.write_text(text)
    result = run(tool, program)
    assert result.returncode == 1
    assert f"the MLIR host crashed while parsing '{program}'" in result.stderr.decode()
    assert result.stderr.count(b"error:") == 1
    assert kept_files(result.stderr)[0].read_text() == text


@pytest.mark.parametrize("tool", ["explain", "opt", "run", "translate"])
def test_value_of_another_function(tmp_path, tool):
    program = tmp_path / "crossed.mlir"
    program.write_text(CROSSED)
    result = run(tool, program)
    assert result.returncode == 1
    assert f"{program}:3:10: error: block with no terminator" in result.stderr.decode()
    assert b"crashed" not in result.stderr
    program.write_text(CROSSED.replace("  }\n", "    return %arg0 : tensor<4xf32>\n  }\n"))
    result = run(tool, program, "--no-guard")
    assert result.returncode == 1
    expected = f"{program}:3:10: error: 'stablehlo.abs' op using value defined outside the region"
    assert expected in result.stderr.decode()


def test_all_inputs_are_kept(files, tmp_path):
    program, _ = files("")
    other = tmp_path / "other.mlir"
    other.write_text(ABORT)
    result = run("explain", program, f"--diff={other}")
    assert result.returncode == 1
    assert f"while parsing '{other}'" in result.stderr.decode()
    first, second = kept_files(result.stderr)
    assert first.read_text() == PROGRAM
    assert second.read_text() == ABORT
    assert f"sdy-explain --no-guard {first} --diff={second}" in result.stderr.decode()


def test_reproducer_of_passes(files, tmp_path):
    program, rules = files(CRASH)
    reproducer = tmp_path / "reproducer.mlir"
    flag = f"--mlir-pass-pipeline-crash-reproducer={reproducer}"
    result = run("opt", program, rules, "-sdy-basic-propagate", flag)
    assert f"reproducer generated at '{reproducer}'" in result.stderr.decode()
    again = run("opt", "--run-reproducer", reproducer, rules)
    assert again.returncode == 1
    assert b"while running pass 'sdy-basic-propagate'" in again.stderr


def test_stack_dump_on_demand(files):
    program, rules = files(CRASH)
    flag = "--mlir-print-stacktrace-on-diagnostic"
    result = run("opt", program, rules, "-sdy-basic-propagate", flag)
    assert result.returncode == 1
    assert b"rules.py" in result.stderr
    assert b"in rule" in result.stderr


def test_what_libraries_say_is_shown_when_all_went_well(files):
    program, rules = files("os.write(2, b'of a library\\n'); print('of Python', file=sys.stderr)")
    result = run("opt", program, rules, "-sdy-basic-propagate")
    assert result.returncode == 0
    assert b"of a library\n" in result.stderr
    assert b"of Python\n" in result.stderr


def test_status_and_output_pass_through(files):
    program, rules = files("sys.exit(7)")
    assert run("opt", program).stdout == run("opt", program, "--no-guard").stdout != b""
    assert run("opt", program, rules, "-sdy-basic-propagate").returncode == 7


# --- Signals --------------------------------------------------------------------------------------

WAIT = (
    "os.write(os.open(os.environ['READY'], os.O_CREAT | os.O_WRONLY), str(os.getpid()).encode()); "
    "time.sleep(1000)"
)
"""Without a file to close: an interrupt while Python closes one in a destructor is lost."""


@pytest.fixture
def default_signals():
    """Let tools start with all signals on: jobs in the background and under nohup ignore some."""
    wanted = {signal.SIGHUP: signal.SIG_DFL, signal.SIGINT: signal.default_int_handler}
    before = {number: signal.signal(number, handler) for number, handler in wanted.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def waiting_tool(files, tmp_path, monkeypatch, body=WAIT, **options):
    """A tool that waits, and the process of it that does the work."""
    ready = tmp_path / "ready"
    monkeypatch.setenv("READY", str(ready))
    program, rules = files(body)
    process = subprocess.Popen(
        command("opt", program, rules, "-sdy-basic-propagate"),
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options},
    )
    deadline = time.monotonic() + 200
    while not (ready.exists() and ready.read_text()) and time.monotonic() < deadline:
        time.sleep(0.02)
    return process, int(ready.read_text())


def assert_ends(pid):
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        try:
            status = Path(f"/proc/{pid}/stat").read_text()
        except FileNotFoundError:
            return
        if status.rpartition(")")[2].split()[0] == "Z":
            return
        time.sleep(0.02)
    pytest.fail("the process that does the work goes on")


@pytest.mark.usefixtures("default_signals")
@pytest.mark.parametrize(
    ("number", "status"),
    [
        (signal.SIGTERM, -signal.SIGTERM),
        (signal.SIGHUP, -signal.SIGHUP),
        (signal.SIGINT, 130),
        (signal.SIGKILL, -signal.SIGKILL),
    ],
)
def test_signals_end_both_processes(files, tmp_path, monkeypatch, number, status):
    process, worker = waiting_tool(files, tmp_path, monkeypatch)
    assert worker != process.pid
    process.send_signal(number)
    out, err = process.communicate(timeout=200)
    assert process.returncode == status
    assert (out, err) == (b"", b"")
    assert_ends(worker)


@pytest.mark.usefixtures("default_signals")
def test_interrupt_from_a_terminal(files, tmp_path, monkeypatch):
    controller, terminal = pty.openpty()
    process, worker = waiting_tool(
        files,
        tmp_path,
        monkeypatch,
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        start_new_session=True,
        preexec_fn=lambda: os.close(os.open(os.ttyname(0), os.O_RDWR)),
    )
    os.close(terminal)
    os.write(controller, b"\x03")
    assert process.wait(timeout=200) == 130
    assert_ends(worker)
    shown = b""
    try:
        while chunk := os.read(controller, 4096):
            shown += chunk
    except OSError:
        pass  # Linux's way to say that the terminal is closed
    os.close(controller)
    assert b"Traceback" not in shown


@pytest.mark.usefixtures("default_signals")
def test_a_crash_by_an_interrupt_is_no_crash(files, tmp_path, monkeypatch):
    """Native libraries that are being loaded don't survive an interrupt."""
    body = f"signal.signal(signal.SIGINT, lambda *_: {CRASH}); {WAIT}"
    process, worker = waiting_tool(files, tmp_path, monkeypatch, body)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=200) == (b"", b"")
    assert process.returncode == 130
    assert_ends(worker)


def test_kill_of_the_worker_is_reported(files, tmp_path, monkeypatch):
    process, worker = waiting_tool(files, tmp_path, monkeypatch)
    os.kill(worker, signal.SIGKILL)
    _, err = process.communicate(timeout=200)
    assert process.returncode == 1
    assert b"SIGKILL (killed, possibly by the system for lack of memory)" in err


# --- In a process that is not the tool's own ------------------------------------------------------


def test_calls_are_not_guarded(files, capfd):
    program, _ = files("")
    before = os.getpid()
    assert opt.main([str(program)]) == 0
    assert os.getpid() == before
    assert "stablehlo.custom_call" in capfd.readouterr().out
