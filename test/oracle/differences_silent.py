# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cases for the rows of `docs/differences.md` where C++ Shardy aborts or is silent."""

from difference import INLINED, PRELUDE, Aborts, Case, Gives, Numbers, Passes, Refuses

EXPLICIT = "func.func(sdy-insert-explicit-reshards{enable-full-version=true})"
LOCAL = "sdy-convert-global-to-local"
PADDED_SLICE = "a `stablehlo.slice` with strides, or a `stablehlo.convolution` without `pad`"
COLLECTIVES = "func.func(sdy-reshard-to-collectives)"

RECURSION = """
!t = tensor<8x8xf32>
func.func @main(%x: !t) -> !t {
  %0 = call @f(%x) : (!t) -> !t
  return %0 : !t
}
func.func private @f(%x: !t) -> !t {
  %0 = call @f(%x) : (!t) -> !t
  return %0 : !t
}"""
DECLARATION = """
!t = tensor<8x8xf32>
func.func @main() -> !t {
  %0 = call @f() : () -> !t
  return %0 : !t
}
func.func private @f() -> !t"""
DEAD = "".join(
    f"  %{index} = stablehlo.tanh %x {{sdy.sharding = #p}} : !t\n" for index in range(200)
)
LOOP = """
func.func @main(%x: !t {sdy.sharding = #rows}) -> !t {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %c, %p = %x) : tensor<i32>, !t
    cond {
    %more = stablehlo.compare LT, %i, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %1 = stablehlo.tanh %p : !t
    stablehlo.return %i, %1 : tensor<i32>, !t
  }
  return %0#1 : !t
}"""
NAMED = """
func.func @main(%x: !t {sdy.sharding = #rows}) -> !t {
  %0 = sdy.named_computation<"NAME">(%x) (%i: !t) {
    %1 = stablehlo.tanh %i : !t
    sdy.return %1 : !t
  } : (!t) -> !t
  return %0 : !t
}"""
INLINED_MESHES = f"""{INLINED}
func.func @main(%x: !t {{sdy.sharding = #rows}}) -> !t {{
  %0 = stablehlo.tanh %x : !t
  return %0 : !t
}}"""

CASES: dict[str, Case] = {
    "several functions": Passes(
        "several functions, none called `main`",
        "sdy-basic-propagate",
        """
        func.func @f(%x: tensor<8xf32>) { return }
        func.func @g(%x: tensor<8xf32>) { return }""",
        Aborts(),
        Refuses("a module with several functions must have one called 'main'"),
    ),
    "dead operations": Passes(  # Many: each corrupts memory, and not each ends the process.
        "a dead operation whose sharding has a priority above 0",
        "sdy-user-priority-propagate",
        f"""{PRELUDE}#p = #sdy.sharding_per_value<[<@m, [{{"x"}}p1, {{?}}]>]>
func.func @main(%x: !t) -> !t {{
{DEAD}  return %x : !t
}}""",
        Aborts(may_not_end=True),
        Gives("return %arg0", lacks=("tanh",)),
    ),
    "inlined meshes": Passes(
        "inlined meshes in the propagation passes",
        "sdy-basic-propagate",
        INLINED_MESHES,
        Aborts(),
        Gives('tanh %arg0 {sdy.sharding = #sdy.sharding_per_value<[<mesh<["x"=2]>, [{"x", ?}'),
    ),
    "inlined meshes, aggressive": Passes(
        "inlined meshes in the propagation passes",
        "sdy-aggressive-propagate",
        INLINED_MESHES,
        Aborts(),
        Gives('tanh %arg0 {sdy.sharding = #sdy.sharding_per_value<[<mesh<["x"=2]>, [{"x", ?}'),
    ),
    "inlined meshes, op-priority": Passes(
        "inlined meshes in the propagation passes",
        "sdy-op-priority-propagate",
        INLINED_MESHES,
        Aborts(),
        Gives('tanh %arg0 {sdy.sharding = #sdy.sharding_per_value<[<mesh<["x"=2]>, [{"x", ?}'),
    ),
    "inlined meshes, user-priority": Passes(
        "inlined meshes in the propagation passes",
        "sdy-user-priority-propagate",
        INLINED_MESHES,
        Aborts(),
        Gives('tanh %arg0 {sdy.sharding = #sdy.sharding_per_value<[<mesh<["x"=2]>, [{"x", ?}'),
    ),
    "a rule as a string": Passes(
        "a custom call whose sharding rule is a string",
        "sdy-basic-propagate",
        f"""{PRELUDE}
        func.func @main(%x: !t {{sdy.sharding = #rows}}) -> !t {{
          %0 = stablehlo.custom_call @f(%x) {{mhlo.frontend_attributes = {{xla.sdy.sharding_rule =
              "#sdy.op_sharding_rule<([i, j])->([i, j]) {{i=8, j=8}}, custom>"}}}} : (!t) -> !t
          return %0 : !t
        }}""",
        Gives("custom_call @f", lacks=("sdy.sharding = #sdy.sharding_per_value",)),
        Gives("sdy.sharding = #sdy.sharding_per_value"),
    ),
    "two groups": Passes(
        "a value in two sharding groups",
        "sdy-basic-propagate",
        f"""{PRELUDE}
        func.func @main(%x: !t) -> !t {{
          sdy.sharding_group %x group_id=0 : !t
          sdy.sharding_group %x group_id=1 : !t
          return %x : !t
        }}""",
        Aborts(),
        Refuses("merge groups that overlap by sdy-sharding-group-import"),
    ),
    "flatten recursion": Passes(
        "recursive functions in `sdy-flatten-call-graph`",
        "sdy-flatten-call-graph",
        RECURSION,
        Aborts(),
        Refuses("function 'f' calls itself: recursive functions can't be flattened"),
    ),
    "import recursion": Passes(
        "recursive functions in `sdy-flatten-call-graph`",
        "sdy-import-func-calls",
        RECURSION,
        Aborts(),
        Refuses("function 'f' calls itself: recursive functions can't be imported"),
    ),
    "recursive constant": Passes(
        "recursive functions in `sdy-constant-or-scalar-splitter`",
        "sdy-constant-or-scalar-splitter",
        """
        func.func @main() -> (tensor<8xf32>, tensor<8xf32>) {
          %0 = call @f() : () -> tensor<8xf32>
          return %0, %0 : tensor<8xf32>, tensor<8xf32>
        }
        func.func private @f() -> tensor<8xf32> {
          %0 = call @f() : () -> tensor<8xf32>
          return %0 : tensor<8xf32>
        }""",
        Aborts(),
        Gives("return %0, %0"),
    ),
    "import of a declaration": Passes(
        "functions without a body in `sdy-import-func-calls` and",
        "sdy-import-func-calls",
        DECLARATION,
        Refuses("failed to verify constraint: region with 1 blocks"),
        Gives("call @f()", "func.func private @f() ->"),
    ),
    "copy of a declaration": Passes(
        "functions without a body in `sdy-import-func-calls` and",
        "sdy-constant-or-scalar-splitter",
        DECLARATION,
        Gives("call @f_0()"),
        Gives("call @f()", lacks=("@f_0",)),
    ),
    "several blocks": Passes(
        "a call of a function with several blocks",
        "sdy-import-func-calls",
        """
        func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
          %0 = call @f(%x) : (tensor<8xf32>) -> tensor<8xf32>
          return %0 : tensor<8xf32>
        }
        func.func private @f(%x: tensor<8xf32>) -> tensor<8xf32> {
          cf.br ^bb1(%x : tensor<8xf32>)
        ^bb1(%y: tensor<8xf32>):
          return %y : tensor<8xf32>
        }""",
        Refuses("expects region #0 to have 0 or 1 blocks"),
        Refuses("function 'f' is called, but has several blocks"),
    ),
    "named computations in the input": Passes(
        "`sdy.named_computation`s in the input of `sdy-import-func-calls`",
        "sdy-propagation-pipeline",
        PRELUDE + NAMED.replace("NAME", "f"),
        Refuses("input of sdy.data_flow_edge to not be defined by an SdyDialect op"),
        Gives("call @f(%arg0)"),
    ),
    "edges twice": Passes(
        "`sdy.named_computation`s in the input of `sdy-import-func-calls`",
        "sdy-add-data-flow-edges,sdy-add-data-flow-edges",
        PRELUDE + NAMED.replace("NAME", "f"),
        Refuses("input of sdy.data_flow_edge to not be defined by an SdyDialect op"),
        Gives("%1 = sdy.data_flow_edge %0 : tensor<8x8xf32>\n    return %1"),
    ),
    "functions that must not be inlined": Passes(
        "functions marked `no_inline`, in `sdy-propagation-pipeline`",
        "sdy-propagation-pipeline",
        f"""{PRELUDE}
        func.func @main(%x: !t {{sdy.sharding = #rows}}) -> !t {{
          %0 = call @f(%x) : (!t) -> !t
          return %0 : !t
        }}
        func.func private @f(%x: !t) -> !t attributes {{no_inline}} {{
          %0 = stablehlo.abs %x : !t
          return %0 : !t
        }}""",
        Gives("@f(", lacks=("no_inline",)),
        Gives("attributes {no_inline"),
    ),
    "group of several ranks": Passes(
        "a sharding group of values of different ranks",
        "sdy-basic-propagate",
        f"""{PRELUDE}
        func.func @main(%x: !t {{sdy.sharding = #rows}}, %y: tensor<8xf32>) {{
          sdy.sharding_group %x group_id=0 : !t
          sdy.sharding_group %y group_id=0 : tensor<8xf32>
          return
        }}""",
        Refuses("sharding doesn't match tensor rank: 2 != 1"),
        Refuses("sharding group 0 has values of different ranks"),
    ),
    "failing check": Passes(
        "a failing check in a pass",
        LOCAL,
        f"""{PRELUDE}
        func.func @main(%x: tensor<7xf32> {{sdy.sharding = #vector}}) {{
          return
        }}""",
        Aborts(),
        Refuses("dimension 0 of size 7 is not divisible by its axes"),
    ),
    "negative index": Passes(
        "a negative index in `sdy.propagation_edges`",
        "",
        f"""{PRELUDE}
        #e = #sdy.propagation_edges<[{{step-0 = [{{"x" = operand--1 -> [result-0]}}]}}]>
        func.func @main(%x: !t) -> !t {{
          %0 = stablehlo.tanh %x {{sdy.propagation_edges = #e, sdy.sharding = #by_rows}} : !t
          return %0 : !t
        }}""",
        Aborts(),
        Refuses("an operand index in range [0, 1), got: -1 in step 0"),
    ),
    "manual computation on a maximal mesh": Passes(
        "a manual computation with a sharding on a maximal mesh",
        "",
        f"""{PRELUDE}sdy.mesh @one = <[], device_ids=[0]>
        func.func @main(%x: !t) -> !t {{
          %0 = sdy.manual_computation(%x) in_shardings=[<@one, []>] out_shardings=[<@one, []>]
              manual_axes={{}} (%i: !t) {{
            sdy.return %i : !t
          }} : (!t) -> !t
          return %0 : !t
        }}""",
        Aborts(),
        Gives("in_shardings=[<@one, []>]"),
    ),
    "text behind an attribute": Passes(
        "text after an attribute within `#sdy<...>`",
        "",
        'module attributes {test.a = #sdy<axis_ref"x" nonsense>} {}',
        Gives('#sdy<axis_ref"x">', lacks=("nonsense",)),
        Refuses("expected '>', found 'nonsense'"),
    ),
    "empty symbol": Passes(
        'a symbol without a name, `@""`',
        "",
        'sdy.mesh @"" = <["a"=2]>',
        Gives("@<<INVALID EMPTY SYMBOL>>"),
        Refuses("for symbol name: '@name', found '@'"),
    ),
    "sub-axes beyond 64 bits": Passes(
        "sub-axes whose pre-size times size exceeds 64 bits",
        "",
        """
        sdy.mesh @m = <["a"=8]>
        #s = #sdy.sharding<@m, [{"a":(4611686018427387905)4}]>
        func.func @main(%x: tensor<8xf32> {sdy.sharding = #s}) { return }""",
        Gives('"a":(4611686018427387905)4'),
        Refuses("sub-axis next pre-size 18446744073709551620 doesn't divide"),
    ),
    "dynamic shape": Passes(
        "an operation with a tensor of dynamic shape in `sdy-populate-op-sharding-rules`",
        "func.func(sdy-populate-op-sharding-rules)",
        """
        func.func @main(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
          %0 = stablehlo.tanh %x : tensor<?x8xf32>
          return %0 : tensor<?x8xf32>
        }""",
        Refuses("expected a ranked tensor with a static shape"),
        Gives("stablehlo.tanh %arg0 :"),
    ),
    "results of a declaration": Passes(
        "a function without a body in `sdy-propagate-to-func-results`",
        "sdy-propagate-to-func-results",
        DECLARATION,
        Aborts(otherwise=Gives("func.func private @f() ->")),
        Gives("func.func private @f() ->"),
    ),
    "uneven declaration": Passes(
        "a function without a body in `sdy-propagate-to-func-results`",
        "sdy-update-non-divisible-input-output-shardings",
        "func.func private @f(tensor<8xf32>) -> tensor<8xf32>",
        Aborts(),
        Gives("func.func private @f(tensor<8xf32>)"),
    ),
    "sink with inlined meshes": Passes(
        "`sdy-sink-data-flow-edges` with inlined meshes",
        "func.func(sdy-sink-data-flow-edges)",
        f"""{INLINED}
        func.func @main(%x: !t) -> !t {{
          %0:2 = stablehlo.optimization_barrier %x, %x : !t, !t
          %1 = sdy.data_flow_edge %0#0 sharding=<mesh<["x"=2]>, [{{"x"}}, {{}}]> : !t
          %2 = sdy.data_flow_edge %0#1 : !t
          return %1 : !t
        }}""",
        Refuses("unknown mesh: @"),
        Gives('[<mesh<["x"=2]>, [{"x"}, {}]>, <mesh<["x"=2]>, [{?}, {?}]>]'),
    ),
    "computation without a name": Passes(
        "a named computation without a name",
        "sdy-export-named-computations",
        PRELUDE + NAMED.replace("NAME", ""),
        Gives("call @<<INVALID EMPTY SYMBOL>>"),
        Gives("call @computation"),
    ),
    "sub-axes that cannot coexist": Passes(
        "`sdy-reshard-to-collectives` on sub-axes that cannot coexist",
        COLLECTIVES,
        """
        sdy.mesh @u = <["u"=6]>
        #s = #sdy.sharding<@u, [{"u":(1)2}, {}]>
        func.func @main(%x: tensor<6x6xf32> {sdy.sharding = #s}) -> tensor<6x6xf32> {
          %0 = sdy.reshard %x <@u, [{"u":(1)3}, {"u":(3)2}]> : tensor<6x6xf32>
          return %0 : tensor<6x6xf32>
        }""",
        Refuses('overlapping sub-axes: "u":(1)2, "u":(1)3'),
        Gives('sdy.all_gather [{"u":(1)2}, {}]', 'sdy.all_slice [{"u":(1)3}, {"u":(3)2}]'),
    ),
    "another mesh": Passes(
        "`sdy-reshard-to-collectives` between meshes of the same devices",
        COLLECTIVES,
        f"""{PRELUDE}sdy.mesh @line = <["l"=4]>
        func.func @main(%x: !t {{sdy.sharding = #rows}}) -> !t {{
          %0 = sdy.reshard %x <@line, [{{"l"}}, {{}}]> : !t
          return %0 : !t
        }}""",
        Gives('sdy.reshard %arg0 <@line, [{"l"}, {}]>', lacks=("all_gather",)),
        Gives('@line, [{"l":(1)2}, {}]>', 'sdy.all_slice [{"l":(2)2}, {}]', lacks=("all_gather",)),
    ),
    "to a single device": Passes(
        "`sdy-reshard-to-collectives` between meshes of the same devices",
        COLLECTIVES,
        f"""{PRELUDE}sdy.mesh @one = <[], device_ids=[1]>
        func.func @main(%x: !t {{sdy.sharding = #rows}}) -> !t {{
          %0 = sdy.reshard %x <@one, []> : !t
          return %0 : !t
        }}""",
        Gives("sdy.reshard %arg0 <@one, []>", lacks=("all_gather",)),
        Gives('sdy.all_gather [{"x"}, {}] %arg0', "sdy.reshard %0 <@one, []>"),
    ),
    "a value on a single device": Numbers(
        "values on a single device that are used on others",
        f"""{PRELUDE}sdy.mesh @one = <[], device_ids=[1]>
        #at_one = #sdy.sharding_per_value<[<@one, []>]>
        func.func @main(%x: !t {{sdy.sharding = #rows}}) -> (!t {{sdy.sharding = #rows}}) {{
          %0 = stablehlo.negate %x {{sdy.sharding = #at_one}} : !t
          %1 = stablehlo.add %0, %x : !t
          return %1 : !t
        }}""",
        "failed to legalize operation 'sdy.reshard'",
    ),
    "a program that isn't ready": Passes(
        "`sdy-convert-global-to-local` on a program that is not ready for it",
        LOCAL,
        f"""{PRELUDE}
        func.func @main(%x: !t {{sdy.sharding = #rows}}) -> !t {{
          %0 = stablehlo.tanh %x : !t
          return %0 : !t
        }}""",
        Refuses("op requires compatible types for all operands and results"),
        Refuses("run 'sdy-insert-explicit-reshards{enable-full-version=true}' first"),
    ),
    "meshes of other sizes": Passes(
        "`sdy-convert-global-to-local` on a program that is not ready for it",
        LOCAL,
        f"""{PRELUDE}sdy.mesh @pair = <["l"=2]>
        #pair = #sdy.sharding<@pair, [{{"l"}}, {{}}]>
        func.func @main(%x: !t {{sdy.sharding = #rows}}, %y: !t {{sdy.sharding = #pair}}) {{
          return
        }}""",
        Gives("%arg1: tensor<4x8xf32>"),
        Refuses("on 2 devices, but the mesh @m of its function has 4"),
    ),
    "a collective that does nothing": Passes(
        "a no-op collective",
        LOCAL,
        f"""{PRELUDE}
        func.func @main(%x: !t {{sdy.sharding = #rows}}) -> (!t {{sdy.sharding = #rows}}) {{
          %0 = sdy.all_gather [{{}}, {{}}] %x out_sharding=<@m, [{{"x"}}, {{}}]> : !t
          return %0 : !t
        }}""",
        Aborts(),
        Gives("return %arg0 : tensor<4x8xf32>"),
    ),
    "a sharded constant": Passes(
        "a no-op collective",
        LOCAL,
        f"""{PRELUDE}
        func.func @main() -> (!t {{sdy.sharding = #rows}}) {{
          %0 = stablehlo.constant {{sdy.sharding = #by_rows}} dense<1.0> : !t
          return %0 : !t
        }}""",
        Refuses("'stablehlo.constant' op inferred type(s) 'tensor<8x8xf32>'"),
        Gives("stablehlo.constant dense<1.000000e+00> : tensor<4x8xf32>"),
    ),
    "collectives among replicas": Passes(
        "collectives with `replica-count`",
        f"{LOCAL}{{replica-count=4}}",
        f"""{PRELUDE}
        func.func @main(%x: !t {{sdy.sharding = #rows}}) -> (!t {{sdy.sharding = #whole}}) {{
          %0 = sdy.collective_permute %x out_sharding=<@m, [{{"y"}}, {{}}]> : !t
          %1 = sdy.all_gather [{{"y"}}, {{}}] %0 out_sharding=#whole : !t
          return %1 : !t
        }}""",
        Gives("handle = 1, type = 1>", "use_global_device_ids", lacks=("handle = 2",)),
        Gives("handle = -1, type = 1>", "handle = -2, type = 1>", lacks=("use_global_device_ids",)),
    ),
    "offsets of many elements": Passes(
        "a dimension of 2^31 elements or more",
        LOCAL,
        f"""{PRELUDE}!u = tensor<8589934592xi8>
        func.func @main(%x: !u) -> (!u {{sdy.sharding = #vector}}) {{
          %0 = sdy.all_slice [{{"x"}}] %x out_sharding=<@m, [{{"x"}}]> : !u
          return %0 : !u
        }}""",
        Aborts(),
        Gives("dense<[0, 0, 4294967296, 4294967296]> : tensor<4xi64>"),
    ),
    "concatenation of one operand": Passes(
        "a `stablehlo.concatenate` of one operand along a sharded dimension",
        LOCAL,
        f"""{PRELUDE}
        func.func @main(%x: !t {{sdy.sharding = #rows}}) -> (!t {{sdy.sharding = #rows}}) {{
          %0 = stablehlo.concatenate %x, dim = 0 {{sdy.sharding = #by_rows}} : (!t) -> !t
          return %0 : !t
        }}""",
        Refuses("dimension 0 is sharded but the concatenation is on this dimension"),
        Gives("return %arg0 : tensor<4x8xf32>"),
    ),
    "padding of a slice with strides": Passes(
        PADDED_SLICE,
        "sdy-pad-for-divisibility",
        f"""{PRELUDE}!u = tensor<7x8xf32>
        func.func @main(%x: !u) -> tensor<7x4xf32> {{
          %0 = sdy.all_slice [{{"x"}}, {{}}] %x out_sharding=#rows : !u
          %1 = stablehlo.slice %0 [0:7, 0:8:2] {{sdy.sharding = #by_rows}}
              : (!u) -> tensor<7x4xf32>
          %2 = sdy.all_gather [{{"x"}}, {{}}] %1 out_sharding=#whole : tensor<7x4xf32>
          return %2 : tensor<7x4xf32>
        }}""",
        Refuses("'stablehlo.slice' op inferred type(s) 'tensor<8x2xf32>'"),
        Gives("stablehlo.slice %1 [0:8, 0:8:2]"),
    ),
    "padding of a convolution without pad": Passes(
        PADDED_SLICE,
        "sdy-pad-for-divisibility",
        f"""{PRELUDE}!u = tensor<7x8x4xf32>
        #batch = #sdy.sharding<@m, [{{"x"}}, {{}}, {{}}]>
        func.func @main(%x: !u, %y: tensor<3x4x6xf32>) -> tensor<7x6x6xf32> {{
          %0 = sdy.all_slice [{{"x"}}, {{}}, {{}}] %x out_sharding=#batch : !u
          %1 = stablehlo.convolution(%0, %y) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
              window = {{}} {{batch_group_count = 1 : i64, feature_group_count = 1 : i64,
              sdy.sharding = #sdy.sharding_per_value<[<@m, [{{"x"}}, {{}}, {{}}]>]>}}
              : (!u, tensor<3x4x6xf32>) -> tensor<7x6x6xf32>
          %2 = sdy.all_gather [{{"x"}}, {{}}, {{}}] %1 out_sharding=<@m, [{{}}, {{}}, {{}}]>
              : tensor<7x6x6xf32>
          return %2 : tensor<7x6x6xf32>
        }}""",
        Aborts(),
        Gives("(tensor<8x8x4xf32>, tensor<3x4x6xf32>) -> tensor<8x6x6xf32>"),
    ),
    "partition inlined meshes": Passes(
        "inlined meshes in `sdy-insert-explicit-reshards`",
        EXPLICIT,
        INLINED_MESHES,
        Aborts(),
        Gives('%1 = sdy.reshard %0 <mesh<["x"=2]>, [{}, {}]>'),
    ),
    "filter without a number": Passes(
        "a malformed number in the filter",
        "sdy-per-instruction-partitioning{filter=selectLow=n}",
        PRELUDE + "func.func @main(%x: !t) -> !t {\n  return %x : !t\n}",
        Gives("return %arg0"),
        Refuses("'selectLow' must be a number, got: 'n'"),
        before=Refuses("does not refer to a registered pass"),
    ),
    "empty propagation edges": Passes(
        "`#sdy.propagation_edges<[]>`",
        "",
        "module attributes {test.a = #sdy.propagation_edges<[]>} {}",
        Refuses("failed to parse Sdy_PropagationEdges"),
        Gives("#sdy.propagation_edges<[]>"),
    ),
    "async_done": Passes(
        "propagation through `stablehlo.async_done`",
        "sdy-basic-propagate",
        f"""{PRELUDE}
        func.func @main(%a: !t {{sdy.sharding = #rows}}) -> !t {{
          %0 = "stablehlo.async_start"(%a) ({{
          ^bb0(%b: !t):
            %2 = stablehlo.slice %b [2:6, 0:8] : (!t) -> tensor<4x8xf32>
            stablehlo.return %2 : tensor<4x8xf32>
          }}) : (!t) -> !stablehlo.future<tensor<4x8xf32>>
          %1 = "stablehlo.async_done"(%0) :
              (!stablehlo.future<tensor<4x8xf32>>) -> tensor<4x8xf32>
          return %a : !t
        }}""",
        Gives('"stablehlo.async_done"(%0) : '),
        Gives('"stablehlo.async_done"(%0) {sdy.sharding = '),
    ),
}

ELSEWHERE = {
    "an operation that only has effects, such as a JAX callback": (
        "test_jax_callbacks.py::test_callbacks_run_once_and_in_order"
    ),
    "members of a sharding group with different shardings": "test_warnings_of_groups",
    "an operation without a sharding rule": "test_operations_without_a_rule",
    "`debug-sharding-origins` with manual computations": (
        "test_traps.py::test_origins_without_data_flow_edges"
    ),
    "`debug-sharding-origins`, of a sharding on an ordinary operation": (
        "test_traps.py::test_origins_of_ordinary_operations"
    ),
    "`debug-sharding-origins`, of a value that is returned twice": (
        "test_traps.py::test_origins_of_a_value_that_is_returned_twice"
    ),
    "`debug-sharding-origins`, `debug-propagation-edge-sharding`, of a sub-axis that has been "
    "merged into a larger one": "test_traps.py::test_notes_of_merged_axes",
    "a function that is called from several places": "test_warnings_of_calls",
    "`#sdy.propagation_edges<[]>`, as 0.12": "test_printed_propagation_edges",
    "a user-written `stablehlo.all_reduce` or other collective": "test_collectives_of_the_user",
    "`stablehlo.batch_norm_grad`, `batch_norm_training`": "test_differences_rules.py::test_no_rule",
    "`stablehlo.replica_id`, `stablehlo.tuple`": (
        "test_differences_rules.py::test_warnings_without_a_rule"
    ),
}
"""The rows that other tests hold: those of this folder, or of `test_differences.py`."""
