# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the collectives of the shard dialect do, in NumPy, as its documentation says it.

Written for itself, without the code under test: devices are tuples of coordinates, and what each
holds is in a dictionary. Results of devices for which the documentation leaves them undefined are
missing.
"""

from __future__ import annotations

import functools
import itertools

import numpy as np

FOLDS = {
    "sum": np.add,
    "max": np.maximum,
    "min": np.minimum,
    "product": np.multiply,
    "average": np.add,
    "bitwise_and": np.bitwise_and,
    "bitwise_or": np.bitwise_or,
    "bitwise_xor": np.bitwise_xor,
}


def devices(shape):
    """All devices, in the order of their linear indices."""
    return list(itertools.product(*map(range, shape)))


class Model:
    """The collectives on a grid, along some axes of it."""

    def __init__(self, shape, axes):
        self.shape, self.axes = shape, axes

    def group(self, device):
        """The devices that agree with `device` outside the axes, in the order of the axes."""
        for inside in itertools.product(*(range(self.shape[axis]) for axis in self.axes)):
            member = list(device)
            for axis, at in zip(self.axes, inside, strict=True):
                member[axis] = at
            yield tuple(member)

    def place(self, device):
        return list(self.group(device)).index(device)

    def root(self, device, coordinates):
        member = list(device)
        for axis, at in zip(self.axes, coordinates, strict=True):
            member[axis] = at
        return tuple(member)

    def _each(self, compute):
        return {device: compute(device) for device in devices(self.shape)}

    def _pieces(self, array, dim, device):
        return np.split(array, len(list(self.group(device))), axis=dim)

    def all_gather(self, x, dim):
        return self._each(lambda d: np.concatenate([x[m] for m in self.group(d)], axis=dim))

    def gather(self, x, dim, root):
        whole = self.all_gather(x, dim)
        return {d: array for d, array in whole.items() if d == self.root(d, root)}

    def all_reduce(self, x, kind, dtype):
        def compute(device):
            members = [x[m].astype(dtype) for m in self.group(device)]
            total = functools.reduce(FOLDS[kind], members)
            return (total / len(members)).astype(dtype) if kind == "average" else total

        return self._each(compute)

    def reduce(self, x, kind, dtype, root):
        whole = self.all_reduce(x, kind, dtype)
        return {d: array for d, array in whole.items() if d == self.root(d, root)}

    def all_slice(self, x, dim):
        return self._each(lambda d: self._pieces(x[d], dim, d)[self.place(d)])

    def reduce_scatter(self, x, kind, dtype, dim):
        return self.all_slice(self.all_reduce(x, kind, dtype), dim)

    def all_to_all(self, x, split, concat):
        def compute(device):
            got = [self._pieces(x[m], split, m)[self.place(device)] for m in self.group(device)]
            return np.concatenate(got, axis=concat)

        return self._each(compute)

    def broadcast(self, x, root):
        return self._each(lambda d: x[self.root(d, root)])

    def scatter(self, x, dim, root):
        return self._each(lambda d: self._pieces(x[self.root(d, root)], dim, d)[self.place(d)])

    def shift(self, x, axis, offset, rotate):
        results = {}
        for device in devices(self.shape):
            target = list(device)
            target[axis] += offset
            if rotate:
                target[axis] %= self.shape[axis]
            if 0 <= target[axis] < self.shape[axis]:
                results[tuple(target)] = x[device]
        return results


def update_halo(shape, x, split_axes, halos):
    """Halos filled from the neighbours: `halos` has (low, high) for each split dimension.

    A corner comes from the neighbour along the first dimension, which has it from its neighbours
    along later ones. Where there is no neighbour, what is there stays.
    """
    dims = [dim for dim, axes in enumerate(split_axes) if axes]

    def neighbor(device, dim, step):
        axes = split_axes[dim]
        sizes = [shape[axis] for axis in axes]
        place = int(np.ravel_multi_index([device[axis] for axis in axes], sizes)) + step
        if not 0 <= place < np.prod(sizes):
            return None
        moved = list(device)
        for axis, at in zip(axes, np.unravel_index(place, sizes), strict=True):
            moved[axis] = int(at)
        return tuple(moved)

    def content(device, part):
        """A part of what a device has: for each dimension where, and from which side it comes."""
        for dim, (start, end, step) in enumerate(part):
            if step and (other := neighbor(device, dim, step)) is not None:
                size = x[device].shape[dim]
                low, high = halos[dims.index(dim)]
                first = size - high - low if step < 0 else low
                there = list(part)
                there[dim] = (first, first + end - start, 0)
                return content(other, there)
            if step:
                break
        return x[device][tuple(slice(start, end) for start, end, _ in part)]

    results = {}
    for device in devices(shape):
        result = x[device].copy()
        ranges = []
        for dim, size in enumerate(result.shape):
            if dim not in dims:
                ranges.append([(0, size, 0)])
                continue
            low, high = halos[dims.index(dim)]
            ranges.append([(0, low, -1), (low, size - high, 0), (size - high, size, 1)])
        for part in itertools.product(*ranges):
            here = tuple(slice(start, end) for start, end, _ in part)
            result[here] = content(device, part)
        results[device] = result
    return results
