# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lower bounds by messages between nodes: sequential reweighted message passing in NumPy.

A problem is a sum of functions of single nodes and of pairs of nodes. Moving costs between these
functions (messages) changes no sum, but the sum of their minima, which is a lower bound. A pass
visits the nodes in program order, forward and then backward:

1. *Collect*: the minimum of each pair with an earlier node, by the own class, moves to the node.
2. *Distribute*: equal shares of the node's costs move to the pairs with later nodes.

This is SRMP (Kolmogorov, "A new look at reweighted message passing", PAMI 2015), which is TRW-S for
pairs. No pass lowers the bound. Messages are by class, not by strategy.

A value with several users is split into pairs, and the cost of a reshard into shares of the users
that may need it: at most the cost itself is counted, so the bound holds. Shares are equal at first.
After each pass, what a share has above the minimum of its pair (its slack) is divided again among
all users of the class. That lowers no minimum, and the users that decide it get more. It is a dual
ascent as in facility location (Erlenkotter, 1978).

Memory is priced (Lagrangian relaxation): with a price per byte at each point of time, the bytes of
strategies and of copies are costs, and limit * price is subtracted from the bound. When the price
of a copy changes, the shares of its cost change in proportion.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from pyshardy.auto.problem.arrays import Floats, Ints, Problem
from pyshardy.auto.problem.prices import CopiesOfValue, copies_of


@dataclass(eq=False, slots=True)
class _Side:
    """One end of a pair.

    Attributes:
        node: the node.
        classes: the class of each strategy.
        message: what was moved from the pair to the node, by class.
        order: the strategies sorted by class; None if each is a class of its own, in order.
        starts: the first position of each class in `order`.
    """

    node: int
    classes: Ints
    message: Floats
    order: Ints | None = field(init=False)
    starts: Ints = field(init=False)

    def __post_init__(self) -> None:
        number = len(self.message)
        is_identity = np.array_equal(self.classes, np.arange(number))
        self.order = None if is_identity else np.argsort(self.classes, kind="stable")
        counts = np.bincount(self.classes, minlength=number)
        self.starts = np.concatenate([[0], np.cumsum(counts)[:-1]])

    def minimum(self, costs: Floats) -> Floats:
        """Return the least cost of the strategies of each class."""
        if self.order is None:
            return costs
        return np.minimum.reduceat(costs[self.order], self.starts)


@dataclass(eq=False, slots=True)
class _Pair:
    """The costs between two nodes; rows are the classes of the earlier one."""

    costs: Floats
    first: _Side
    second: _Side

    @property
    def left(self) -> Floats:
        """The rest of the costs, without the messages."""
        left: Floats = self.costs - self.first.message[:, None]
        left -= self.second.message
        return left

    @property
    def least(self) -> float:
        """The minimum of what is left in the pair."""
        return float(self.left.min())

    def collect_second(self) -> Floats:
        """Return the least rest of the pair by the class of its later node."""
        return (self.costs - self.first.message[:, None]).min(axis=0) - self.second.message

    def collect_first(self) -> Floats:
        """Return the least rest of the pair by the class of its earlier node."""
        return (self.costs - self.second.message).min(axis=1) - self.first.message


@dataclass(eq=False, slots=True)
class _Share:
    """The pair of a value and one of its several users.

    Attributes:
        pair: the pair.
        used: the target classes of the user.
        is_flipped: whether the user is the earlier node of the pair.
    """

    pair: _Pair
    used: Ints
    is_flipped: bool

    def rows(self, table: Floats) -> Floats:
        """Return a view of a table of the pair whose rows are source classes."""
        return np.transpose(table) if self.is_flipped else table

    def take_slack(self) -> Floats:
        """Return what can be taken from the costs without a lower minimum, and take it."""
        costs, left = self.rows(self.pair.costs), self.rows(self.pair.left)
        slack: Floats = np.minimum(left - left.min(), costs)
        slack[np.isinf(slack)] = 0.0
        costs -= slack
        return slack


@dataclass(eq=False, slots=True)
class _Shared:
    """A value with several users.

    Attributes:
        shares: its pairs.
        users: the number of users that may need each target class.
        sources: the number of source classes.
    """

    shares: list[_Share]
    users: Floats
    sources: int

    def divide(self) -> None:
        """Divide the slack of all pairs among all users of its class."""
        total = np.zeros((self.sources, len(self.users)))
        for share in self.shares:
            total[:, share.used] += share.take_slack()
        total /= np.maximum(self.users, 1.0)
        for share in self.shares:
            costs = share.rows(share.pair.costs)
            costs += total[:, share.used]


@dataclass(eq=False, slots=True)
class _Copied:
    """A value whose reshards make copies.

    Attributes:
        costs: the costs of the reshards without the price of copies.
        users: the number of users that may need each target class.
        shares: the pairs of its users.
        copies: the copies.
    """

    costs: Floats
    users: Floats
    shares: list[_Share]
    copies: CopiesOfValue

    def change(self, before: Floats, after: Floats) -> None:
        """Change the shares of the costs in proportion to these.

        Args:
            before: the sums of the prices up to each point of time.
            after: those of the new prices.
        """
        old, new = (self.copies.add_price(self.costs, sums) for sums in (before, after))
        if np.array_equal(old, new):
            return
        ratio = np.divide(new, old, out=np.ones_like(new), where=np.isfinite(old) & (old > 0))
        first = np.where(old == 0, new / np.maximum(self.users, 1.0), 0.0)
        for share in self.shares:
            costs = share.rows(share.pair.costs)
            costs *= ratio[:, share.used]
            costs += first[:, share.used]


class Dual:
    """The state of message passing.

    Attributes:
        problem: a problem in which each class of a value has a finite reshard (see `reduce`).
        prices: the price of a byte at each point of time.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.prices: Floats = np.zeros(problem.points)
        self._costs: list[Floats] = [np.array(node.costs) for node in problem.nodes]
        self._later: list[list[_Pair]] = [[] for _ in problem.nodes]
        self._earlier: list[list[_Pair]] = [[] for _ in problem.nodes]
        self._pairs: list[_Pair] = []
        self._shared: list[_Shared] = []
        copies = copies_of(problem)
        self._copied: list[_Copied] = []
        for index, value in enumerate(problem.values):
            users = np.zeros(value.costs.shape[1])
            for user in value.users:
                users[np.unique(user.target)] += 1
            shares: list[_Share] = []
            for user in value.users:
                used, target = np.unique(user.target, return_inverse=True)
                costs: Floats = value.costs[:, used] / users[used]
                pair = self._add_pair(value.producer, value.source, user.node, target, costs)
                shares.append(_Share(pair, used, value.producer > user.node))
            if len(shares) > 1:
                self._shared.append(_Shared(shares, users, len(value.costs)))
            if index in copies:
                self._copied.append(_Copied(value.costs, users, shares, copies[index]))
        buffers = problem.buffers
        self._starts = np.array([each.start for each in buffers], np.int64)
        self._ends = np.array([each.end for each in buffers], np.int64)

    def _add_pair(
        self, producer: int, source: Ints, user: int, target: Ints, costs: Floats
    ) -> _Pair:
        first = _Side(producer, source, _zeros(costs, 0))
        second = _Side(user, target, _zeros(costs, 1))
        if producer > user:
            transposed: Floats = np.ascontiguousarray(np.transpose(costs))
            first, second, costs = second, first, transposed
        pair = _Pair(costs, first, second)
        self._pairs.append(pair)
        self._later[first.node].append(pair)
        self._earlier[second.node].append(pair)
        return pair

    def run(self) -> None:
        """Pass messages forward and backward, and divide the costs of shared reshards again."""
        for node in range(len(self._costs)):
            costs = self._costs[node]
            for pair in self._earlier[node]:
                change = pair.collect_second()
                pair.second.message += change
                costs = costs + change[pair.second.classes]
            self._costs[node] = self._distribute(node, costs, forward=True)
        for node in reversed(range(len(self._costs))):
            costs = self._costs[node]
            for pair in self._later[node]:
                change = pair.collect_first()
                pair.first.message += change
                costs = costs + change[pair.first.classes]
            self._costs[node] = self._distribute(node, costs, forward=False)
        for shared in self._shared:
            shared.divide()

    def _distribute(self, node: int, costs: Floats, *, forward: bool) -> Floats:
        """Move costs of a node to its pairs in one direction; return the rest."""
        pairs = self._later[node] if forward else self._earlier[node]
        if not pairs:
            return costs
        shares = max(len(self._later[node]), len(self._earlier[node]))
        left = costs
        for pair in pairs:
            side = pair.first if forward else pair.second
            moved = side.minimum(costs) / shares
            side.message -= moved
            left = left - moved[side.classes]
        return left

    def go_on_from(self, other: Dual) -> None:
        """Take the messages of a problem that differs in the costs of its nodes only."""
        for own, known in zip(self._pairs, other._pairs, strict=True):
            own.costs = np.copy(known.costs)
            for side, sent in (own.first, known.first), (own.second, known.second):
                side.message += sent.message
                self._costs[side.node] = self._costs[side.node] + sent.message[side.classes]

    def bound(self) -> float:
        """Return the lower bound of the cost of all choices within the memory limit."""
        total = sum(float(costs.min()) for costs in self._costs)
        total += sum(pair.least for pair in self._pairs)
        if self.problem.limit is not None:
            total -= self.problem.limit * float(self.prices.sum())
        return total

    def decode(self) -> Ints:
        """Return a choice: node after node the best one beside those of earlier nodes."""
        choice = np.zeros(len(self._costs), np.int64)
        for node, costs in enumerate(self._costs):
            for pair in self._later[node]:
                costs = costs + pair.collect_first()[pair.first.classes]  # noqa: PLW2901
            for pair in self._earlier[node]:
                row = int(pair.first.classes[choice[pair.first.node]])
                rest = pair.costs[row] - pair.second.message
                costs = costs + rest[pair.second.classes]  # noqa: PLW2901
            choice[node] = int(np.argmin(costs))
        return choice

    def regrets(self) -> list[Floats]:
        """Return for each strategy how much it raises the minimum of its node and its pairs."""
        result: list[Floats] = []
        for node, costs in enumerate(self._costs):
            total = costs
            for pair in self._later[node]:
                total = total + pair.collect_first()[pair.first.classes]
            for pair in self._earlier[node]:
                total = total + pair.collect_second()[pair.second.classes]
            result.append(total - total.min())
        return result

    def set_prices(self, prices: Floats) -> None:
        """Change the prices of memory."""
        for node, change in self._priced_nodes(prices - self.prices).items():
            self._costs[node] = self._costs[node] + change
        before, after = (np.concatenate([[0.0], np.cumsum(each)]) for each in (self.prices, prices))
        for each in self._copied:
            each.change(before, after)
        self.prices = prices

    def _priced_nodes(self, prices: Floats) -> dict[int, Floats]:
        """Return the price of the buffers of each strategy, by node."""
        sums = np.concatenate([[0.0], np.cumsum(prices)])
        lasting = sums[self._ends] - sums[self._starts]
        result: dict[int, Floats] = {}
        for buffer, price in zip(self.problem.buffers, lasting.tolist(), strict=True):
            if price:
                known = result.get(buffer.node)
                added = buffer.nbytes * price
                result[buffer.node] = added if known is None else known + added
        return result


def _zeros(costs: Floats, dim: int) -> Floats:
    """Return a zero for each row (dimension 0) or column (1) of costs."""
    return np.zeros(int(costs.shape[dim]), np.float64)
