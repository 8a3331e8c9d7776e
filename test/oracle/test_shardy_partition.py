# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs partitioned here and by C++ Shardy: the numbers and the bytes sent of both."""

import math

import pytest
from case_counts import spread
from corpus_programs import OPTIONS, PROGRAMS, CorpusProgram
from shardy import ShardyRefused
from shardy_partition import partitioned_by_shardy

from mlir_sdy.assembly import asm, parse
from mlir_sdy.dialect import Context
from pyshardy.api import propagate
from pyshardy.program import PartitionedProgram, partition

pytestmark = pytest.mark.shardy_since(0, 12)

REFUSED = {
    "batch_norm_by_hand": "'chlo.square' op requires compatible types",
    "op_mean_and_variance": "'chlo.square' op requires compatible types",
    "op_pad_both_ends": "found unrealized_conversion_cast after pad-for-divisibility",
    "op_reverse_of_uneven": "found unrealized_conversion_cast after pad-for-divisibility",
    "op_top_k": "'chlo.top_k' op inferred type(s)",
    "padding_and_rolling": "found unrealized_conversion_cast after pad-for-divisibility",
    "random_numbers": "'chlo.erf_inv' op requires compatible types",
    "top_k_and_argmax": "'chlo.top_k' op inferred type(s)",
}
"""The programs that C++ Shardy can't partition, and what it says."""

WRONG = {
    "associative_scan",
    "op_any_and_all",
    "op_product_of_shards",
    "op_slice_with_stride",
    "op_sum_from_three",
    "uneven_reshape",
}
"""The programs for which C++ Shardy gets other numbers; see `docs/differences.md`."""

SENDS_MORE = {"op_concatenate_along_shards", "several_axes_on_a_dimension"}
"""The programs for which ours sends more: it joins two halves of shards by four permutes instead of
three, and reorders a dimension before an all-to-all that C++ Shardy does with other axes."""


def sent(program: PartitionedProgram) -> int:
    return sum(each.nbytes_sent * (each.repetitions or 1) for each in program.collectives)


@pytest.mark.parametrize("path", spread(PROGRAMS, 28), ids=lambda path: path.stem)
def test_numbers_of_shardy(shardy, path):
    """Check the numbers of Shardy; `test_corpus_numbers.py` checks ours."""
    context = Context()
    annotated = asm(parse(path.read_text(), context))
    if path.stem in REFUSED:
        with pytest.raises(ShardyRefused) as refusal:
            partitioned_by_shardy(shardy, annotated, context)
        assert REFUSED[path.stem] in str(refusal.value)
        return
    theirs = partitioned_by_shardy(shardy, annotated, context)
    corpus = CorpusProgram(path, context)
    expected = corpus.expected()
    found = theirs.run(corpus.inputs, "xla", OPTIONS)
    differences = corpus.differences(found, expected)
    assert all(difference.is_small for difference in differences) == (path.stem not in WRONG)


def test_bytes(shardy):
    """The geometric mean is at most 0.9, and ours sends more for the listed programs only."""
    ratios: dict[str, float] = {}
    for path in PROGRAMS:
        if path.stem in REFUSED:
            continue
        context = Context()
        module = parse(path.read_text(), context)
        theirs = sent(partitioned_by_shardy(shardy, asm(module), context))
        propagate(module)
        ours = sent(partition(module))
        ratios[path.stem] = 1.0 if ours == theirs else ours / theirs if theirs else math.inf
    assert len(ratios) > 130
    assert {name for name, ratio in ratios.items() if ratio > 1} == SENDS_MORE
    logarithms = [math.log(ratio) for ratio in ratios.values() if ratio]
    assert math.exp(sum(logarithms) / len(logarithms)) <= 0.9
