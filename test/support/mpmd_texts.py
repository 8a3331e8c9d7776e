"""Texts of the mpmd dialect that C++ Shardy reads, and texts that it refuses."""

TENSOR = "tensor<4x8xf32>"
SMALL = "tensor<2x8xf32>"
M1 = f'!mpmd.mesh_tensor<"m1", {TENSOR}>'
M2 = f'!mpmd.mesh_tensor<"m2", {TENSOR}>'
M9 = f'!mpmd.mesh_tensor<"m9", {TENSOR}>'
M1_SMALL = f'!mpmd.mesh_tensor<"m1", {SMALL}>'
M1_SHARDED = f'!mpmd.mesh_tensor<"m1", {TENSOR}, sharding=<@mesh, [{{"x"}}, {{}}]>>'
TOPOLOGY = '#mpmd.topology<<"m1" : <["x"=2]>>, <"m2" : <["x"=2, "y"=2]>>>'

G = f"""
func.func private @g(%x: {TENSOR}) -> {TENSOR} attributes {{topology = {TOPOLOGY}}} {{
  return %x : {TENSOR}
}}"""
H = f"""
func.func private @h(%x: {TENSOR}) -> {TENSOR} attributes {{mesh_shape = #sdy.mesh<["x"=2]>}} {{
  return %x : {TENSOR}
}}"""


def program(body: str, functions: str = "") -> str:
    """A module with a function that has values on both meshes, and a tensor."""
    return f"""\
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: {M1}, %t: {TENSOR}, %b: {M2}, %s: {M1_SHARDED}, %small: {SMALL})
    attributes {{topology = {TOPOLOGY}}} {{
  {body}
  return
}}{functions}
"""


def fragment(head: str, body: str, operands: str = "%a", types: str = f"({M1}) -> {M1}") -> str:
    """A program with a fragment."""
    return program(f"%0 = mpmd.fragment<{head}> ({operands}) {body} : {types}")


def loop(attributes: str, arguments: str, returned: str, operands: str = "%t") -> str:
    """A program with a loop over one tensor."""
    return program(
        f"%0 = mpmd.for ({operands}) {{{attributes}}} ({arguments}) "
        f"{{ mpmd.return{returned} }} : {TENSOR}"
    )


def named(body: str, types: str = f"({TENSOR}) -> {TENSOR}") -> str:
    """A program with a named computation."""
    return program(f'%0 = mpmd.named_computation<"f"> (%t) {body} : {types}')


F = 'mesh="m1", origin=["f"]'
IDENTITY = f"(%x: {TENSOR}) {{ mpmd.return %x : {TENSOR} }}"
SHARDING = '[<@mesh, [{"x"}, {?}]>]'
FOUR = "iterations = 4 : ui32"
BODY = f"%x: {TENSOR}, %index: tensor<ui32>"
X = f" %x : {TENSOR}"

ACCEPTED = {
    "named computation": named(f"{{k = 1 : i32}} {IDENTITY}"),
    "transposed computation": program(
        f'%0 = mpmd.named_computation<"f"(1)> (%t) {IDENTITY} : ({TENSOR}) -> {TENSOR}'
    ),
    "computation without operands": program(
        '%0 = mpmd.named_computation<"f"> () () { %c = stablehlo.constant dense<1.0> : '
        f"{TENSOR} mpmd.return %c : {TENSOR} }} : () -> {TENSOR}"
    ),
    "named tensor": program(f'%0 = mpmd.named_tensor %t name="n" : {TENSOR}'),
    "named tensor with attributes": program(f'%0 = mpmd.named_tensor %t name="n" {{k}} : {TENSOR}'),
    "fragment": fragment(F, IDENTITY),
    "fragment with everything": fragment(
        f'mesh="m1", origin=["f", "g"(1)], stage=2, in_shardings={SHARDING}, '
        f"out_shardings={SHARDING}",
        f"{{call_counter = 3 : ui32}} {IDENTITY}",
    ),
    "fragment with one sharding": fragment(f"{F}, out_shardings={SHARDING}", IDENTITY),
    "inferred fragment": fragment(
        'mesh="m1", origin=[]', f'{{mpmd.inferred_by = ["merge"]}} {IDENTITY}'
    ),
    "fragment without values": program(
        'mpmd.fragment<mesh="m1", origin=[]> () () { mpmd.return } : () -> ()'
    ),
    "fragment with two results": program(
        f"%0:2 = mpmd.fragment<{F}> (%a) (%x: {TENSOR}) {{ mpmd.return %x, %x : {TENSOR}, "
        f"{TENSOR} }} : ({M1}) -> ({M1}, {M1}) %1 = mpmd.transfer %0#1 : ({M1}) -> {M2}"
    ),
    "fragment in generic form": program(
        f'%0 = "mpmd.fragment"(%a) <{{mesh_name = "m1", origin = [#mpmd.user_origin<"f"(2)>], '
        f'stage_id = 3 : i64}}> ({{ ^bb0(%x: {TENSOR}): "mpmd.return"(%x) : ({TENSOR}) -> () }}) '
        f": ({M1}) -> {M1}"
    ),
    "fragment call": program(f"%0 = mpmd.fragment_call<{F}> @h(%a) {{remat}} : ({M1}) -> {M1}", H),
    "transfer": program(f"%0 = mpmd.transfer {{k = 1 : i32}} %a : ({M1}) -> {M2}"),
    "transfer to host": program(
        f'%0 = mpmd.transfer %a : ({M1}) -> !mpmd.mesh_tensor<"m1", {TENSOR}, sharding=<@mesh, '
        '[{"x"}, {}]>, memory_kind="pinned_host">'
    ),
    "assign": program(f'%0 = mpmd.assign {{origin = "s1"}} %t : ({TENSOR}) -> {M1}'),
    "unassign": program(f"%0 = mpmd.unassign %a : ({M1}) -> {TENSOR}"),
    "call": program(
        f"%0 = mpmd.call @g(%t) {{call_counter = 1 : ui32}} : ({TENSOR}) -> {TENSOR}", G
    ),
    "for": loop(f"{FOUR}, unroll_factor = 4 : ui32", BODY, X),
    "for with two values": program(
        f"%0:2 = mpmd.for (%a, %b) {{{FOUR}}} (%x: {M1}, %y: {M2}, %index: tensor<ui32>) {{ "
        f"%1 = mpmd.fragment<{F}> (%x) {IDENTITY.replace('%x', '%z')} : ({M1}) -> {M1} "
        f"mpmd.return %1, %y : {M1}, {M2} }} : {M1}, {M2}"
    ),
    "for with a signless index": loop(FOUR, BODY.replace("ui32", "i32"), X),
    "broadcast": program(f"%0 = mpmd.broadcast %t : {TENSOR}"),
    "broadcast with attributes": program(f"%0 = mpmd.broadcast {{k}} %t : {TENSOR}"),
    "reduce": program(f"%0 = mpmd.reduce<add> %t, %t : ({TENSOR}, {TENSOR}) -> {TENSOR}"),
    "reduce with attributes": program(f"%0 = mpmd.reduce<max> {{k}} %t : ({TENSOR}) -> {TENSOR}"),
    "reduce of no kind": program(f"%0 = mpmd.reduce<none> %t : ({TENSOR}) -> {TENSOR}"),
    "attributes": program(
        '"func.return"() {a = #mpmd.meshes_with_origins<"m1"["a", "b"], "m2">, '
        "b = #mpmd.meshes_with_origins<>, c = #mpmd.reduction<max>, "
        'd = #mpmd.named_mesh<"m1" : <["x"=2]>>, e = #mpmd.user_origin<"f"(0)>, '
        'f = #mpmd<topology<<"m1" : <["x"=2]>>>>} : () -> () } func.func private @k() {'
    ),
    "aliases": f"!t = {M1}\n#topology = {TOPOLOGY}\n"
    "func.func @main(%a: !t) -> !t attributes {topology = #topology} {\n"
    f"  %0 = mpmd.fragment<{F}> (%a) {IDENTITY} : (!t) -> !t\n  return %0 : !t\n}}\n",
}
"""Programs by what they are about."""

REFUSED = {
    "computation: number of arguments": (
        named(f"() {{ %1 = stablehlo.constant dense<0.0> : {TENSOR} mpmd.return %1 : {TENSOR} }}"),
        "number of block arguments must match the number of operands",
    ),
    "computation: type of an argument": (
        named(f"(%x: {SMALL}) {{ mpmd.return %x : {SMALL} }}", f"({TENSOR}) -> {SMALL}"),
        "expected the type of the block argument to match the type of operand",
    ),
    "computation: number of results": (
        named(f"(%x: {TENSOR}) {{ mpmd.return %x, %x : {TENSOR}, {TENSOR} }}"),
        "number of returned values must match the number of results respectively: 2 != 1",
    ),
    "computation: outer value": (
        named(f"(%x: {TENSOR}) {{ mpmd.return %t : {TENSOR} }}"),
        "using value defined outside the region",
    ),
    "fragment: mesh of an operand": (
        fragment('mesh="m2", origin=["f"]', IDENTITY, types=f"({M1}) -> {M2}"),
        "expected the mesh name of the operand to match that of the fragment op: m1 != m2",
    ),
    "fragment: mesh of a result": (
        fragment(F, IDENTITY, types=f"({M1}) -> {M2}"),
        "expected the mesh name of the result to match that of the fragment op: m2 != m1",
    ),
    "fragment: unknown mesh": (
        fragment('mesh="m9", origin=["f"]', IDENTITY),
        "Topology doesn't have a mesh with name: m9",
    ),
    "fragment: local argument": (
        fragment(F, f"(%x: {SMALL}) {{ mpmd.return %x : {SMALL} }}"),
        "expected the type of the block argument to be global tensor type",
    ),
    "fragment: local result": (
        fragment(F, IDENTITY, types=f"({M1}) -> {M1_SMALL}"),
        "expected the type of the returned value to be global tensor type",
    ),
    "fragment: number of arguments": (
        fragment(F, f"(%x: {TENSOR}, %y: {TENSOR}) {{ mpmd.return %x : {TENSOR} }}"),
        "number of block arguments must match the number of operands respectively: 2 != 1",
    ),
    "fragment: outer value": (
        fragment(F, f"(%x: {TENSOR}) {{ mpmd.return %t : {TENSOR} }}"),
        "using value defined outside the region",
    ),
    "fragment: empty block": (
        program(f"mpmd.fragment<{F}> (%a) (%x: {TENSOR}) {{}} : ({M1}) -> ()"),
        "empty",
    ),
    "fragment: tensor": (
        fragment(F, IDENTITY, "%t", f"({TENSOR}) -> {M1}"),
        "operand #0 must be variadic of mesh tensor type or token",
    ),
    "fragment: no topology": (
        f"func.func @main(%a: {M1}) {{ %0 = mpmd.fragment<{F}> (%a) {IDENTITY} : ({M1}) -> {M1} "
        "return }",
        "Function does not have a topology attribute: main",
    ),
    "fragment call: unknown function": (
        program(f"%0 = mpmd.fragment_call<{F}> @nothing(%a) : ({M1}) -> {M1}"),
        "'nothing' does not reference a valid function",
    ),
    "fragment call: type of a result": (
        program(f"%0 = mpmd.fragment_call<{F}> @h(%a) : ({M1}) -> {M1_SMALL}", H),
        "expected the type of the returned value to be global tensor type",
    ),
    "fragment call: mesh of the callee": (
        program(f'%0 = mpmd.fragment_call<mesh="m2", origin=[]> @h(%b) : ({M2}) -> {M2}', H),
        "Expected mesh of fragment call and callee function to match",
    ),
    "transfer: global types": (
        program(f"%0 = mpmd.transfer %b : ({M2}) -> {M1_SMALL}"),
        "global tensor types are different",
    ),
    "transfer: unknown mesh": (
        program(f"%0 = mpmd.transfer %a : ({M1}) -> {M9}"),
        "Topology doesn't have a mesh with name: m9",
    ),
    "transfer: unknown axis": (
        program(
            f'%0 = mpmd.transfer %a : ({M1}) -> !mpmd.mesh_tensor<"m1", {TENSOR}, '
            'sharding=<@mesh, [{"z"}, {}]>>'
        ),
        'unknown axis name: "z"',
    ),
    "transfer: memory kind": (
        program(
            f'%0 = mpmd.transfer %a : ({M1}) -> !mpmd.mesh_tensor<"m1", {TENSOR}, '
            'memory_kind="disk">'
        ),
        "memory kind must be either 'pinned_host' or 'device'. Found 'disk'.",
    ),
    "assign: sharded": (
        program(f"%0 = mpmd.assign %t : ({TENSOR}) -> {M1_SHARDED}"),
        "MeshTensorType should be fully replicated",
    ),
    "assign: type": (
        program(f"%0 = mpmd.assign %t : ({TENSOR}) -> {M1_SMALL}"),
        "mismatch between the given local type 'tensor<4x8xf32>' and mesh_type",
    ),
    "unassign: type": (
        program(f"%0 = mpmd.unassign %a : ({M1}) -> {SMALL}"),
        "mismatch between the given local type 'tensor<2x8xf32>' and mesh_type",
    ),
    "call: type of an operand": (
        program(f"%0 = mpmd.call @g(%small) : ({SMALL}) -> {TENSOR}", G),
        "Expected call operand to have type 'tensor<4x8xf32>' but got 'tensor<2x8xf32>'",
    ),
    "call: counter": (
        program(f"%0 = mpmd.call @g(%t) {{call_counter = 1 : i32}} : ({TENSOR}) -> {TENSOR}", G),
        "call_counter must be an uint32, got 'i32'",
    ),
    "call: public callee": (
        program(f"%0 = mpmd.call @g(%t) : ({TENSOR}) -> {TENSOR}", G.replace("private ", "")),
        "must also have visibility set to private",
    ),
    "for: no index": (loop(FOUR, f"%x: {TENSOR}", X), "wrong number of arguments for region"),
    "for: index": (
        loop(FOUR, BODY.replace("ui32", "f32"), X),
        "index must have a 32-bit integer rank-0 tensor type",
    ),
    "for: type of an argument": (
        loop(FOUR, f"%x: {SMALL}, %index: tensor<ui32>", f" %t : {TENSOR}"),
        "wrong argument type at argument no. 0",
    ),
    "for: classes of types": (
        program(
            f"%0:2 = mpmd.for (%t, %a) {{{FOUR}}} (%x: {TENSOR}, %y: {M1}, %index: tensor<ui32>) "
            f"{{ mpmd.return %x, %y : {TENSOR}, {M1} }} : {TENSOR}, {M1}"
        ),
        "type ids in operands/results are not identical",
    ),
    "for: no iterations": (
        loop("iterations = 0 : ui32", BODY, X),
        "number of iterations must be greater than zero",
    ),
    "for: unroll factor": (
        loop(f"{FOUR}, unroll_factor = 3 : ui32", BODY, X),
        "number of iterations 4 isn't divisible by unroll factor 3",
    ),
    "reduce: several of no kind": (
        program(f"%0 = mpmd.reduce<none> %t, %t : ({TENSOR}, {TENSOR}) -> {TENSOR}"),
        "exactly one operand if the reduction type is none",
    ),
    "topology: empty": (
        "func.func @main() attributes {topology = #mpmd.topology<>} { return }",
        "expected",
    ),
    "topology: axis": (
        'func.func @main() attributes {topology = #mpmd.topology<<"m" : <["x"=2, "x"=2]>>>} '
        "{ return }",
        'duplicate axis name: "x"',
    ),
    "topology: name": (
        'func.func @main() attributes {topology = #mpmd.topology<<m : <["x"=2]>>>} { return }',
        "expected string",
    ),
    "mesh with origins: name": (
        "func.func private @main() attributes {a = #mpmd.meshes_with_origins<m1>}",
        "expected string",
    ),
    "mesh with origins: origin": (
        'func.func private @main() attributes {a = #mpmd.meshes_with_origins<"m1"[a]>}',
        "expected string",
    ),
    "reduction: kind": (
        "func.func private @main() attributes {a = #mpmd.reduction<sum>}",
        "ReductionType to be one of: none, add, max, min, mul, or, and",
    ),
    "user origin: name": (
        "func.func private @main() attributes {a = #mpmd.user_origin<f>}",
        "expected attribute value",
    ),
    "user origin: count": (
        'func.func private @main() attributes {a = #mpmd.user_origin<"f"(x)>}',
        "expected integer value",
    ),
    "computation: name": (
        f"func.func @main(%t: {TENSOR}) {{ %0 = mpmd.named_computation<f> (%t) {IDENTITY} : "
        f"({TENSOR}) -> {TENSOR} return }}",
        "expected string",
    ),
    "named tensor: name": (
        program(f"%0 = mpmd.named_tensor %t name=f : {TENSOR}"),
        "expected attribute value",
    ),
    "fragment call: tensor": (
        program(f"%0 = mpmd.fragment_call<{F}> @h(%t) : ({TENSOR}) -> {M1}", H),
        "operand #0 must be variadic of mesh tensor type, but got",
    ),
    "transfer: memory kind by an attribute": (
        program(f'%0 = mpmd.transfer {{mhlo.memory_kind = "pinned_host"}} %a : ({M1}) -> {M2}'),
        "Transfers to host with attributes are not supported.",
    ),
    "unassign: tensor": (
        program(f"%0 = mpmd.unassign %t : ({TENSOR}) -> {TENSOR}"),
        "operand #0 must be mesh tensor type",
    ),
    "for: index that is no tensor": (
        loop(FOUR, BODY.replace("tensor<ui32>", "f32"), X),
        "0-th induction variable has invalid type: 'f32'",
    ),
    "mesh tensor: type": (
        'func.func private @main() -> !mpmd.mesh_tensor<"m1", f32>',
        "invalid kind of type specified: expected builtin.tensor, but found 'f32'",
    ),
    "type: unknown": (
        'func.func private @main() -> !mpmd.mesh<"m1">',
        "unknown  type `mesh` in dialect `mpmd`",
    ),
    "mesh tensor: order": (
        f'func.func @main(%a: !mpmd.mesh_tensor<"m1", {TENSOR}, memory_kind="device", '
        "sharding=<@mesh, [{}, {}]>>) { return }",
        "expected '>'",
    ),
}
"""Programs with a part of the error, by what is wrong."""
