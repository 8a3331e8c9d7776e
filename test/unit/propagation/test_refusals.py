# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Why axes do not come: each reason, and who stands against it."""

import pytest

from pyshardy.propagation.debugging.refusals import RefusalReason

ADD = "%0 = stablehlo.add %x, %y : tensor<8x8xf32>"
T = "8x8"


def program(operation, result, *arguments, result_sharding=""):
    given = [
        f"%{name}: tensor<{shape}xf32>"
        + (f" {{sdy.sharding = #sdy.sharding<{sharding}>}}" if sharding else "")
        for name, (shape, sharding) in zip("xyz", arguments, strict=False)
    ]
    if result_sharding:
        own = f"{{sdy.sharding = #sdy.sharding_per_value<[<{result_sharding}>]>}} : "
        head, _, tail = operation.rpartition(" : ")
        operation = f"{head} {own}{tail}"
    return (
        'sdy.mesh @other = <["z"=2]>\n'
        f"func.func @main({', '.join(given)}) -> tensor<{result}xf32> {{\n"
        f"  {operation}\n  return %0 : tensor<{result}xf32>\n}}"
    )


CASES = [
    pytest.param(
        program(
            "%0 = sdy.propagation_barrier %x allowed_direction=BACKWARD : tensor<8x8xf32>",
            T,
            (T, '@m, [{"a"}, {?}]'),
        ),
        "aggressive",
        "sdy.propagation_barrier",
        RefusalReason.DIRECTION,
        None,
        id="direction",
    ),
    pytest.param(
        program(ADD, T, (T, '@m, [{"a", "b"}, {?}]'), (T, '@m, [{"a", "c"}, {?}]')),
        "aggressive",
        "stablehlo.add",
        RefusalReason.CONFLICT,
        1,
        id="conflict",
    ),
    pytest.param(
        program(ADD, T, (T, '@m, [{"a"}, {?}]'), (T, ""), result_sharding="@m, [{}, {?}]"),
        "aggressive",
        "stablehlo.add",
        RefusalReason.CLOSED,
        2,
        id="closed",
    ),
    pytest.param(
        program(
            ADD,
            T,
            (T, '@m, [{"a"}, {?}]'),
            (T, ""),
            result_sharding='@m, [{?}, {?}], replicated={"a"}',
        ),
        "aggressive",
        "stablehlo.add",
        RefusalReason.REPLICATED,
        2,
        id="replicated",
    ),
    pytest.param(
        program(
            ADD,
            T,
            (T, '@m, [{"a"}, {?}]'),
            (T, ""),
            result_sharding='@m, [{?}, {?}], unreduced={"a"}',
        ),
        "aggressive",
        "stablehlo.add",
        RefusalReason.UNREDUCED,
        2,
        id="unreduced",
    ),
    pytest.param(
        program(
            "%0 = stablehlo.dot %x, %y : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>",
            T,
            (T, '@m, [{"a"}, {?}]'),
            (T, '@m, [{?}, {"a"}]'),
        ),
        "aggressive",
        "stablehlo.dot",
        RefusalReason.IN_USE,
        2,
        id="in use",
    ),
    pytest.param(
        program(
            "%0 = stablehlo.reshape %x : (tensor<6x4xf32>) -> tensor<24xf32>",
            "24",
            ("6x4", '@m, [{"c"}, {?}]'),
            result_sharding='@m, [{"c":(1)2, "p", ?}]',
        ),
        "aggressive",
        "stablehlo.reshape",
        RefusalReason.OVERFLOW,
        1,
        id="overflow",
    ),
    pytest.param(
        program(
            "%0 = stablehlo.reshape %x : (tensor<3x4xf32>) -> tensor<12xf32>",
            "12",
            ("3x4", '@m, [{"a"}, {?}]'),
        ),
        "aggressive",
        "stablehlo.reshape",
        RefusalReason.SIZE,
        1,
        id="size",
    ),
    pytest.param(
        program("%0 = stablehlo.tanh %x : tensor<8x8xf32>", T, (T, '@m, [{"c":(1)2}, {?}]')),
        "conservative",
        "stablehlo.tanh",
        RefusalReason.PART_OF_AXIS,
        None,
        id="part of an axis",
    ),
    pytest.param(
        program(
            "%0 = stablehlo.reshape %x : (tensor<4x6xf32>) -> tensor<24xf32>",
            "24",
            ("4x6", '@m, [{?}, {"a"}]'),
        ),
        "aggressive",
        "stablehlo.reshape",
        RefusalReason.NOT_EXPRESSIBLE,
        1,
        id="not expressible",
    ),
    pytest.param(
        program(ADD, T, (T, '@m, [{"a"}, {?}]'), (T, '@other, [{?}, {"z"}]')),
        "aggressive",
        "stablehlo.add",
        RefusalReason.MESH,
        None,
        id="meshes",
    ),
]


@pytest.mark.parametrize(("text", "strategy", "name", "reason", "blocker"), CASES)
def test_reason(recorded, text, strategy, name, reason, blocker):
    conservative = strategy == "conservative"
    found = recorded(
        text, "aggressive" if conservative else strategy, conservative_propagation=conservative
    )
    result = found.record.engine.program.names.index(name)
    slot = found.record.engine.program.results[result][0]
    refused = [
        refusal for operation, refusal, _ in found.record.still_refused(slot) if operation == result
    ]
    assert [(refusal.reason, refusal.blocker) for refusal in refused][:1] == [(reason, blocker)]
    assert reason.value in " ".join(map(str, found.record.explain(found.values(name)[0]).refused))


def test_operands_of_element_wise_operations_take_no_more_than_results(recorded):
    text = program(ADD, T, (T, '@m, [{"a"}, {?}]'), (T, ""), result_sharding="@m, [{}, {?}]")
    found = recorded(text)
    (_, refusal, _) = found.record.still_refused(
        found.record.engine.program.number_of(found.main.regions[0].blocks[0].arguments[1])
    )[0]
    assert (refusal.reason, refusal.blocker) == (RefusalReason.ELSEWHERE, 2)


def test_with_the_basic_strategy_anybody_may_object(recorded):
    text = program(ADD, T, (T, '@m, [{"a"}, {?}]'), (T, "@m, [{}, {?}]"))
    assert "operand 1 is closed in this dimension" in recorded(text, "basic").explain(
        "stablehlo.add"
    )
    assert "closed in this" not in recorded(text, "aggressive").explain("stablehlo.add")


def test_nothing_is_refused_where_nothing_is_missing(recorded):
    text = program(ADD, T, (T, '@m, [{"a"}, {?}]'), (T, ""))
    found = recorded(text)
    assert not found.record.explain(found.values("stablehlo.add")[0]).refused


def test_every_reason_has_a_test():
    tested = {case.values[3] for case in CASES}
    assert tested == set(RefusalReason) - {RefusalReason.ELSEWHERE}
