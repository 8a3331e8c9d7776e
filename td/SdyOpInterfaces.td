//===- SdyOpInterfaces.td - Operation interfaces of sdy ----*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SDY_OP_INTERFACES
#define SDY_OP_INTERFACES

include "mlir/IR/OpBase.td"

def Sdy_ShardableDataFlowOpInterface : OpInterface<"ShardableDataFlowOpInterface"> {
  let cppNamespace = "::mlir::sdy";
  let description = [{
    An operation with regions through which values flow, so that some of its operands, results,
    block arguments and terminator operands must have equal shardings.

    A *data-flow edge* connects *sources* (operands of the operation or of a terminator of one of its
    blocks) to *targets* (results and block arguments). One target of each edge, its *owner*,
    represents the edge: its sharding is that of the edge, and an `sdy.data_flow_edge` takes it as
    input. For example, `stablehlo.while` has an edge for each result: the result is the owner,
    the operand and the value that the body returns are the sources, and the block arguments of
    the condition and of the body are the other targets.
  }];
  let methods = [
    InterfaceMethod<
      "The shardings of the block arguments that own an edge: one for each, or none at all.",
      "::llvm::SmallVector<::mlir::sdy::TensorShardingAttr>", "getBlockArgumentEdgeOwnerShardings",
      (ins), "", "return {};">,
    InterfaceMethod<
      "Replaces the shardings of the block arguments that own an edge.",
      "void", "setBlockArgumentEdgeOwnerShardings",
      (ins "::llvm::ArrayRef<::mlir::sdy::TensorShardingAttr>":$shardings), "", "">,
    InterfaceMethod<
      "The shardings of the results that own an edge: one for each, or none at all.",
      "::llvm::ArrayRef<::mlir::sdy::TensorShardingAttr>", "getOpResultEdgeOwnerShardings">,
    InterfaceMethod<
      "Replaces the shardings of the results that own an edge.",
      "void", "setOpResultEdgeOwnerShardings",
      (ins "::llvm::ArrayRef<::mlir::sdy::TensorShardingAttr>":$shardings)>,
    InterfaceMethod<
      "The block arguments that own an edge.",
      "::llvm::ArrayRef<::mlir::BlockArgument>", "getBlockArgumentEdgeOwners",
      (ins), "", "return {};">,
    InterfaceMethod<
      "The results that own an edge.",
      "::mlir::ResultRange", "getOpResultEdgeOwners">,
    InterfaceMethod<
      "The sources of the edge that `owner` owns.",
      "::llvm::SmallVector<::mlir::OpOperand *>", "getEdgeSources", (ins "::mlir::Value":$owner)>,
    InterfaceMethod<
      "The owner of the edge that `target` is a target of.",
      "::mlir::Value", "getEdgeOwnerFromTarget", (ins "::mlir::Value":$target)>,
    InterfaceMethod<
      "The owner of the edge that `source` is a source of.",
      "::mlir::Value", "getEdgeOwnerFromSource", (ins "::mlir::OpOperand &":$source)>,
    InterfaceMethod<
      "The targets, other than `owner`, of the edge that it owns.",
      "::llvm::SmallVector<::mlir::Value>", "getNonEdgeOwnerTargets",
      (ins "::mlir::Value":$owner), "", "return {};">,
    InterfaceMethod<
      "Whether shardings of edge owners must split dimensions evenly.",
      "bool", "shouldKeepEdgeOwnerShardingsDivisible", (ins), "", "return false;">
  ];
}

def Sdy_CollectiveOpInterface : OpInterface<"CollectiveOpInterface"> {
  let cppNamespace = "::mlir::sdy";
  let description = [{
    A collective expressed by mesh axes, with one operand, one result, and the sharding of the
    result.

    **Constraints:**

    - The operand has a sharding, unless the operation allows it to have none; it is then treated
      as fully open on the mesh of `out_sharding`.
    - `out_sharding` satisfies the constraints of `TensorShardingAttr` for the result.
    - The meshes of operand and result are equal, unless the operation allows different ones.
    - The shardings of operand and result have the same rank.
  }];
  let methods = [
    InterfaceMethod<
      "The sharding of the result.",
      "::mlir::sdy::TensorShardingAttr", "getOutSharding">,
    InterfaceMethod<
      "Replaces the sharding of the result.",
      "void", "setOutShardingAttr", (ins "::mlir::sdy::TensorShardingAttr":$sharding)>,
    InterfaceMethod<
      "The tensor that is communicated.",
      "::mlir::TypedValue<::mlir::ShapedType>", "getTensor">,
    InterfaceMethod<
      "Whether the meshes of operand and result may differ.",
      "bool", "allowDifferentMeshes", (ins), "", "return false;">,
    InterfaceMethod<
      "Whether the operand may have no sharding.",
      "bool", "allowMissingInputSharding", (ins), "", "return false;">
  ];
}

#endif // SDY_OP_INTERFACES
