# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exact reductions of a problem: a smaller one with the same optimum.

At first, nodes whose strategy follows from that of a neighbor become part of it (`tie`).
Then, until nothing changes:

1. A strategy without a finite cost is removed, or one for which a neighbor has no strategy with a
   finite reshard.
2. A strategy is removed if another one of its node is no worse in its cost, in each reshard, and in
   each buffer (dominance). Of equal ones the first stays.
3. Source classes with equal costs are one class, and so are target classes of values with one user.
   (With several users, two classes are two reshards.) Users of a value that need one class in any
   case are removed, and its cost is the producer's; users that share no class get values of their
   own.
4. A value whose costs depend on one side only becomes a cost of that side.
5. Values between the same two nodes are added up, where that makes the table no larger.
6. A node with one neighbor is removed if for each class of the neighbor one strategy is the best in
   cost and in memory; the neighbor takes over both. So trees disappear when memory doesn't bind.
7. A node with two neighbors and no memory becomes a value between them, unless its table is larger.

This is preprocessing of the MAP problem of Markov random fields (dominance: "dead-end elimination",
Desmet et al. 1992; 6 and 7: bucket elimination, Dechter 1999).
"""

from __future__ import annotations

import itertools
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from pyshardy.auto.problem.arrays import (
    Bools,
    Buffer,
    Copy,
    Floats,
    Ints,
    Node,
    Problem,
    User,
    Value,
)
from pyshardy.auto.problem.reduction_tables import (
    ReshardTable,
    Tied,
    merge_columns,
    merge_rows,
    no_worse_reshards,
    pairs,
    reachable,
    seen_from,
    tie,
    without_redundant_points,
)


@dataclass(frozen=True, eq=False)
class Reduction:
    """A reduced problem, and the way back.

    Attributes:
        problem: the reduced problem; None if a node has no strategy left: there is no choice.
        blocked: the index of that node.
    """

    problem: Problem | None
    blocked: int | None
    _kept: Sequence[Ints]
    _nodes: Sequence[int]
    _eliminated: Sequence[tuple[int, Callable[[Ints], int]]]

    def restore(self, choice: Ints) -> Ints:
        """Return the choice of the given problem for a choice of the reduced one."""
        result = np.zeros(len(self._kept), np.int64)
        for node, one in zip(self._nodes, choice, strict=True):
            result[node] = self._kept[node][one]
        for node, best in reversed(self._eliminated):
            result[node] = best(result)
        return result

    def position(self, node: int) -> int:
        """Return the index in the reduced problem of a node that was kept."""
        return list(self._nodes).index(node)

    def strategies(self, node: int) -> Ints:
        """Return the strategies of a node that are left, by their numbers in the given problem."""
        return self._kept[node]

    def restrict(self, choice: Ints) -> Ints:
        """Return the choice of the reduced problem that is nearest to one of the given problem."""
        positions = [np.flatnonzero(self._kept[node] == choice[node]) for node in self._nodes]
        return np.array([int(found[0]) if len(found) else 0 for found in positions], np.int64)


def reduce(problem: Problem, keep: frozenset[int] = frozenset()) -> Reduction:
    """Return a smaller problem with the same optimum; see the module's documentation.

    Args:
        problem: the problem.
        keep: nodes that keep all permitted strategies, so that the optimum is also the same if
            fewer of these are permitted.
    """
    return _Reducer(tie(without_redundant_points(problem), keep), keep).run()


class _Blocked(Exception):
    """A node has no strategy left."""

    def __init__(self, node: int) -> None:
        super().__init__(node)
        self.node = node


class _Reducer:
    """The state of a reduction."""

    def __init__(self, tied: Tied, keep: frozenset[int]) -> None:
        self.problem, self.keep = tied.problem, keep
        problem = tied.problem
        self.costs: list[Floats] = [np.copy(node.costs) for node in problem.nodes]
        self.kept: list[Ints] = [np.arange(len(costs)) for costs in self.costs]
        self.buffers: list[dict[tuple[int, int], Floats]] = [{} for _ in problem.nodes]
        self.tables: dict[int, ReshardTable] = {}
        self.numbers = itertools.count()
        self.incident: list[set[int]] = [set() for _ in problem.nodes]
        self.removed: set[int] = {*tied.nodes}
        self.eliminated: list[tuple[int, Callable[[Ints], int]]] = list(tied.rules())
        left = (node for node in range(len(problem.nodes)) if node not in self.removed)
        self.dirty = OrderedDict[int, None].fromkeys(left)
        for buffer in problem.buffers:
            self._add_buffer(buffer.node, (buffer.start, buffer.end), buffer.nbytes)
        for value in problem.values:
            users = [(user.node, user.target) for user in value.users]
            self._add_table(ReshardTable(value.producer, value.source, users, value.costs))
        for copy in problem.copies:
            self.tables[copy.value].copies.append((copy.start, copy.end, copy.target, copy.nbytes))

    def run(self) -> Reduction:
        """Reduce until nothing changes."""
        try:
            while self.dirty:
                node, _ = self.dirty.popitem(last=False)
                if node not in self.removed:
                    self._visit(node)
        except _Blocked as blocked:
            return Reduction(None, blocked.node, self.kept, [], [])
        return self._result()

    def _visit(self, node: int) -> None:
        keep = np.isfinite(self.costs[node])
        for number in self.incident[node]:
            if not self.tables[number].is_finite:
                keep &= reachable(self.tables[number], node)
        if not keep.all():
            self._filter(node, keep)
        if node not in self.keep:
            keep = ~self._dominated(node)
            if not keep.all():
                self._filter(node, keep)
        for number in sorted(self.incident[node]):
            if number in self.tables:
                self._simplify(number)
        if node not in self.keep:
            _ = self._eliminate_leaf(node) or self._eliminate_between(node)

    # --- Changes ---------------------------------------------------------------------------------

    def _add_buffer(self, node: int, interval: tuple[int, int], nbytes: Floats) -> None:
        known = self.buffers[node].get(interval)
        self.buffers[node][interval] = nbytes if known is None else known + nbytes

    def _add_table(self, table: ReshardTable) -> None:
        number = next(self.numbers)
        self.tables[number] = table
        for node in table.ends:
            self.incident[node].add(number)

    def _drop_table(self, number: int) -> None:
        for node in sorted(self.tables.pop(number).ends):
            self.incident[node].discard(number)
            self.dirty[node] = None

    def _touch_neighbors(self, node: int) -> None:
        for number in self.incident[node]:
            self.dirty.update(dict.fromkeys(sorted(self.tables[number].ends - {node})))

    def _filter(self, node: int, keep: Bools) -> None:
        """Remove strategies of a node."""
        if not keep.any():
            raise _Blocked(node)
        self.costs[node] = self.costs[node][keep]
        self.kept[node] = self.kept[node][keep]
        self.buffers[node] = {
            interval: nbytes[keep] for interval, nbytes in self.buffers[node].items()
        }
        for number in self.incident[node]:
            table = self.tables[number]
            table.is_simple = False
            if table.producer == node:
                table.source = table.source[keep]
            else:
                table.users = [
                    (user, target[keep] if user == node else target) for user, target in table.users
                ]
        self._touch_neighbors(node)
        self.dirty[node] = None

    # --- Dominance -------------------------------------------------------------------------------

    def _dominated(self, node: int) -> Bools:
        """Return a mask of the strategies that another one of the node dominates."""
        costs: Floats = self.costs[node]
        if len(costs) == 1:
            return np.zeros(1, np.bool_)
        # no_worse[a, b]: strategy b is no worse than strategy a.
        no_worse: Bools = costs[None, :] <= costs[:, None]
        for nbytes in self.buffers[node].values():
            no_worse &= nbytes[None, :] <= nbytes[:, None]
            if np.count_nonzero(no_worse) == len(costs):
                return np.zeros(len(costs), np.bool_)
        for number in sorted(self.incident[node]):
            if np.count_nonzero(no_worse) == len(costs):
                break
            no_worse &= no_worse_reshards(self.tables[number], node)
        order = np.arange(len(costs))
        is_worse = np.logical_not(np.transpose(no_worse))
        is_better: Bools = is_worse | (order[None, :] < order[:, None])
        return np.any(no_worse & is_better, axis=1)

    # --- Tables ----------------------------------------------------------------------------------

    def _simplify(self, number: int) -> None:
        """Merge the classes of a value; drop it if its costs depend on one side only."""
        table = self.tables[number]
        if table.is_simple:
            return
        table.is_simple = True
        if len(table.users) > 1:
            table = self._separate_users(number)
            if table is None:
                return
        merge_rows(table)
        if not table.is_pair:
            return
        merge_columns(table)
        ((user, target),) = table.users
        if table.costs.shape[1] == 1:
            self.costs[table.producer] = self.costs[table.producer] + table.costs[table.source, 0]
            self._drop_table(number)
        elif table.costs.shape[0] == 1:
            self.costs[user] = self.costs[user] + table.costs[0, target]
            self._drop_table(number)
        else:
            self._merge_parallel(number)

    def _separate_users(self, number: int) -> ReshardTable | None:
        """Return a value with fewer users of the same optimum, or None if all reshards are free.

        A class that a user needs in any case is a cost of the producer, and free for other users.
        Users that share no class but free ones get values of their own.
        """
        table = self.tables[number]
        users: list[tuple[int, Ints]] = []
        for user, target in table.users:
            needed = int(target[0])
            if (target == needed).all():
                self._pay_class(table, needed)
            elif not any(user == other and (target == seen).all() for other, seen in users):
                users.append((user, target))
        kept = [copy for copy in table.copies if copy[3].any()]
        is_free: Bools = np.logical_not(table.costs.any(axis=0))
        for _, _, target, _ in kept:
            is_free[target] = False
        groups: list[tuple[set[int], list[tuple[int, Ints]]]] = []
        for user, target in users:
            classes = {one for one in np.unique(target).tolist() if not is_free[one]}
            if not classes:
                continue
            members = [(user, target)]
            for group in [group for group in groups if group[0] & classes]:
                groups.remove(group)
                classes, members = classes | group[0], group[1] + members
            groups.append((classes, members))
        if len(groups) == 1 and len(groups[0][1]) == len(table.users):
            table.copies = kept
            return table
        self._drop_table(number)
        for classes, members in groups:
            copies = [copy for copy in kept if copy[2] in classes]
            self._add_table(
                ReshardTable(table.producer, table.source, members, table.costs, copies)
            )
        return None

    def _pay_class(self, table: ReshardTable, needed: int) -> None:
        """Move the cost of a class that is needed in any case to the producer."""
        producer = table.producer
        self.costs[producer] = self.costs[producer] + table.costs[table.source, needed]
        table.costs = np.copy(table.costs)
        table.costs[:, needed] = 0.0
        for start, end, target, nbytes in table.copies:
            if target == needed:
                self._add_buffer(producer, (start, end), nbytes[table.source])
        table.copies = [copy for copy in table.copies if copy[2] != needed]
        self.dirty[producer] = None

    def _merge_parallel(self, number: int) -> None:
        """Add a value with a single user to a value between the same nodes."""
        table = self.tables[number]
        ends = table.ends
        for other in sorted(self.incident[table.producer] & self.incident[table.users[0][0]]):
            second = self.tables[other]
            if other == number or second.ends != ends or not second.is_pair:
                continue
            rows = second.source, second.users[0][1]
            costs = second.costs
            if second.producer != table.producer:
                rows, costs = rows[::-1], np.transpose(costs)
            left = pairs(table.source, rows[0])
            right = pairs(table.users[0][1], rows[1])
            size = len(left.first) * len(right.first)
            if size > table.costs.size + second.costs.size:
                continue
            table.costs = (
                table.costs[np.ix_(left.first, right.first)]
                + (costs[np.ix_(left.second, right.second)])
            )
            table.is_finite, table.is_simple = table.is_finite and second.is_finite, False
            table.source, table.users = left.classes, [(table.users[0][0], right.classes)]
            self._drop_table(other)

    # --- Elimination -----------------------------------------------------------------------------

    def _eliminate_leaf(self, node: int) -> bool:
        """Remove a node without neighbors, or with one; return whether it could be done."""
        if len(self.incident[node]) > 1:
            return False
        if not self.incident[node]:
            return self._eliminate_single(node)
        (number,) = self.incident[node]
        table = self.tables[number]
        if not table.is_pair:
            return False
        neighbor, classes, mine, costs = seen_from(table, node)
        totals = costs[:, mine] + self.costs[node][None, :]
        best = np.argmin(totals, axis=1)
        for nbytes in self.buffers[node].values():
            # Equally cheap strategies may differ in memory: take the smallest of them.
            cheapest = totals <= totals.min(axis=1, keepdims=True)
            best = np.argmin(np.where(cheapest, nbytes[None, :], np.inf), axis=1)
            break
        for nbytes in self.buffers[node].values():
            permitted = np.where(np.isfinite(totals), nbytes[None, :], np.inf)
            if (nbytes[best] > permitted.min(axis=1)).any():
                return False
        least = totals[np.arange(len(best)), best]
        self.costs[neighbor] = self.costs[neighbor] + least[classes]
        for interval, nbytes in self.buffers[node].items():
            self._add_buffer(neighbor, interval, nbytes[best][classes])
        kept, chosen = self.kept[node], best[classes]
        position = {int(one): index for index, one in enumerate(self.kept[neighbor])}
        self._remove(node, lambda choice: int(kept[chosen[position[int(choice[neighbor])]]]))
        return True

    def _eliminate_single(self, node: int) -> bool:
        """Remove a node without neighbors, if its cheapest strategy is also the smallest."""
        best = int(np.argmin(self.costs[node]))
        if len(self.costs[node]) > 1 and self.buffers[node]:
            return False  # a dominating strategy would have removed the others
        if self.buffers[node] or self.costs[node][best]:
            return False  # a constant of the problem stays
        value = int(self.kept[node][best])
        self._remove(node, lambda _choice: value)
        return True

    def _eliminate_between(self, node: int) -> bool:
        """Replace a node with two neighbors by a value between them, if that isn't larger."""
        if len(self.incident[node]) != 2 or self.buffers[node]:
            return False
        tables = [self.tables[number] for number in sorted(self.incident[node])]
        if not all(table.is_pair for table in tables):
            return False
        (left, left_classes, left_mine, left_costs) = seen_from(tables[0], node)
        (right, right_classes, right_mine, right_costs) = seen_from(tables[1], node)
        size = len(left_costs) * len(right_costs)
        if left == right or size > tables[0].costs.size + tables[1].costs.size:
            return False
        first = left_costs[:, left_mine] + self.costs[node][None, :]
        totals = first[:, None, :] + right_costs[:, right_mine][None, :, :]
        best = np.argmin(totals, axis=2)
        least = np.take_along_axis(totals, best[:, :, None], axis=2)[:, :, 0]
        kept = self.kept[node]
        left_position = {int(one): index for index, one in enumerate(self.kept[left])}
        right_position = {int(one): index for index, one in enumerate(self.kept[right])}

        def choose(choice: Ints) -> int:
            row = left_classes[left_position[int(choice[left])]]
            column = right_classes[right_position[int(choice[right])]]
            return int(kept[best[row, column]])

        self._remove(node, choose)
        # Costs are non-negative in a problem: move a negative part to a node.
        lowest = least.min(initial=0.0, where=np.isfinite(least))
        self.costs[left] = self.costs[left] + lowest
        self._add_table(ReshardTable(left, left_classes, [(right, right_classes)], least - lowest))
        return True

    def _remove(self, node: int, best: Callable[[Ints], int]) -> None:
        for number in sorted(self.incident[node]):
            self._drop_table(number)
        self.removed.add(node)
        self.eliminated.append((node, best))

    def _result(self) -> Reduction:
        nodes = [node for node in range(len(self.costs)) if node not in self.removed]
        index = {node: number for number, node in enumerate(nodes)}
        values: list[Value] = []
        copies: list[Copy] = []
        for number in sorted(self.tables):
            table = self.tables[number]
            for start, end, target, nbytes in table.copies:
                copies.append(Copy(start, end, len(values), target, nbytes))
            users = [User(index[node], target) for node, target in table.users]
            values.append(Value(index[table.producer], table.source, users, table.costs))
        buffers = [
            Buffer(*interval, index[node], nbytes)
            for node in nodes
            for interval, nbytes in self.buffers[node].items()
            if nbytes.any()
        ]
        reduced = Problem(
            [Node(self.problem.nodes[node].name, self.costs[node]) for node in nodes],
            values,
            buffers,
            copies,
            self.problem.limit,
        )
        return Reduction(without_redundant_points(reduced), None, self.kept, nodes, self.eliminated)


def entries(problem: Problem) -> int:
    """Return the number of pairs of classes of all values, a measure of the size of a problem."""
    return sum(value.costs.size for value in problem.values)


def describe(problem: Problem) -> str:
    """Return the size of a problem, for logs."""
    strategies = int(problem.sizes.sum())
    memory = [f"memory at {problem.points:,} points of the program"] if problem.points else []
    parts: Iterable[str] = (
        f"{len(problem.nodes):,} nodes",
        f"{strategies:,} strategies",
        f"{len(problem.values):,} values",
        f"{entries(problem):,} reshards",
        *memory,
    )
    return ", ".join(parts)
