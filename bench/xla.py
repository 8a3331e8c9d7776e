# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""XLA on virtual CPU devices, in a process of its own.

The bindings in jaxlib and the host's can't live in one process, and XLA aborts on bad input.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

WORKER = Path(__file__).with_name("xla_worker.py")


class XlaError(Exception):
    """XLA could not compile or run a program."""


@dataclass(frozen=True)
class Compiled:
    """What XLA made of a program.

    Attributes:
        hlo: the text of the optimised program of a device.
        seconds: how long compilation took.
        run_seconds: how long a run takes, the best of those asked for; none if none was.
    """

    hlo: str
    seconds: float
    run_seconds: float | None = None


class Xla:
    """XLA with a number of virtual devices."""

    def __init__(self, num_devices: int = 8):
        flags = f"--xla_force_host_platform_device_count={num_devices}"
        self._process = subprocess.Popen(
            [sys.executable, WORKER],
            env=os.environ | {"JAX_PLATFORMS": "cpu", "XLA_FLAGS": flags},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def compile(self, text: str, num_devices: int, *, shardy: bool = False, runs: int = 0):
        """Compile a program for a number of partitions.

        Args:
            text: StableHLO; annotated for Shardy, or a local program marked by `text_for_xla`.
            num_devices: the number of partitions.
            shardy: whether XLA propagates and partitions by the annotations of Shardy.
            runs: how often to run it, with zeros for arguments.

        Raises:
            XlaError: XLA has refused the program.
        """
        request = {"text": text, "count": num_devices, "shardy": shardy, "runs": runs}
        answer: Any = self._ask(request)
        if isinstance(answer, str):
            raise XlaError(answer)
        return Compiled(*answer)

    def _ask(self, request: dict[str, Any]) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        pickle.dump(request, self._process.stdin)
        self._process.stdin.flush()
        return pickle.load(self._process.stdout)

    def close(self) -> None:
        """End the process."""
        self._process.communicate()
