# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
from hypothesis import given
from hypothesis import strategies as st

from pyshardy.passes.importing.sharding_group_import import DisjointSets


def test_the_first_of_two_keeps_its_representative():
    sets = DisjointSets[int]()
    sets.add(5)
    sets.add(7)
    sets.unite(3, 5)
    assert list(sets) == [7, 3]
    assert sets.find(5) == sets.find(3) == 3


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8))))
def test_sets_are_the_connected_components(pairs):
    sets = DisjointSets[int]()
    components: dict[int, frozenset[int]] = {}
    for first, second in pairs:
        sets.unite(first, second)
        united = components.get(first, frozenset({first})) | components.get(
            second, frozenset({second})
        )
        components.update(dict.fromkeys(united, united))
    for element, component in components.items():
        assert {sets.find(other) for other in component} == {sets.find(element)}
    assert set(sets) == {sets.find(element) for element in components}
    assert len(list(sets)) == len(set(components.values()))
