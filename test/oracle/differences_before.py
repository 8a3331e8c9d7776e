# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cases for the rows of `docs/differences.md` that hold for C++ Shardy before 0.12 only."""

from difference import PRELUDE, Aborts, Case, Gives, Passes, Refuses
from differences_silent import COLLECTIVES, EXPLICIT, LOCAL
from differences_wrong import GROUPS, PRODUCT, reduce_rows

CASES: dict[str, Case] = {
    "maximum of rows": Passes(
        "a `stablehlo.reduce` by maximum or minimum over a sharded dimension",
        f"{EXPLICIT},{COLLECTIVES}",
        reduce_rows("maximum", -9),
        Gives('sdy.all_reduce max {"x"}'),
        Gives('sdy.all_reduce max {"x"}'),
        before=Gives('sdy.all_reduce {"x"}'),
    ),
    "minimum of rows": Passes(
        "a `stablehlo.reduce` by maximum or minimum over a sharded dimension",
        f"{EXPLICIT},{COLLECTIVES}",
        reduce_rows("minimum", 9),
        Gives('sdy.all_reduce min {"x"}'),
        Gives('sdy.all_reduce min {"x"}'),
        before=Gives('sdy.all_reduce {"x"}'),
    ),
    "reshape of other sizes": Passes(
        "a reshape whose first dimensions have no common divisor, in propagation",
        "sdy-basic-propagate",
        """
        sdy.mesh @m = <["x"=2]>
        func.func @main(%a: tensor<2x6xf32>)
            -> (tensor<3x4xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}) {
          %0 = stablehlo.reshape %a : (tensor<2x6xf32>) -> tensor<3x4xf32>
          return %0 : tensor<3x4xf32>
        }""",
        Gives('%arg0: tensor<2x6xf32> {sdy.sharding = #sdy.sharding<@m, [{"x", ?}, {?}]>}'),
        Gives('%arg0: tensor<2x6xf32> {sdy.sharding = #sdy.sharding<@m, [{"x", ?}, {?}]>}'),
        before=Gives("%arg0: tensor<2x6xf32>)"),
    ),
    "dot before a reduce-scatter": Passes(
        "a `stablehlo.dot` without a sharding before a reduce-scatter",
        "func.func(sdy-remove-all-gather-reduce-scatter-for-cmv1)",
        f"""{PRELUDE}
        func.func @main(%a: !t {{sdy.sharding = #whole}}, %b: !t {{sdy.sharding = #whole}}) -> !t {{
          %0 = stablehlo.dot %a, %b : (!t, !t) -> !t
          %1 = sdy.reduce_scatter [{{"x"}}, {{}}] %0 out_sharding=<@m, [{{"x"}}, {{}}]> : !t
          return %1 : !t
        }}""",
        Gives("stablehlo.dot", lacks=("reduce_scatter",)),
        Gives("stablehlo.dot", lacks=("reduce_scatter",)),
        before=Aborts(),
    ),
    "product before a reduce-scatter": Passes(
        "a product whose partial results a reduce-scatter combines",
        LOCAL,
        f"""{PRELUDE}
        func.func @main(%a: !t {{sdy.sharding = #columns}}, %b: !t {{sdy.sharding = #rows}})
            -> (!t {{sdy.sharding = #rows}}) {{
        {PRODUCT.replace("SHARDING", "sdy.sharding = #by_whole")}
          %1 = sdy.reduce_scatter [{{"x"}}, {{}}] %0 out_sharding=<@m, [{{"x"}}, {{}}]> : !t
          return %1 : !t
        }}""",
        Gives('"stablehlo.reduce_scatter"(%0)'),
        Gives('"stablehlo.reduce_scatter"(%0)'),
        before=Aborts(),
    ),
    "product declared unreduced": Passes(
        "a product whose partial results a reduce-scatter combines",
        LOCAL,
        f"""{PRELUDE}#u = #sdy.sharding<@m, [{{}}, {{}}], unreduced={{"x"}}>
        #by_u = #sdy.sharding_per_value<[<@m, [{{}}, {{}}], unreduced={{"x"}}>]>
        func.func @main(%a: !t {{sdy.sharding = #columns}}, %b: !t {{sdy.sharding = #rows}})
            -> (!t {{sdy.sharding = #u}}) {{
        {PRODUCT.replace("SHARDING", "sdy.sharding = #by_u")}
          return %0 : !t
        }}""",
        Gives("return %0 :", lacks=("all_reduce",)),
        Gives("return %0 :", lacks=("all_reduce",)),
        before=Aborts(),
    ),
    "unreduced by replication": Passes(
        "`sdy.replicated_to_unreduced`",
        LOCAL,
        f"""{PRELUDE}
        func.func @main(%x: !t {{sdy.sharding = #whole}}) -> !t {{
          %0 = sdy.replicated_to_unreduced {{"x"}} %x
              out_sharding=<@m, [{{}}, {{}}], unreduced={{"x"}}> : !t
          %1 = sdy.all_reduce {{"x"}} %0 out_sharding=<@m, [{{}}, {{}}]> : !t
          return %1 : !t
        }}""",
        Gives("stablehlo.all_reduce"),
        Gives("stablehlo.all_reduce"),
        before=Refuses("failed to legalize operation 'sdy.replicated_to_unreduced'"),
    ),
    "unreduced by sharding": Passes(
        "`sdy.replicated_to_unreduced`",
        LOCAL,
        f"""{PRELUDE}
        func.func @main(%x: !t {{sdy.sharding = #rows}}) -> !t {{
          %0 = sdy.sharded_to_unreduced [{{"x"}}, {{}}] %x
              out_sharding=<@m, [{{}}, {{}}], unreduced={{"x"}}> : !t
          %1 = sdy.all_reduce {{"x"}} %0 out_sharding=<@m, [{{}}, {{}}]> : !t
          return %1 : !t
        }}""",
        Gives("stablehlo.all_reduce"),
        Gives("stablehlo.all_reduce"),
        before=Refuses("failed to legalize operation 'sdy.sharded_to_unreduced'"),
    ),
    "loops with sharded values": Passes(
        "`sdy.replicated_to_unreduced`",
        LOCAL,
        f"""{PRELUDE}
        #of_loop = #sdy.sharding_per_value<[<@m, []>, <@m, [{{"x"}}, {{}}]>]>
        func.func @main(%x: !t {{sdy.sharding = #rows}}) -> (!t {{sdy.sharding = #rows}}) {{
          %c = stablehlo.constant dense<0> : tensor<i32>
          %0:2 = stablehlo.while(%i = %c, %p = %x) : tensor<i32>, !t
              attributes {{sdy.sharding = #of_loop}} cond {{
            %more = stablehlo.compare LT, %i, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
            stablehlo.return %more : tensor<i1>
          }} do {{
            %1 = stablehlo.tanh %p {{sdy.sharding = #by_rows}} : !t
            stablehlo.return %i, %1 : tensor<i32>, !t
          }}
          return %0#1 : !t
        }}""",
        Gives("tensor<i32>, tensor<4x8xf32>"),
        Gives("tensor<i32>, tensor<4x8xf32>"),
        before=Refuses("expect operands to be compatible with condition block arguments"),
    ),
    "calls with sharded values": Passes(
        "`sdy.replicated_to_unreduced`",
        LOCAL,
        f"""{PRELUDE}
        func.func private @f(%x: !t {{sdy.sharding = #rows}}) -> (!t {{sdy.sharding = #rows}}) {{
          return %x : !t
        }}
        func.func @main(%x: !t {{sdy.sharding = #rows}}) -> (!t {{sdy.sharding = #rows}}) {{
          %0 = call @f(%x) {{sdy.sharding = #by_rows}} : (!t) -> !t
          return %0 : !t
        }}""",
        Gives("(tensor<4x8xf32>) -> tensor<4x8xf32>"),
        Gives("(tensor<4x8xf32>) -> tensor<4x8xf32>"),
        before=Refuses("'func.call' op result type mismatch"),
    ),
    "indices of other types": Passes(
        "indices of a `stablehlo.gather` that are not of type `i64`",
        LOCAL,
        f"""{PRELUDE}
        func.func @main(%a: !t {{sdy.sharding = #rows}}, %i: tensor<4x1xi32>) -> tensor<4x8xf32> {{
          %0 = "stablehlo.gather"(%a, %i) {{
              dimension_numbers = #stablehlo.gather<offset_dims = [1],
                  collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
              slice_sizes = array<i64: 1, 8>}} : (!t, tensor<4x1xi32>) -> tensor<4x8xf32>
          %1 = sdy.all_reduce {{"x"}} %0 out_sharding=<@m, [{{}}, {{}}]> : tensor<4x8xf32>
          return %1 : tensor<4x8xf32>
        }}""",
        Gives("stablehlo.clamp", "stablehlo.all_reduce"),
        Gives("stablehlo.clamp", "stablehlo.all_reduce"),
        before=Aborts(),
    ),
    "index along a sub-axis": Passes(
        "the index of a shard along a sub-axis",
        LOCAL,
        """
        sdy.mesh @m = <["x"=4]>
        func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
          %0 = sdy.all_slice [{"x":(1)2}] %a out_sharding=<@m, [{"x":(1)2}]> : tensor<8xf32>
          %1 = sdy.all_gather [{"x":(1)2}] %0 out_sharding=<@m, [{}]> : tensor<8xf32>
          return %1 : tensor<8xf32>
        }""",
        Gives("dense<[0, 0, 4, 4]>"),
        Gives("dense<[0, 0, 4, 4]>"),
        before=Gives("dense<[0, 4, 0, 4]>"),
    ),
    "dynamic slice of a whole dimension": Passes(
        "`stablehlo.dynamic_slice` of a complete sharded dimension",
        LOCAL,
        f"""{PRELUDE}#s = #sdy.sharding<@m, [{{"x"}}, {{}}]>
        func.func @main(%x: !t {{sdy.sharding = #rows}}, %c: tensor<i32>)
            -> (tensor<8x2xf32> {{sdy.sharding = #s}}) {{
          %0 = stablehlo.dynamic_slice %x, %c, %c, sizes = [8, 2] {{sdy.sharding = #by_rows}}
              : (!t, tensor<i32>, tensor<i32>) -> tensor<8x2xf32>
          return %0 : tensor<8x2xf32>
        }}""",
        Gives("sizes = [4, 2]"),
        Gives("sizes = [4, 2]"),
        before=Refuses("has slice size 8 greater than dimension size 4"),
    ),
    "padded constant": Passes(
        "constants that need padding",
        "sdy-pad-for-divisibility",
        f"""{PRELUDE}!u = tensor<7xi32>
        func.func @main() -> !u {{
          %0 = stablehlo.constant {{sdy.sharding = #by_vector}} dense<1> : !u
          %1 = sdy.all_gather [{{"x"}}] %0 out_sharding=<@m, [{{}}]> : !u
          return %1 : !u
        }}""",
        Gives("stablehlo.slice", "[0:7]"),
        Gives("stablehlo.slice", "[0:7]"),
        before=Refuses("'stablehlo.constant' op inferred type(s) 'tensor<7xi32>'"),
        before_pipeline="func.func(sdy-pad-for-divisibility)",
    ),
    "top-k of XLA": Passes(
        "`stablehlo.custom_call` of `TopK`",
        "func.func(sdy-populate-op-sharding-rules)",
        """func.func @main(%a: tensor<8x8xf32>) {
          %0:2 = stablehlo.custom_call @TopK(%a)
              : (tensor<8x8xf32>) -> (tensor<8x2xf32>, tensor<8x2xi32>)
          return
        }""",
        Gives("need_replication={j}"),
        Gives("need_replication={j}"),
        before=Gives("@TopK", lacks=("sharding_rule",)),
    ),
    "mesh of a remaining reshard": Passes(
        "meshes of remaining operations of the dialect, in `sdy-drop-sharding-and-mesh`",
        "sdy-drop-sharding-and-mesh",
        f"""{PRELUDE}
        func.func @main(%a: !t {{sdy.sharding = #columns}}) -> !t {{
          %0 = sdy.reshard %a <@m, [{{"y"}}, {{}}]> : !t
          return %0 : !t
        }}""",
        Gives("sdy.mesh @m", lacks=("sdy.sharding",)),
        Gives("sdy.mesh @m", lacks=("sdy.sharding",)),
        before=Refuses("unknown mesh: @m"),
    ),
    "rgv3 without meshes": Passes(
        "`enable-rgv3`, once meshes are dropped",
        f"{LOCAL}{{enable-rgv3=true}},sdy-drop-sharding-and-mesh",
        f"""{PRELUDE}
        func.func @main(%a: !t {{sdy.sharding = #columns}}) -> !t {{
          %1 = sdy.all_gather [{{}}, {{"x"}}] %a out_sharding=<@m, [{{}}, {{}}]> : !t
          return %1 : !t
        }}""",
        Gives("sdy.mesh @m", "mesh = @m"),
        Gives("mesh = #stablehlo.mesh<axes=", lacks=("sdy.mesh",)),
        before=Refuses("mesh symbol 'm' not found"),
    ),
    "names in replica groups": Passes(
        "`sdy-inline-meshes` on a mesh in `replica_groups`",
        "sdy-inline-meshes",
        f"""{PRELUDE}
        func.func @main(%a: !t) -> !t {{
        {GROUPS.replace("MESH", "@m")}
        }}""",
        Gives("mesh = #stablehlo.mesh<axes="),
        Gives("mesh = #stablehlo.mesh<axes="),
        before=Refuses("mesh symbol 'm' not found"),
    ),
}
