# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Each value and axis has one reason, and the remedies hold when they are tried."""

import random
from collections import Counter
from pathlib import Path

import pytest
from case_counts import cases
from flow_programs import random_flow_module

import pyshardy as sdy
from mlir_sdy.diagnostics import collect
from pyshardy.explain.annotated import TensorPlaces
from pyshardy.propagation.debugging.axis_chains import root_of
from pyshardy.propagation.debugging.reasons import ReasonKind, tensors_of

ROOT = Path(__file__).parents[3]
PROGRAMS = sorted(
    [*(ROOT / "test/corpus/mlir").glob("*.mlir"), *(ROOT / "examples").glob("*.mlir")]
)
PARTS = 8


def explained(path):
    with collect():
        return sdy.explain(path)


@pytest.mark.parametrize("part", range(min(PARTS, cases(3))))
def test_all_pairs_of_the_corpus_have_a_reason_and_remedies_hold(part):
    """A sample of the reasons of each program is tried: 99 of 100 remedies hold, or more."""
    choose = random.Random(part)
    tried: Counter[bool] = Counter()
    failed: list[str] = []
    for path in PROGRAMS[part::PARTS]:
        program = explained(path)
        reasons = list(program.reasons())
        pairs = [(each.found.slot, each.axis) for each in reasons]
        distinct = set(pairs)
        assert len(pairs) == len(distinct)
        finder = reasons[0].reasons.finder if reasons else None
        assert all(
            (slot, axis) in distinct
            for slot in (tensors_of(finder.record) if finder else ())
            for axis in finder.axes(slot)
        )
        assert all(str(each).startswith(each.value) for each in reasons)
        missing = [each for each in reasons if each.kind is not ReasonKind.SHARDED]
        for each in choose.sample(missing, min(cases(2), len(missing))):
            assert each.remedy is not None
            assert each.remedy.text
            with collect():
                holds = each.verify()
            tried[holds] += 1
            if not holds:
                failed.append(f"{path.name}: {each}")
    assert tried[False] <= max(1, tried.total() // 100), "\n".join(failed)


# --- The frontier, by brute force -----------------------------------------------------------------


def neighbors_of(record):
    """Return the connected places of each place, read from the rules of all operations."""
    engine = record.engine
    relations = [
        relation
        for number, relation in enumerate(engine.relations)
        if relation is not None and not engine.is_erased[number]
    ]
    neighbors = {}
    for relation in (*relations, *engine.function_results):
        kind = record.final_kind(relation.family)
        for factor, size in enumerate(relation.family.rule.factor_sizes):
            if kind is None or not kind.directions[factor] or size == 1:
                continue
            places = [
                (slot, dim)
                for slot, mapping in zip(
                    relation.tensors, relation.family.rule.mappings, strict=True
                )
                for dim, dims in enumerate(mapping.dim_mappings)
                if factor in dims.factor_indices and slot
            ]
            for place in places:
                neighbors.setdefault(place, set()).update(places)
    for slot, members in record.groups.items():
        for member in members:
            for dim in range(engine.program.rank(slot)):
                neighbors.setdefault((slot, dim), set()).add((member, dim))
                neighbors.setdefault((member, dim), set()).add((slot, dim))
    return neighbors


def nearest_by_search(neighbors, record, place, axis):
    """Return the nearest places with an axis along all paths, and their distance."""
    level, seen, distance = {place}, {place}, 0
    while level:
        sharded = {
            (slot, dim)
            for slot, dim in level
            if (sharding := record.engine.sharding(slot)) is not None
            and any(each.name == axis for each in sharding.dim_axes[dim])
        }
        if sharded:
            return sharded, distance
        level = {other for each in level for other in neighbors.get(each, ())} - seen
        seen |= level
        distance += 1
    return set(), distance


@pytest.mark.parametrize("seed", range(cases(30)))
def test_the_frontier_is_that_of_a_search_along_all_paths(seed):
    with collect():
        module = sdy.parse(random_flow_module(seed, priorities=seed % 2 == 0), sdy.Context())
        record = sdy.propagate(module)
    finder, neighbors = record.reasons, neighbors_of(record)
    for slot in tensors_of(record):
        for axis in finder.axes(slot):
            reason = finder.reason(slot, axis)
            if reason.kind is not ReasonKind.UNOFFERED:
                continue
            frontier = finder.frontier(reason)
            ways = [nearest_by_search(neighbors, record, (slot, dim), axis) for dim in reason.dims]
            found = [(distance, places) for places, distance in ways if places]
            if not found:
                assert frontier.nearest is None
                continue
            assert frontier.nearest is not None
            distance = min(distance for distance, _ in found)
            nearest = set().union(*(places for at, places in found if at == distance))
            assert len(frontier.nearest.places) - 1 == distance
            assert frontier.nearest.places[-1] in nearest


# --- Blockers -------------------------------------------------------------------------------------


def opened(annotated, finder, reason, places):
    """Return the annotations from which the blockers of a reason have their shardings, opened.

    A constraint shards its input, too. Manual computations stay: they decide the types inside.
    """
    record, refusal = finder.record, reason.refusal
    program = record.engine.program
    if refusal is None:
        blockers = reason.sources
    else:
        at = refusal.target if refusal.blocker is None else refusal.blocker
        blockers = (reason.relation.tensors[at],)
    roots = [
        root_of(record, blocker, dim, axis)
        for blocker in blockers
        if (sharding := record.engine.sharding(blocker)) is not None
        for dim, axes in enumerate(sharding.dim_axes)
        for axis in axes
    ]
    slots = {*blockers, *(root.tensor.slot for root in roots if root is not None)}
    slots = {
        edge.owner if (edge := program.edges.get(program.makers[slot])) else slot for slot in slots
    }
    slots |= {
        program.slots[result]
        for operation, name in enumerate(program.names)
        if name == "sdy.sharding_constraint"
        and slots & {program.slots[operand] for operand in program.operands[operation]}
        for result in program.results[operation]
    }
    return {
        place: given.fully_open_like()
        for slot in slots
        if (place := places.place(slot)) is not None
        and (given := record.given(slot)) is not None
        and (name := program.names[program.makers[slot]]) != "sdy.manual_computation"
        and annotated.can_annotate(place, name)
    }


def reason_without_blockers(reason):
    """Return the kind of the reason after the blockers' annotations were opened, three at most.

    None stands for a blocker without an annotation: a barrier, a direction, a manual computation.
    """
    finder, found = reason.reasons.finder, reason.found
    places, changes = TensorPlaces(finder.record), {}
    place = places.place(found.slot)
    for _ in range(3):
        annotations = opened(reason.reasons.annotated, finder, found, places)
        if annotations.items() <= changes.items():
            return None
        changes |= annotations
        finder = reason.reasons.annotated.propagated(changes)
        places = TensorPlaces(finder.record)
        found = finder.reason(places.slot(place), reason.axis)
        if found.kind is not reason.kind:
            break
    return found.kind


def test_without_blockers_a_value_takes_the_axis_or_has_another_reason():
    """At most three annotated blockers stand before it, in programs with conflicts and sums."""
    outcomes: Counter[tuple[ReasonKind, ReasonKind | None]] = Counter()
    names = ("cond_on_scalar", "conflicting_constraints", "moe_top_k", "moe_top_k_train")
    programs = [explained(ROOT / "test/corpus/mlir" / f"{name}.mlir") for name in names]
    with collect():
        programs += [sdy.explain(random_flow_module(seed)) for seed in range(1, cases(12), 2)]
    for program in programs:
        for reason in program.reasons():
            if reason.kind in (ReasonKind.REFUSED, ReasonKind.REDUCED):
                kind = reason_without_blockers(reason)
                assert kind is not reason.kind, str(reason)
                outcomes[reason.kind, kind] += 1
    assert outcomes[ReasonKind.REFUSED, ReasonKind.SHARDED] > 0
    assert outcomes[ReasonKind.REDUCED, ReasonKind.UNOFFERED] > 0
    for kind in (ReasonKind.REFUSED, ReasonKind.REDUCED):
        unannotated = outcomes[kind, None]
        assert 3 * unannotated <= 2 * sum(n for (of, _), n in outcomes.items() if of is kind)


def test_an_axis_that_is_given_elsewhere():
    text = """
    sdy.mesh @m = <["a"=2, "b"=2]>
    func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"a"}, {}]>},
                    %y: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {"a"}]>})
        -> tensor<8x8xf32> {
      %0 = stablehlo.add %x, %y : tensor<8x8xf32>
      %1 = stablehlo.tanh %0 : tensor<8x8xf32>
      return %1 : tensor<8x8xf32>
    }"""
    reason = sdy.explain(text).value("%y").axes["b"]
    assert reason.kind == "given"
    (what_if,) = reason.remedy.what_if
    assert what_if == "%y=[{'b'}, {'a'}]"
    assert reason.verify()


def test_an_axis_that_the_mesh_lacks():
    program = explained(ROOT / "examples/transformer_block.mlir")
    with pytest.raises(sdy.UsageError, match='no axis "modle" of several devices; did you mean'):
        program.value("arg4").axes["modle"]
    assert program.value("arg4").axes.get("modle") is None


# --- Questions of users ---------------------------------------------------------------------------


def answer(program, value):
    found = sdy.explain(program) if isinstance(program, Path | str) else program
    return str(found.value(value))


def test_a_norm_weight_in_megatron():
    said = answer(ROOT / "examples/transformer_block.mlir", "arg4")
    assert 'not by "data", "model": given in the program: <@mesh, [{}]>' in said
    assert "--what-if=\"arg4=[{'data'}]\"" in said


def test_a_gather_under_fsdp_names_the_batch():
    program = explained(ROOT / "examples/transformer_block_fsdp.mlir")
    gather = next(
        each
        for each in program.collectives
        if each.collective.kind == "all_gather" and each.made.what == "argument 6 of @main"
    )
    (use,) = gather.wanted
    assert [root.tensor.description for root in use.roots] == ["argument 8 of @main"]


def test_a_bias_after_a_contraction():
    text = """
    sdy.mesh @mesh = <["data"=2, "model"=2]>
    func.func @main(
        %x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>},
        %w: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>},
        %bias: tensor<32xf32>) -> tensor<8x32xf32> {
      %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
        : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
      %1 = stablehlo.broadcast_in_dim %bias, dims = [1] : (tensor<32xf32>) -> tensor<8x32xf32>
      %2 = stablehlo.add %0, %1 : tensor<8x32xf32>
      return %2 : tensor<8x32xf32>
    }"""
    program = sdy.explain(text)
    product, bias = program.value("%0").axes["model"], program.value("%bias").axes["model"]
    assert product.kind == "reduced"
    assert "sums over the dimension in which %x and %w" in str(product)
    assert bias.kind == "unoffered"
    assert "stablehlo.dot_general" in bias.text
    assert "sums over it" in bias.text
    assert product.verify()
    assert bias.verify()


def test_answers_are_short():
    """Answers have at most 12 lines of 80 columns, but for names and shardings longer than that."""
    for path in (ROOT / "examples").glob("transformer_block*.mlir"):
        program = explained(path)
        for name in program.values:
            lines = str(program.value(name)).splitlines()
            assert len(lines) <= 12
            assert all(len(line) <= 80 or " " not in line.strip() for line in lines)


def test_a_propagated_module_is_explained_as_the_user_wrote_it():
    module = sdy.parse(ROOT / "examples/transformer_block.mlir")
    before = answer(sdy.explain(module), "%12")
    sdy.propagate(module)
    assert answer(sdy.explain(module), "%12") == before
    again = sdy.parse(sdy.asm(module), sdy.Context())
    assert "given in the program, or derived earlier" in answer(sdy.explain(again), "%12")


def test_replicated_values_of_equal_layers_are_one_row():
    program = explained(ROOT / "examples/transformer_block.mlir")
    rows = program.replicated()
    assert [each.nbytes_saved for each in rows] == sorted(
        (each.nbytes_saved for each in rows), reverse=True
    )
    assert rows[0].count > 1
    assert rows[0].reason.kind != "sharded"


REGIONS = """
sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"a"}]>},
                %w: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>})
    -> tensor<8x8xf32> {
  %0 = stablehlo.tanh %x : tensor<8x8xf32>
  %1 = call @f(%0, %w) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
func.func private @f(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}"""


def test_a_remedy_names_the_value_of_its_own_region():
    """The text of a remedy, given back, changes the value that it is about."""
    (product,) = sdy.explain(REGIONS).find("11")
    (what_if,) = product.axes["a"].remedy.what_if
    assert what_if == "%0@11=[{'a', ?}, {?}]"
    name, _, dims = what_if.partition("=")
    changed = sdy.whatif(REGIONS).shard(name, dims).explained
    (after,) = (each for each in changed.find("11") if not each.explanation.inserted)
    assert after.axes["a"].kind == "sharded"


def test_a_closed_argument_counts_before_a_sum_that_is_further_away():
    text = """
    sdy.mesh @mesh = <["a"=2, "b"=2]>
    func.func @main(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"a"}]>},
                    %w: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>},
                    %bias: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>})
        -> tensor<8x16xf32> {
      %0 = stablehlo.tanh %bias : tensor<8x16xf32>
      %1 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
        : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
      %2 = stablehlo.add %1, %0 : tensor<8x16xf32>
      return %2 : tensor<8x16xf32>
    }"""
    reason = sdy.explain(text).value("%0").axes["a"]
    assert reason.kind == "unoffered"
    assert "%bias (<@mesh, [{}, {}]>)" in reason.text


def test_a_closed_result_keeps_an_axis_from_the_other_operand():
    text = """
    sdy.mesh @mesh = <["a"=2]>
    func.func @main(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
      %0 = stablehlo.constant dense<2.0> : tensor<8x16xf32>
      %1 = stablehlo.multiply %x, %0 : tensor<8x16xf32>
      %2 = sdy.sharding_constraint %1 <@mesh, [{}, {}]> : tensor<8x16xf32>
      return %2 : tensor<8x16xf32>
    }"""
    reason = sdy.explain(text).value("%0").axes["a"]
    assert reason.kind == "unoffered"
    assert reason.remedy is not None
    assert reason.remedy.text == 'constrain dimension 0 of result 0 of stablehlo.constant by "a"'
    assert reason.verify()


def test_values_of_a_function_that_a_manual_computation_calls():
    text = """
    sdy.mesh @mesh = <["a"=2]>
    func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
      %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"a"}, {}]>]
          out_shardings=[<@mesh, [{"a"}, {}]>] manual_axes={"a"} (%y: tensor<2x8xf32>) {
        %1 = func.call @inner(%y) : (tensor<2x8xf32>) -> tensor<2x8xf32>
        sdy.return %1 : tensor<2x8xf32>
      } : (tensor<4x8xf32>) -> tensor<4x8xf32>
      return %0 : tensor<4x8xf32>
    }
    func.func private @inner(%y: tensor<2x8xf32>) -> tensor<2x8xf32> {
      %sine = stablehlo.sine %y : tensor<2x8xf32>
      return %sine : tensor<2x8xf32>
    }"""
    reason = sdy.explain(text).value("%sine").axes["a"]
    assert reason.kind == "manual"
    assert reason.verify()


def test_a_small_product_says_which_ways_were_compared():
    text = """
    sdy.mesh @mesh = <["x"=2]>
    func.func @main(%a: tensor<4x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
                    %b: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>})
        -> (tensor<4x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
      %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
        : (tensor<4x64xf32>, tensor<64x64xf32>) -> tensor<4x64xf32>
      return %0 : tensor<4x64xf32>
    }"""
    (gather,) = sdy.explain(text).collectives
    chosen, *others = gather.comparison.choices
    assert (chosen.what, chosen.nbytes_sent) == ("all_gather of %a", 512)
    assert ("all_reduce of the result", 1024) in [(each.what, each.nbytes_sent) for each in others]
    assert "to get the all_reduce of the result: sdy.partition(..., prefer='all_reduce')" in str(
        gather
    )
    (other,) = sdy.partition(_propagated(text), prefer="all_reduce").collectives
    assert (other.kind, other.nbytes_sent) == ("all_reduce", 1024)


def product(rows, columns, *shardings):
    """Return a product of matrices with 512 contracted elements in which all ports are sharded."""
    x, w, y = (f"{{sdy.sharding = #sdy.sharding<@mesh, {each}>}}" for each in shardings)
    return f"""
    sdy.mesh @mesh = <["data"=2, "model"=4]>
    func.func @main(%x: tensor<{rows}x512xf32> {x}, %w: tensor<512x{columns}xf32> {w})
        -> (tensor<{rows}x{columns}xf32> {y}) {{
      %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
        : (tensor<{rows}x512xf32>, tensor<512x{columns}xf32>) -> tensor<{rows}x{columns}xf32>
      return %y : tensor<{rows}x{columns}xf32>
    }}"""


def test_a_way_that_a_later_pass_changes_is_not_told_as_chosen():
    text = product(8, 16, '[{"data"}, {}]', '[{"model"}, {"data"}]', '[{"data"}, {"model"}]')
    found = sdy.explain(text).collectives
    assert "all_reduce" in {each.collective.kind for each in found}
    assert "chosen: all_gather of %x, reduce_scatter" not in "".join(map(str, found))


def test_a_turn_does_not_tell_what_merges_with_a_later_reshard():
    """With 256 rows the all-to-all would be part of the all-gather of the returned value."""
    text = product(8, 128, '[{"model"}, {}]', '[{}, {"model"}]', "[{}, {}]")
    gather = sdy.explain(text).collectives[0]
    assert gather.comparison.choices[0].what == "all_gather of %x"
    assert gather.comparison.turn == ""


def _propagated(text):
    module = sdy.parse(text, sdy.Context())
    sdy.propagate(module)
    return module


def test_a_scalar_has_nothing_to_shard():
    program = sdy.explain("""
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<f32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  return %b : tensor<4xf32>
}""")
    assert "%a" in str(program.value("%a"))
    assert str(program.value("%a")).endswith("it is a scalar, which has no dimension to shard")
    assert "scalar" not in str(program.value("%b"))


def test_no_remedy_shards_an_argument_unevenly_in_a_function_that_takes_it():
    text = """
    sdy.mesh @mesh = <["a"=4]>
    func.func private @inner(%y: tensor<6xf32>) -> tensor<6xf32> {
      %sine = stablehlo.sine %y : tensor<6xf32>
      return %sine : tensor<6xf32>
    }
    func.func @main(%x: tensor<6xf32>) -> tensor<6xf32> {
      %0 = func.call @inner(%x) : (tensor<6xf32>) -> tensor<6xf32>
      return %0 : tensor<6xf32>
    }"""
    reasons = [each for each in sdy.explain(text).reasons() if each.value == "%x"]
    assert len(reasons) > 1
    for reason in reasons:
        assert reason.kind == "indivisible"
        assert reason.remedy is not None
        assert not reason.remedy.what_if
        assert reason.verify()


def test_the_specification_decides_on_uneven_results_of_a_manual_computation():
    text = """
    sdy.mesh @mesh = <["a"=4]>
    func.func @main(%x: tensor<6xf32>) -> tensor<6xf32> {
      %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{}]>] out_shardings=[<@mesh, [{}]>]
          manual_axes={"a"} (%y: tensor<6xf32>) {
        sdy.return %y : tensor<6xf32>
      } : (tensor<6xf32>) -> tensor<6xf32>
      %1 = stablehlo.sine %0 : tensor<6xf32>
      return %1 : tensor<6xf32>
    }"""
    reason = sdy.explain(text).value("%0").axes["a"]
    assert reason.remedy is not None
    assert reason.remedy.text == "change the specification of the manual computation"
    assert reason.verify()


def test_axes_that_arguments_lose():
    text = """
    sdy.mesh @mesh = <["a"=4, "b"=2]>
    func.func @main(
        %open: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a":(2)2, ?}]>},
        %part: tensor<3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a":(1)2}]>},
        %both: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a":(1)2, "b"}]>}
    ) { return }"""
    with collect():
        program = sdy.explain(text)
    reasons = [program.value(f"%{name}").axes for name in ("open", "part", "both")]
    assert "in part, which open dimensions" in reasons[0]["a"].text
    assert "removed: 2 shards don't divide the size 3" in reasons[1]["a"].text
    assert "removed: 4 shards don't divide the size 6" in reasons[2]["b"].text


def test_any_axis_divides_a_dimension_without_elements():
    text = """
    sdy.mesh @mesh = <["a"=2]>
    func.func @main(%x: tensor<0xf32>) -> tensor<0xf32> {
      %0 = stablehlo.sine %x : tensor<0xf32>
      return %0 : tensor<0xf32>
    }"""
    reason = sdy.explain(text).value("%x").axes["a"]
    assert reason.kind == "unoffered"
    assert reason.verify()


def test_a_root_is_no_remedy_if_a_factor_on_the_way_is_not_divided():
    """The reshapes share a factor of size 3; that of size 2 is minor in the argument's rows."""
    text = """
    sdy.mesh @mesh = <["a"=2]>
    func.func @main(%x: tensor<6x8xf32>) -> tensor<3x2x8xf32> {
      %0 = stablehlo.reshape %x : (tensor<6x8xf32>) -> tensor<3x16xf32>
      %1 = stablehlo.sine %0 : tensor<3x16xf32>
      %2 = stablehlo.reshape %1 : (tensor<3x16xf32>) -> tensor<3x2x8xf32>
      return %2 : tensor<3x2x8xf32>
    }"""
    reasons = list(sdy.explain(text).reasons())
    assert {each.value for each in reasons} >= {"%x", "result 0 of @main"}
    for reason in reasons:
        assert reason.verify(), reason


WAYS_THAT_NO_AXIS_TAKES = {
    "two dimensions of a weight": """(%x: T {sdy.sharding = #sdy.sharding<@mesh, [{"b"}, {}]>},
        %w: T) -> T {
      %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (T, T) -> T
      %1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [0] : (T, T) -> T
      return %1 : T
    }""",
    "a barrier": """(%x: T) -> (T, T) {
      %0 = sdy.propagation_barrier %x allowed_direction=BACKWARD : T
      return %0, %x : T, T
    }""",
    "an uneven axis": """(%x: tensor<6xf32>)
        -> (tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"c", ?}]>}) {
      return %x : tensor<6xf32>
    }""",
    "another dimension": """(%x: T {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"b", ?}]>},
        %y: T {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"b", "c", ?}]>})
        -> (T {sdy.sharding = #sdy.sharding<@mesh, [{}, {"b"}]>}) {
      %0 = stablehlo.add %x, %y : T
      %1 = sdy.sharding_constraint %0 <@mesh, [{?}, {"a"}]> : T
      return %1 : T
    }""",
    "a manual axis": """(%x: T {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %y: T) -> T {
      %0 = sdy.manual_computation(%x, %y) in_shardings=[<@mesh, [{"a", ?}, {?}]>, <@mesh, [{}, {}]>]
          out_shardings=[<@mesh, [{"a", ?}, {?}]>] manual_axes={"a"} (%m: tensor<4x8xf32>, %n: T) {
        sdy.return %m : tensor<4x8xf32>
      } : (T, T) -> T
      return %0 : T
    }""",
    "a closed argument of a function": """(%x: T) -> T {
      %0 = func.call @tanh(%x) : (T) -> T
      return %0 : T
    }
    func.func private @tanh(%x: T {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> T {
      %0 = stablehlo.tanh %x : T
      return %0 : T
    }""",
}
"""Programs in which a root has an axis that doesn't come to a value, by what is on the way."""


@pytest.mark.parametrize("obstacle", WAYS_THAT_NO_AXIS_TAKES)
def test_a_root_is_no_remedy_if_no_axis_takes_the_way(obstacle):
    program = WAYS_THAT_NO_AXIS_TAKES[obstacle].replace("T", "tensor<8x8xf32>")
    mesh = 'sdy.mesh @mesh = <["a"=2, "b"=2, "c"=4]>\n'
    with collect():
        reasons = [*sdy.explain(f"{mesh}func.func @main{program}").reasons()]
        assert [str(reason) for reason in reasons if not reason.verify()] == []


def test_an_axis_moves_out_of_a_closed_dimension_with_a_priority():
    text = """
    sdy.mesh @mesh = <["a"=2]>
    func.func @main(%x: tensor<7x4xf32>) -> (tensor<7x4xf32>
        {sdy.sharding = #sdy.sharding<@mesh, [{"a"}p1, {}]>}) {
      %0 = stablehlo.sine %x : tensor<7x4xf32>
      return %0 : tensor<7x4xf32>
    }"""
    reasons = sdy.explain(text).reasons()
    (reason,) = (each for each in reasons if each.value == "result 0 of @main")
    assert reason.remedy is not None
    assert reason.remedy.what_if == ("result[0]=[{}, {'a'}]",)
    assert reason.verify()


def test_a_named_computation_holds_its_arguments():
    text = """
    sdy.mesh @mesh = <["x"=2, "y"=4]>
    func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
        -> tensor<8x8xf32> {
      %0 = sdy.named_computation<"inner">(%a) in_shardings=[<@mesh, [{}, {"y"}]>]
          out_shardings=[<@mesh, [{}, {}]>] (%b: tensor<8x8xf32>) {
        %1 = stablehlo.tanh %b : tensor<8x8xf32>
        sdy.return %1 : tensor<8x8xf32>
      } : (tensor<8x8xf32>) -> tensor<8x8xf32>
      return %0 : tensor<8x8xf32>
    }"""
    reasons = list(sdy.explain(text).reasons())
    assert all(reason.verify() for reason in reasons)
    (held,) = (each for each in reasons if each.kind == "constrained")
    assert held.axis == "x"
    assert held.text == 'held by the call of @inner (-:5:12): <@mesh, [{}, {"y"}]>'
    assert str(held.remedy) == "change the shardings of the named computation"


def test_no_remedy_annotates_an_element_of_a_tuple():
    text = """
    sdy.mesh @mesh = <["x"=2]>
    func.func @main(%a: tuple<tensor<8xf32>, tensor<8xf32>>, %b: tensor<8xf32>) -> tensor<8xf32> {
      %0 = stablehlo.get_tuple_element %a[1]
          : (tuple<tensor<8xf32>, tensor<8xf32>>) -> tensor<8xf32>
      %1 = stablehlo.add %0, %b : tensor<8xf32>
      return %1 : tensor<8xf32>
    }"""
    for reason in sdy.explain(text).reasons():
        assert reason.verify()
        assert all(each.startswith(("%1=", "%0=")) for each in reason.remedy.what_if)


def test_a_maximum_does_not_sum():
    text = """
    sdy.mesh @mesh = <["x"=2]>
    func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                    %init: tensor<f32>) -> tensor<8xf32> {
      %0 = stablehlo.reduce(%a init: %init) applies stablehlo.maximum across dimensions = [0]
          : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
      return %0 : tensor<8xf32>
    }"""
    explained = sdy.explain(text)
    assert "reduces over the dimension in which %a has it" in explained.value("%0").axes["x"].text


def test_a_root_is_named_once():
    """Both dimensions of the argument are tied to each other by a product with its transpose."""
    text = """
    sdy.mesh @mesh = <["x"=2]>
    func.func @main(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
      %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
      %1 = stablehlo.add %a, %0 : tensor<8x8xf32>
      return %1 : tensor<8x8xf32>
    }"""
    reason = sdy.explain(text).value("%1").axes["x"].text
    assert "dimension 0 (size 8) is that of %a, result 0 of @main;" in reason


def test_values_on_a_single_device_waste_no_memory():
    text = """
    sdy.mesh @mesh = <["x"=2]>
    sdy.mesh @single = <[], device_ids=[1]>
    func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
        -> tensor<8xf32> {
      %0 = stablehlo.custom_call @xla_ffi_python_cpu_callback(%a)
          {has_side_effect = true, sdy.sharding = #sdy.sharding_per_value<[<@single, []>]>}
          : (tensor<8xf32>) -> tensor<8xf32>
      %1 = stablehlo.tanh %0 : tensor<8xf32>
      return %1 : tensor<8xf32>
    }"""
    assert [each.name for each in sdy.explain(text).replicated()] == ["result 0 of stablehlo.tanh"]
