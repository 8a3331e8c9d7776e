"""The oracle: C++ Shardy, as it runs inside the jaxlib wheel, in a child process."""

import importlib.metadata
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from mlir_sdy.diagnostics import SdyError

WORKER = Path(__file__).with_name("worker.py")

INSTALLED = tuple(map(int, importlib.metadata.version("jaxlib").split(".")[:2]))
"""The release in the environment of the tests."""


class ShardyAborted(RuntimeError):
    """The process of C++ Shardy died on the request, or did not end in a minute."""


class ShardyRefused(ValueError):
    """C++ Shardy reported an error."""


_MESSAGE = re.compile(r"^ ?(?:error|note): (?:\"[^\"]*\":\d+:\d+|\S+): ?(.*)$", re.MULTILINE)


def not_stated(refusal: ShardyRefused, ours: SdyError) -> list[str]:
    """Return the messages of C++ Shardy that are no part of ours, which tests may expect."""
    stated = [
        message
        for each in ours.diagnostics
        for message in (
            each.message,
            *each.consequences,
            *(note.message for note in each.notes),
        )
    ]
    theirs = (re.sub(r"^custom op '[^']*' ", "", each) for each in _MESSAGE.findall(str(refusal)))
    return [
        each
        for each in theirs
        if not each.startswith("see current operation")
        and not any(each in message for message in stated)
    ]


class Shardy:
    """A child process that is started when first needed, and goes on after an abort.

    Args:
        release: the release of jaxlib that holds it, major and minor number.
        python: an interpreter that has this jaxlib.
        mpmd_passes: the file of `mpmd_passes.symbols`, for pipelines with single MPMD passes.
    """

    def __init__(
        self,
        release: tuple[int, int],
        python: str | Path = sys.executable,
        *,
        mpmd_passes: Path | None = None,
    ) -> None:
        self.release = release
        self._python = python
        self._arguments = [] if mpmd_passes is None else [mpmd_passes]
        self._process: subprocess.Popen[str] | None = None

    def run(self, text: str, pipeline: str = "", **options: bool) -> str:
        """What Shardy prints for `text` after the passes of `pipeline`."""
        return self._answer({"text": text, "pipeline": pipeline, **options})["text"]

    def warnings(self, text: str, pipeline: str) -> list[str]:
        """The warnings of the passes of `pipeline`; some are given once in a process."""
        return self._answer({"text": text, "pipeline": pipeline})["warnings"]

    def printed(self, generic: str) -> str:
        """A text in generic form as this release prints it."""
        if self.release < (0, 12):  # whose collectives have no kind of reduction
            return generic.replace(", reduction_op = 0 : i32", "")
        return generic

    def on_meshes(self, text: str, until: str, **phase: Any) -> str:
        """Return the text of a program after phases of the MPMD partitioner, such as IMPORT.

        `topology` lists the names of meshes with their axes; `assignment` has the mesh of each
        name; `inputs` and `outputs` may have meshes, and `options` are those of the partitioner.
        """
        return self._answer({"text": text, "phase": {"until": until, **phase}})["text"]

    def run_steps(self, text: str, steps: list[str]) -> list[str | None]:
        """What Shardy prints after each of several pipelines; None for those that do nothing."""
        return self._answer({"text": text, "steps": steps})["texts"]

    def _answer(self, request: dict[str, Any]) -> dict[str, Any]:
        if self._process is None:
            self._process = subprocess.Popen(
                [self._python, WORKER, *self._arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            status = self._process.wait()
            self._process = None
            raise RuntimeError(f"the process of C++ Shardy ended with status {status}")
        result = json.loads(line)
        if result.get("ended", "renewed") != "renewed":
            asked = request.get("pipeline") or request.get("steps")
            raise ShardyAborted(f"C++ Shardy {result['ended']}; pipeline: {asked!r}")
        if "error" in result:
            raise ShardyRefused(result["error"])
        return result

    def renew(self) -> None:
        """Forget what was told once in a process."""
        if self._process is not None:
            self._answer({"renew": True})

    def close(self) -> None:
        """End the child process."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
