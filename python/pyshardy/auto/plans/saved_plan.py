# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plans in JSON files."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.model import TensorSharding
from pyshardy.api import sharding


def cannot_write(path: str | os.PathLike[str], refusal: OSError) -> UsageError:
    """Return the error of an output file that can't be written."""
    reason = refusal.strerror or refusal
    return UsageError(error(f"cannot write output file '{path}': {reason}"))


@dataclass(frozen=True, slots=True)
class SavedPlan:
    """The shardings of a plan by the names of arguments and results.

    Attributes:
        shardings: the texts of the shardings.
        mesh: the text of the mesh.
        cost: the predicted cost.
        bound: its proven lower bound.
        bytes: the predicted bytes.
        memory: the predicted peak memory.
        untied_bound: a lower bound of plans in which equal places may differ; None if the
            certificate has none.
    """

    shardings: Mapping[str, str]
    mesh: str
    cost: float
    bound: float
    bytes: float
    memory: float
    untied_bound: float | None = None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the plan to a JSON file.

        Raises:
            UsageError: the file can't be written.
        """
        entries = {name: getattr(self, name) for name in self.__slots__}
        try:
            Path(path).write_text(json.dumps(entries, indent=2) + "\n", encoding="utf-8")
        except OSError as refusal:
            raise cannot_write(path, refusal) from None

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> SavedPlan:
        """Read a plan from a JSON file.

        Raises:
            UsageError: the file can't be read, or isn't a plan.
        """
        try:
            entries = json.loads(Path(path).read_text(encoding="utf-8"))
            known: Any = {"untied_bound": None, **entries}  # older files have no such entry
            return cls(**{name: known[name] for name in cls.__slots__})
        except KeyError as missing:
            reason = f"it has no entry {missing}"
        except OSError as refusal:
            reason = refusal.strerror or str(refusal)
        except (ValueError, TypeError) as malformed:
            reason = f"it isn't a JSON file of a plan: {malformed}"
        raise UsageError(error(f"cannot read the plan '{path}': {reason}"))

    def specs(self) -> dict[str, TensorSharding]:
        """Return the shardings, such as for `ShardingPlan.compare`."""
        return {name: sharding(text) for name, text in self.shardings.items()}
