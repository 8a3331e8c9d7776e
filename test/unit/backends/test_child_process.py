# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Child processes end with what started them, and not before."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from pyshardy.processes.child_process import ChildDiedError, ChildProcess

WORKER = """
import time  # A request for the name of a file makes it, and takes very long.
from pyshardy.processes.worker import Parent

def answer(request):
    if request == "fail":
        raise ValueError("no")
    if request == "ask":
        return [parent.ask(number) for number in range(3)]
    if isinstance(request, str):
        open(request, "w").close()
        time.sleep(1000)
    return request

parent = Parent()
parent.serve(answer)
"""

PARENT = f"""
import sys
from pyshardy.processes.child_process import ChildProcess
child = ChildProcess(["-c", {WORKER!r}])
assert child.ask(0) == (True, 0)
print(child.process.pid, flush=True)
child.ask(sys.argv[1])
"""


def is_alive(process_id: int) -> bool:
    if not Path("/proc").exists():  # macOS
        command = ["ps", "-o", "stat=", "-p", str(process_id)]
        told = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
        return bool(told) and "Z" not in told
    try:
        return "Z" not in Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False


def ends(process_id: int) -> bool:
    deadline = time.monotonic() + 120
    while is_alive(process_id) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not is_alive(process_id)


@pytest.fixture
def child():
    child = ChildProcess(["-c", WORKER])
    yield child
    child.close()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux tells children")
def test_a_busy_child_ends_when_its_parent_is_killed(tmp_path):
    busy = tmp_path / "busy"
    parent = subprocess.Popen([sys.executable, "-c", PARENT, str(busy)], stdout=subprocess.PIPE)
    assert parent.stdout is not None
    process_id = int(parent.stdout.readline())
    while not busy.exists():
        time.sleep(0.02)
    assert is_alive(process_id)
    parent.kill()
    parent.wait()
    assert ends(process_id)
    parent.stdout.close()


def test_a_child_outlives_the_thread_that_starts_it():
    started = []

    def start():
        child = ChildProcess(["-c", WORKER])
        assert child.ask(0) == (True, 0)  # By now it has tied itself to a thread.
        started.append(child)

    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
    (child,) = started
    try:
        time.sleep(0.1)
        assert child.ask(0) == (True, 0)
    finally:
        child.close()


def test_a_child_ends_with_its_object(child):
    process_id = child.process.pid
    assert child.ask(0) == (True, 0)
    child.close()
    assert ends(process_id)


def test_an_exception_is_an_answer(child):
    assert child.ask("fail") == (False, "no")
    assert child.ask(0) == (True, 0)


def test_questions_before_an_answer(child):
    assert child.ask("ask", lambda number: number * 10) == (True, [0, 10, 20])
    assert child.ask(0) == (True, 0)


def test_a_killed_child(child):
    assert child.ask(0) == (True, 0)
    os.kill(child.process.pid, signal.SIGKILL)
    with pytest.raises(ChildDiedError, match="SIGKILL"):
        child.ask(0)


def test_a_forked_process_starts_children_too():
    """It has none of the threads of its parent."""
    code = f"""
import os
from pyshardy.processes.child_process import ChildProcess
first = ChildProcess(["-c", {WORKER!r}])
assert first.ask(0) == (True, 0)
if os.fork() == 0:
    assert ChildProcess(["-c", {WORKER!r}]).ask(0) == (True, 0)
    os._exit(7)
status = os.wait()[1]
assert first.ask(0) == (True, 0)
assert os.waitstatus_to_exitcode(status) == 7
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=200)


@pytest.mark.parametrize("dtype", ["float32", "int8", "bool", "complex64", "bfloat16", "int4"])
def test_arrays_are_answers(child, dtype):
    array = np.arange(6).reshape(2, 3).astype(np.dtype(getattr(ml_dtypes, dtype, dtype)))
    succeeded, (same, transposed, scalar) = child.ask([array, array.T, array[1, 1]])
    assert succeeded
    for found, sent in ((same, array), (transposed, array.T), (scalar, array[1, 1])):
        assert found.dtype == sent.dtype
        np.testing.assert_array_equal(found, sent)


def test_code_is_no_answer(tmp_path):
    made = tmp_path / "made"
    worker = f"""
import os, pickle, sys
class Code:
    def __reduce__(self):
        return os.mkdir, ({str(made)!r},)
pickle.load(sys.stdin.buffer)
pickle.dump((True, Code()), sys.stdout.buffer)
sys.stdout.buffer.flush()
sys.stdin.buffer.read()
"""
    child = ChildProcess(["-c", worker])
    with pytest.raises(ChildDiedError, match=r"answered with posix.mkdir, which is not data"):
        child.ask(0)
    assert not made.exists()
    assert ends(child.process.pid)
