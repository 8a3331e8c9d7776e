# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files that reproduce the failure of a pipeline: the module before it, and the pipeline.

The file is a module followed by MLIR's `mlir_reproducer` resource, as upstream's tools write it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from mlir_sdy.diagnostics import UsageError, error, note
from mlir_sdy.files import refusal_text
from pyshardy.pipeline.syntax import MODULE_ANCHOR, PassPipeline

if TYPE_CHECKING:
    from mlir_sdy.host import ir
    from pyshardy.pipeline.errors import PipelineError
    from pyshardy.pipeline.plan import Step

from pyshardy.pipeline.instrumentation import Instrumentation

_TRAILER = re.compile(
    r'^\{-#.*?\bmlir_reproducer:\s*\{(?P<entries>(?:[^{}"]|"(?:[^"\\]|\\.)*")*)\}.*?#-\}',
    re.DOTALL | re.MULTILINE,
)
_PIPELINE = re.compile(r'\bpipeline:\s*"((?:[^"\\]|\\.)*)"')
_VERIFY_EACH = re.compile(r"\bverify_each:\s*(true|false)")


@dataclass(frozen=True, slots=True)
class Reproducer:
    """The content of a reproducer file: the module's text, the pipeline and its settings.

    `flags` are further ones of sdy-opt without which the pipeline fails otherwise.
    """

    module_text: str
    pipeline: str
    verify_each: bool = True
    flags: str = ""

    def __str__(self) -> str:
        pipeline = self.pipeline.replace("\\", "\\\\").replace('"', '\\"')
        needed = f"\n// needs the flags:{self.flags}" if self.flags else ""
        return f"""{self.module_text.rstrip()}{needed}

{{-#
  external_resources: {{
    mlir_reproducer: {{
      pipeline: "{pipeline}",
      disable_threading: true,
      verify_each: {str(self.verify_each).lower()}
    }}
  }}
#-}}
"""


def read_reproducer(text: str) -> Reproducer | None:
    """Parse a reproducer; return None if `text` contains no pipeline."""
    trailer = _TRAILER.search(text)
    pipeline = trailer and _PIPELINE.search(trailer["entries"])
    if not trailer or not pipeline:
        return None
    verify_each = _VERIFY_EACH.search(trailer["entries"])
    return Reproducer(
        text[: trailer.start()],
        re.sub(r"\\(.)", r"\1", pipeline[1]),
        verify_each is None or verify_each[1] == "true",
    )


@dataclass
class ReproducerWriter(Instrumentation):
    """Writes a reproducer of each run before its first pass.

    Attributes:
        path: the file to write.
        verify_each: the setting of the run, stored in the file.
        flags: the flags of sdy-opt that the reproducer needs, each after a space.
    """

    path: Path
    verify_each: bool = True
    flags: str = ""

    def before_pipeline(self, module: ir.Module, steps: tuple[Step, ...]) -> None:
        """Write the file.

        Raises:
            UsageError: it can't be written.
        """
        from mlir_sdy.assembly import asm  # noqa: PLC0415 - reading a file needs no host

        text = str(
            Reproducer(asm(module), str(pipeline_of_steps(steps)), self.verify_each, self.flags)
        )
        if message := _refusal(self.path, text):
            raise UsageError(error(message))


def command_of(path: Path, flags: str) -> str:
    """Return the text of a note with the command that runs a reproducer."""
    return f"to reproduce: sdy-opt --run-reproducer '{path}'{flags}"


def _refusal(path: Path, text: str) -> str:
    """Write a reproducer, and return the reason if that fails."""
    try:
        path.write_text(text)
    except OSError as refusal:
        return refusal_text(f"write the reproducer '{path}'", refusal)
    return ""


def pipeline_of_steps(steps: Sequence[Step]) -> PassPipeline:
    """Return the pipeline of the steps of a run, in which named pipelines are expanded."""
    elements = tuple(element for step in steps for element in step.pipeline.elements)
    return PassPipeline(MODULE_ANCHOR, elements)


@dataclass
class CrashReproducer(Instrumentation):
    """Writes a reproducer when a pass fails, and adds a note on its use to the error.

    Attributes:
        path: the file to write.
        verify_each: the setting of the run, stored in the file.
        flags: the flags of sdy-opt that the reproducer needs, each after a space.
    """

    path: Path
    verify_each: bool = True
    flags: str = ""
    _before: ir.OpView | None = field(default=None, init=False, repr=False)
    _pipeline: PassPipeline | None = field(default=None, init=False, repr=False)

    def before_pipeline(self, module: ir.Module, steps: tuple[Step, ...]) -> None:
        """Copy the module, which is much cheaper than printing it."""
        self._before = module.operation.clone()
        self._pipeline = pipeline_of_steps(steps)

    def after_failed_pipeline(self, failure: PipelineError) -> None:
        """Write the file and add a note to the failure."""
        from mlir_sdy.assembly import asm  # noqa: PLC0415 - reading a file needs no host

        assert self._before is not None
        text = str(Reproducer(asm(self._before), str(self._pipeline), self.verify_each, self.flags))
        location = failure.diagnostics[0].location
        if message := _refusal(self.path, text):
            failure.add(error(message, location))
            return
        failure.add(
            error(
                f"pass '{failure.failed_pass}' failed: reproducer generated at '{self.path}'",
                location,
                [note(command_of(self.path, self.flags), location)],
            )
        )
