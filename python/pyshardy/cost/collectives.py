# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The communication of collectives: bytes, steps and seconds.

| part      | time                                                                          |
|-----------|-------------------------------------------------------------------------------|
| transfer  | the bytes that a device sends, at the bandwidth of the slowest link           |
| latency   | the launch of the collective, and the latency of this link for each ring step |
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from mlir_sdy.model import AxisRef, Mesh
from pyshardy.cost.hardware import Hardware

_SHARES: dict[str, Callable[[int], Fraction]] = {
    "all_gather": lambda n: Fraction(n - 1),
    "all_reduce": lambda n: Fraction(2 * (n - 1), n),
    "all_slice": lambda _: Fraction(0),
    "all_to_all": lambda n: Fraction(n - 1, n),
    "collective_broadcast": lambda n: Fraction(min(n - 1, 1)),
    "collective_permute": lambda n: Fraction(min(n, 1)),
    "reduce_scatter": lambda n: Fraction(n - 1, n),
}


@dataclass(frozen=True, order=True, slots=True)
class Traffic:
    """The communication time of a device, compared by transfer, then by latency.

    Attributes:
        transfer: the seconds in which its data is sent.
        latency: the seconds until collectives send their first bytes.
    """

    transfer: float = 0.0
    latency: float = 0.0

    def __add__(self, other: Traffic) -> Traffic:
        return Traffic(self.transfer + other.transfer, self.latency + other.latency)

    @property
    def seconds(self) -> float:
        """The total time."""
        return self.transfer + self.latency


@dataclass(frozen=True, slots=True)
class PlannedCollective:
    """A collective that a program will have.

    Attributes:
        kind: the collective, without its dialect.
        group_size: the number of devices that exchange data with each other.
        axes: the names of the axes along which they are.
        sent: the bytes that a device sends.
    """

    kind: str
    group_size: int
    axes: tuple[str, ...]
    sent: float

    @classmethod
    def along(
        cls, kind: str, axes: Sequence[AxisRef], nbytes: float, mesh: Mesh
    ) -> PlannedCollective:
        """Return the collective of an operand along axes of a mesh.

        Args:
            kind: the collective, without its dialect.
            axes: the axes along which devices exchange data.
            nbytes: the bytes of the operand on a device.
            mesh: the mesh of the axes.
        """
        group = mesh.total_size if kind == "collective_permute" else mesh.axes_size(axes)
        names = tuple(dict.fromkeys(axis.name for axis in axes))
        return cls(kind, group, names, nbytes * float(share_sent(kind, group)))

    def traffic(self, hardware: Hardware) -> Traffic:
        """Return the time of the collective.

        Example: an `all_gather` of 1,000 bytes from each of 4 devices, along a link of 1e9 bytes
        per second and a latency of 1e-6 seconds, sends 3,000 bytes in 3 steps: 3e-6 + 3e-6 seconds.
        A measured time counts instead, if the hardware has it.
        """
        steps = num_steps(self.kind, self.group_size)
        if not steps:
            return Traffic()
        link = hardware.slowest_link(self.axes)
        latency = hardware.seconds_per_collective + steps * link.seconds_to_start
        transfer = self.sent / link.bytes_per_second
        if hardware.measured and (found := self._measured(hardware, transfer + latency)):
            latency = min(latency, found)
            transfer = found - latency
        return Traffic(transfer, latency)

    def _measured(self, hardware: Hardware, otherwise: float) -> float:
        """Return a measured time, the first that there is.

        1. That of these axes together.
        2. The longest along one of them.
        3. The longest of other groups, if `sdy-calibrate` measured them: those of the nearest size.

        Args:
            hardware: the devices and links.
            otherwise: the time along axes that weren't measured, if others were.

        Returns: zero if nothing was measured.
        """
        if curve := hardware.curve(self.kind, self.axes, self.group_size):
            return curve.at(self.sent)
        curves = [hardware.curve(self.kind, (each,)) for each in self.axes]
        found = [each.at(self.sent) for each in curves if each is not None]
        if found and len(found) < len(curves):
            found.append(otherwise)
        if not found and hardware.origin is not None:
            others = hardware.curves_of_nearest_size(self.kind, self.group_size)
            found = [each.at(self.sent) for each in others]
        return max(found, default=0.0)


def traffic_of(collectives: Iterable[PlannedCollective], hardware: Hardware) -> Traffic:
    """Return the time of collectives that run in sequence."""
    return sum((each.traffic(hardware) for each in collectives), Traffic())


def share_sent(kind: str, group_size: int) -> Fraction:
    """Return the minimum that a device sends in a collective, as a multiple of its operand.

    In a group of *n* devices:

    | kind                   | share       | explanation                 |
    |------------------------|-------------|-----------------------------|
    | `all_gather`           | n - 1       | (n - 1) / n of its result   |
    | `all_reduce`           | 2 (n - 1)/n | a reduce-scatter and gather |
    | `all_slice`            | 0           | each device has its part    |
    | `all_to_all`           | (n - 1)/n   | all but the own part        |
    | `collective_broadcast` | 1           | 0 in groups of one          |
    | `collective_permute`   | 1           | 0 if no device sends        |
    | `reduce_scatter`       | (n - 1)/n   | all but the own part        |

    Args:
        kind: the collective, without its dialect.
        group_size: the number of devices that exchange data with each other.
    """
    return _SHARES[kind](group_size)


def num_steps(kind: str, group_size: int) -> int:
    """Return the number of steps of a collective in a ring of devices.

    In a group of n devices, n - 1; twice as many for an all-reduce, which is a reduce-scatter and
    an all-gather; one for a permute or a broadcast; none for a slice.
    """
    others = max(group_size - 1, 0)
    if kind == "all_slice":
        return 0
    if kind in ("collective_permute", "collective_broadcast"):
        return min(others, 1)
    return 2 * others if kind == "all_reduce" else others
