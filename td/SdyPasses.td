//===- SdyPasses.td - Passes on the sdy dialect ------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In descriptions `}\]` is written for the two brackets alone, which would end the text;
// tools/gen_dialect.py takes the backslash out.
//
//===----------------------------------------------------------------------===//

#ifndef SDY_PASSES
#define SDY_PASSES

include "mlir/Pass/PassBase.td"

class Sdy_ModulePass<string argument> : Pass<argument, "ModuleOp">;
class Sdy_FuncPass<string argument> : Pass<argument, "func::FuncOp">;

//===----------------------------------------------------------------------===//
// Options that several passes share
//===----------------------------------------------------------------------===//

def Sdy_KeepShardingRules : Option<"keepShardingRules", "keep-sharding-rules", "bool", "false",
    "whether to leave the sharding rules on the operations">;
def Sdy_ConservativePropagation : Option<"conservativePropagation", "conservative-propagation",
    "bool", "false",
    "whether to propagate full axes only, and not along the dimensions of windows and padding">;

//===----------------------------------------------------------------------===//
// Import
//===----------------------------------------------------------------------===//

def Sdy_LiftInlinedMeshesPass : Sdy_ModulePass<"sdy-lift-inlined-meshes"> {
  let summary = "Gives each mesh one name";
  let description = [{
    Replaces each mesh that a sharding holds in place by the name of an `sdy.mesh`, and merges
    meshes that are equal.

    - Of several equal mesh operations the first is kept; references to the others are renamed.
    - A mesh without an operation gets one, after the last existing one or at the start of the
      module, named `mesh`, `empty_mesh`, or `maximal_mesh_<device>`, with a number if taken.

    ```mlir
    func.func @f(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["x"=2]>, [{"x"}\]>})
    ```

    becomes

    ```mlir
    sdy.mesh @mesh = <["x"=2]>
    func.func @f(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}\]>})
    ```
  }];
}

def Sdy_AddFuncDataFlowEdgesPass : Sdy_ModulePass<"sdy-add-func-data-flow-edges"> {
  let summary = "Marks where values flow into functions and out of calls";
  let description = [{
    Puts an `sdy.func_data_flow_edge` on each argument of each function but the main one, and on
    each result of each call, if it has a static shape. The edge takes over the value's sharding
    and all its uses. Through the edges, propagation goes from the operands of all calls into a
    function and from what it returns to the results of the calls.

    The main function is the only one of the module, or the one named `main`.

    ```mlir
    %0 = call @f(%b) : (tensor<8xf32>) -> tensor<8xf32>
    return %0 : tensor<8xf32>
    ```

    becomes

    ```mlir
    %0 = call @f(%b) : (tensor<8xf32>) -> tensor<8xf32>
    %1 = sdy.func_data_flow_edge %0 : tensor<8xf32>
    return %1 : tensor<8xf32>
    ```
  }];
}

//===----------------------------------------------------------------------===//
// Propagation
//===----------------------------------------------------------------------===//

def Sdy_PopulateOpShardingRulesPass : Sdy_FuncPass<"sdy-populate-op-sharding-rules"> {
  let summary = "Gives each known operation its sharding rule";
  let description = [{
    Attaches `sdy.sharding_rule` to each operation that has no rule and for which one is
    registered. A rule that is there, given by the user or by an earlier pass, stays.

    ```mlir
    %0 = stablehlo.add %a, %b {sdy.sharding_rule =
        #sdy.op_sharding_rule<([i, j], [i, j])->([i, j]) {i=8, j=16}>} : tensor<8x16xf32>
    ```
  }];
  let options = [Sdy_ConservativePropagation];
}

def Sdy_BasicPropagatePass : Sdy_ModulePass<"sdy-basic-propagate"> {
  let summary = "Propagates shardings without resolving conflicts";
  let description = [{
    Extends shardings from each value to those that sharding rules and data-flow edges tie to it,
    until nothing changes.

    - Along a factor, each tensor that has it is extended by the longest list of axes that all of
      them agree on: the lists must be prefixes of one another up to there.
    - Only open dimensions are extended, and only by axes that the tensor does not use.
    - Where tensors disagree nothing is propagated along the factor from there on; it takes no side.

    ```mlir
    func.func @f(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}\]>},
                 %b: tensor<8x16xf32>) -> tensor<8x16xf32> {
      %0 = stablehlo.add %a, %b : tensor<8x16xf32>
    ```

    shards `%b`, `%0` and the result of the function by "x" along their first dimension.
  }];
  let options = [Sdy_KeepShardingRules, Sdy_ConservativePropagation];
}

def Sdy_DropShardingRulesPass : Sdy_FuncPass<"sdy-drop-sharding-rules"> {
  let summary = "Removes sharding rules";
  let description = [{
    Removes `sdy.sharding_rule` from every operation, unless the rule is custom.
  }];
}

//===----------------------------------------------------------------------===//
// Export
//===----------------------------------------------------------------------===//

def Sdy_SinkFuncDataFlowEdgesPass : Sdy_FuncPass<"sdy-sink-func-data-flow-edges"> {
  let summary = "Takes the edges between functions out again";
  let description = [{
    Gives the sharding of each `sdy.func_data_flow_edge` to its input, which takes the edge's
    place. An input that has a sharding while its edge has none becomes fully open.

    ```mlir
    %0 = call @f(%b) : (tensor<8xf32>) -> tensor<8xf32>
    %1 = sdy.func_data_flow_edge %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}\]>\]>}
        : tensor<8xf32>
    return %1 : tensor<8xf32>
    ```

    becomes

    ```mlir
    %0 = call @f(%b) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}\]>\]>}
        : (tensor<8xf32>) -> tensor<8xf32>
    return %0 : tensor<8xf32>
    ```
  }];
}

def Sdy_PropagateToFuncResultsPass : Sdy_ModulePass<"sdy-propagate-to-func-results"> {
  let summary = "Shards the results of functions as the values they return";
  let description = [{
    Sets the sharding of each result of each function but the main one to that of the value that is
    returned, and removes it if that has none. The results of the main function belong to the user,
    and propagation itself deals with them.

    ```mlir
    func.func private @f(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}\]>})
        -> tensor<8xf32> {
      return %a : tensor<8xf32>
    ```

    shards the result of the function by "x".
  }];
}

def Sdy_ShardingConstraintToReshardPass : Sdy_FuncPass<"sdy-sharding-constraint-to-reshard"> {
  let summary = "Turns sharding constraints into reshards";
  let description = [{
    Replaces each `sdy.sharding_constraint` by an `sdy.reshard` with the same input, sharding and
    attributes.

    ```mlir
    %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}, {}\]> : tensor<8x16xf32>
    ```

    becomes

    ```mlir
    %1 = sdy.reshard %0 <@mesh, [{"x"}, {}\]> : tensor<8x16xf32>
    ```
  }];
  let dependentDialects = ["::mlir::sdy::SdyDialect"];
}

def Sdy_CloseShardingsPass : Sdy_ModulePass<"sdy-close-shardings"> {
  let summary = "Closes the dimensions of all shardings";
  let description = [{
    Makes every dimension of every sharding closed, and drops replicated axes, which mean nothing
    to a closed sharding. Axes stay; so do unreduced axes.

    `<@mesh, [{"x", ?}, {?}\], replicated={"y"}>` becomes `<@mesh, [{"x"}, {}\]>`.
  }];
}

//===----------------------------------------------------------------------===//
// Partitioning
//===----------------------------------------------------------------------===//

def Sdy_InsertFuncCallReshardsPass : Sdy_ModulePass<"sdy-insert-func-call-reshards"> {
  let summary = "Gives calls the result shardings of their callees";
  let description = [{
    A result of a call whose sharding is not equivalent to that of the callee's result gets the
    latter, or is whole if the callee's result has none, and a reshard behind the call leads back to
    what it had. Operands of calls are left to `sdy-insert-explicit-reshards`.

    ```mlir
    // the result of @f is sharded by [{"x"}\]
    %0 = call @f(%a) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}\]>\]>} : ...
    ```

    becomes

    ```mlir
    %0 = call @f(%a) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}\]>\]>} : ...
    %1 = sdy.reshard %0 <@mesh, [{"y"}\]> : tensor<8xf32>
    ```
  }];
}

def Sdy_InsertExplicitReshardsPass : Sdy_FuncPass<"sdy-insert-explicit-reshards"> {
  let summary = "Inserts reshards so that each operation can execute as it is sharded";
  let description = [{
    Makes the shardings around each operation compatible with its sharding rule, by resharding
    operands before it and results after it.

    Before: constraints are reshards, data-flow edges are gone, and meshes have names. After, in
    the full version, each operation with a rule that is not custom, whose shardings are on one
    mesh, satisfies:

    - a factor is sharded by the same axes in every operand and result that has it;
    - factors that need replication are not sharded;
    - no axis shards two factors;
    - an `sdy.all_reduce` follows it for the axes that shard its reduction factors, except those
      along which its result is declared unreduced.

    The version that is not full treats only operations that cannot be left to a later
    partitioner.

    ```mlir
    // %a is sharded as [{"x"}, {}\], %b as [{"y"}, {}\], the result as [{"x"}, {}\]
    %0 = stablehlo.add %a, %b
    ```

    becomes

    ```mlir
    %0 = sdy.reshard %b <@mesh, [{"x"}, {}\]>
    %1 = stablehlo.add %a, %0
    ```
  }];
  let dependentDialects = ["::mlir::sdy::SdyDialect"];
  let options = [
    Option<"enableFullVersion", "enable-full-version", "bool", "false",
           "whether to make every operation compatible">
  ];
}

def Sdy_ResolvePermutationFactorsPass : Sdy_ModulePass<"sdy-resolve-permutation-factors"> {
  let summary = "Makes dimensions whole whose shards would need data of their neighbours";
  let description = [{
    Looks at each `stablehlo.reshape`. If the shards of its operand and those of its result do not
    hold the same data, the dimensions in question are made whole by reshards around it.

    ```mlir
    // %0 is sharded by [{}, {"x"}\]
    %1 = stablehlo.reshape %0 : (tensor<12x24xf32>) -> tensor<8x36xf32>
    ```

    becomes

    ```mlir
    %1 = sdy.reshard %0 <@mesh, [{}, {}\]> : tensor<12x24xf32>
    %2 = stablehlo.reshape %1 : (tensor<12x24xf32>) -> tensor<8x36xf32>
    ```
  }];
}

def Sdy_ReshardToCollectivesPass : Sdy_FuncPass<"sdy-reshard-to-collectives"> {
  let summary = "Turns reshards into collectives";
  let description = [{
    Replaces each `sdy.reshard` by a chain of `sdy.all_slice`, `sdy.collective_permute`,
    `sdy.all_to_all` and `sdy.all_gather` that leads from the sharding of the input to that of the
    result.

    A reshard is left as it is when it involves a single device, or meshes with different axes
    and a result that is not replicated.

    ```mlir
    // %0 is sharded as <@mesh, [{"x"}, {}\]>
    %1 = sdy.reshard %0 <@mesh, [{}, {"x"}\]> : tensor<8x16xf32>
    ```

    becomes

    ```mlir
    %1 = sdy.all_to_all [{"x"}: 0->1] %0 out_sharding=<@mesh, [{}, {"x"}\]> : tensor<8x16xf32>
    ```
  }];
  let dependentDialects = ["::mlir::sdy::SdyDialect"];
  let options = [
    Option<"keepRedundantReshards", "keep-redundant-reshards", "bool", "false",
           "whether to keep reshards that change nothing">,
    Option<"divisibleOnly", "divisible-only", "bool", "false",
           "whether to gather and slice anew where a step on the way would split a dimension "
           "into pieces that do not divide it">
  ];
}

def Sdy_ConvertGlobalToLocalPass : Sdy_ModulePass<"sdy-convert-global-to-local"> {
  let summary = "Turns the global program into that of one device";
  let description = [{
    Gives every value its local type, each dimension divided by the number of pieces it is split
    into, and turns sdy collectives into StableHLO ones.

    Before: each operation can execute on local pieces alone, and every sharded dimension is
    divisible. After: there are local types everywhere and no sdy collectives; shardings stay on
    the operations. An operation without a conversion makes the pass fail.

    ```mlir
    // on a mesh of size 2
    %1 = sdy.all_gather [{"x"}, {}\] %0 out_sharding=<@mesh, [{}, {}\]> : tensor<8x16xf32>
    ```

    becomes

    ```mlir
    %1 = "stablehlo.all_gather"(%0) {all_gather_dim = 0, replica_groups = dense<[[0, 1]]>, ...}
        : (tensor<4x16xf32>) -> tensor<8x16xf32>
    ```
  }];
  let options = [
    Option<"perDimAllGather", "per-dim-all-gather", "bool", "false",
           "whether an all-gather of several dimensions becomes one for each">,
    Option<"replicaCount", "replica-count", "int64_t", "1", "number of replicas">,
    Option<"partitionCount", "partition-count", "int64_t", "1", "number of partitions">
  ];
}

def Sdy_DropShardingAndMeshPass : Sdy_ModulePass<"sdy-drop-sharding-and-mesh"> {
  let summary = "Removes shardings and meshes";
  let description = [{
    Removes the attribute `sdy.sharding` from operations, function arguments and function results,
    and all `sdy.mesh` operations. Shardings that sdy operations hold as their own attributes
    stay, so no such operation should be left.
  }];
}

#endif // SDY_PASSES
