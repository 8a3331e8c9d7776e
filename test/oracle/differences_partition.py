# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cases for rows of `docs/differences.md` about passes that partition, one for each item."""

from difference import PRELUDE, Aborts, Answer, Case, Gives, Numbers, Passes, Refuses
from differences_silent import COLLECTIVES, EXPLICIT, LOCAL
from differences_wrong import PRODUCT, scatter_constants

NOT_READY = "`sdy-convert-global-to-local` on a program that is not ready for it"
PARTIAL = "partial results that only some users combine"
UNFIT = "a custom call of a known target with operands"
ABORTS = Aborts()
RULES = "func.func(sdy-populate-op-sharding-rules)"


def product(body: str) -> str:
    """Return a program that multiplies matrices that are sharded along what is contracted."""
    return f"""{PRELUDE}#both = #sdy.sharding<@m, [{{}}, {{"x", "y"}}]>
        #turned = #sdy.sharding<@m, [{{"x", "y"}}, {{}}]>
        func.func @main(%a: !t {{sdy.sharding = #both}}, %b: !t {{sdy.sharding = #turned}}) -> !t {{
        {PRODUCT.replace("SHARDING", "sdy.sharding = #by_whole")}
          {body}
        }}"""


def not_ready(body: str, message: str, answer: Aborts | Refuses | Gives) -> Passes:
    """Return a case of a program for which another pass has to run first."""
    text = f"""{PRELUDE}
        func.func @main(%x: !t {{sdy.sharding = #rows}}) -> !t {{
          {body}
        }}"""
    return Passes(NOT_READY, LOCAL, text, answer, Refuses(message))


def unfit_call(
    target: str, operands: str, results: str, passed: str, theirs: Answer = ABORTS
) -> Passes:
    """Return a case of a custom call that isn't one of its target."""
    text = f"""
        func.func @main(%m: tensor<4x6xf32>, %v: tensor<4xf32>) {{
          stablehlo.custom_call @{target}({passed}) : ({operands}) -> ({results})
          return
        }}"""
    return Passes(UNFIT, RULES, text, theirs, Gives(f"@{target}", lacks=("sharding_rule",)))


def replicated(body: str, result: str, message: str, resharded: str) -> Passes:
    """Return a case of an operation that needs axes along which a tensor is replicated."""
    return Passes(
        "an axis along which a tensor is explicitly replicated",
        EXPLICIT,
        f"""{PRELUDE}
        #copies = #sdy.sharding<@m, [{{}}, {{}}], replicated={{"x", "y"}}>
        func.func @main(%a: !t {{sdy.sharding = #copies}}, %b: !t {{sdy.sharding = #rows}})
            -> {result} {{
          {body}
        }}""",
        Refuses(message),
        Gives(resharded),
    )


def optimized(
    row: str, shardings: tuple[str, str, str], moved: str, answer: Gives | Refuses
) -> Passes:
    """Return a case of a permute and an all-to-all, of which we make all-to-alls."""
    before, permuted, after = shardings
    text = f"""sdy.mesh @m = <["b"=2, "c"=4]>
        !t = tensor<16x16xf32>
        func.func @main(%a: !t {{sdy.sharding = #sdy.sharding<@m, {before}>}}) -> !t {{
          %0 = sdy.collective_permute %a out_sharding=<@m, {permuted}> : !t
          %1 = sdy.all_to_all [{{{moved}}}: 1->0] %0 out_sharding=<@m, {after}> : !t
          return %1 : !t
        }}"""
    pipeline = "func.func(sdy-optimize-collectives)"
    return Passes(row, pipeline, text, answer, Gives(lacks=("sdy.collective_permute",)))


def absent(pipeline: str, dims: str, made: str) -> Passes:
    """Return a case of a result without a sharding that the function declares unreduced."""
    return Passes(
        "a value without a sharding where an unreduced one is expected",
        pipeline,
        f"""{PRELUDE}
        func.func @main(%a: !t) -> (!t {{sdy.sharding = #sdy.sharding<@m, {dims}>}}) {{
          return %a : !t
        }}""",
        Gives(lacks=("replicated_to_unreduced",)),
        Gives(made),
    )


def edge_of_partial_results(kind: str) -> Passes:
    """Return a case of the edge of what a manual computation leaves unreduced."""
    return Passes(
        "an operand or a result of a manual computation that is unreduced by maximum",
        "sdy-add-data-flow-edges,sdy-basic-propagate",
        f"""{PRELUDE}#y = #sdy.sharding_per_value<[<@m, [{{}}, {{"y"}}]>]>
        func.func @main(%x: !t) -> !t {{
          %0 = sdy.manual_computation(%x)
              in_shardings=[<@m, [{{?}}, {{?}}], unreduced={kind}{{"x"}}>]
              out_shardings=[<@m, [{{?}}, {{?}}], unreduced={kind}{{"x"}}>] manual_axes={{}}
              (%i: !t) {{
            %1 = stablehlo.negate %i {{sdy.sharding = #y}} : !t
            sdy.return %1 : !t
          }} : (!t) -> !t
          %2 = stablehlo.negate %0 {{sdy.sharding = #y}} : !t
          return %2 : !t
        }}""",
        Gives('sdy.data_flow_edge %0 sharding=<@m, [{?}, {"y", ?}], unreduced={"x"}>'),
        Gives(f'sdy.data_flow_edge %0 sharding=<@m, [{{?}}, {{"y", ?}}], unreduced={kind}{{"x"}}>'),
        before=Refuses("failed to parse Sdy_TensorSharding parameter 'unreduced_axes'"),
    )


MATRIX, VECTOR = "tensor<4x6xf32>", "tensor<4xf32>"

CASES: dict[str, Case] = {
    "completed for one of two users": Passes(
        PARTIAL,
        LOCAL,
        product(
            """%1 = sdy.all_reduce {"x", "y"} %0 out_sharding=<@m, [{}, {}]> : !t
          %2 = stablehlo.add %0, %1 {sdy.sharding = #by_whole} : !t
          return %2 : !t"""
        ),
        Gives("stablehlo.add %0, %1"),
        Gives("stablehlo.add %1, %2"),
    ),
    "completed along one of two axes": Passes(
        PARTIAL,
        LOCAL,
        product(
            """%1 = sdy.all_reduce {"x"} %0 out_sharding=<@m, [{}, {}]> : !t
          return %1 : !t"""
        ),
        Aborts(),
        Gives('"stablehlo.all_reduce"(%1)', 'name = "x"', 'name = "y"'),
    ),
    "Eigh of a vector": unfit_call("Eigh", VECTOR, "", "%v"),
    "Qr of two matrices": unfit_call("Qr", f"{MATRIX}, {MATRIX}", "", "%m, %m"),
    "reflectors alone": unfit_call("ProductOfElementaryHouseholderReflectors", MATRIX, "", "%m"),
    "ApproxTopK without results": unfit_call("ApproxTopK", MATRIX, "", "%m"),
    "decomposition without eigenvalues": unfit_call(
        "Eigh", MATRIX, MATRIX, "%m", Gives("sharding_rule")
    ),
    "topk without results": unfit_call("mhlo.topk", MATRIX, "", "%m"),
    "convolution before a reduce-scatter": Passes(
        "a convolution whose partial results a reduce-scatter combines",
        LOCAL,
        f"""{PRELUDE}
        #scattered = #sdy.sharding<@m, [{{}}, {{"x"}}, {{}}]>
        func.func @main(
            %x: tensor<1x16x4xf32> {{sdy.sharding = #sdy.sharding<@m, [{{}}, {{}}, {{"x"}}]>}},
            %k: tensor<3x4x1xf32> {{sdy.sharding = #sdy.sharding<@m, [{{}}, {{"x"}}, {{}}]>}})
            -> (tensor<1x16x1xf32> {{sdy.sharding = #scattered}}) {{
          %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
              window = {{pad = [[1, 1]]}}
              {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}}
              : (tensor<1x16x4xf32>, tensor<3x4x1xf32>) -> tensor<1x16x1xf32>
          %1 = sdy.reduce_scatter [{{}}, {{"x"}}, {{}}] %0
              out_sharding=<@m, [{{}}, {{"x"}}, {{}}]> : tensor<1x16x1xf32>
          return %1 : tensor<1x16x1xf32>
        }}""",
        Aborts(),
        Gives('"stablehlo.reduce_scatter"(%0)'),
    ),
    "several axes at once": Passes(
        "`sdy-optimize-collectives` where several axes leave a dimension at once",
        "func.func(sdy-optimize-collectives)",
        """
        sdy.mesh @m = <["x"=2, "y"=4, "w"=2]>
        !u = tensor<16x16xf32>
        #s = #sdy.sharding<@m, [{}, {"w", "y", "x"}]>
        func.func @main(%a: !u {sdy.sharding = #s}) -> !u {
          %0 = sdy.collective_permute %a out_sharding=<@m, [{}, {"x", "w", "y"}]> : !u
          %1 = sdy.all_to_all [{"w", "y"}: 1->0] %0 out_sharding=<@m, [{"w", "y"}, {"x"}]> : !u
          return %1 : !u
        }""",
        Refuses("overlapping source/target dimensions in all-to-all params: 0"),
        Gives("sdy.collective_permute %arg0"),
    ),
    "the place of a larger axis": Passes(
        "`sdy-optimize-collectives` where an axis moves to the place of a larger one",
        "func.func(sdy-optimize-collectives)",
        """
        sdy.mesh @m = <["x"=2, "y"=4, "w"=2]>
        !u = tensor<16x16xf32>
        #s = #sdy.sharding<@m, [{"y", "w", "x"}, {}]>
        func.func @main(%a: !u {sdy.sharding = #s}) -> !u {
          %0 = sdy.collective_permute %a out_sharding=<@m, [{"x", "y", "w"}, {}]> : !u
          %1 = sdy.all_to_all [{"w"}: 0->1] %0 out_sharding=<@m, [{"x", "y"}, {"w"}]> : !u
          return %1 : !u
        }""",
        # Dimension 0 of size 4 is split along "x" of size 2: what it holds is not merged in order.
        Gives('sdy.all_to_all [{"x"}: 2->0] %2', "tensor<4x2x2x16xf32>"),
        Gives("sdy.collective_permute %arg0"),
    ),
    "a reshard is left": not_ready(
        "%0 = sdy.reshard %x <@m, [{}, {}]> : !t return %0 : !t",
        "'sdy.reshard' op is left: run 'sdy-reshard-to-collectives' first",
        Refuses("failed to legalize operation 'sdy.reshard'"),
    ),
    "a constraint is left": not_ready(
        "%0 = sdy.sharding_constraint %x <@m, [{}, {}]> : !t return %0 : !t",
        "'sdy.sharding_constraint' op is left: run 'sdy-sharding-constraint-to-reshard' first",
        Refuses("failed to legalize operation 'sdy.sharding_constraint'"),
    ),
    "an edge is left": not_ready(
        """%0 = stablehlo.optimization_barrier %x : !t
          %1 = sdy.data_flow_edge %0 : !t
          return %1 : !t""",
        "'sdy.data_flow_edge' op is left: run 'sdy-sink-data-flow-edges' first",
        Refuses("failed to legalize operation 'sdy.data_flow_edge'"),
    ),
    "a module is inside": Passes(
        NOT_READY,
        LOCAL,
        f"""{PRELUDE}
        func.func @main(%x: !t {{sdy.sharding = #rows}}) {{ return }}
        module @inner {{
          func.func @main(%x: tensor<8xf32>) {{ return }}
        }}""",
        Gives("module @inner"),
        Refuses("is nested in a module"),
    ),
    "from a single device": Passes(
        "`sdy-reshard-to-collectives` between meshes of the same devices",
        COLLECTIVES,
        f"""{PRELUDE}sdy.mesh @one = <[], device_ids=[1]>
        func.func @main(%x: !t {{sdy.sharding = #sdy.sharding<@one, []>}}) -> !t {{
          %0 = sdy.reshard %x <@m, [{{"x"}}, {{}}]> : !t
          return %0 : !t
        }}""",
        Gives('sdy.reshard %arg0 <@m, [{"x"}, {}]>', lacks=("all_slice",)),
        Gives("sdy.reshard %arg0 <@m, [{}, {}]>", 'sdy.all_slice [{"x"}, {}]'),
    ),
    "maximum of scattered values": Passes(
        "a `stablehlo.reduce` or `stablehlo.scatter` by a reduction other than a sum",
        EXPLICIT,
        scatter_constants("maximum", "f32", "0.0").replace(
            "%i = stablehlo.constant", "%i = stablehlo.constant {sdy.sharding = #by_rows}"
        ),
        Gives("sdy.all_reduce max"),
        Gives("sdy.all_reduce max"),
        before=Gives('sdy.all_reduce {"x"}'),
    ),
    "update along a sharded dimension": Passes(
        "`stablehlo.dynamic_update_slice` along a sharded dimension",
        LOCAL,
        f"""{PRELUDE}
        func.func @main(%x: !t {{sdy.sharding = #rows}}, %u: tensor<2x8xf32>, %c: tensor<i32>)
            -> (!t {{sdy.sharding = #rows}}) {{
          %0 = stablehlo.dynamic_update_slice %x, %u, %c, %c {{sdy.sharding = #by_rows}}
              : (!t, tensor<2x8xf32>, tensor<i32>, tensor<i32>) -> !t
          return %0 : !t
        }}""",
        Refuses("crossing shard boundaries requires upstream resharding"),
        Gives("stablehlo.partition_id", "stablehlo.dynamic_update_slice"),
        before=Gives("stablehlo.dynamic_update_slice %arg0, %arg1", lacks=("partition_id",)),
    ),
    "matrix product of padded shards": Passes(
        "padding in the contracting dimension of a product",
        "sdy-pad-for-divisibility",
        f"""{PRELUDE}!u = tensor<7xf32>
        #scalar = #sdy.sharding_per_value<[<@m, []>]>
        func.func @main(%x: !u) -> tensor<f32> {{
          %0 = sdy.all_slice [{{"x"}}] %x out_sharding=<@m, [{{"x"}}]> : !u
          %1 = stablehlo.exponential %0 {{sdy.sharding = #by_vector}} : !u
          %2 = stablehlo.dot %1, %1 {{sdy.sharding = #scalar}} : (!u, !u) -> tensor<f32>
          %3 = sdy.all_reduce {{"x"}} %2 out_sharding=<@m, []> : tensor<f32>
          return %3 : tensor<f32>
        }}""",
        Gives("stablehlo.dot %2, %2", lacks=("stablehlo.select",)),
        Gives("stablehlo.select"),
    ),
    "edge of what is unreduced by maximum": edge_of_partial_results("max"),
    "edge of what is unreduced by minimum": edge_of_partial_results("min"),
    "uneven values of a private function": Passes(
        "values of private functions with uneven shardings",
        "sdy-propagation-pipeline",
        f"""{PRELUDE}
        func.func @main(%a: tensor<8x7xf32>) -> tensor<8xf32> {{
          %0 = sdy.sharding_constraint %a <@m, [{{}}, {{"x"}}]> : tensor<8x7xf32>
          %1 = call @f(%0) : (tensor<8x7xf32>) -> tensor<8xf32>
          return %1 : tensor<8xf32>
        }}
        func.func private @f(%a: tensor<8x7xf32>) -> tensor<8xf32> {{
          %c = stablehlo.constant dense<0.0> : tensor<f32>
          %0 = stablehlo.reduce(%a init: %c) applies stablehlo.add across dimensions = [1]
              : (tensor<8x7xf32>, tensor<f32>) -> tensor<8xf32>
          return %0 : tensor<8xf32>
        }}""",
        Gives("@f(%arg0: tensor<8x7xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}]>}"),
        Gives('@f(%arg0: tensor<8x7xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {"x"}]>}'),
    ),
    # A convolution by FFTs, whose kernel `jnp.pad` pads to the size of the input.
    "uneven argument of a private function": Passes(
        "values of private functions with uneven shardings",
        "sdy-propagation-pipeline",
        f"""{PRELUDE}
        func.func @main(%a: !t {{sdy.sharding = #rows}}, %kernel: tensor<3x3xf32>) -> !t {{
          %0 = call @_pad(%kernel) : (tensor<3x3xf32>) -> !t
          %1 = stablehlo.multiply %a, %0 : !t
          return %1 : !t
        }}
        func.func private @_pad(%a: tensor<3x3xf32>) -> !t {{
          %c = stablehlo.constant dense<0.0> : tensor<f32>
          %0 = stablehlo.pad %a, %c, low = [0, 0], high = [5, 5], interior = [0, 0]
              : (tensor<3x3xf32>, tensor<f32>) -> !t
          return %0 : !t
        }}""",
        Gives("@_pad(%arg0: tensor<3x3xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}]>}"),
        Gives(
            '%0 = sdy.reshard %arg1 <@m, [{"x"}, {}]>',
            '@_pad(%arg0: tensor<3x3xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}',
        ),
    ),
    "replicated along an axis of the other operand": replicated(
        """%0 = stablehlo.add %a, %b : !t
        return %0 : !t""",
        "!t",
        "duplicate axis ref",
        'sdy.reshard %arg0 <@m, [{"x"}, {}], replicated={"y"}>',
    ),
    "replicated along an axis of a sum": replicated(
        """%c = stablehlo.constant dense<0.0> : tensor<f32>
        %0 = stablehlo.reduce(%b init: %c) applies stablehlo.add across dimensions = [0]
            {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}], replicated={"x"}>]>}
            : (!t, tensor<f32>) -> tensor<8xf32>
        return %0 : tensor<8xf32>""",
        "tensor<8xf32>",
        "overlaps",
        'sdy.all_reduce {"x"} %0 out_sharding=<@m, [{}]>',
    ),
    "value without a sharding where it is sharded and unreduced": absent(
        EXPLICIT, '[{}, {"y"}], unreduced={"x"}', 'sdy.replicated_to_unreduced {"x"}'
    ),
    "value without a sharding where it is unreduced": Numbers(
        "a value without a sharding where an unreduced one is expected",
        f"""{PRELUDE}#u = #sdy.sharding_per_value<[<@m, [{{}}, {{}}], unreduced={{"x"}}>]>
        func.func @main(%a: !t) -> !t {{
          %0 = stablehlo.optimization_barrier {{sdy.sharding = #u}} %a : !t
          %1 = sdy.reshard %0 <@m, [{{}}, {{}}]> : !t
          return %1 : !t
        }}""",
    ),
    "parts of an axis that meet": optimized(
        "`sdy-optimize-collectives` where parts of an axis meet",
        ('[{"c":(1)2}, {"c":(2)2, "b"}]', '[{"c":(1)2}, {"b", "c":(2)2}]', '[{"c"}, {"b"}]'),
        '"c":(2)2',
        Refuses("two consecutive sub-axes can be merged"),
    ),
    "replicated along a part of an axis": optimized(
        "`sdy-optimize-collectives` on a tensor that is explicitly replicated",
        (
            '[{}, {"b", "c":(2)2}], replicated={"c":(1)2}',
            '[{}, {"c":(2)2, "b"}]',
            '[{"b"}, {"c":(2)2}]',
        ),
        '"b"',
        Gives("sdy.collective_permute"),
    ),
    "slice along an axis of size 1": Passes(
        "axes of size 1 in `sdy-reshard-to-collectives`",
        COLLECTIVES,
        """sdy.mesh @m = <["x"=2, "one"=1]>
        func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>})
            -> tensor<8xf32> {
          %0 = sdy.reshard %a <@m, [{"x", "one"}]> : tensor<8xf32>
          return %0 : tensor<8xf32>
        }""",
        Gives("return %arg0"),
        Gives('sdy.all_slice [{"one"}] %arg0 out_sharding=<@m, [{"x", "one"}]>'),
    ),
    "axis of size 1 between parts": Passes(
        "parts of an axis next to an axis of size 1",
        "sdy-remove-size-one-axes",
        """sdy.mesh @m = <["x"=4, "one"=1]>
        func.func @main(%a: tensor<8xf32>
            {sdy.sharding = #sdy.sharding<@m, [{"x":(1)2, "one", "x":(2)2}]>}) {
          return
        }""",
        Refuses("two consecutive sub-axes can be merged"),
        Gives('#sdy.sharding<@m, [{"x"}]>'),
    ),
}
