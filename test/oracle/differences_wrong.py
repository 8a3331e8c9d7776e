# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cases for the rows of `docs/differences.md` where C++ Shardy is wrong."""

from difference import PRELUDE, Aborts, Case, Gives, Numbers, Passes, Refuses
from differences_silent import EXPLICIT, LOCAL

INT = "tensor<8x8xi32>"


def reduce_rows(kind: str, initial: int) -> str:
    """Return a program that reduces the sharded dimension of a matrix."""
    return f"""{PRELUDE}
    func.func @main(%a: {INT} {{sdy.sharding = #rows}}) -> tensor<8xi32> {{
      %c = stablehlo.constant dense<{initial}> : tensor<i32>
      %0 = stablehlo.reduce(%a init: %c) applies stablehlo.{kind} across dimensions = [0]
          : ({INT}, tensor<i32>) -> tensor<8xi32>
      return %0 : tensor<8xi32>
    }}"""


def scatter_constants(kind: str, element: str, value: str, indexed: int = 0) -> str:
    """Return a program that scatters sharded updates, all of one value, to a constant."""
    return f"""{PRELUDE}
    func.func @main(%b: tensor<4x8x{element}> {{sdy.sharding = #rows}}) -> tensor<8x8x{element}> {{
      %a = stablehlo.constant dense<{value}> : tensor<8x8x{element}>
      %u = stablehlo.constant {{sdy.sharding = #by_rows}} dense<{value}> : tensor<4x8x{element}>
      %i = stablehlo.constant dense<[[1], [1], [3], [7]]> : tensor<4x1xi64>
      %0 = "stablehlo.scatter"(%a, %i, %u) ({{ ^bb0(%p: tensor<{element}>, %q: tensor<{element}>):
        %r = stablehlo.{kind} %p, %q : tensor<{element}>
        stablehlo.return %r : tensor<{element}>
      }}) {{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
          inserted_window_dims = [0], scatter_dims_to_operand_dims = [{indexed}],
          index_vector_dim = 1>}}
          : (tensor<8x8x{element}>, tensor<4x1xi64>, tensor<4x8x{element}>)
          -> tensor<8x8x{element}>
      return %0 : tensor<8x8x{element}>
    }}"""


PRODUCT = """
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] {SHARDING}
        : (!t, !t) -> !t
"""
GROUPS = """
    %0 = "stablehlo.all_reduce"(%a) <{
        replica_groups = #stablehlo.replica_group_mesh_axes<
            mesh = MESH, axes = [#stablehlo.axis_ref<name = "x">]>,
        channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
        use_global_device_ids}> ({
      ^bb0(%p: tensor<f32>, %q: tensor<f32>):
        %5 = stablehlo.add %p, %q : tensor<f32>
        stablehlo.return %5 : tensor<f32>
      }) : (!t) -> !t
    return %0 : !t
"""

CASES: dict[str, Case] = {
    "sort along the last dimension": Numbers(
        "a `stablehlo.sort` along a dimension counted from the end",
        f"""{PRELUDE}
        func.func @main(%a: !t {{sdy.sharding = #columns}})
            -> (!t {{sdy.sharding = #columns}}) {{
          %0 = "stablehlo.sort"(%a) ({{ ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %less = stablehlo.compare LT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
            stablehlo.return %less : tensor<i1>
          }}) : (!t) -> !t
          return %0 : !t
        }}""",
    ),
    "mesh of replica groups": Passes(
        "the mesh of `replica_groups`, in `sdy-lift-inlined-meshes`",
        "sdy-lift-inlined-meshes",
        f"""!t = tensor<8x8xf32>
        func.func @main(%a: !t) -> !t {{
        {
            GROUPS.replace(
                "MESH",
                '''#stablehlo.mesh<axes = [<name = "x", size = 2>,
            <name = "y", size = 2>], device_ids = dense<[3, 1, 0, 2]> : tensor<4xi64>>''',
            )
        }
        }}""",
        Gives('<["x"=2, "y"=2]>', lacks=(", device_ids=",)),
        Gives('<["x"=2, "y"=2], device_ids=[3, 1, 0, 2]>'),
    ),
    "misleading indices": Passes(
        "gather indices that contain an `iota`",
        "func.func(sdy-explicit-gather-scatter-batching)",
        """
        func.func @main(%a: tensor<4x6x5xf32>, %j: tensor<4x4x1xi32>) -> tensor<4x4x5xf32> {
          %i = stablehlo.iota dim = 0 : tensor<4xi32>
          %b = stablehlo.broadcast_in_dim %i, dims = [1] : (tensor<4xi32>) -> tensor<4x4x1xi32>
          %0 = stablehlo.concatenate %b, %j, dim = 2
              : (tensor<4x4x1xi32>, tensor<4x4x1xi32>) -> tensor<4x4x2xi32>
          %1 = "stablehlo.gather"(%a, %0) {
            dimension_numbers = #stablehlo.gather<offset_dims = [2],
                collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 2>,
            slice_sizes = array<i64: 1, 1, 5>
          } : (tensor<4x6x5xf32>, tensor<4x4x2xi32>) -> tensor<4x4x5xf32>
          return %1 : tensor<4x4x5xf32>
        }""",
        Gives("operand_batching_dims = [0]"),
        Gives("start_index_map = [0, 1]", lacks=("batching_dims",)),
    ),
    "product of rows": Numbers(
        "a `stablehlo.reduce` or `stablehlo.scatter` by a reduction other than a sum",
        reduce_rows("multiply", 1),
    ),
    "and of rows": Numbers(
        "a `stablehlo.reduce` or `stablehlo.scatter` by a reduction other than a sum",
        reduce_rows("and", -1),
    ),
    "initial value of a sum": Numbers(
        "an initial value other than zero of a sum", reduce_rows("add", 3)
    ),
    "identity of unsigned maximum": Numbers(
        "the identities of `stablehlo.scatter`", scatter_constants("maximum", "ui32", "0")
    ),
    "identity of float maximum": Numbers(
        "the identities of `stablehlo.scatter`", scatter_constants("maximum", "f32", "0xFF800000")
    ),
    "scatter without an index": Numbers(
        "a `stablehlo.scatter` along a sharded dimension without an index",
        f"""{PRELUDE}
        func.func @main(%a: !t {{sdy.sharding = #rows}}, %u: tensor<4x8xf32>)
            -> (!t {{sdy.sharding = #rows}}) {{
          %i = stablehlo.constant dense<0> : tensor<4x1xi64>
          %0 = "stablehlo.scatter"(%a, %i, %u) ({{ ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %r = stablehlo.add %p, %q : tensor<f32>
            stablehlo.return %r : tensor<f32>
          }}) {{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
              inserted_window_dims = [0], scatter_dims_to_operand_dims = [1],
              index_vector_dim = 1>}} : (!t, tensor<4x1xi64>, tensor<4x8xf32>) -> !t
          return %0 : !t
        }}""",
        "sharding operand dimension 0 that is not indexed but in inserted window dimension",
    ),
    "composite": Numbers(
        "a `stablehlo.composite` whose function has sharded values",
        f"""{PRELUDE}
        func.func private @impl(%x: !t) -> !t {{
          %0 = stablehlo.negate %x : !t
          return %0 : !t
        }}
        func.func @main(%x: !t {{sdy.sharding = #rows}}) -> (!t {{sdy.sharding = #rows}}) {{
          %0 = stablehlo.composite "my.op" %x {{decomposition = @impl}} : (!t) -> !t
          return %0 : !t
        }}""",
        "but decomposition has type",
    ),
    "batch statistics": Numbers(
        "`stablehlo.batch_norm_training` and `batch_norm_grad` of a sharded batch",
        f"""{PRELUDE}
        func.func @main(%x: !t {{sdy.sharding = #rows}}, %s: tensor<8xf32>) -> tensor<8xf32> {{
          %0:3 = "stablehlo.batch_norm_training"(%x, %s, %s) <{{
              epsilon = 0.001 : f32, feature_index = 1 : i64}}>
              : (!t, tensor<8xf32>, tensor<8xf32>) -> (!t, tensor<8xf32>, tensor<8xf32>)
          return %0#1 : tensor<8xf32>
        }}""",
        "'stablehlo.batch_norm_training' op inferred type(s)",
    ),
    "top_k of shards": Numbers(
        "`chlo.top_k` along a sharded dimension",
        f"""{PRELUDE}
        func.func @main(%x: !t {{sdy.sharding = #columns}}) -> tensor<8x2xf32> {{
          %0:2 = chlo.top_k(%x, k=2) : !t -> (tensor<8x2xf32>, tensor<8x2xi32>)
          return %0#0 : tensor<8x2xf32>
        }}""",
        "devices 0 and 2 should both hold",
    ),
    "size of a dimension": Numbers(
        "operations with sizes as operands",
        f"""{PRELUDE}
        func.func @main(%x: !t {{sdy.sharding = #rows}}) -> tensor<i32> {{
          %0 = stablehlo.get_dimension_size %x, dim = 0 : (!t) -> tensor<i32>
          return %0 : tensor<i32>
        }}""",
    ),
    "dynamic broadcast": Numbers(
        "operations with sizes as operands",
        f"""{PRELUDE}
        func.func @main(%x: !t {{sdy.sharding = #rows}}) -> (!t {{sdy.sharding = #rows}}) {{
          %n = stablehlo.constant dense<8> : tensor<2xi64>
          %0 = stablehlo.dynamic_broadcast_in_dim %x, %n, dims = [0, 1]
              : (!t, tensor<2xi64>) -> !t
          return %0 : !t
        }}""",
        "output shape [8, 8] is incompatible with return type",
    ),
    "product of padded shards": Numbers(
        "padding in the contracting dimension of a product",
        f"""{PRELUDE}
        func.func @main(%x: tensor<7xi32>) -> tensor<i32> {{
          %one = stablehlo.constant dense<1> : tensor<i32>
          %five = stablehlo.constant dense<5> : tensor<7xi32>
          %1 = stablehlo.subtract %x, %five {{sdy.sharding = #by_vector}} : tensor<7xi32>
          %0 = stablehlo.reduce(%1 init: %one) applies stablehlo.multiply across dimensions = [0]
              : (tensor<7xi32>, tensor<i32>) -> tensor<i32>
          return %0 : tensor<i32>
        }}""",
    ),
    "padding of a spatial dimension": Passes(
        "a `stablehlo.convolution` along a padded spatial dimension",
        "sdy-pad-for-divisibility",
        f"""{PRELUDE}!u = tensor<4x7x5xf32>
        #middle = #sdy.sharding<@m, [{{}}, {{"x"}}, {{}}]>
        func.func @main(%x: !u, %y: tensor<1x5x6xf32>) -> tensor<4x7x6xf32> {{
          %0 = sdy.all_slice [{{}}, {{"x"}}, {{}}] %x out_sharding=#middle : !u
          %1 = stablehlo.convolution(%0, %y) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
              window = {{pad = [[0, 0]]}} {{batch_group_count = 1 : i64,
              feature_group_count = 1 : i64,
              sdy.sharding = #sdy.sharding_per_value<[<@m, [{{}}, {{"x"}}, {{}}]>]>}}
              : (!u, tensor<1x5x6xf32>) -> tensor<4x7x6xf32>
          %2 = sdy.all_gather [{{}}, {{"x"}}, {{}}] %1 out_sharding=<@m, [{{}}, {{}}, {{}}]>
              : tensor<4x7x6xf32>
          return %2 : tensor<4x7x6xf32>
        }}""",
        Gives("(tensor<4x8x5xf32>, tensor<1x5x6xf32>) -> tensor<4x8x6xf32>"),
        Gives("(tensor<4x7x5xf32>, tensor<1x5x6xf32>) -> tensor<4x7x6xf32>"),
    ),
    "unused zero": Passes(
        "products of padded tensors whose padding may not be zero",
        "sdy-pad-for-divisibility",
        f"""{PRELUDE}!u = tensor<7x8xf32>
        func.func @main(%x: !u, %y: !t) -> !u {{
          %0 = sdy.all_slice [{{"x"}}, {{}}] %x out_sharding=#rows : !u
          %1 = stablehlo.exponential %0 {{sdy.sharding = #by_rows}} : !u
          %2 = stablehlo.dot_general %1, %y, contracting_dims = [1] x [0]
              {{sdy.sharding = #by_rows}} : (!u, !t) -> !u
          %3 = sdy.all_gather [{{"x"}}, {{}}] %2 out_sharding=#whole : !u
          return %3 : !u
        }}""",
        Gives("%cst_0 = stablehlo.constant"),
        Gives(lacks=("%cst_0",)),
    ),
    "padding between collectives": Passes(
        "a padded dimension that a collective shards by more or fewer axes",
        "sdy-pad-for-divisibility",
        f"""{PRELUDE}!u = tensor<5xf32>
        func.func @main(%x: !u) -> !u {{
          %0 = sdy.all_slice [{{"x"}}] %x out_sharding=<@m, [{{"x"}}]> : !u
          %1 = sdy.all_slice [{{"y"}}] %0 out_sharding=<@m, [{{"x", "y"}}]> : !u
          %2 = sdy.all_gather [{{"x", "y"}}] %1 out_sharding=<@m, [{{}}]> : !u
          return %2 : !u
        }}""",
        # The two halves of 6 are padded to 8 as a whole: elements 3 and 4 move to other devices.
        Gives("stablehlo.pad %1, %cst_0, low = [0], high = [2]"),
        Gives('sdy.all_slice [{"x", "y"}] %4'),
        before=Refuses("Can't add pass"),
    ),
    "slice with a stride": Numbers(
        "halo exchange of a `stablehlo.slice` with strides",
        f"""{PRELUDE}
        func.func @main(%x: tensor<8xf32>) -> tensor<4xf32> {{
          %0 = stablehlo.negate %x {{sdy.sharding = #by_vector}} : tensor<8xf32>
          %1 = stablehlo.slice %0 [0:8:2] {{sdy.sharding = #by_vector}}
              : (tensor<8xf32>) -> tensor<4xf32>
          return %1 : tensor<4xf32>
        }}""",
    ),
    "divisor of integers": Passes(
        "padding in the contracting dimension of a product",
        "sdy-pad-for-divisibility",
        f"""{PRELUDE}!u = tensor<7xi32>
        func.func @main(%x: !u) -> !u {{
          %0 = sdy.all_slice [{{"x"}}] %x out_sharding=<@m, [{{"x"}}]> : !u
          %1 = stablehlo.divide %0, %0 {{sdy.sharding = #by_vector}} : !u
          %2 = sdy.all_gather [{{"x"}}] %1 out_sharding=<@m, [{{}}]> : !u
          return %2 : !u
        }}""",
        Gives("stablehlo.divide %1, %1"),
        Gives("stablehlo.select", "stablehlo.divide %1, %6"),
    ),
    "origins of inputs": Passes(
        "origins recorded by `sdy-apply-sharding-constraints`",
        "sdy-add-data-flow-edges,sdy-apply-sharding-constraints{debug-sharding-origins=true}",
        f"""{PRELUDE}
        func.func @main(%a: !t) -> !t {{
          %0 = stablehlo.abs %a : !t
          %1 = sdy.manual_computation(%0) in_shardings=[<@m, [{{"x"}}, {{}}]>]
              out_shardings=[<@m, [{{"x"}}, {{}}]>] manual_axes={{"x"}} (%b: tensor<4x8xf32>) {{
            sdy.return %b : tensor<4x8xf32>
          }} : (!t) -> !t
          return %1 : !t
        }}""",
        Gives("mc_0_output: 0", lacks=("mc_0_input: 0",)),
        Gives("mc_0_output: 0", "mc_0_input: 0"),
    ),
    "permute in a manual computation": Passes(
        "`sdy.collective_permute` inside a manual computation",
        LOCAL,
        """
        sdy.mesh @m = <["z"=2, "m"=2, "y"=2]>
        #y = #sdy.sharding<@m, [{"m"}, {"y"}]>
        #z = #sdy.sharding<@m, [{"m"}, {"z"}]>
        !t = tensor<8x8xf32>
        func.func @main(%a: !t {sdy.sharding = #y}) -> (!t {sdy.sharding = #z}) {
          %0 = sdy.manual_computation(%a) in_shardings=[<@m, [{"m"}, {"y"}]>]
              out_shardings=[<@m, [{"m"}, {"z"}]>] manual_axes={"m"} (%b: tensor<4x8xf32>) {
            %1 = sdy.collective_permute %b out_sharding=<@m, [{}, {"z"}]> : tensor<4x8xf32>
            sdy.return %1 : tensor<4x8xf32>
          } : (!t) -> !t
          return %0 : !t
        }""",
        # Device 2 is the second one along "m", devices 1 and 4 are the first ones.
        Gives("[2, 1]", "[4, 2]"),
        Gives("[2, 2]", "[4, 1]"),
    ),
    "combined reduce-scatter": Passes(
        "the combined `stablehlo.reduce_scatter` of several dimensions",
        f"{LOCAL}{{combine-multi-dimension-reduce-scatter=true}}",
        f"""{PRELUDE}!u = tensor<8x6x4xf32>
        #partial = #sdy.sharding<@m, [{{}}, {{}}, {{}}], unreduced={{"x", "y"}}>
        func.func @main(%a: !u {{sdy.sharding = #partial}}) -> !u {{
          %0 = sdy.reduce_scatter [{{"x"}}, {{}}, {{"y"}}] %a
              out_sharding=<@m, [{{"x"}}, {{}}, {{"y"}}]> : !u
          %1 = sdy.all_gather [{{"x"}}, {{}}, {{"y"}}] %0 out_sharding=<@m, [{{}}, {{}}, {{}}]> : !u
          return %1 : !u
        }}""",
        Refuses("dimension not divisible by scattering factor"),
        Gives("(tensor<4x4x6x2xf32>) -> tensor<1x4x6x2xf32>"),
    ),
    "constants in other blocks": Passes(
        "`sdy-constant-or-scalar-merger` on constants in blocks",
        "func.func(sdy-constant-or-scalar-merger)",
        """
        func.func @main(%a: i1) -> tensor<8xf32> {
          cf.cond_br %a, ^bb1, ^bb2
        ^bb1:
          %0 = sdy.constant dense<1.0> : tensor<8xf32>
          return %0 : tensor<8xf32>
        ^bb2:
          %1 = sdy.constant dense<1.0> : tensor<8xf32>
          return %1 : tensor<8xf32>
        }""",
        Refuses("operand #0 does not dominate this use"),
        Gives("return %0", "return %1"),
    ),
    "calls in nested modules": Passes(
        "calls in nested modules",
        "sdy-propagate-sharding-from-func-to-call",
        """
        module @inner {
          func.func private @g(%x: tensor<8xf32>) -> tensor<8xf32> {
            return %x : tensor<8xf32>
          }
          func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
            %0 = func.call @g(%x) : (tensor<8xf32>) -> tensor<8xf32>
            return %0 : tensor<8xf32>
          }
        }
        func.func @main() { return }""",
        Aborts(),
        Gives("call @g(%arg0)"),
    ),
    "reshard behind a transpose and a reshape": Passes(
        "`canonicalize` of a reshard after a transpose and then a reshape",
        "canonicalize",
        """
        sdy.mesh @m = <["v"=2]>
        func.func @f(%a: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<32xf32>) {
          %0 = sdy.reshard %a <@m, [{"v"}, {}]> : tensor<4x8xf32>
          %1 = stablehlo.transpose %a, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
          %2 = stablehlo.reshape %1 : (tensor<8x4xf32>) -> tensor<32xf32>
          %3 = sdy.reshard %2 <@m, [{"v"}]> : tensor<32xf32>
          func.return %0, %3 : tensor<4x8xf32>, tensor<32xf32>
        }""",
        Gives("stablehlo.transpose %0", "return %0, %2"),
        Gives("stablehlo.transpose %arg0", 'sdy.reshard %2 <@m, [{"v"}]>'),
    ),
    "shards smaller than an element": Passes(
        "equivalence across reshapes of dimensions smaller than their number of shards",
        "canonicalize",
        """
        sdy.mesh @m = <["u"=8, "v"=2]>
        func.func @f(%a: tensor<4x2xf32>) -> (tensor<4x2xf32>, tensor<8xf32>) {
          %0 = sdy.reshard %a <@m, [{}, {"v", "u"}]> : tensor<4x2xf32>
          %1 = stablehlo.reshape %a : (tensor<4x2xf32>) -> tensor<8xf32>
          %2 = sdy.reshard %1 <@m, [{"v", "u"}]> : tensor<8xf32>
          func.return %0, %2 : tensor<4x2xf32>, tensor<8xf32>
        }""",
        Gives("stablehlo.reshape %0", lacks=("%2 = sdy.reshard",)),
        Gives("stablehlo.reshape %arg0", "%2 = sdy.reshard"),
    ),
    "all-reduces twice": Passes(
        "`sdy-insert-explicit-reshards` on a program that already contains its all-reduces",
        EXPLICIT,
        f"""{PRELUDE}
        func.func @main(%a: !t {{sdy.sharding = #columns}}, %b: !t {{sdy.sharding = #rows}})
            -> !t {{
        {PRODUCT.replace("SHARDING", "sdy.sharding = #by_whole")}
          %1 = sdy.all_reduce {{"x"}} %0 out_sharding=<@m, [{{}}, {{}}]> : !t
          return %1 : !t
        }}""",
        Gives('sdy.all_reduce {"x"} %1'),
        Gives('sdy.all_reduce {"x"} %0', lacks=('sdy.all_reduce {"x"} %1',)),
    ),
    "unreduced but complete": Numbers(
        "a result declared unreduced along axes along which it is complete",
        f"""{PRELUDE}#u = #sdy.sharding_per_value<[<@m, [{{}}, {{}}], unreduced={{"x"}}>]>
        func.func @main(%a: !t, %b: !t) -> !t {{
        {PRODUCT.replace("SHARDING", "sdy.sharding = #u")}
          %1 = sdy.reshard %0 <@m, [{{}}, {{}}]> : !t
          return %1 : !t
        }}""",
    ),
    "per-instruction partial results": Passes(
        "`sdy-per-instruction-partitioning` of partial results",
        "sdy-per-instruction-partitioning",
        f"""{PRELUDE}
        func.func @main(%a: !t {{sdy.sharding = #columns}}, %b: !t {{sdy.sharding = #rows}})
            -> !t {{
        {PRODUCT.replace("SHARDING", "sdy.sharding = #by_whole")}
          %1 = sdy.all_reduce {{"x"}} %0 out_sharding=<@m, [{{}}, {{}}]> : !t
          return %1 : !t
        }}""",
        Gives("stablehlo.all_reduce", "sdy.all_reduce"),
        Gives('unreduced={"x"}', "sdy.all_reduce", lacks=("stablehlo.all_reduce",)),
        before=Refuses("does not refer to a registered pass"),
    ),
    "rgv3 with device ids": Passes(
        "`enable-rgv3` on a mesh with device ids",
        f"{LOCAL}{{enable-rgv3=true}}",
        f"""{PRELUDE}sdy.mesh @s = <["x"=2, "y"=2], device_ids=[3, 1, 0, 2]>
        #s = #sdy.sharding<@s, [{{}}, {{"x"}}]>
        func.func @main(%a: !t {{sdy.sharding = #s}}) -> !t {{
          %1 = sdy.all_gather [{{}}, {{"x"}}] %a out_sharding=<@s, [{{}}, {{}}]> : !t
          return %1 : !t
        }}""",
        Gives("replica_group_mesh_axes<mesh = @s"),
        Gives("dense<[[3, 0], [1, 2]]>", lacks=("replica_group_mesh_axes",)),
    ),
    "closed dimension with a priority": Passes(
        "`sdy-close-shardings` on an open dimension with a priority",
        "sdy-close-shardings",
        f"""{PRELUDE}#p = #sdy.sharding<@m, [{{?}}p1, {{}}]>
        func.func @main(%x: !t {{sdy.sharding = #p}}) {{
          return
        }}""",
        Refuses("dim 0 is empty and closed but has a priority"),
        Gives("[{}, {}]"),
    ),
    "unflatten different functions": Passes(
        "`sdy-unflatten-call-graph` on functions with one original name",
        "sdy-unflatten-call-graph",
        """!t = tensor<8x8xf32>
        func.func @main(%x: !t) -> !t {
          %0 = call @f(%x) : (!t) -> !t
          %1 = call @f_0(%0) : (!t) -> !t
          return %1 : !t
        }
        func.func private @f(%x: !t) -> !t attributes {sdy.original_func_name = "f"} {
          %0 = stablehlo.tanh %x : !t
          return %0 : !t
        }
        func.func private @f_0(%x: !t) -> !t attributes {sdy.original_func_name = "f"} {
          %0 = stablehlo.negate %x : !t
          return %0 : !t
        }""",
        Gives("%1 = call @f(%0)"),
        Gives("%1 = call @f_0(%0)"),
    ),
    "unreduced by maximum": Passes(
        "an operand or a result of a manual computation that is unreduced by maximum",
        "sdy-add-data-flow-edges,sdy-basic-propagate,func.func(sdy-sink-data-flow-edges)",
        f"""{PRELUDE}#y = #sdy.sharding_per_value<[<@m, [{{}}, {{"y"}}]>]>
        func.func @main(%x: !t) -> !t {{
          %0 = sdy.manual_computation(%x) in_shardings=[<@m, [{{?}}, {{?}}], unreduced=max{{"x"}}>]
              out_shardings=[<@m, [{{?}}, {{?}}], unreduced=max{{"x"}}>] manual_axes={{}}
              (%i: !t) {{
            %1 = stablehlo.negate %i {{sdy.sharding = #y}} : !t
            sdy.return %1 : !t
          }} : (!t) -> !t
          %2 = stablehlo.negate %0 {{sdy.sharding = #y}} : !t
          return %2 : !t
        }}""",
        Gives('in_shardings=[<@m, [{?}, {"y", ?}], unreduced={"x"}>]'),
        Gives(
            'in_shardings=[<@m, [{?}, {"y", ?}], unreduced=max{"x"}>]',
            'out_shardings=[<@m, [{?}, {"y", ?}], unreduced=max{"x"}>]',
        ),
        before=Refuses("failed to parse Sdy_TensorSharding parameter 'unreduced_axes'"),
    ),
    "other order of devices": Passes(
        "an operation on meshes with other device ids, in `sdy-convert-global-to-local`",
        "sdy-convert-global-to-local",
        """
        sdy.mesh @m = <["x"=4]>
        sdy.mesh @n = <["x"=4], device_ids=[3, 2, 1, 0]>
        func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>},
                        %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@n, [{"x"}, {}]>})
            -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@n, [{"x"}, {}]>}) {
          %0 = stablehlo.add %a, %b
              {sdy.sharding = #sdy.sharding_per_value<[<@n, [{"x"}, {}]>]>} : tensor<8x8xf32>
          return %0 : tensor<8x8xf32>
        }""",
        Gives("stablehlo.add %arg0, %arg1", ": tensor<2x8xf32>"),
        Refuses("incompatible shardings"),
    ),
    "meshes of nested modules": Passes(
        "`sdy-inline-meshes` with nested modules",
        "sdy-inline-meshes",
        """
        #rows = #sdy.sharding<@m, [{"x"}, {}]>
        sdy.mesh @m = <["x"=2]>
        module @inner {
          sdy.mesh @m = <["x"=4]>
          func.func @f(%x: tensor<8x8xf32> {sdy.sharding = #rows}) { return }
        }
        func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #rows}) { return }""",
        Gives('@f(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<mesh<["x"=2]>'),
        Gives('@f(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<mesh<["x"=4]>'),
    ),
    "reshards to unreduced axes": Passes(
        "`canonicalize` of two reshards of one value",
        "canonicalize",
        f"""{PRELUDE}
        func.func @main(%x: !t) -> (!t, !t) {{
          %0 = sdy.reshard %x <@m, [{{}}, {{}}], unreduced={{"x"}}> : !t
          %1 = sdy.reshard %x <@m, [{{}}, {{}}], unreduced={{"y"}}> : !t
          return %0, %1 : !t, !t
        }}""",
        Gives("return %0, %0 :"),
        Gives("return %0, %1 :"),
    ),
    "random bits": Numbers(
        "`stablehlo.rng_bit_generator`",
        f"""{PRELUDE}
        func.func @main(%s: tensor<2xui64>) -> (tensor<8x8xui32> {{sdy.sharding = #rows}}) {{
          %0:2 = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY
              : (tensor<2xui64>) -> (tensor<2xui64>, tensor<8x8xui32>)
          return %0#1 : tensor<8x8xui32>
        }}""",
    ),
}

ELSEWHERE = {
    "equal constants with different shardings": "test_constants",
    "incompatible shardings of the operands and results of an operation": (
        "test_shardy_partition.py::test_bytes"
    ),
    "`stablehlo.dynamic_slice` of a part": "test_differences_traffic.py::test_collectives",
    "`stablehlo.dynamic_update_slice` along": "test_differences_traffic.py::test_collectives",
    "`stablehlo.custom_call` of decompositions": "test_differences_traffic.py::test_collectives",
    "halo exchange in general": "test_differences_traffic.py::test_halos",
    "`stablehlo.rng` of shards": "test_random_numbers",
    "a reshape whose input and output shards hold different data": (
        "test_shardy_partition.py::test_numbers_of_shardy"
    ),
    "a value of a single device": "test_negative_zeros",
    "an `sdy.all_reduce` or `sdy.reduce_scatter` of complete values": (
        "test_small_programs.py::test_sum_of_complete_values"
    ),
    "an operation on several meshes of the same devices": (
        "test_small_programs.py::test_shardy_on_two_meshes"
    ),
}
"""The rows that other tests hold: those of this folder, or of `test_differences.py`."""
