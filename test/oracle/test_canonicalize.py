# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`canonicalize` leaves the text that C++ Shardy leaves, as a whole and for each label.

Each body of the table is about a pattern: where it matches, and where it must not. Random chains of
collectives and reshards are about all of them together.
"""

import random

import pytest
from case_counts import cases
from random_collectives import MESH, collective_of, lists, random_sharding

from mlir_sdy.assembly import asm, parse
from mlir_sdy.model import AxisRefList, DimensionSharding, sort_and_merge
from mlir_sdy.model.collectives import slice_axes
from pyshardy.pipeline import run_pipeline

MESHES = """
sdy.mesh @m = <["u"=4, "v"=2, "w"=2]>
sdy.mesh @turned = <["u"=4, "v"=2, "w"=2], device_ids=[15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3,
    2, 1, 0]>
sdy.mesh @one = <["a"=1, "b"=2]>
sdy.mesh @single = <[], device_ids=[2]>
"""
PIPELINES = [
    "canonicalize",
    "canonicalize{enable-patterns=sdy-reshard}",
    "canonicalize{enable-patterns=sdy-collective}",
    "canonicalize{disable-patterns=sdy-collective}",
    "canonicalize{disable-patterns=sdy-reshard}",
    "canonicalize{top-down=false}",
]
T = "tensor<16x16xf32>"


def function(body, returned="%0", sharding='[{"u"}, {}]', type_=T):
    """A function of `%a`, sharded, and `%b`, not sharded, that returns what it can."""
    types = ", ".join([type_] * (returned.count("%")))
    return (
        f"func.func @f(%a: {type_} {{sdy.sharding = #sdy.sharding<@m, {sharding}>}}, "
        f"%b: {type_}) -> ({types}) {{\n{body}\nfunc.return {returned} : {types}\n}}"
    )


def chain(*operations, returned=None, **options):
    """A function whose operations, `$` for the type, go through each other: `%0`, `%1`, ...."""
    lines = []
    for index, operation in enumerate(operations):
        previous = "%a" if index == 0 else f"%{index - 1}"
        lines.append(f"%{index} = {operation} : {T}".replace("&", previous))
    return function("\n".join(lines), returned or f"%{len(operations) - 1}", **options)


def reshard(dims, operand="&", mesh="@m"):
    return f"sdy.reshard {operand} <{mesh}, {dims}>"


def op(name, out, operand="&", mesh="@m"):
    mnemonic, _, axes = name.partition(" ")
    return f"sdy.{mnemonic} {axes} {operand} out_sharding=<{mesh}, {out}>"


GATHER = op('all_gather [{"u"}, {}]', "[{}, {}]")
SLICE = op('all_slice [{}, {"v"}]', '[{"u"}, {"v"}]')
U, V, OPEN = '[{"u"}, {}]', '[{}, {"v"}]', "[{?}, {?}]"


def manual(axes, ins, outs, local=T, inner="%d = stablehlo.negate %c : $", attrs="", mesh="@m"):
    inner = inner.replace("$", local)
    return function(
        f"%0 = sdy.manual_computation(%a) in_shardings=[<{mesh}, {ins}>] "
        f"out_shardings=[<{mesh}, {outs}>] manual_axes={{{axes}}} (%c: {local}) {{\n"
        f"{inner}\nsdy.return %d : {local} }} {attrs} : ({T}) -> {T}"
    )


def transposed(type_, dims="[1, 0]", value="%a", attrs=""):
    sizes = type_.removeprefix("tensor<").removesuffix("xf32>").split("x")
    other = f"tensor<{sizes[1]}x{sizes[0]}xf32>"
    return f"stablehlo.transpose {value}, dims = {dims} {attrs} : ({type_}) -> {other}"


def reused(first, between, second, second_type=T, type_=T, returned="%0, %2"):
    """A reshard of `%a`, something in between, and a reshard of that."""
    types = f"{type_}, {second_type}"
    return (
        f"func.func @f(%a: {type_}) -> ({types}) {{\n"
        f"%0 = sdy.reshard %a <@m, {first}> : {type_}\n%1 = {between}\n"
        f"%2 = sdy.reshard %1 <@m, {second}> : {second_type}\n"
        f"func.return {returned} : {types}\n}}"
    )


T48, T84, T32 = "tensor<4x8xf32>", "tensor<8x4xf32>", "tensor<32xf32>"
T4, T128 = "tensor<8x8x8x8xf32>", "tensor<8x16x1xf32>"
RESHAPE = f"stablehlo.reshape %a {{tag}} : ({T48}) -> {T32}"

CASES = {
    "merge reshards": [
        chain(reshard(U), reshard(V)),
        chain(reshard(U), reshard(V), reshard(OPEN), reshard(U)),
        chain(reshard(U), reshard(V), returned="%0, %1"),
        chain(reshard(U), reshard(V), reshard(OPEN), returned="%1, %2"),
        # The merged reshard is looked at before those behind it.
        function(
            f"""%0 = {reshard(U, "%a")} : {T}
            %1 = {reshard(V, "%a")} : {T}
            %2 = {reshard(U, "%1")} : {T}
            %3 = {reshard('[{}, {"u"}]', "%2")} : {T}""",
            "%0, %3",
        ),
        chain("sdy.sharding_constraint & <@m, [{}, {}]>", reshard(V)),
        chain(reshard(U), "sdy.sharding_constraint & <@m, [{}, {}]>"),
        chain(reshard(U)),
        chain(reshard("[]", mesh="@single"), reshard(V)),
    ],
    "reuse reshards": [
        function(f"%0 = {reshard(U, '%a')} : {T}\n%1 = {reshard(U, '%a')} : {T}", "%0, %1"),
        function(
            f"%0 = {reshard(U, '%a')} : {T}\n"
            f"""%1 = {reshard('[{"u", ?}p1, {?}]', "%a")} : {T}""",
            "%0, %1",
        ),
        function(f"%0 = {reshard(U, '%a')} : {T}\n%1 = {reshard(V, '%a')} : {T}", "%0, %1"),
        function(f"%0 = {reshard(U, '%a')} : {T}\n%1 = {reshard(U, '%b')} : {T}", "%0, %1"),
        function(
            f"%0 = {reshard(U, '%a')} : {T}\n"
            f"""%1 = sdy.reshard %a <@m, {U}, replicated={{"v"}}> : {T}""",
            "%0, %1",
        ),
        function(
            f"%0 = {reshard(U, '%a')} : {T}\n%1 = {reshard(U, '%a', '@turned')} : {T}", "%0, %1"
        ),
        function(
            f"%0 = {reshard(U, '%a')} : {T}\n%1 = {reshard(U, '%a')} : {T}\n"
            f"%2 = {reshard(U, '%a')} : {T}",
            "%0, %1, %2",
        ),
        function(
            f"%0 = {reshard('[]', '%a', '@single')} : {T}\n"
            f"%1 = {reshard('[]', '%a', '@single')} : {T}",
            "%0, %1",
        ),
        function(
            """%0 = sdy.reshard %a <mesh<["u"=2]>, [{"u"}, {}]> : $
            %1 = sdy.reshard %a <mesh<["u"=2]>, [{"u", ?}, {}]> : $
            %2 = sdy.reshard %a <mesh<["u"=2]>, [{}, {"u"}]> : $""".replace("$", T),
            "%0, %1, %2",
        ),
        reused(U, RESHAPE, '[{"u"}]', T32, T48),
        reused('[{"u":(1)2}, {}]', RESHAPE, '[{"u":(1)2}]', T32, T48),
        reused('[{}, {"u"}]', RESHAPE, '[{"u"}]', T32, T48),
        reused(U, transposed(T48), '[{}, {"u"}]', T84, T48),
        reused('[{"u"}, {"v"}]', transposed(T48), '[{"v"}, {"u"}]', T84, T48),
        reused(U, transposed(T48, attrs="{tag}"), '[{}, {"u"}]', T84, T48),
        reused(U, transposed(T48), U, T84, T48),
        reused('[{}, {"u"}]', transposed(T48), '[{"u"}, {}]', T84, T48),
        reused('[{}, {"u"}]', transposed(T), '[{"u"}, {}]', T, T),
        reused(U, f"stablehlo.negate %a : {T}", U),
        f"""func.func @f(%a: tensor<8x4x4xf32>) -> ({T128}, {T128}) {{
          %0 = stablehlo.reshape %a : (tensor<8x4x4xf32>) -> {T128}
          %1 = sdy.reshard %0 <@m, [{{"u"}}, {{}}, {{"v"}}]> : {T128}
          %2 = sdy.reshard %0 <@m, [{{"u"}}, {{}}, {{"v"}}]> : {T128}
          func.return %1, %2 : {T128}, {T128}
        }}""",
        f"""func.func @f(%a: {T48}) -> ({T32}, {T48}) {{
          %0 = {RESHAPE}
          %1 = sdy.reshard %0 <@m, [{{"u"}}]> : {T32}
          %2 = sdy.reshard %a <@m, [{{"u"}}, {{}}]> : {T48}
          func.return %1, %2 : {T32}, {T48}
        }}""",
        f"""func.func @f(%a: {T48}) -> ({T32}, {T84}) {{
          %0 = {RESHAPE}
          %1 = sdy.reshard %0 <@m, [{{"u"}}]> : {T32}
          %2 = {transposed(T48, attrs="{tag}")}
          %3 = sdy.reshard %2 <@m, [{{}}, {{"u"}}]> : {T84}
          func.return %1, %3 : {T32}, {T84}
        }}""",
        f"""func.func @f(%a: {T48}) -> ({T84}, {T48}) {{
          %0 = {transposed(T48)}
          %1 = sdy.reshard %0 <@m, [{{}}, {{"u"}}]> : {T84}
          %2 = sdy.reshard %a <@m, [{{"u"}}, {{}}]> : {T48}
          func.return %1, %2 : {T84}, {T48}
        }}""",
        f"""func.func @f(%a: {T}, %p: tensor<i32>) -> ({T}, {T}) {{
          %0 = sdy.reshard %a <@m, {U}> : {T}
          %1 = "stablehlo.case"(%p) ({{
            %2 = sdy.reshard %a <@m, {U}> : {T}
            stablehlo.return %2 : {T}
          }}, {{ stablehlo.return %a : {T} }}) : (tensor<i32>) -> {T}
          func.return %0, %1 : {T}, {T}
        }}""",
        """func.func @f(%a: !stablehlo.token) -> (!stablehlo.token, !stablehlo.token) {
          %0 = sdy.reshard %a <@m, []> : !stablehlo.token
          %1 = sdy.reshard %a <@m, []> : !stablehlo.token
          func.return %0, %1 : !stablehlo.token, !stablehlo.token
        }""",
        """func.func @f(%a: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
          %0 = sdy.reshard %a <@m, [{"u"}]> : tensor<?xf32>
          %1 = sdy.reshard %a <@m, [{"u"}]> : tensor<?xf32>
          %2 = sdy.reshard %a <@m, [{"v"}]> : tensor<?xf32>
          func.return %0, %1, %2 : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
        }""",
    ],
    "collectives without axes": [
        chain(op("all_gather [{}, {}]", U)),
        chain(op("all_slice [{}, {}]", U)),
        chain(op("all_reduce {}", U)),
        chain(op("reduce_scatter [{}, {}]", U)),
        chain(op('all_slice [{}, {"v"}]', '[{"u"}, {"v"}]')),
        chain(op("all_gather [{}, {}]", '[{"u", ?}, {?}]'), GATHER),
    ],
    "slices of gathers": [
        chain(GATHER, op('all_slice [{"u"}, {}]', U)),
        chain(GATHER, op('all_slice [{"u"}, {}]', '[{"u", ?}, {?}]')),
        chain(GATHER, op('all_slice [{"u"}, {}]', U), returned="%0, %1"),
        chain(GATHER, op('all_slice [{}, {"u"}]', '[{}, {"u"}]')),
        chain(SLICE, op('all_gather [{}, {"v"}]', U)),
    ],
    "reduces to unreduced": [
        chain(
            op('replicated_to_unreduced {"v"}', '[{"u"}, {}], unreduced={"v"}'),
            op('all_reduce {"v"}', U),
        ),
        chain(
            op('replicated_to_unreduced {"v"}', '[{"u"}, {}], unreduced={"v"}'),
            op('all_reduce {"v"}', U),
            returned="%0, %1",
        ),
        chain(
            op('replicated_to_unreduced {"v", "w"}', '[{"u"}, {}], unreduced={"v", "w"}'),
            op('all_reduce {"v"}', '[{"u"}, {}], unreduced={"w"}'),
        ),
        chain(
            op('sharded_to_unreduced [{"u"}, {}]', '[{}, {}], unreduced={"u"}'),
            op('all_reduce {"u"}', "[{}, {}]"),
        ),
        chain(
            op('sharded_to_unreduced [{"u"}, {"w"}]', '[{}, {}], unreduced={"u", "w"}'),
            op('all_reduce {"u", "w"}', "[{}, {?}]"),
            sharding='[{"u"}, {"w"}]',
        ),
        chain(
            op('sharded_to_unreduced [{"u":(2)2}, {"u":(1)2}]', '[{}, {}], unreduced={"u"}'),
            op('all_reduce {"u"}', "[{}, {}]"),
            sharding='[{"u":(2)2}, {"u":(1)2}]',
        ),
        chain(
            op('sharded_to_unreduced [{"u"}, {"w"}]', '[{}, {}], unreduced={"u", "w"}'),
            op('all_reduce {"u"}', '[{}, {}], unreduced={"w"}'),
            sharding='[{"u"}, {"w"}]',
        ),
    ],
    "permutations": [
        chain(op("collective_permute", U)),
        chain(op("collective_permute", '[{"u", ?}p1, {?}], replicated={"v"}')),
        chain(op("collective_permute", '[{"v", "w"}, {}]')),
        chain(op("collective_permute", U, mesh="@turned")),
        chain(op("collective_permute", "[{}, {}]", mesh="@turned"), sharding="[{}, {}]"),
    ],
    "all-to-alls": [
        chain(op('all_to_all [{"u"}: 0->1]', '[{}, {"u"}]'), returned="%a"),
        chain(op('all_to_all [{"u"}: 0->1]', '[{}, {"u"}]')),
        chain(
            op('all_to_all [{"u"}: 0->1]', '[{}, {"u"}]'),
            op('all_to_all [{"u"}: 1->0]', U),
        ),
        *(
            function(
                """%0 = sdy.all_to_all [{"v"}: 2->3] %a
                out_sharding=<@m, [{"u"}, {}, {}, {"v"}]> {tag} : $
                %1 = sdy.all_to_all [{"u"}: 0->1] %0
                out_sharding=<@m, [{}, {"u"}, {}, {"v", ?}]> : $""".replace(
                    "$", "tensor<8x8x8x8xf32>"
                ),
                returned,
                '[{"u"}, {}, {"v"}, {}]',
                T4,
            )
            for returned in ("%1", "%0, %1")
        ),
    ],
    "reduce-scatters": [
        chain(op('all_reduce {"v"}', U), SLICE),
        chain(op('all_reduce {"v"}', U), op('all_slice [{"v"}, {}]', '[{"u", "v"}, {}]')),
        chain(
            op('all_reduce {"v"}', U),
            op('all_slice [{}, {"v", "w"}]', '[{"u"}, {"v", "w"}]'),
        ),
        chain(
            op('all_reduce {"v"}', U),
            op('all_slice [{}, {"w", "v"}]', '[{"u"}, {"w", "v"}]'),
        ),
        chain(
            op('all_reduce {"v", "w"}', U),
            op('all_slice [{"w"}, {"v"}]', '[{"u", "w"}, {"v"}]'),
        ),
        chain(op('all_reduce {"v", "w"}', U), SLICE),
        chain(op('all_reduce {"v"}', U), SLICE, returned="%0, %1"),
        chain(op('all_reduce {"v"}', U), SLICE, SLICE.replace("&", "%0"), returned="%1, %2"),
        chain(
            op('all_reduce {"v"}', U),
            SLICE,
            op('all_slice [{"v"}, {}]', '[{"u", "v"}, {}]', operand="%0"),
            returned="%1, %2",
        ),
        chain(
            op('all_reduce {"v"}', U),
            op('all_slice [{}, {"v"}]', '[{"u", ?}p1, {"v", ?}], replicated={"w"}'),
        ),
        chain(
            op('all_reduce {"u":(2)2}', '[{"u":(1)2}, {}]'),
            op('all_slice [{"u":(2)2}, {}]', U),
            sharding='[{"u":(1)2}, {}]',
        ),
        chain(
            op('all_reduce {"u":(2)2}', "[{}, {}]"),
            op('all_slice [{"u"}, {}]', U),
            sharding="[{}, {}]",
        ),
        chain(
            op('all_reduce {"v"}', '[{"u"}, {}], unreduced={"w"}'),
            op('all_slice [{}, {"v"}]', '[{"u"}, {"v"}], unreduced={"w"}'),
            sharding='[{"u"}, {}], unreduced={"v", "w"}',
        ),
        function(
            f"""%0 = sdy.all_reduce {{"v"}} %b out_sharding=<@m, [{{}}, {{}}]> : {T}
            %1 = sdy.all_slice [{{"v"}}, {{}}] %0 out_sharding=<@m, [{{"v"}}, {{}}]> : {T}""",
            "%1",
        ),
    ],
    # The release in jaxlib inlines no computation yet.
    "manual computations": [
        manual('"u"', U, U, local="tensor<4x16xf32>"),
        manual("", U, V),
        manual('"a"', '[{"a"}, {"b"}]', "[{}, {}]", mesh="@one"),
        manual(
            '"u"',
            U,
            U,
            local="tensor<4x16xf32>",
            inner="%d = stablehlo.constant dense<1.0> : $",
            attrs="{tag}",
        ),
        f"""func.func @f(%a: {T}, %b: {T}, %i: tensor<i32>) -> {T} {{
          %0 = sdy.manual_computation(%b, %a, %i)
              in_shardings=[<@m, {U}>, <@m, {V}>, <@m, []>] out_shardings=[<@m, {V}>]
              manual_axes={{"v"}} (%c: {T}, %d: tensor<16x8xf32>, %e: tensor<i32>) {{
            %1 = stablehlo.negate %d : tensor<16x8xf32>
            sdy.return %1 : tensor<16x8xf32>
          }} : ({T}, {T}, tensor<i32>) -> {T}
          func.return %0 : {T}
        }}""",
    ],
    "what stays": [
        chain("sdy.sharding_constraint & <@m, [{}, {}]>"),
        chain("sdy.sharding_constraint & <@m, [{}, {}]>", returned="%a"),
        chain(GATHER, returned="%a"),
        chain(SLICE, returned="%a"),
        chain(op('all_reduce {"v"}', U), returned="%a"),
        chain(op("collective_permute", '[{"v", "w"}, {}]'), returned="%a"),
        chain("sdy.propagation_barrier & allowed_direction=NONE"),
        function(
            f"%0 = sdy.constant dense<1.0> : {T}\n%1 = sdy.constant dense<1.0> : {T}", "%0, %1"
        ),
    ],
}


def ours(text, context, pipeline):
    module = parse(text, context)
    run_pipeline(module, pipeline)
    return asm(module).strip()


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(text, id=f"{group}-{index}")
        for group, texts in CASES.items()
        for index, text in enumerate(texts)
    ],
)
def test_as_shardy(text, context, shardy):
    for pipeline in PIPELINES:
        theirs = shardy.run(MESHES + text, f"builtin.module({pipeline})").strip()
        assert ours(MESHES + text, context, pipeline) == theirs, pipeline


def test_empty_computations(context, shardy):
    text = f"""{MESHES}
    func.func @f(%a: {T}) {{
      sdy.manual_computation(%a) in_shardings=[<@m, {U}>] out_shardings=[] manual_axes={{"u"}}
          (%c: tensor<4x16xf32>) {{ sdy.return }} : ({T}) -> ()
      sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={{"u"}}
          () {{ sdy.return }} : () -> ()
      func.return
    }}"""
    assert "manual_computation" not in ours(text, context, "canonicalize")
    theirs = shardy.run(text, "builtin.module(canonicalize)").strip()
    assert ours(text, context, "canonicalize") == theirs


def test_in_functions(context, shardy):
    text = MESHES + chain(reshard(U), reshard(V))
    pipeline = "func.func(canonicalize)"
    assert ours(text, context, pipeline) == shardy.run(text, f"builtin.module({pipeline})").strip()


# --- Random chains ------------------------------------------------------------------------------


def follow(rng, name, axes, source, result):
    """A collective that a pattern knows after the given one, or any."""
    rank = result.rank
    match name:
        case "all_gather":
            return "all_slice", axes, result, result.with_dims(source.dim_shardings)
        case "replicated_to_unreduced":
            return "all_reduce", axes, result, result.with_unreduced_axes(source.unreduced_axes)
        case "sharded_to_unreduced":
            merged = sort_and_merge([axis for of_dim in axes for axis in of_dim], MESH)
            reduced = result.with_unreduced_axes(source.unreduced_axes)
            return "all_reduce", AxisRefList(merged), result, reduced
        case "all_reduce":
            sliced = [()] * rank
            for axis in axes:
                dim = rng.randrange(rank)
                sliced[dim] = (*sliced[dim], axis)
            dims = tuple(
                DimensionSharding(slice_axes(dim.axes, new, MESH), dim.is_closed)
                for dim, new in zip(result.dim_shardings, sliced, strict=True)
            )
            return "all_slice", lists(sliced), result, result.with_dims(dims)
        case _:
            return collective_of(rng, result)


def random_chain(rng):
    """A function in which collectives and reshards go through each other."""
    rank = rng.randint(1, 3)
    type_ = "tensor<" + "96x" * rank + "f32>"
    start = random_sharding(rng, rank)
    made = [("%a", None, None, None, start)]
    lines = []
    for index in range(rng.randint(2, 8)):
        operand, *collective, sharding = made[-1] if rng.random() < 0.8 else rng.choice(made)
        if rng.random() < 0.3:
            target = random_sharding(rng, rank)
            lines.append(f"%{index} = sdy.reshard {operand} {target} : {type_}")
            made.append((f"%{index}", None, None, None, target))
            continue
        if rng.random() < 0.5:
            name, axes, source, result = follow(rng, *collective, sharding)
        else:
            name, axes, source, result = collective_of(rng, sharding)
        if name in ("all_to_all", "replicated_to_unreduced") and not len(axes):
            name, axes, result = "all_slice", lists([()] * rank), source
        text = "" if axes is None else axes
        lines.append(f"%{index} = sdy.{name} {text} {operand} out_sharding={result} : {type_}")
        made.append((f"%{index}", name, axes, source, result))
    values = [value for value, *_ in made]
    returned = [values[-1], *rng.sample(values, rng.randint(0, 2))]
    types = ", ".join([type_] * len(returned))
    return (
        f"sdy.mesh @m = {MESH}\n"
        f"func.func @f(%a: {type_} {{sdy.sharding = #sdy.sharding{start}}}) -> ({types}) {{\n"
        + "\n".join(lines)
        + f"\nfunc.return {', '.join(returned)} : {types}\n}}"
    )


@pytest.mark.parametrize("seed", range(cases(4)))
def test_random_chains(seed, context, shardy):
    rng = random.Random(seed)
    for _ in range(30):
        text = random_chain(rng)
        pipeline = rng.choice(PIPELINES)
        theirs = shardy.run(text, f"builtin.module({pipeline})").strip()
        assert ours(text, context, pipeline) == theirs, f"{pipeline}:\n{text}"
