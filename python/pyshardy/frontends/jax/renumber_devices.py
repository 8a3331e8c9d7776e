# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Renumbering of the devices of local programs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mlir_sdy.host import ir
from pyshardy.irtools.stablehlo_views import COLLECTIVES, CollectiveView
from pyshardy.irtools.tensor_types import element_type_of
from pyshardy.irtools.walks import operations_named
from pyshardy.local_program.process_groups import Groups, Layout, process_groups, process_pairs
from pyshardy.partition.types.local_builder import LocalBuilder

_NO_MEMBER = -1


def renumber(module: ir.Module, ids: Sequence[int]) -> None:
    """Renumber devices: `position` is the new number of the device `ids[position]`.

    1. The groups and pairs of collectives are mapped to positions.
    2. Reads of the device id become look-ups of `ids` at the position.

    With `ids` 2, 0, 1, the groups [[0, 1]] become [[1, 2]].

    Args:
        module: a local program for as many partitions as there are ids. It is changed in place.
        ids: a permutation of 0, 1, ...
    """
    layout = Layout(1, len(ids))
    position_of = {device: position for position, device in enumerate(ids)}
    collectives = operations_named(COLLECTIVES, module)
    questions = operations_named(["stablehlo.partition_id"], module)
    with module.context:
        for collective in collectives:
            if collective.name == "stablehlo.collective_permute":
                field, groups = (
                    CollectiveView.source_target_pairs,
                    process_pairs(collective, layout),
                )
            else:
                field, groups = CollectiveView.replica_groups, process_groups(collective, layout)
            moved = tuple(tuple(position_of[device] for device in group) for group in groups)
            field.set_on(collective, ir.DenseElementsAttr.get(_table(moved)))
        for question in questions:
            with ir.InsertionPoint(question), question.location:
                builder = LocalBuilder({})
                device = builder.per_device(list(ids))
                answer = builder.convert(device, element_type_of(question.result.type))
            question.result.replace_all_uses_with(answer)
            question.erase()


def _table(groups: Groups) -> np.ndarray:
    """Return groups as rows of one length, in StableHLO's form."""
    longest = max(map(len, groups))
    rows = [[*group, *[_NO_MEMBER] * (longest - len(group))] for group in groups]
    return np.array(rows, np.int64)
