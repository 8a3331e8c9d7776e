# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Questions that users ask about the programs of the corpus, with answers known from their text."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from mlir_sdy.assembly import parse
from mlir_sdy.dialect import Context
from pyshardy.explain.moves import MoveKind
from pyshardy.explain.program import ExplainedProgram, explain_program
from pyshardy.irtools.named_values import NamedValues
from pyshardy.propagation.debugging.axis_chains import AxisOrigin
from pyshardy.propagation.debugging.explanation import Gain
from pyshardy.propagation.debugging.refusals import RefusalReason

CORPUS = Path(__file__).parents[2] / "corpus" / "mlir"


@cache
def explained(name: str) -> tuple[ExplainedProgram, NamedValues]:
    text = (CORPUS / f"{name}.mlir").read_text()
    module = parse(text, Context(), f"{name}.mlir")
    values = NamedValues.marked(module, text)
    return explain_program(module), values


@dataclass(frozen=True)
class Sharded:
    """Why is a value sharded by an axis?

    Attributes:
        program: the program.
        value: the value.
        axis: the axis.
        root: the tensor whose annotation it goes back to, and the line of that.
        through: the operations in between, the last one first.
        origin: how the tensor has the axis.
    """

    program: str
    value: str
    axis: str
    root: tuple[str, int]
    through: tuple[str, ...]
    origin: AxisOrigin = AxisOrigin.PROGRAM


SHARDED = [
    Sharded("conflicting_operands", "%2", "data", ("argument 0 of @main", 3), ("multiply", "add")),
    Sharded("conflicting_products", "%1", "data", ("argument 0 of @main", 3), ("dot_general",) * 2),
    Sharded("unconstrained_dimensions", "%3", "data", ("sharding_constraint", 6), ("sine",)),
    Sharded(
        "unconstrained_dimensions",
        "result 0",
        "model",
        ("argument 1 of @main", 3),
        ("sharding_constraint", "sine", "sharding_constraint", "dot_general"),
    ),
    Sharded(
        "transformer_generate_loop", "result 0", "data", ("argument 10 of @main", 3), ("edge",)
    ),
]


@pytest.mark.parametrize("question", SHARDED, ids=lambda q: f"{q.program}-{q.value}-{q.axis}")
def test_why_is_it_sharded(question):
    program, values = explained(question.program)
    (value,) = values.find(question.value)
    axes = program.value(value).explanation.axes
    (found,) = (each for each in axes if each.axis.name == question.axis)
    assert found.root is not None
    assert found.root.origin is question.origin
    what, line = question.root
    assert what in found.root.tensor.description
    assert found.root.tensor.location.line == line
    gains = [link for link in found.chain if isinstance(link, Gain)]
    assert len(gains) == len(question.through)
    for gain, name in zip(gains, question.through, strict=True):
        assert gain.operation.endswith(name)


@dataclass(frozen=True)
class Refused:
    """Why is a value not sharded by an axis?

    Attributes:
        program: the program.
        value: the value.
        axis: the axis.
        reason: what is against it.
        blocker: the tensor that stands against it.
        line: the line of the operation that it would have come by.
        advice: what would settle it differently, in part.
    """

    program: str
    value: str
    axis: str
    reason: RefusalReason
    blocker: str
    line: int
    advice: tuple[str, ...]


REFUSED = [
    Refused(
        "shard_alike_values",
        "arg1",
        "data",
        RefusalReason.CLOSED,
        "argument 1 of @main",
        5,
        ("arg1=[{'data'}, {}]",),
    ),
    Refused(
        "conflicting_products",
        "%1",
        "model",
        RefusalReason.CONFLICT,
        "result 0 of stablehlo.add",
        6,
        ("%1=[{?}, {'model', ?}]",),
    ),
    Refused(
        "conflicting_products",
        "%1",
        "data",
        RefusalReason.IN_USE,
        "result 0 of stablehlo.dot_general",
        5,
        (),
    ),
]


@pytest.mark.parametrize("question", REFUSED, ids=lambda q: f"{q.program}-{q.value}-{q.axis}")
def test_why_is_it_not_sharded(question):
    program, values = explained(question.program)
    (value,) = values.find(question.value)
    found = program.value(value)
    (refused,) = (
        each
        for each in found.explanation.refused
        if each.axis.name == question.axis and each.location.line == question.line
    )
    assert refused.reason is question.reason
    assert refused.blocker is not None
    assert refused.blocker.description == question.blocker
    remedy = found.axes[question.axis].remedy
    assert (remedy.what_if if remedy else ()) == question.advice


@dataclass(frozen=True)
class Communicates:
    """Where does a collective come from?

    Attributes:
        program: the program.
        collective: its kind, and the line that it comes from.
        kind: whether it is a reshard, completes partial results, or is what an operation does.
        made: the value that it is about, or the operation.
        wanted: the uses that it is made for.
        roots: the tensors whose annotations it goes back to.
    """

    program: str
    collective: tuple[str, int]
    kind: MoveKind
    made: str
    wanted: tuple[str, ...]
    roots: tuple[str, ...]


COMMUNICATES = [
    Communicates(
        "moe_top_k",
        ("all_reduce", 40),
        MoveKind.REDUCTION,
        "result 0 of stablehlo.dot_general",
        (),
        # The constraint of line 36, which propagation hands to what it constrains.
        ("result 0 of sdy.sharding_constraint", "result 0 of stablehlo.dot_general"),
    ),
    Communicates(
        "embedding_lookup",
        ("all_reduce", 12),
        MoveKind.REDUCTION,
        "result 0 of stablehlo.gather",
        (),
        ("argument 0 of @main",),
    ),
    Communicates(
        "convnet_spatial",
        ("collective_permute", 13),
        MoveKind.OPERATION,
        "stablehlo.convolution",
        (),
        ("argument 3 of @main",),
    ),
    Communicates(
        "conflicting_products",
        ("all_gather", 3),
        MoveKind.RESHARD,
        "argument 0 of @main",
        ("operand 0 of stablehlo.dot_general",),
        ("argument 0 of @main", "argument 1 of @main"),
    ),
    Communicates(
        "conflicting_products",
        ("all_to_all", 6),
        MoveKind.RESHARD,
        "result 0 of stablehlo.add",
        ("result 0 of @main",),
        ("argument 0 of @main", "result"),
    ),
]


@pytest.mark.parametrize("question", COMMUNICATES, ids=lambda q: f"{q.program}-{q.collective[0]}")
def test_where_does_it_come_from(question):
    program, _ = explained(question.program)
    kind, line = question.collective
    found = next(
        each
        for each in program.collectives
        if (each.collective.kind, each.collective.location.line) == (kind, line)
    )
    assert found.kind is question.kind
    assert found.made is not None
    assert found.made.what == question.made
    assert tuple(each.what for each in found.wanted) == question.wanted
    roots = {root.tensor.description for each in (found.made, *found.wanted) for root in each.roots}
    assert roots == set(question.roots)


def test_each_collective_of_the_corpus_is_explained():
    """But for those that were in the program already."""
    for name in ("transformer_train_adam_fsdp", "moe_top_k_train", "unet_step", "stencil"):
        program, _ = explained(name)
        assert program.collectives
        for each in program.collectives:
            assert each.kind is not None, str(each)
            assert each.made is not None
