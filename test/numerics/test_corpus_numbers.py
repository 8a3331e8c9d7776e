# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Real programs, partitioned, compute what they compute on one device.

XLA runs them on virtual devices, the reference interpreter and the JIT compiler of the host in
lockstep. Integers are equal; floating-point numbers differ by at most `ROUNDING` times the largest
of their result, or by what the coarsest element type inside explains.
"""

import os

import numpy as np
import pytest
from case_counts import spread
from corpus_programs import OPTIONS, PROGRAMS, ROUNDING, CorpusProgram, inputs_of

from mlir_sdy.assembly import parse
from mlir_sdy.diagnostics import collect
from pyshardy.api import propagate
from pyshardy.backends.arrays.comparison import compare
from pyshardy.program import partition

LONG_TO_INTERPRET = {
    "bert_layer_with_dropout",
    "convnet_batch",
    "convnet_features",
    "convnet_spatial",
    "convnet_train",
    "moe_top_k",
    "moe_top_k_train",
    "transformer_constraints",
    "transformer_forward",
    "transformer_forward_3d",
    "transformer_generate_loop",
    "transformer_scan",
    "transformer_scan_remat",
    "transformer_scan_train",
    "transformer_sequence_parallel",
    "transformer_train_adam_fsdp",
    "transformer_train_sgd",
    "unet_step",
}
"""The reference interpreter takes from a second to four minutes for each: they multiply up to 80
million pairs of numbers, one in a microsecond. All others together take ten seconds."""

INTERPRETED = os.environ.get("PYSHARDY_INTERPRET_CORPUS", "").split(",")
"""Which of those it runs nevertheless: names with commas between, or `all`."""

ENGINES = os.environ.get("PYSHARDY_CORPUS_BACKENDS", "xla,jit,interpreter").split(",")
"""The backends that run the corpus."""


def is_interpreted(name):
    return name not in LONG_TO_INTERPRET or name in INTERPRETED or "all" in INTERPRETED


@pytest.mark.parametrize("path", spread(PROGRAMS, 58), ids=lambda path: path.stem)
def test_numbers(path, context):
    corpus = CorpusProgram(path, context)
    expected = corpus.expected()
    backends = ["xla", "jit", *(["interpreter"] if is_interpreted(path.stem) else [])]
    backends = [backend for backend in backends if backend in ENGINES]
    for port, array in zip(corpus.program.outputs, expected, strict=True):
        assert np.isfinite(array).all(), port.name
    for backend in backends:
        with collect() as warnings:
            found = corpus.program.run(corpus.inputs, backend, OPTIONS)
        assert not warnings, "another engine has run a part"
        for port, difference in zip(
            corpus.program.outputs, corpus.differences(found, expected), strict=True
        ):
            assert difference.is_small, (backend, port.name, difference)


@pytest.mark.parametrize(
    ("name", "backends"),
    [("two_towers", ["xla"]), ("statistics", ["xla", "jit", "iree"])],
)
def test_numbers_of_combined_collectives(name, backends, context):
    module = parse((PROGRAMS[0].parent / f"{name}.mlir").read_text(), context)
    propagate(module)
    options = {"reassociate_reductions": False}  # which combines some by adding their operands
    plain, combined = (
        partition(module, **options),
        partition(module, combine_collectives=True, **options),
    )
    kinds = [[one.kind for one in program.collectives] for program in (plain, combined)]
    assert len(kinds[1]) < len(kinds[0])
    sent = [sum(one.nbytes_sent for one in program.collectives) for program in (plain, combined)]
    assert abs(sent[0] - sent[1]) <= len(kinds[0])  # rounded up for each
    inputs = inputs_of(plain, name)
    expected = plain.run(inputs, "xla")
    for backend in backends:
        found = combined.run(inputs, backend)
        for port, ours, wanted in zip(plain.outputs, found, expected, strict=True):
            assert compare(ours, wanted, port.spec, ROUNDING).is_small, (backend, port.name)


def test_what_takes_long_is_in_the_corpus():
    assert {path.stem for path in PROGRAMS} > LONG_TO_INTERPRET
