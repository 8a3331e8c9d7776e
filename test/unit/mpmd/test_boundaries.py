# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Boundaries of stages are the best ones: the same as by trying all."""

import itertools
import random

import pytest
from case_counts import cases

from mlir_sdy.diagnostics import UsageError
from pyshardy.mpmd.boundaries import Chain, best_boundaries


def chain_of(times, meshes, microbatches, **options):
    return Chain(
        [f"layer{index}" for index in range(len(times))],
        [f"m{mesh}" for mesh in range(meshes)],
        microbatches,
        lambda layers, _: sum(times[layer] for layer in layers),
        options.pop("cut_seconds", lambda _: 0.0),
        **options,
    )


def all_boundaries(chain):
    count, meshes = len(chain.layers), len(chain.meshes)
    for inner in itertools.combinations(range(1, count), meshes - 1):
        intervals = tuple(map(range, (0, *inner), (*inner, count)))
        if all(chain.may_be(interval, mesh) for mesh, interval in enumerate(intervals)):
            yield chain.total(intervals), intervals


def test_the_example():
    best, second, *_ = best_boundaries(chain_of([4, 1, 1, 2], 2, 8))
    assert best.intervals == (range(1), range(1, 4))
    assert best.total == 36
    assert second.total == 43


@pytest.mark.parametrize("seed", range(cases(40)))
def test_random_chains(seed):
    choose = random.Random(seed)
    count = choose.randint(2, 12)
    meshes = choose.randint(1, min(count, 5))
    times = [choose.choice([0.5, 1.0, choose.random()]) for _ in range(count)]
    speeds = [choose.choice([1.0, choose.uniform(0.5, 2)]) for _ in range(meshes)]
    cuts = [choose.choice([0.0, choose.random()]) for _ in range(count)]
    sizes = [choose.randint(1, 9) for _ in range(count)]
    chain = Chain(
        [f"layer{index}" for index in range(count)],
        [f"m{mesh}" for mesh in range(meshes)],
        choose.randint(1, 16),
        lambda layers, mesh: speeds[mesh] * sum(times[layer] for layer in layers),
        cuts.__getitem__,
        lambda layers, mesh: (mesh + 1) * sum(sizes[layer] for layer in layers),
        choose.choice([None, choose.randint(5, 80)]),
        {choose.randrange(count): choose.randrange(meshes)} if choose.random() < 0.3 else {},
    )
    expected = sorted(total for total, _ in all_boundaries(chain))
    if not expected:
        with pytest.raises(UsageError, match=r"fit into|pinned"):
            best_boundaries(chain)
        return
    plans = best_boundaries(chain)
    assert [each.total for each in plans] == pytest.approx(expected[:5])
    assert all(chain.total(each.intervals) == each.total for each in plans)
    assert len({each.intervals for each in plans}) == len(plans) == min(5, len(expected))


def test_layers_that_do_not_fit():
    message = (
        r"no boundaries fit into 10 bytes of a device: the best ones need 12 on mesh 'm1' for "
        r"layer2 to layer3; .*, or remat"
    )
    sizes = [5, 5, 6, 6]
    chain = chain_of(
        [1.0] * 4, 2, 4, nbytes=lambda layers, _: sum(sizes[each] for each in layers), memory=10
    )
    with pytest.raises(UsageError, match=message):
        best_boundaries(chain)


def test_wrong_numbers_of_layers():
    with pytest.raises(UsageError, match="2 layers can't be on 3 meshes"):
        best_boundaries(chain_of([1.0, 1.0], 3, 4))
    with pytest.raises(UsageError, match="layers that are pinned: 'layer0' to 'm1'"):
        best_boundaries(chain_of([1.0] * 3, 2, 4, pinned={0: 1}))
