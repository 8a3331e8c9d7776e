//===- SdyOps.td - Operations of the sdy dialect -----------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In descriptions `}\]` is written for the two brackets alone, which would end the text;
// tools/gen_dialect.py takes the backslash out.
//
//===----------------------------------------------------------------------===//

#ifndef SDY_OPS
#define SDY_OPS

include "SdyAttrs.td"
include "SdyDialect.td"
include "SdyEnums.td"
include "SdyOpInterfaces.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/CommonTypeConstraints.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Sdy_Op<string mnemonic, list<Trait> traits = []> : Op<Sdy_Dialect, mnemonic, traits>;

//===----------------------------------------------------------------------===//
// Annotations
//===----------------------------------------------------------------------===//

def Sdy_MeshOp : Sdy_Op<"mesh", [HasParent<"::mlir::ModuleOp">, Symbol]> {
  let summary = "Named mesh";
  let description = [{
    Defines a mesh as a symbol, to which the shardings of the module refer. The operation must be
    directly in a module.

    ```mlir
    sdy.mesh @mesh = <["x"=2, "y"=4]>
    sdy.mesh @device_3 = <[], device_ids=[3]>
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Sdy_Mesh:$mesh);
  let assemblyFormat = "$sym_name `=` $mesh attr-dict";
}

def Sdy_ShardingConstraintOp : Sdy_Op<"sharding_constraint", [
    SameOperandsAndResultType, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Constrains a value to a sharding";
  let description = [{
    Fixes the sharding of an intermediate value.

    - If the result has no uses, the constraint applies to the input.
    - If the result has uses, the constraint applies to these uses; other uses of the input may have
      a different sharding.

    Propagation may further shard open dimensions.

    ```mlir
    %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}, {?}\]> : tensor<8x16xf32>
    ```
  }];
  let arguments = (ins AnyType:$input, Sdy_TensorSharding:$sharding);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$input $sharding attr-dict `:` type($result)";
}

def Sdy_ReshardOp : Sdy_Op<"reshard", [
    Pure, SameOperandsAndResultType, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Changes the sharding of a value";
  let description = [{
    The result is the input with the given sharding, which may differ from the sharding of the
    input.

    Users write sharding constraints, which take part in propagation. After propagation, constraints
    become reshards, and further reshards are inserted where an operation requires other shardings
    of its operands. The partitioner converts each reshard to collectives.

    ```mlir
    %1 = sdy.reshard %0 <@mesh, [{}, {"y"}\]> : tensor<8x16xf32>
    ```
  }];
  let arguments = (ins AnyType:$input, Sdy_TensorSharding:$sharding);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$input $sharding attr-dict `:` type($result)";
  let hasCanonicalizer = 1;
}

def Sdy_ShardingGroupOp : Sdy_Op<"sharding_group"> {
  let summary = "Adds a value to a sharding group";
  let description = [{
    All values of a group have the same sharding: when propagation shards one of them, it shards the
    others in the same way. `group_id` identifies the group. The operation has no result.

    ```mlir
    sdy.sharding_group %a group_id=0 : tensor<8x16xf32>
    sdy.sharding_group %b group_id=0 : tensor<8x16xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, I64Attr:$group_id);
  let assemblyFormat = "$input `group_id` `` `=` `` $group_id attr-dict `:` type($input)";
}

def Sdy_PropagationBarrierOp : Sdy_Op<"propagation_barrier", [Pure, SameOperandsAndResultType]> {
  let summary = "Restricts propagation to one direction";
  let description = [{
    The result is the input. Shardings propagate through the operation only in the allowed
    direction:

    - `FORWARD`: from the operand to the result;
    - `BACKWARD`: from the result to the operand;
    - `NONE`: not at all.

    `BOTH` is invalid, since the barrier would have no effect.

    ```mlir
    %1 = sdy.propagation_barrier %0 allowed_direction=FORWARD : tensor<8x16xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, Sdy_PropagationDirection:$allowed_direction);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $input `allowed_direction` `` `=` `` $allowed_direction attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

def Sdy_ReturnOp : Sdy_Op<"return", [Pure, ReturnLike, Terminator]> {
  let summary = "Terminates a region of an sdy operation";
  let description = [{
    The operands are the values that the region returns.

    ```mlir
    sdy.return %0, %1 : tensor<8x16xf32>, tensor<4xi32>
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$results);
  let assemblyFormat = "attr-dict ($results^ `:` type($results))?";
}

def Sdy_ManualComputationOp : Sdy_Op<"manual_computation", [
    IsolatedFromAbove, RecursiveMemoryEffects, SingleBlockImplicitTerminator<"ReturnOp">,
    DeclareOpInterfaceMethods<Sdy_ShardableDataFlowOpInterface>,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Computation that is local along the manual axes";
  let description = [{
    Along the manual axes, the body is a local program with explicit collectives; along the other
    axes, the *free* axes, it is global. The types inside are local: a dimension is divided by the
    manual axes that split it. Shardings propagate through the body along free axes.

    ```mlir
    %1 = sdy.manual_computation(%0)
        in_shardings=[<@mesh, [{"x"}, {?}\]>] out_shardings=[<@mesh, [{"x"}, {?}\]>]
        manual_axes={"x"} (%arg0: tensor<4x16xf32>) {
      %2 = stablehlo.negate %arg0 : tensor<4x16xf32>
      sdy.return %2 : tensor<4x16xf32>
    } : (tensor<8x16xf32>) -> tensor<8x16xf32>
    ```

    **Constraints:**

    - The elements of `in_shardings` and `out_shardings` satisfy the constraints of
      `TensorShardingAttr` for the operands and results.
    - There are as many block arguments as operands, and as many returned values as results.
    - In each dimension manual axes come before free ones.
    - Manual axes split a dimension evenly.
    - Global and local types agree: each dimension divided by its manual axes.
    - With manual axes, all shardings have a common mesh, of which these are axes.
    - No manual axis is one of an enclosing manual computation.
  }];
  let arguments = (ins
    Variadic<AnyType>:$tensors,
    Sdy_TensorShardingPerValue:$in_shardings,
    Sdy_TensorShardingPerValue:$out_shardings,
    Sdy_ManualAxes:$manual_axes
  );
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `` `(` operands `)`
    `in_shardings` `` `=` `` custom<StrippedTensorShardingPerValueAttr>($in_shardings)
    `out_shardings` `` `=` `` custom<StrippedTensorShardingPerValueAttr>($out_shardings)
    `manual_axes` `` `=` `` $manual_axes
    custom<SingleBlockRegionNoBlockId>($body)
    attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def Sdy_NamedComputationOp : Sdy_Op<"named_computation", [
    IsolatedFromAbove, RecursiveMemoryEffects, RecursivelySpeculatable,
    SingleBlockImplicitTerminator<"ReturnOp">,
    DeclareOpInterfaceMethods<InferTypeOpInterface>,
    DeclareOpInterfaceMethods<Sdy_ShardableDataFlowOpInterface>,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Computation with a name";
  let description = [{
    Groups operations under a name. Shardings propagate into and out of the body as if it were
    inlined.

    ```mlir
    %1 = sdy.named_computation<"foo">(%0) (%arg0: tensor<8x16xf32>) {
      sdy.return %arg0 : tensor<8x16xf32>
    } : (tensor<8x16xf32>) -> tensor<8x16xf32>
    ```

    **Constraints:**

    - The types of operands and block arguments, and of returned values and results, are equal.
    - `in_shardings` and `out_shardings`, if given, satisfy the constraints of
      `TensorShardingAttr` for the operands and results.
  }];
  let arguments = (ins
    StrAttr:$name,
    Variadic<AnyType>:$operands,
    OptionalAttr<Sdy_TensorShardingPerValue>:$in_shardings,
    OptionalAttr<Sdy_TensorShardingPerValue>:$out_shardings
  );
  let results = (outs Variadic<AnyType>);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `` `<` $name `>` `` `(` $operands `)`
    (`in_shardings` `` `=` `` custom<StrippedTensorShardingPerValueAttr>($in_shardings)^)?
    (`out_shardings` `` `=` `` custom<StrippedTensorShardingPerValueAttr>($out_shardings)^)?
    custom<SingleBlockRegionNoBlockId>($body)
    attr-dict `:` functional-type($operands, results)
  }];
}

//===----------------------------------------------------------------------===//
// Operations that passes insert
//===----------------------------------------------------------------------===//

def Sdy_ConstantOp : Sdy_Op<"constant", [Pure, FirstAttrDerivedResultType]> {
  let summary = "Constant that is not folded";
  let description = [{
    A constant tensor. Unlike `stablehlo.constant`, it is not constant-like: equal constants are
    not merged, so that each use of a constant can have its own sharding.

    ```mlir
    %0 = sdy.constant dense<[[0.0, 1.0], [2.0, 3.0]]> : tensor<2x2xf32>
    ```
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs AnyStaticShapeTensor:$output);
  // The type of the result is printed only as that of the value. They differ for quantized
  // results, which are written in the generic form.
  let assemblyFormat = "attr-dict custom<ConstantValue>($value, type($output))";
}

class Sdy_DataFlowEdgeOpBase<string mnemonic> : Sdy_Op<mnemonic, [
    SameOperandsAndResultType, DeclareOpInterfaceMethods<SymbolUserOpInterface>]>;

def Sdy_DataFlowEdgeOp : Sdy_DataFlowEdgeOpBase<"data_flow_edge"> {
  let summary = "Data-flow edge of an operation with regions";
  let description = [{
    A data-flow edge of an operation X connects sources, which are operands of X or of terminators of
    blocks of X, to targets, which are results of X or arguments of blocks of X. All of them must
    have the same sharding. For example, in

    ```
    y_0, ..., y_n = while (x_0, ..., x_n)
                    ((pred_arg_0, ..., pred_arg_n) { ... })
                    ((body_arg_0, ..., body_arg_n) {
                      ...
                      return return_value_0, ..., return_value_n
                    })
    ```

    the i-th edge has the sources `x_i` and `return_value_i`, and the targets `y_i`, `pred_arg_i`
    and `body_arg_i`.

    The input is the owner of the edge: one of its targets, preferably a result. It has no other
    use: all uses of the owner go through the edge. The optional sharding is that of all targets;
    propagation updates it instead of the shardings of the targets. Each edge is therefore
    propagated separately from the other edges of the operation.

    Shardings propagate between sources and targets as through an operation whose operands are
    the sources and whose results are the targets.

    The input must not be defined by an sdy operation that has no data-flow edges.

    ```mlir
    %1 = sdy.data_flow_edge %0 sharding=<@mesh, [{"x"}, {?}\]> : tensor<8x16xf32>
    ```
  }];
  let arguments = (ins AnyShaped:$input, OptionalAttr<Sdy_TensorSharding>:$sharding);
  let results = (outs AnyShaped:$result);
  let assemblyFormat = "$input (`sharding` `` `=` `` $sharding^)? attr-dict `:` type($result)";
}

def Sdy_FuncDataFlowEdgeOp : Sdy_DataFlowEdgeOpBase<"func_data_flow_edge"> {
  let summary = "Data-flow edge between a function and its calls";
  let description = [{
    Connects the operands of all calls of a function to one of its arguments, or a value that a
    function returns to a result of a call. The input is the argument or the call result, and has no
    other use. The sharding of the edge is that of the result of this operation.

    ```mlir
    %1 = sdy.func_data_flow_edge %arg0 : tensor<8x16xf32>
    ```
  }];
  let arguments = (ins AnyShaped:$input);
  let results = (outs AnyShaped:$result);
  let assemblyFormat = "$input attr-dict `:` type($result)";
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

class Sdy_CollectiveOp<string mnemonic> : Sdy_Op<mnemonic, [
    SameOperandsAndResultType, Sdy_CollectiveOpInterface,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let results = (outs AnyShaped:$result);
}

def Sdy_AllGatherOp : Sdy_CollectiveOp<"all_gather"> {
  let summary = "All-gather along axes";
  let description = [{
    Gathers the shards of a tensor along axes. The gathered axes of each dimension must be a suffix
    of the axes that shard it; removing them from the sharding of the operand gives the sharding of
    the result, which must equal `out_sharding`.

    ```mlir
    // %0 is sharded as <@mesh, [{"a", "b", "c"}, {}, {"d"}\]>
    %1 = sdy.all_gather [{"b", "c"}, {}, {"d"}\] %0 out_sharding=<@mesh, [{"a"}, {}, {}\]> : tensor<8x8x8xf32>
    ```

    **Constraints:**

    - Those of `CollectiveOpInterface`.
    - The elements of `gathering_axes` satisfy the constraints of `AxisRefListAttr`.
    - Removing `gathering_axes` from the operand's sharding gives `out_sharding`.
  }];
  let arguments = (ins
    AnyShaped:$tensor, Sdy_ListOfAxisRefLists:$gathering_axes, Sdy_TensorSharding:$out_sharding);
  let assemblyFormat = [{
    $gathering_axes $tensor `out_sharding` `` `=` `` $out_sharding attr-dict `:` type($result)
  }];
  let hasCanonicalizer = 1;
}

def Sdy_AllSliceOp : Sdy_CollectiveOp<"all_slice"> {
  let summary = "Slices a tensor along axes, without communication";
  let description = [{
    Each device keeps its slice along the given axes: the inverse of an all-gather. Appending the
    axes of each dimension to the sharding of the operand gives the sharding of the result, which
    must equal `out_sharding`.

    ```mlir
    // %0 is sharded as <@mesh, [{"a"}, {}, {}\]>
    %1 = sdy.all_slice [{"b", "c"}, {}, {"d"}\] %0 out_sharding=<@mesh, [{"a", "b", "c"}, {}, {"d"}\]> : tensor<8x8x8xf32>
    ```

    **Constraints:**

    - Those of `CollectiveOpInterface`; the operand may have no sharding.
    - The elements of `slicing_axes` satisfy the constraints of `AxisRefListAttr`.
    - Appending `slicing_axes` to the operand's sharding gives `out_sharding`.
  }];
  let arguments = (ins
    AnyShaped:$tensor, Sdy_ListOfAxisRefLists:$slicing_axes, Sdy_TensorSharding:$out_sharding);
  let assemblyFormat = [{
    $slicing_axes $tensor `out_sharding` `` `=` `` $out_sharding attr-dict `:` type($result)
  }];
  let hasCanonicalizer = 1;
}

def Sdy_AllToAllOp : Sdy_CollectiveOp<"all_to_all"> {
  let summary = "All-to-all that moves axes between dimensions";
  let description = [{
    For each move (axes, source, target), each device splits its shard along the target dimension,
    exchanges the parts with the other devices along the axes, and concatenates the received parts
    along the source dimension. This is equivalent to an all-gather of the source dimension followed
    by a slice of the target dimension: the axes move from the end of the source dimension's
    sharding to the end of the target dimension's.

    ```mlir
    // %0 is sharded as <@mesh, [{"a", "b"}, {"c"}, {}, {}\]>
    %1 = sdy.all_to_all [{"b"}: 0->2, {"c"}: 1->3] %0 out_sharding=<@mesh, [{"a"}, {}, {"b"}, {"c"}\]> : tensor<8x8x4x4xf32>
    ```

    **Constraints:**

    - Those of `CollectiveOpInterface`.
    - There is at least one move.
    - The axes of each satisfy the constraints of `AxisRefListAttr`; no axis occurs in two.
    - The dimensions are in range, no dimension occurs twice among all moves, and the source
      dimensions are ascending.
    - Moving the axes in the operand's sharding gives `out_sharding`.
  }];
  let arguments = (ins
    AnyShaped:$tensor, Sdy_AllToAllParamList:$params, Sdy_TensorSharding:$out_sharding);
  let assemblyFormat = [{
    $params $tensor `out_sharding` `` `=` `` $out_sharding attr-dict `:` type($result)
  }];
  let hasCanonicalizer = 1;
}

def Sdy_CollectivePermuteOp : Sdy_CollectiveOp<"collective_permute"> {
  let summary = "Collective permute that replaces the axes of a sharding";
  let description = [{
    Each device sends its shard to one device. The result can have any sharding that splits each
    dimension into the same number of shards. The permute can therefore reorder axes, move them to
    other dimensions, and replace them by axes along which the operand is replicated.

    ```mlir
    sdy.mesh @mesh = <["a"=2, "b"=2, "c"=4, "d"=2, "e"=2, "f"=2]>
    // %0 is sharded as <@mesh, [{"a", "c"}, {"f"}, {"d", "e"}\]>
    %1 = sdy.collective_permute %0 out_sharding=<@mesh, [{"c":(1)2, "b", "f"}, {"a"}, {"e", "d"}\]> : tensor<8x8x8xf32>
    ```

    **Constraints:**

    - Those of `CollectiveOpInterface`; the meshes may differ.
    - If the meshes differ, they have the same axes and different device ids.
    - Each dimension has as many shards in `out_sharding` as in the operand's sharding.
  }];
  let arguments = (ins AnyShaped:$tensor, Sdy_TensorSharding:$out_sharding);
  let assemblyFormat = "$tensor `out_sharding` `` `=` `` $out_sharding attr-dict `:` type($result)";
  let hasCanonicalizer = 1;
}

def Sdy_AllReduceOp : Sdy_CollectiveOp<"all_reduce"> {
  let summary = "All-reduce along axes";
  let description = [{
    Reduces a tensor along axes. The order of the axes does not affect the result, but may affect
    the order of devices in the replica groups.

    ```mlir
    // %0 is sharded as <@mesh, [{"a"}, {}\], unreduced={"b"}>
    %1 = sdy.all_reduce {"b"} %0 out_sharding=<@mesh, [{"a"}, {}\]> : tensor<8x8xf32>
    %2 = sdy.all_reduce max {"c"} %1 out_sharding=<@mesh, [{"a"}, {}\]> : tensor<8x8xf32>
    ```

    **Constraints:**

    - Those of `CollectiveOpInterface`; the operand may have no sharding.
    - `reduction_axes` satisfies the constraints of `AxisRefListAttr` and is in the order of the
      mesh.
    - Operand and result have equivalent shardings, except for unreduced axes.
    - `reduction_axes` overlaps neither the axes that shard the operand, nor its explicitly
      replicated axes, nor the unreduced axes of `out_sharding`.
    - Unreduced axes that are removed have the kind `reduction_op`; none are added.
  }];
  let arguments = (ins
    AnyShaped:$tensor,
    Sdy_AxisRefList:$reduction_axes,
    Sdy_TensorSharding:$out_sharding,
    DefaultValuedAttr<Sdy_ReductionOp, "::mlir::sdy::ReductionOp::SUM">:$reduction_op
  );
  let assemblyFormat = [{
    ($reduction_op^)? $reduction_axes $tensor
    `out_sharding` `` `=` `` $out_sharding attr-dict `:` type($result)
  }];
  let hasCanonicalizer = 1;
}

def Sdy_ReduceScatterOp : Sdy_CollectiveOp<"reduce_scatter"> {
  let summary = "Reduce-scatter along axes";
  let description = [{
    Reduces a tensor along axes and scatters the result along the same axes: an all-reduce followed
    by an all-slice.

    ```mlir
    // %0 is sharded as <@mesh, [{"a"}, {}, {}\], unreduced={"b", "c", "d"}>
    %1 = sdy.reduce_scatter [{"b", "c"}, {}, {"d"}\] %0 out_sharding=<@mesh, [{"a", "b", "c"}, {}, {"d"}\]> : tensor<8x8x8xf32>
    ```

    **Constraints:**

    - Those of `CollectiveOpInterface`; the operand may have no sharding.
    - The elements of `reduce_scatter_axes` satisfy the constraints of `AxisRefListAttr`.
    - Appending `reduce_scatter_axes` to the operand's sharding gives `out_sharding`.
    - Unreduced axes that are removed have the kind `reduction_op`; none are added.
  }];
  let arguments = (ins
    AnyShaped:$tensor,
    Sdy_ListOfAxisRefLists:$reduce_scatter_axes,
    Sdy_TensorSharding:$out_sharding,
    DefaultValuedAttr<Sdy_ReductionOp, "::mlir::sdy::ReductionOp::SUM">:$reduction_op
  );
  let assemblyFormat = [{
    ($reduction_op^)? $reduce_scatter_axes $tensor
    `out_sharding` `` `=` `` $out_sharding attr-dict `:` type($result)
  }];
  let hasCanonicalizer = 1;
}

def Sdy_ShardedToUnreducedOp : Sdy_CollectiveOp<"sharded_to_unreduced"> {
  let summary = "Converts sharding axes of the operand to unreduced axes of the result";
  let description = [{
    Each device places its shard in a tensor of zeros, so that the sum over the axes is the tensor:

    all-gather(x, axes) = all-reduce(sharded-to-unreduced(x, axes), axes)

    ```mlir
    // %0 is sharded as <@mesh, [{"a", "b", "c"}, {}, {"d"}\], unreduced={"e"}>
    %1 = sdy.sharded_to_unreduced [{"b", "c"}, {}, {"d"}\] %0 out_sharding=<@mesh, [{"a"}, {}, {}\], unreduced={"b", "c", "d", "e"}> : tensor<8x8x8xf32>
    ```

    **Constraints:**

    - Those of `CollectiveOpInterface`.
    - The elements of `axes` satisfy the constraints of `AxisRefListAttr`.
    - The reduction kind of `out_sharding` is that of the operand if that has unreduced axes.
    - Moving `axes` from the dimensions of the operand's sharding to its unreduced axes gives
      `out_sharding`.
  }];
  let arguments = (ins
    AnyShaped:$tensor, Sdy_ListOfAxisRefLists:$axes, Sdy_TensorSharding:$out_sharding);
  let assemblyFormat = [{
    $axes $tensor `out_sharding` `` `=` `` $out_sharding attr-dict `:` type($result)
  }];
}

def Sdy_ReplicatedToUnreducedOp : Sdy_CollectiveOp<"replicated_to_unreduced"> {
  let summary = "Converts replicated axes of the operand to unreduced axes of the result";
  let description = [{
    One device along the axes keeps the tensor, and the others hold the identity of the reduction:

    all-reduce(replicated-to-unreduced(x, axes), axes) = x

    ```mlir
    // %0 is sharded as <@mesh, [{"b"}, {}, {}\], replicated={"c", "d"}, unreduced={"e"}>
    %1 = sdy.replicated_to_unreduced {"a", "c", "f"} %0 out_sharding=<@mesh, [{"b"}, {}, {}\], replicated={"d"}, unreduced={"a", "c", "e", "f"}> : tensor<8x8x8xf32>
    ```

    **Constraints:**

    - Those of `CollectiveOpInterface`.
    - `axes` satisfies the constraints of `AxisRefListAttr`, is in the order of the mesh, and is
      not empty.
    - The reduction kind of `out_sharding` is that of the operand if that has unreduced axes.
    - The dimension shardings of operand and result are equal.
    - The operand is replicated along `axes`, explicitly or implicitly.
    - The unreduced axes of the operand and `axes` together are those of `out_sharding`.
  }];
  let arguments = (ins
    AnyShaped:$tensor, Sdy_AxisRefList:$axes, Sdy_TensorSharding:$out_sharding);
  let assemblyFormat = [{
    $axes $tensor `out_sharding` `` `=` `` $out_sharding attr-dict `:` type($result)
  }];
}

#endif // SDY_OPS
