# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The check for machines with GPUs, with the CPU as its device."""

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import gpu_check

SCRIPT = Path(gpu_check.__file__)
NAMES = ("op_dot_of_uneven", "mixed_precision", "cond_on_scalar")
# Only JAX and NumPy are there.
ALONE = """
import runpy, sys
for name in ("pyshardy", "mlir_sdy", "torch_mlir", "iree", "torch"):
    sys.modules[name] = None
script, *sys.argv[1:] = sys.argv[1:]
sys.argv[0] = script
runpy.run_path(script, run_name="__main__")
"""


def run(*arguments, script=(str(SCRIPT),), cwd=None):
    """The exit status, and for each part how it is reported."""
    ran = subprocess.run(
        [sys.executable, *script, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
    )
    assert ran.stderr == ""
    lines = [line.partition(" ") for line in ran.stdout.splitlines()]
    return ran.returncode, {part: said for part, _, said in lines}


@pytest.fixture(scope="module")
def artifacts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("artifacts")
    status, written = run("write", folder, "--names", *NAMES)
    assert (status, len(written)) == (0, 1)
    assert {path.stem for path in folder.glob("*.mlirbc")} == set(NAMES)
    return folder


def test_all_parts_on_the_cpu(artifacts):
    status, said = run("run", "--device=cpu", f"--artifacts={artifacts}", "--names", *NAMES)
    assert status == 0, said
    assert said["a"].startswith("passed: 3 programs on cpu, at most 0")
    assert said["b"] == "passed: 3 programs for 8 attached devices: cpu"
    assert said["c"].startswith("passed: 3 artifacts on cpu with jax ")
    assert said["d"].startswith("passed: compiled 3 programs for llvm-cpu, and ran them, at most 0")


def test_artifacts_need_only_jax_and_the_script(artifacts, tmp_path):
    script, given = shutil.copy(SCRIPT, tmp_path), f"--artifacts={artifacts}"
    ran = subprocess.run(
        [sys.executable, "-c", ALONE, script, "run", "--device=cpu", "--here=c", given],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert ran.stdout.startswith("passed: 3 artifacts on cpu"), ran.stdout + ran.stderr


def test_results_that_are_wrong_fail(artifacts, tmp_path):
    folder = shutil.copytree(artifacts, tmp_path / "changed")
    changed = folder / f"{NAMES[0]}.npz"
    arrays = dict(np.load(changed))
    arrays["output0"] = np.frombuffer(
        (np.frombuffer(arrays["output0"].tobytes(), np.float32) + 1).tobytes(), np.uint8
    )
    np.savez(changed, **arrays)
    status, said = run("run", "--device=cpu", "--parts=c", f"--artifacts={folder}")
    assert status == 1
    assert said["c"].startswith("failed: ValueError: op_dot_of_uneven: a result differs by ")


def test_what_is_not_possible_says_why(tmp_path):
    status, said = run("run", "--device=cpu", "--parts=c")
    assert said == {"c": "not possible: no artifacts are given; say where they are by --artifacts"}
    status, said = run("run", "--device=cpu", "--parts=ab", f"--programs={tmp_path / 'none'}")
    assert status == 0
    assert all(each.startswith("not possible: there are no programs in ") for each in said.values())
    few = ("--virtual-devices=2", "--names", NAMES[0])
    _, said = run("run", "--device=cpu", "--parts=b", *few)
    assert said == {"b": "not possible: 2 CPU devices, and no description of others"}


def test_without_a_gpu():
    status, said = run("run", "--parts=abd", "--names", NAMES[0])
    assert status == 0
    assert said["a"].startswith("not possible: JAX ")
    assert said["b"].startswith("not possible: JAX ")
    assert said["d"].startswith("passed: compiled 1 programs for cuda; running them is not ")


def test_a_part_that_crashes(tmp_path):
    script = tmp_path / "gpu_check.py"
    crash = "def part_a(options: argparse.Namespace) -> str:\n    os.abort()\n"
    assert "def part_a(options: argparse.Namespace) -> str:\n" in SCRIPT.read_text()
    before, _, after = SCRIPT.read_text().partition(crash.partition("    ")[0])
    script.write_text(before + crash + after)
    status, said = run("run", "--parts=a", script=(str(script),))
    assert (status, said) == (1, {"a": "failed: its process was ended by SIGABRT"})


def test_differences():
    one = np.array([1.0, 4.0], np.float32)
    assert gpu_check.difference([one], [one]) == 0
    assert 0.99 < gpu_check.difference([one + 4e-3], [one]) < 1.01
    assert gpu_check.difference([one * np.nan], [one]) == np.inf
    assert gpu_check.difference([np.array([1])], [np.array([2])]) == np.inf
    with pytest.raises(ValueError, match=r"shape \(2,\) has \(1,\)"):
        gpu_check.difference([one[:1]], [one])
    with pytest.raises(ValueError, match="zip"):
        gpu_check.difference([], [one])
