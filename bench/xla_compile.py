# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""XLA's compiler in a separate process, and the times of its parts.

Needs the `jax` extra.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from pathlib import Path

_SCRIPT = """
import sys
import jax, numpy as np
from jax._src.lib import _jax
devices = jax.devices()
options = _jax.CompileOptions()
for part in (options, options.executable_build_options):
    part.num_replicas, part.num_partitions = 1, len(devices)
    assignment = np.arange(len(devices)).reshape(1, len(devices))
    part.device_assignment = _jax.DeviceAssignment.create(assignment)
options.executable_build_options.use_spmd_partitioning = True
options.executable_build_options.use_shardy_partitioner = sys.argv[2] == "shardy"
text = open(sys.argv[1]).read()
program = devices[0].client.compile_and_load(text, _jax.DeviceList(tuple(devices)), options)
memory = program.get_compiled_memory_stats()
held = memory.argument_size_in_bytes + memory.output_size_in_bytes - memory.alias_size_in_bytes
print(held + memory.temp_size_in_bytes)
"""
_PASS_TIME = re.compile(r"HLO pass: ([\w-]+) time: .* \((\d+) us\)")


@dataclass(frozen=True)
class Compilation:
    """The output of a compilation by XLA.

    Attributes:
        peak_bytes: the memory of a device: arguments, results and temporaries; results that share
            the memory of donated arguments count once.
        log: its log.
    """

    peak_bytes: int
    log: str


def compile_with_xla(
    text: str, num_devices: int, flags: str = "", environment: Mapping[str, str] | None = None
) -> Compilation:
    """Compile a program for virtual devices of XLA's CPU.

    Args:
        text: the program in StableHLO.
        num_devices: the number of partitions.
        flags: additional flags of XLA.
        environment: additional environment variables.
    """
    flags = f"--xla_force_host_platform_device_count={num_devices} {flags}"
    variables = {"JAX_PLATFORMS": "cpu", "XLA_FLAGS": flags, **(environment or {})}
    partitioner = "shardy" if "sdy.mesh" in text else "none"
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write(text)
        file.flush()
        child = subprocess.run(
            [sys.executable, "-c", _SCRIPT, file.name, partitioner],
            env={**os.environ, **variables},
            capture_output=True,
            text=True,
            check=True,
        )
    return Compilation(int(child.stdout), child.stderr)


@dataclass(frozen=True)
class PartitioningTime:
    """The time of XLA's compiler from the propagated program to the local one.

    Attributes:
        export: seconds from the end of propagation to the HLO that `spmd-partitioning` reads: the
            passes of Shardy after propagation, and the conversion to HLO.
        partitioning: seconds of `spmd-partitioning`.
    """

    export: float
    partitioning: float


def partitioning_time(text: str, num_devices: int) -> PartitioningTime:
    """Compile a program, and measure the time of partitioning.

    The time of `spmd-partitioning` is in XLA's log. There is only one time for `shardy-xla`, which
    imports, propagates and exports; but XLA can write the program to a file between these. The
    time of the export is from the end of one file to the start of the next one.
    """
    logging = {"TF_CPP_MIN_LOG_LEVEL": "0", "TF_CPP_VMODULE": "hlo_pass_pipeline=1"}
    plain = compile_with_xla(text, num_devices, environment=logging)
    seconds = {name: int(spent) / 1e6 for name, spent in _PASS_TIME.findall(plain.log)}
    with tempfile.TemporaryDirectory() as folder:
        dump = f"--xla_dump_to={folder} --xla_dump_hlo_pass_re=shardy-xla --xla_dump_hlo_as_proto"
        compile_with_xla(text, num_devices, dump)
        files = sorted(Path(folder).glob("shardy/*/*.mlir"))
        after_propagation = next(file for file in files if "after_propagation" in file.name)
        (after_export,) = Path(folder).glob("*.after_shardy-xla.*.pb")
        written = [*files[files.index(after_propagation) :], after_export]
        times = [_times_of(file) for file in written]
    export = sum(later[0] - earlier[1] for earlier, later in pairwise(times))
    return PartitioningTime(export, seconds["spmd-partitioning"])


def _times_of(file: Path) -> tuple[float, float]:
    """Return the times of a file's creation and last change, in seconds, by its system's clock.

    Raises:
        ValueError: the file system doesn't store creation times.
    """
    stat = subprocess.run(
        ["stat", "--format=%w|%y", file], capture_output=True, text=True, check=True
    )
    made, changed = (
        datetime.fromisoformat(re.sub(r"(\.\d{6})\d*", r"\1", time).replace(" +", "+"))
        for time in stat.stdout.strip().split("|")
    )
    return made.timestamp(), changed.timestamp()
