# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The communication time of collectives: bytes, steps and seconds.

| part      | time                                                                          |
|-----------|-------------------------------------------------------------------------------|
| transfer  | the bytes that a device sends, at the bandwidth of the slowest link           |
| latency   | the launch of the collective, and the latency of this link for each ring step |
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pyshardy.cost.hardware import Hardware


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


def collective_traffic(
    kind: str, group_size: int, sent: float, axes: Iterable[str], hardware: Hardware
) -> Traffic:
    """Return the time of a collective.

    Args:
        kind: the collective, without its dialect.
        group_size: the number of devices that exchange data with each other.
        sent: the bytes that a device sends.
        axes: the names of the mesh axes along which devices communicate.
        hardware: the devices and links.

    Example: an `all_gather` of 1,000 bytes from each of 4 devices, along a link of 1e9 bytes per
    second and a latency of 1e-6 seconds, sends 3,000 bytes in 3 steps: 3e-6 + 3e-6 seconds.
    """
    steps = num_steps(kind, group_size)
    if not steps:
        return Traffic()
    link = hardware.slowest_link(axes)
    latency = hardware.seconds_per_collective + steps * link.seconds_to_start
    return Traffic(sent / link.bytes_per_second, latency)


def permute_traffic(count: int, sent: float, axes: Iterable[str], hardware: Hardware) -> Traffic:
    """Return the time of several permutes.

    Args:
        count: the number of permutes.
        sent: the bytes that a device sends in all of them.
        axes: the names of the mesh axes along which devices communicate.
        hardware: the devices and links.
    """
    link = hardware.slowest_link(axes)
    latency = count * (hardware.seconds_per_collective + link.seconds_to_start)
    return Traffic(sent / link.bytes_per_second, latency)


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
