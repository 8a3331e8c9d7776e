# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Hand-written modules for the export passes: what each does, and where it must do nothing."""

MESHES = """
sdy.mesh @m = <["a"=2, "b"=2, "c"=4]>
sdy.mesh @six = <["p"=6, "q"=10]>
sdy.mesh @one = <[], device_ids=[3]>
"""
T = "tensor<8xf32>"


def sharded(sharding: str, mesh: str = "@m") -> str:
    """The attribute of an argument or a result of a function."""
    return f"{{sdy.sharding = #sdy.sharding<{mesh}, {sharding}>}}"


def per_value(*shardings: str, mesh: str = "@m") -> str:
    """The attribute of an operation."""
    listed = ", ".join(f"<{mesh}, {sharding}>" for sharding in shardings)
    return f"sdy.sharding = #sdy.sharding_per_value<[{listed}]>"


def function(body: str, returned: str = "%a", types: str = T, name: str = "main") -> str:
    """A function of `%a` and `%b`."""
    return (
        f"func.func @{name}(%a: {T} {sharded('[{?}]')}, %b: {T}) -> ({types}) {{\n{body}\n"
        f"func.return {returned} : {types}\n}}"
    )


MERGER = [
    function(
        f"""%0 = sdy.constant {{{per_value('[{"a"}]')}}} dense<3.0> : {T}
        %1 = sdy.constant {{{per_value('[{"b"}]')}}} dense<3.0> : {T}
        %2 = sdy.constant {{{per_value('[{"a"}]')}}} dense<3.0> : {T}
        %3 = sdy.constant dense<3.0> : {T}
        %4 = stablehlo.constant dense<3.0> : {T}
        %5 = sdy.constant dense<4.0> : {T}
        %6 = stablehlo.constant {{tag}} dense<3.0> : {T}
        %7 = stablehlo.iota dim = 0 : {T}
        %8 = stablehlo.iota dim = 0 : {T}
        sdy.sharding_group %2 group_id=1 : {T}
        sdy.sharding_group %0 group_id=2 : {T}""",
        "%0, %1, %2, %3, %4, %5, %6, %7, %8",
        ", ".join([T] * 9),
    ),
    function(
        f"""%c = sdy.constant dense<3.0> : tensor<f32>
        %d = stablehlo.constant dense<3.0> : tensor<f32>
        %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> {T}
        %1 = stablehlo.broadcast_in_dim %d, dims = [] : (tensor<f32>) -> {T}
        %2 = stablehlo.broadcast_in_dim %d, dims = [] : (tensor<f32>) -> tensor<4xf32>
        %3 = stablehlo.broadcast_in_dim %a, dims = [0] : ({T}) -> tensor<8x2xf32>
        %4 = stablehlo.broadcast_in_dim %a, dims = [0] : ({T}) -> tensor<8x2xf32>
        %5 = stablehlo.add %0, %1 : {T}
        %6 = stablehlo.broadcast_in_dim %d, dims = [] {{{per_value('[{"a"}]')}}} :
            (tensor<f32>) -> {T}
        %7 = stablehlo.broadcast_in_dim %d, dims = [] {{{per_value('[{"a"}]')}}} :
            (tensor<f32>) -> {T}""",
        "%5, %2, %3, %4, %6, %7",
        f"{T}, tensor<4xf32>, tensor<8x2xf32>, tensor<8x2xf32>, {T}, {T}",
    ),
    function(
        f"""%i = sdy.constant dense<0> : tensor<i32>
        %n = sdy.constant dense<1.0> : {T}
        %0:2 = stablehlo.while(%x = %i, %y = %n) : tensor<i32>, {T}
        cond {{
          %l = sdy.constant dense<9> : tensor<i32>
          %k = sdy.constant dense<9> : tensor<i32>
          %p = stablehlo.compare LT, %k, %l : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %p : tensor<i1>
        }} do {{
          %k = sdy.constant dense<9> : tensor<i32>
          %o = sdy.constant dense<1.0> : {T}
          %p = sdy.constant dense<1.0> : {T}
          %z = stablehlo.add %o, %p : {T}
          stablehlo.return %k, %z : tensor<i32>, {T}
        }}
        %1 = sdy.constant dense<1.0> : {T}
        %2 = stablehlo.add %1, %n : {T}""",
        "%0#1, %2",
        f"{T}, {T}",
    ),
]

SINK = [
    function(
        f"""%0:2 = stablehlo.optimization_barrier %a, %b : {T}, {T}
        %1 = sdy.data_flow_edge %0#0 : {T}
        %2 = sdy.data_flow_edge %0#1 sharding=<@m, [{{"a"}}]> : {T}""",
        "%1, %2",
        f"{T}, {T}",
    ),
    function(
        f"""%t = stablehlo.create_token : !stablehlo.token
        %0:3 = stablehlo.optimization_barrier {{{per_value('[{"b"}]', '[{"c"}]', "[]")}}}
            %a, %b, %t : {T}, {T}, !stablehlo.token
        %1 = sdy.data_flow_edge %0#1 sharding=<@m, [{{"a", ?}}p2], replicated={{"b"}}> : {T}""",
        "%0#0, %1",
        f"{T}, {T}",
    ),
    function(
        f"""%0:2 = stablehlo.optimization_barrier {{{per_value('[{"b"}]', '[{"c"}]')}}}
            %a, %b : {T}, {T}
        %1 = sdy.data_flow_edge %0#0 : {T}
        %2 = sdy.data_flow_edge %0#1 : {T}""",
        "%1, %2",
        f"{T}, {T}",
    ),
    function(
        f"""%0 = sdy.manual_computation(%a) in_shardings=[<@m, [{{"a", "b"}}]>]
            out_shardings=[<@m, [{{"a", ?}}], replicated={{"c"}}>] manual_axes={{"a"}}
            (%x: tensor<4xf32>) {{
          %e = sdy.data_flow_edge %x sharding=<@m, [{{"c", ?}}p1]> : tensor<4xf32>
          %n = stablehlo.negate %e : tensor<4xf32>
          sdy.return %n : tensor<4xf32>
        }} : ({T}) -> {T}
        %1 = sdy.data_flow_edge %0 sharding=<@m, [{{"a", "b", ?}}]> : {T}""",
        "%1",
    ),
    function(
        f"""%0 = sdy.named_computation<"f">(%a) (%x: {T}) {{
          %e = sdy.data_flow_edge %x sharding=<@m, [{{"c", ?}}p1]> : {T}
          %1:2 = sdy.named_computation<"g">(%e, %e) out_shardings=[<@m, [{{}}]>, <@m, [{{}}]>]
              (%y: {T}, %z: {T}) {{
            %f = sdy.data_flow_edge %z sharding=<@m, [{{"a"}}]> : {T}
            sdy.return %y, %f : {T}, {T}
          }} : ({T}, {T}) -> ({T}, {T})
          sdy.return %1#0 : {T}
        }} : ({T}) -> {T}
        %1 = sdy.data_flow_edge %0 sharding=<@m, [{{"b", ?}}]> : {T}""",
        "%1",
    ),
    function(
        f"""%i = stablehlo.constant dense<0> : tensor<i32>
        %0:2 = stablehlo.while(%x = %i, %y = %a) : tensor<i32>, {T}
        cond {{
          %p = stablehlo.compare LT, %x, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %p : tensor<i1>
        }} do {{
          stablehlo.return %x, %y : tensor<i32>, {T}
        }}
        %1 = sdy.data_flow_edge %0#0 : tensor<i32>
        %2 = sdy.data_flow_edge %0#1 sharding=<@m, [{{"a"}}]> : {T}""",
        "%2",
    ),
    function(
        f"""%0:2 = stablehlo.optimization_barrier %a, %b : {T}, {T}
        %1 = sdy.data_flow_edge %0#0 sharding=<@m, [{{"a"}}]>
            {{sdy.sharding_origins = {{a = "self"}},
            sdy.propagation_edges =
            #sdy.propagation_edges<[{{step-0 = [{{"a" = operand-0 -> [result-0]}}]}}]>}} : {T}
        %2 = sdy.data_flow_edge %0#1 : {T}
        %3 = sdy.manual_computation(%a) in_shardings=[<@m, [{{"a"}}]>]
            out_shardings=[<@m, [{{"a"}}]>] manual_axes={{"a"}} (%x: tensor<4xf32>) {{
          %e = sdy.data_flow_edge %x sharding=<@m, [{{"b"}}]>
              {{sdy.sharding_origins = {{b = "input: 0"}}}} : tensor<4xf32>
          sdy.return %e : tensor<4xf32>
        }} : ({T}) -> {T}""",
        "%1, %2, %3",
        f"{T}, {T}, {T}",
    ),
]

NAMED = [
    function(
        f"""%0 = sdy.named_computation<"foo">(%a) (%x: {T}) {{
          %e = sdy.data_flow_edge %x sharding=<@m, [{{"a", ?}}]> : {T}
          %n = stablehlo.negate %e : {T}
          sdy.return %n : {T}
        }} {{aa}} : ({T}) -> {T}
        %1 = sdy.data_flow_edge %0 sharding=<@m, [{{"b"}}]> : {T}""",
        "%1",
    ),
    'sdy.mesh @foo = <["x"=2]>\n'
    + function(
        f"""%0 = sdy.named_computation<"foo">(%a) in_shardings=[<@m, [{{"a"}}]>]
            out_shardings=[<@m, [{{"b"}}]>] (%x: {T}) {{
          %1 = sdy.named_computation<"bar">(%x) (%y: {T}) {{
            sdy.return %y : {T}
          }} : ({T}) -> {T}
          sdy.return %1 : {T}
        }} {{execution_thread = "t", note = "n"}} : ({T}) -> {T}
        %1:2 = sdy.named_computation<"foo">(%0, %b) (%x: {T}, %y: {T}) {{
          sdy.return %y, %x : {T}, {T}
        }} : ({T}, {T}) -> ({T}, {T})
        %2 = sdy.named_computation<"bar">() () {{
          %c = sdy.constant dense<1.0> : {T}
          sdy.return %c : {T}
        }} : () -> {T}
        sdy.named_computation<"void">() () {{
          sdy.return
        }} : () -> ()""",
        "%0, %1#0, %2",
        f"{T}, {T}, {T}",
    )
    + f"\nfunc.func private @bar(%a: {T}) -> {T} {{ func.return %a : {T} }}",
    function(
        f"""%t = stablehlo.create_token : !stablehlo.token
        %0:2 = sdy.named_computation<"foo">(%t, %a) (%x: !stablehlo.token, %y: {T}) {{
          %e = sdy.data_flow_edge %y sharding=<@m, [{{"a", ?}}]> : {T}
          sdy.return %x, %e : !stablehlo.token, {T}
        }} : (!stablehlo.token, {T}) -> (!stablehlo.token, {T})
        %1 = sdy.data_flow_edge %0#1 sharding=<@m, [{{"b"}}]> : {T}""",
        "%1",
    ),
]


def _callee(name: str, argument: str = "", result: str = "", attributes: str = "") -> str:
    return (
        f"func.func private @{name}(%x: {T} {argument}) -> ({T} {result}) "
        f"{attributes and f'attributes {{{attributes}}}'} {{ func.return %x : {T} }}"
    )


def _calls(*names: str) -> str:
    """A main function that calls others in turn."""
    lines: list[str] = []
    value = "%a"
    for index, name in enumerate(names):
        lines.append(f"%{index} = func.call @{name}({value}) : ({T}) -> {T}")
        value = f"%{index}"
    return function("\n".join(lines), value)


_A, _B, _OPEN = sharded('[{"a"}]'), sharded('[{"b"}]'), sharded("[{?}]")
_BAZ = 'sdy.original_func_name = "baz"'
_BAZ_ALONG_A = f'{_BAZ}, sdy.func_manual_axes = #sdy<manual_axes{{"a"}}>'
_BAZ_ALONG_B = f'{_BAZ}, sdy.func_manual_axes = #sdy<manual_axes{{"b"}}>'
UNFLATTEN = [
    "\n".join(
        [
            _calls("baz", "baz_0", "baz_1", "baz", "other"),
            _callee("baz", _A),
            _callee("baz_0", _B, attributes=_BAZ),
            _callee("baz_1", _B, attributes=_BAZ),
            _callee("other", _B),
        ]
    ),
    "\n".join(
        [
            _calls("baz_0", "baz_1", "baz"),
            _callee("baz", sharded("[]", "@one"), attributes=_BAZ),
            _callee("baz_0", attributes=_BAZ),
            _callee("baz_1", _OPEN, attributes=_BAZ),
        ]
    ),
    "\n".join(
        [
            _callee("baz_1", _A, _B, attributes=_BAZ_ALONG_A),
            _callee("baz_0", _A, _B, attributes=_BAZ_ALONG_A),
            _callee("baz_2", _A, _B, attributes=_BAZ_ALONG_B),
            _callee("baz", _A, _B),
            _calls("baz", "baz_2", "baz_0", "baz_1", "baz_2", "baz_1"),
        ]
    ),
    "\n".join(
        [
            f"func.func private @f(%x: {T}) -> {T} {{\n%0 = func.call @baz(%x) : ({T}) -> {T}\n"
            f"func.return %0 : {T}\n}}",
            f"func.func private @f_0(%x: {T}) -> {T} attributes "
            f'{{sdy.original_func_name = "f"}} {{\n%0 = func.call @baz_0(%x) : ({T}) -> {T}\n'
            f"func.return %0 : {T}\n}}",
            _callee("baz"),
            _callee("baz_0", attributes=_BAZ),
            _calls("f_0", "f"),
        ]
    ),
    function(""),
]

GROUPS = [
    function(
        f"""sdy.sharding_group %a group_id=1 : {T}
        %0 = sdy.manual_computation(%a) in_shardings=[<@m, [{{"a"}}]>]
            out_shardings=[<@m, [{{"a"}}]>] manual_axes={{"a"}} (%x: tensor<4xf32>) {{
          sdy.sharding_group %x group_id=2 : tensor<4xf32>
          sdy.return %x : tensor<4xf32>
        }} : ({T}) -> {T}""",
        "%0",
    ),
]


def _inputs(shape: str, sharding: str, mesh: str = "@six") -> str:
    type_ = f"tensor<{shape}xf32>"
    attribute = sharded(sharding, mesh)
    return (
        f"func.func @main(%a: {type_} {attribute}, %b: {type_}) -> ({type_} {attribute}, {type_}) "
        f"{{ func.return %a, %b : {type_}, {type_} }}"
    )


DIVISIBLE = [
    _inputs("15", '[{"p", "q"}p1]'),
    _inputs("30", '[{"p", "q", ?}]'),
    _inputs("7x60", '[{"p"}, {"q"}p4]'),
    _inputs("4", '[{"p":(3)2, "q":(1)5}]'),
    _inputs("0x5", '[{"p"}p2, {"q", ?}p2]'),
    _inputs("?x7", '[{"p"}, {"q"}]'),
    _inputs("8x1", '[{"q"}, {?}p1], replicated={"p"}'),
    _inputs("9", '[{"q", ?}], unreduced={"p"}'),
    _inputs("7", "[]", "@one"),
    _inputs("7", '[{"a", ?}]', 'mesh<["a"=2]>'),
    "\n".join(
        [
            f"func.func @main(%a: tensor<7xf32>) -> tensor<7xf32> {{"
            f"""%0 = func.call @f(%a) {{{per_value('[{"a", ?}]')}}} : """
            "(tensor<7xf32>) -> tensor<7xf32>\n func.return %0 : tensor<7xf32> }",
            f"func.func private @f(%x: tensor<7xf32> {_A}) -> (tensor<7xf32> {_B}) {{\n"
            f"""%0 = stablehlo.negate %x {{{per_value('[{"c"}]')}}} : tensor<7xf32>\n"""
            "func.return %0 : tensor<7xf32> }",
        ]
    ),
    """sdy.mesh @four = <["a"=4, "b"=4, "c"=4]>
    func.func @main(%a: tensor<40xf32>) -> tensor<40xf32> {
      %0 = sdy.manual_computation(%a) in_shardings=[<@four, [{"a", "b", "c"}]>]
          out_shardings=[<@four, [{"a", "b", "c"}p1]>] manual_axes={"a"} (%x: tensor<10xf32>) {
        sdy.return %x : tensor<10xf32>
      } : (tensor<40xf32>) -> tensor<40xf32>
      func.return %0 : tensor<40xf32>
    }""",
]

SUB_AXES = [
    _inputs("8x8", '[{"c":(1)2, "a", ?}p3, {"c":(2)2}]', "@m"),
    _inputs("8x8", '[{"a", "c":(1)2, "b", ?}, {"c":(2)2, ?}]', "@m"),
    _inputs("8x8", '[{"a", ?}, {?}p1], replicated={"c":(2)2}, unreduced={"c":(1)2}', "@m"),
    "\n".join(
        [
            _calls("f"),
            _callee("f", sharded('[{"c":(1)2, ?}]'), sharded('[{"c":(1)2, ?}]')),
        ]
    ),
]

CLOSE = [
    _inputs("8x8", '[{"a", ?}p1, {?}], replicated={"b"}, unreduced={"c"}', "@m"),
    *SINK,
    *NAMED,
    *GROUPS,
]

DEBUG = [
    f"""func.func @main(%a: {T} {{sdy.sharding_origins = {{a = "self"}}, my.keep = 1 : i32}})
        -> ({T} {{sdy.propagation_edges =
                #sdy.propagation_edges<[{{step-0 = [{{"a" = operand-0 -> [result-0]}}]}}]>,
            sdy.sharding_origins = {{a = "input: 0"}}}}) {{
      %0 = sdy.sharding_constraint %a <@m, [{{"a"}}]> {{sdy.sharding_origin_name = "constraint_0",
          sdy.sharding_origins = {{a = "self"}}}} : {T}
      %1 = stablehlo.optimization_barrier {{sdy.block_arg_propagation_edges = [],
          sdy.result_propagation_edges = [], sdy.block_arg_sharding_origins = [],
          sdy.result_sharding_origins = [], sdy.sharding_origins = []}} %0 : {T}
      func.return %1 : {T}
    }}""",
]

M = "tensor<8x8xf32>"
_ROWS = sharded('[{"a"}, {}]')
_GATHER = f"""sdy.all_gather [{{"a"}}, {{}}] %b out_sharding=<@m, [{{}}, {{}}]> : {M}"""


def _product(body: str, returned: str) -> str:
    types = ", ".join([M] * (returned.count("%")))
    return (
        f"func.func @main(%a: {M} {sharded('[{}, {}]')}, %b: {M} {_ROWS}) -> ({types}) {{\n"
        f"{body}\nfunc.return {returned} : {types}\n}}"
    )


_DOT = f"""stablehlo.dot %a, %0 {{{per_value("[{}, {}]")}}} : ({M}, {M}) -> {M}"""
_SCATTER = f"""sdy.reduce_scatter [{{}}, {{"b"}}] %1 out_sharding=<@m, [{{}}, {{"b"}}]> : {M}"""
COLLECTIVES = [
    _product(f"%0 = {_GATHER}\n%1 = {_DOT}", "%1"),
    _product(f"%0 = {_GATHER}\n%1 = {_DOT}", "%1, %0"),
    _product(f"%0 = {_GATHER}\n%1 = {_DOT}\n%2 = {_SCATTER}", "%2"),
    _product(f"%0 = stablehlo.negate %a : {M}\n%1 = {_DOT}\n%2 = {_SCATTER}", "%2"),
    _product(f"%0 = stablehlo.negate %a : {M}\n%1 = {_DOT}\n%2 = {_SCATTER}", "%2, %1"),
    _product(f"%0 = {_GATHER}\n%1 = stablehlo.dot %0, %0 : ({M}, {M}) -> {M}", "%1"),
    _product(
        f"""%0 = stablehlo.negate %a : {M}
        %1 = stablehlo.dot_general %0, %b, contracting_dims = [1] x [0]
            {{{per_value('[{}, {}], unreduced={"c"}')}}} : ({M}, {M}) -> {M}
        %2 = sdy.reduce_scatter [{{}}, {{"b"}}] %1
            out_sharding=<@m, [{{}}, {{"b"}}], unreduced={{"c"}}> : {M}""",
        "%2",
    ),
]

NAMES_OF_MESHES = [
    f"""
    sdy.mesh @same = <["a"=2, "b"=2, "c"=4]>
    func.func @main(%arg0: {T}) -> {T} {{
      %0:2 = call @f(%arg0) {{sdy.sharding = #sdy.sharding_per_value<[
          <@same, [{{"a"}}]>, <@m, [{{"b"}}]>]>}} : ({T}) -> ({T}, {T})
      return %0#0 : {T}
    }}
    func.func private @f(%arg0: {T}) -> ({T} {{sdy.sharding = #sdy.sharding<@m, [{{"a"}}]>}},
        {T} {{sdy.sharding = #sdy.sharding<@m, [{{"a"}}]>}}) {{
      return %arg0, %arg0 : {T}, {T}
    }}"""
]

DROP = [
    function(f"%0 = sdy.sharding_constraint %a <@six, [{{}}]> : {T}"),
    function(
        f"""%0 = sdy.manual_computation(%a) in_shardings=[<@six, [{{"p"}}]>]
            out_shardings=[<@m, [{{"a"}}]>] manual_axes={{}} (%x: {T}) {{
          sdy.return %x : {T}
        }} : ({T}) -> {T}"""
    ),
    function(f"%0 = stablehlo.negate %a {{{per_value('[{?}]')}}} : {T}"),
]

CASES: dict[str, list[str]] = {
    "func.func(sdy-constant-or-scalar-merger)": MERGER,
    "func.func(sdy-sink-data-flow-edges)": SINK,
    "func.func(sdy-sink-data-flow-edges{sink-debug-sharding-origins=true "
    "sink-debug-propagation-edge-sharding=true})": SINK,
    "func.func(sdy-sink-data-flow-edges{sink-debug-sharding-origins=true})": SINK[-1:],
    "sdy-export-named-computations": NAMED,
    "sdy-export-named-computations,sdy-propagate-to-func-results": NAMED,
    "sdy-unflatten-call-graph": UNFLATTEN,
    "sdy-unflatten-call-graph{dedup-functions-fully=true}": UNFLATTEN,
    "sdy-insert-func-call-reshards": [*UNFLATTEN, *NAMES_OF_MESHES],
    "sdy-remove-sharding-groups": GROUPS,
    "sdy-update-non-divisible-input-output-shardings": DIVISIBLE,
    "sdy-remove-sub-axes-in-input-output-shardings": SUB_AXES,
    "sdy-close-shardings": CLOSE,
    "sdy-drop-sharding-and-mesh": DROP,
    "sdy-remove-propagation-debug-info": DEBUG,
    "func.func(sdy-remove-all-gather-reduce-scatter-for-cmv1)": COLLECTIVES,
    "sdy-inline-meshes": [*CLOSE, *DIVISIBLE, *COLLECTIVES, *NAMED],
}
"""Modules, without their meshes, by the pipeline to run on them."""
