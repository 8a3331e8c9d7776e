# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shardings that values must or must not have, by patterns of names; and those of saved plans."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.files import read_text, write_file
from mlir_sdy.model import TensorSharding
from mlir_sdy.suggest import did_you_mean
from pyshardy.auto.search.build import Permitted
from pyshardy.auto.search.options import check_axes
from pyshardy.auto.search.program_search import Search
from pyshardy.auto.strategies.strategy import agrees_with
from pyshardy.explain.what_if import sharding_of_rank
from pyshardy.forms import sharding
from pyshardy.irtools.named_values import matches

Spec = TensorSharding | str | Sequence[str | tuple[str, ...] | None]
"""A sharding, its text (`P('x', None)`), or the axes of each dimension as in a `PartitionSpec`."""


@dataclass(frozen=True, slots=True)
class Restrictions:
    """Shardings that arguments and results must or must not have.

    Attributes:
        fixed: patterns of names with the shardings that the values must have.
        forbidden: patterns of names with shardings that they must not have.
    """

    fixed: tuple[tuple[str, Spec], ...] = ()
    forbidden: tuple[tuple[str, Spec], ...] = ()

    def fix(self, pattern: str, spec: Spec) -> Restrictions:
        """Return these, and a sharding that values must have."""
        return replace(self, fixed=(*self.fixed, (pattern, spec)))

    def forbid(self, pattern: str, spec: Spec) -> Restrictions:
        """Return these, and a sharding that values must not have."""
        return replace(self, forbidden=(*self.forbidden, (pattern, spec)))

    def permitted(self, search: Search) -> Permitted:
        """Return the strategies that sites may choose.

        Args:
            search: the program with its choices.

        Raises:
            UsageError: a pattern matches nothing, the mesh has no such axis, or no sharding is left
                for a value.
        """
        kept: dict[int, frozenset[int]] = {}
        rules = [(*each, True) for each in self.fixed] + [(*each, False) for each in self.forbidden]
        for pattern, spec, is_wanted in rules:
            for name, (site, number) in _sites(search, pattern):
                axes = search.built.graph.sites[site].alternatives.results[number]
                wanted = sharding_of_rank(spec, len(axes[0]) if axes else 0, search.mesh_name)
                check_axes((axis.name for each in wanted.dim_axes for axis in each), search.mesh)
                if axes and len(axes[0]) != len(wanted.dim_axes):
                    message = f"'{name}' has {len(axes[0])} dimensions, the sharding {wanted} has "
                    raise UsageError(error(f"{message}{len(wanted.dim_axes)}"))
                for axis in search.mesh.axes:
                    wanted = wanted.without_axis(axis.name) if axis.size == 1 else wanted
                agreeing = {at for at, each in enumerate(axes) if agrees_with(each, wanted)}
                left = agreeing if is_wanted else set(range(len(axes))) - agreeing
                kept[site] = kept.get(site, frozenset(range(len(axes)))) & left
                if not kept[site]:
                    message = f"no sharding is left for '{name}' with {wanted}: it must divide the "
                    message += "dimensions evenly, along axes that may be used"
                    raise UsageError(error(message))
        return kept


def _sites(search: Search, pattern: str) -> list[tuple[str, tuple[int, int]]]:
    """Return the arguments and results whose names match a pattern, with their sites.

    `%x` of a text is also `x`, and argument 2 is also `arg2` and `%arg2`.
    """
    sites = search.named_values
    found = [(name, at) for name, at in sites.items() if matches(name, pattern)]
    if not found:
        found = [
            (name, sites[name])
            for other, name in search.other_names.items()
            if matches(other, pattern.removeprefix("%"))
        ]
    if not found:
        hint = did_you_mean(pattern, sites) or f"; the names are {', '.join(list(sites)[:20])}"
        raise UsageError(error(f"no argument or result matches '{pattern}'{hint}"))
    return found


# --- Saved plans ----------------------------------------------------------------------------------


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
        write_file(path, json.dumps(entries, indent=2) + "\n")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> SavedPlan:
        """Read a plan from a JSON file.

        Raises:
            UsageError: the file can't be read, or isn't a plan.
        """
        text = read_text(path, "the plan")
        try:
            entries = json.loads(text)
            entries["shardings"].items()  # an AttributeError else
            known: Any = {"untied_bound": None, **entries}  # older files have no such entry
            return cls(**{name: known[name] for name in cls.__slots__})
        except KeyError as missing:
            reason = f"it has no entry {missing}"
        except (AttributeError, ValueError, TypeError) as malformed:
            reason = f"it isn't a JSON file of a plan: {malformed}"
        raise UsageError(error(f"cannot read the plan '{path}': {reason}"))

    def specs(self) -> dict[str, TensorSharding]:
        """Return the shardings, such as for `ShardingPlan.compare`."""
        return {name: sharding(text) for name, text in self.shardings.items()}
