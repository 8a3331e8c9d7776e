# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rules written as text."""

from typing import Any, cast

import pytest

from pyshardy.rules import OperationSignature, RuleError, TensorType, rule


def signature(operands: list[tuple[int, ...]], results: list[tuple[int, ...]]):
    return OperationSignature(
        "my.op",
        tuple(TensorType(shape, "f32") for shape in operands),
        tuple(TensorType(shape, "f32") for shape in results),
        cast(Any, None),
    )


@pytest.mark.parametrize(
    ("text", "kinds", "operands", "results", "expected"),
    [
        (
            "b m k, b k n -> b m n",
            {"reduction": "k"},
            [(2, 3, 5), (2, 5, 7)],
            [(2, 3, 7)],
            "<([i, j, l], [i, l, k])->([i, j, k]) {i=2, j=3, k=7, l=5} reduction={l}>",
        ),
        (
            "b (h d) -> b h d",
            {},
            [(4, 12)],
            [(4, 3, 4)],
            "<([i, jk])->([i, j, k]) {i=4, j=3, k=4}>",
        ),
        ("i j, () -> i j", {}, [(2, 3), ()], [(2, 3)], "<([i, j], [])->([i, j]) {i=2, j=3}>"),
        (
            "k, k -> ()",
            {"reduction": "k"},
            [(4,), (4,)],
            [()],
            "<([i], [i])->([]) {i=4} reduction={i}>",
        ),
        (
            "(g c) -> g",
            {"sizes": {"c": 2}, "reduction": "c"},
            [(8,)],
            [(4,)],
            "<([ij])->([i]) {i=4, j=2} reduction={j}>",
        ),
        (
            "... m, ... -> m ...",
            {"permutation": "..."},
            [(2, 3, 5), (2, 3)],
            [(5, 2, 3)],
            "<([j, k, i], [j, k])->([i, j, k]) {i=5, j=2, k=3} permutation={j, k}>",
        ),
        ("... m -> m", {}, [(3,)], [(3,)], "<([i])->([i]) {i=3}>"),
        (
            "i j -> i j",
            {"need_replication": "j", "permutation": "i", "blocked": "j"},
            [(2, 3)],
            [(2, 3)],
            "<([i, j])->([i, j]) {i=2, j=3} need_replication={j} permutation={i} "
            "blocked_propagation={j}>",
        ),
    ],
)
def test_resolve(text, kinds, operands, results, expected):
    assert str(rule(text, **kinds).resolve(signature(operands, results))) == expected


@pytest.mark.parametrize(
    ("text", "kinds", "message"),
    [
        ("i j", {}, "has no '->'"),
        ("i i -> i", {}, "occurs twice"),
        ("i, -> i", {}, "a scalar is '()'"),
        ("i () -> i", {}, "is empty"),
        ("i* -> i", {}, "unexpected"),
        ("(... j) -> ...", {}, "'...' stands for dimensions"),
        ("... i ... -> i", {}, "occurs twice"),
        ("i .. -> i", {}, "unexpected '.'"),
        ("i -> i", {"reduction": "k"}, "no factor 'k'"),
        ("i -> i", {"reduction": "i"}, "is in a result"),
        ("i j -> i", {"reduction": "j", "permutation": "j"}, "two kinds"),
    ],
)
def test_ill_formed(text, kinds, message):
    with pytest.raises(RuleError, match=message.replace("(", r"\(").replace(")", r"\)")):
        rule(text, **kinds)


@pytest.mark.parametrize(
    ("text", "operands", "results", "message"),
    [
        ("i -> i", [(2,), (2,)], [(2,)], "has 2 operands and 1 results"),
        ("i -> i", [(2, 3)], [(2,)], "operand 0 has 2 dimensions"),
        ("i -> i", [(2,)], [(3,)], "'i' has size 2, but 3 in result 0"),
        ("... i j -> i j", [(2,)], [(2, 3)], "operand 0 has 1 dimensions"),
        ("... i -> ...", [(2, 3)], [()], "'...' stands for 1 of operand 0, 0 of result 0"),
        ("(i j) -> ()", [(6,)], [()], "the size of 'i' must be given"),
        ("(i j) -> i", [(7,)], [(2,)], "2 does not divide the size 7 of 'i j' in operand 0"),
    ],
)
def test_misfits(text, operands, results, message):
    with pytest.raises(RuleError, match=message):
        rule(text).resolve(signature(operands, results))
