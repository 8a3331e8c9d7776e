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

def Sdy_ConstantOrScalarMergerPass : Sdy_FuncPass<"sdy-constant-or-scalar-merger"> {
  let summary = "Merges constants, and broadcasts of scalars, that are alike";
  let description = [{
    Takes back what `sdy-constant-or-scalar-splitter` did, where propagation has sharded the copies
    alike. Two operations of one region are merged if they have the same attributes, sharding
    included, the same type, and

    - are constants, or
    - are `stablehlo.broadcast_in_dim` of the same scalar.

    ```mlir
    %0 = sdy.constant dense<2.0> : tensor<8xf32>
    %1 = sdy.constant dense<2.0> : tensor<8xf32>
    %2 = stablehlo.add %0, %1 : tensor<8xf32>
    ```

    becomes

    ```mlir
    %0 = sdy.constant dense<2.0> : tensor<8xf32>
    %1 = stablehlo.add %0, %0 : tensor<8xf32>
    ```
  }];
}

def Sdy_SinkDataFlowEdgesPass : Sdy_FuncPass<"sdy-sink-data-flow-edges"> {
  let summary = "Takes the edges in functions out again";
  let description = [{
    Gives the shardings of the edges at an operation to the operation, and the input of each
    `sdy.data_flow_edge` its uses back.

    - The edges on arguments of the body are one group, those on results are another.
    - If no edge of a group has a sharding, the operation keeps what it says of that group.
    - Otherwise each value of the group gets the sharding of its edge, or a fully open one.

    ```mlir
    %0:2 = stablehlo.optimization_barrier %a, %b : tensor<8xf32>, tensor<8xf32>
    %1 = sdy.data_flow_edge %0#0 : tensor<8xf32>
    %2 = sdy.data_flow_edge %0#1 sharding=<@mesh, [{"x"}\]> : tensor<8xf32>
    return %1, %2 : tensor<8xf32>, tensor<8xf32>
    ```

    becomes

    ```mlir
    %0:2 = stablehlo.optimization_barrier
        {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}\]>, <@mesh, [{"x"}\]>\]>} %a, %b : ...
    return %0#0, %0#1 : tensor<8xf32>, tensor<8xf32>
    ```

    With the options, what the edges know of their shardings' history goes to the operation as
    `sdy.block_arg_sharding_origins` and `sdy.result_sharding_origins`, or
    `sdy.block_arg_propagation_edges` and `sdy.result_propagation_edges`.
  }];
  let options = [
    Option<"sinkDebugShardingOrigins", "sink-debug-sharding-origins", "bool", "false",
           "whether to keep the origins of the edges' shardings">,
    Option<"sinkDebugPropagationEdgeSharding", "sink-debug-propagation-edge-sharding", "bool",
           "false", "whether to keep the steps that sharded the edges">
  ];
}

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

def Sdy_ExportNamedComputationsPass : Sdy_ModulePass<"sdy-export-named-computations"> {
  let summary = "Turns named computations into functions and calls";
  let description = [{
    Moves the body of each `sdy.named_computation` to a private function at the end of the module,
    and puts a call in its place. Data-flow edges of the computation go with it.

    - The function is called as the computation, with a number if that is taken, and remembers the
      name as `sdy.original_func_name`.
    - Its arguments get the shardings of the edges in the body or else the `in_shardings`; the call
      gets those of the edges behind it or else the `out_shardings`. The results of the function
      are left to `sdy-propagate-to-func-results`.
    - `execution_thread` goes to the function, all other attributes to the call.

    ```mlir
    %0 = sdy.named_computation<"f">(%a) in_shardings=[<@mesh, [{"x"}\]>]
        out_shardings=[<@mesh, [{"y"}\]>] (%arg: tensor<8xf32>) {
      sdy.return %arg : tensor<8xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>
    ```

    becomes

    ```mlir
    %0 = call @f(%a) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}\]>\]>} : ...
    ...
    func.func private @f(%arg: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}\]>})
        -> tensor<8xf32> attributes {sdy.original_func_name = "f"} {
      return %arg : tensor<8xf32>
    }
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

def Sdy_UnflattenCallGraphPass : Sdy_ModulePass<"sdy-unflatten-call-graph"> {
  let summary = "Lets calls share functions that are sharded alike";
  let description = [{
    Takes back what `sdy-flatten-call-graph` did: calls go to one of the functions that were one
    before, and are sharded alike.

    - Two functions may stand for each other if they have the same `sdy.original_func_name` (their
      own name if absent), `sdy.func_manual_axes`, and shardings of arguments and results. Bodies
      are not compared.
    - The first that is called, in the order of the text, is kept. The others are left without
      calls, for `symbol-dce`.
    - With `dedup-functions-fully` shardings are not asked for: the one whose shardings are those of
      most calls is kept.

    At the end `sdy.original_func_name` and `sdy.func_manual_axes` are removed.

    ```mlir
    %0 = call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
    %1 = call @f_0(%b) : (tensor<8xf32>) -> tensor<8xf32>
    ```

    becomes

    ```mlir
    %0 = call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
    %1 = call @f(%b) : (tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
  let options = [
    Option<"dedupFunctionsFully", "dedup-functions-fully", "bool", "false",
           "whether to keep one function for each original one, however they are sharded">
  ];
}

def Sdy_RemoveShardingGroupsPass : Sdy_ModulePass<"sdy-remove-sharding-groups"> {
  let summary = "Removes sharding groups";
  let description = [{
    Erases every `sdy.sharding_group`: once propagation is over, its members are sharded alike.

    ```mlir
    sdy.sharding_group %0 group_id=3 : tensor<8xf32>
    ```

    is gone.
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

def Sdy_UpdateNonDivisibleInputOutputShardingsPass
    : Sdy_ModulePass<"sdy-update-non-divisible-input-output-shardings"> {
  let summary = "Shortens shardings of inputs and outputs that do not divide a dimension";
  let description = [{
    Shardings of arguments and results of functions, results of calls, and operands and results of
    manual computations must split each dimension into pieces of one size. Where they don't, the
    dimension keeps, from its first axis on, what divides it, the last axis in part if need be,
    and loses its priority.

    On a mesh `<["x"=6, "y"=10]>`

    ```mlir
    %a: tensor<15xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}\]>}
    ```

    becomes

    ```mlir
    %a: tensor<15xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)3}\]>}
    ```
  }];
}

def Sdy_RemoveSubAxesInInputOutputShardingsPass
    : Sdy_ModulePass<"sdy-remove-sub-axes-in-input-output-shardings"> {
  let summary = "Takes sub-axes from the open dimensions of the main function's shardings";
  let description = [{
    Cuts the axes of each open dimension of an argument or a result of the main function before the
    first sub-axis: what propagation put there need not be shown to the user as a part of an axis.
    A closed dimension is the user's own choice and stays.

    The main function is the only one of the module, or the one named `main`.

    ```mlir
    %a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", "x":(1)2, ?}, {"x":(2)2}\]>}
    ```

    becomes

    ```mlir
    %a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", ?}, {"x":(2)2}\]>}
    ```
  }];
}

def Sdy_CloseShardingsPass : Sdy_ModulePass<"sdy-close-shardings"> {
  let summary = "Closes the dimensions of all shardings";
  let description = [{
    Makes every dimension of every sharding closed, and drops replicated axes, which mean nothing
    to a closed sharding. Axes stay; so do unreduced axes.

    `<@mesh, [{"x", ?}, {?}\], replicated={"y"}>` becomes `<@mesh, [{"x"}, {}\]>`.
  }];
}

def Sdy_RemovePropagationDebugInfoPass : Sdy_ModulePass<"sdy-remove-propagation-debug-info"> {
  let summary = "Removes what propagation noted for debugging";
  let description = [{
    Removes `sdy.propagation_edges` and `sdy.sharding_origins` from operations and from arguments
    and results of functions, and their forms for the arguments of a body (`sdy.block_arg_...`) and
    the results (`sdy.result_...`) of operations with regions. `sdy.sharding_origin_name` stays.

    ```mlir
    %0 = stablehlo.negate %a {sdy.sharding_origins = [{x = "input: 0"}\]} : tensor<8xf32>
    ```

    becomes

    ```mlir
    %0 = stablehlo.negate %a : tensor<8xf32>
    ```
  }];
}

def Sdy_RemoveAllGatherReduceScatterForCMV1Pass
    : Sdy_FuncPass<"sdy-remove-all-gather-reduce-scatter-for-cmv1"> {
  let summary = "Leaves gathers before and scatters after matrix products to a later compiler";
  let description = [{
    A compiler that overlaps communication with the matrix product itself (collective matmul, v1)
    wants to see the product without its collectives. For each `stablehlo.dot` and
    `stablehlo.dot_general`:

    - each operand that is an `sdy.all_gather` without another use is replaced by the input of that;
    - if there is none, and the only use of the result is an `sdy.reduce_scatter`, the product takes
      over the sharding and the place of that, unless it has unreduced axes.

    ```mlir
    %0 = sdy.all_gather [{"x"}, {}\] %b out_sharding=<@mesh, [{}, {}\]> : tensor<8x8xf32>
    %1 = stablehlo.dot %a, %0 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    ```

    becomes

    ```mlir
    %0 = stablehlo.dot %a, %b : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    ```
  }];
}

def Sdy_VerifyUnreducedAxesPass : Sdy_FuncPass<"sdy-verify-unreduced-axes"> {
  let summary = "Checks that unreduced axes come and go only where they may";
  let description = [{
    An axis that is unreduced in the operands of an operation must be so in its results, or a
    reduction is missing. Only `sdy.reshard`, `sdy.sharding_constraint` and collectives may end it;
    what comes from one of the first two may be unreduced along any axes. What begins is a sum, or
    the reduction that the body of `stablehlo.reduce` does.

    Calls and what regions and functions return must have exactly the unreduced axes of the place
    that they lead to. Nothing is changed.

    ```mlir
    // %a is sharded as <@mesh, [{}\], unreduced={"x"}>, the result as <@mesh, [{}\]>
    %0 = stablehlo.negate %a
    ```

    is an error, while

    ```mlir
    %0 = sdy.reshard %a <@mesh, [{}\]> : tensor<8xf32>
    %1 = stablehlo.negate %0
    ```

    is right.
  }];
}

def Sdy_InlineMeshesPass : Sdy_ModulePass<"sdy-inline-meshes"> {
  let summary = "Holds each mesh where it is used";
  let description = [{
    Replaces the name of a mesh in each sharding, and in `replica_groups` that name axes, by the
    mesh itself, and erases all `sdy.mesh`. Takes `sdy-lift-inlined-meshes` back, but for names.

    ```mlir
    sdy.mesh @mesh = <["x"=2]>
    func.func @f(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}\]>})
    ```

    becomes

    ```mlir
    func.func @f(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["x"=2]>, [{"x"}\]>})
    ```
  }];
}

def Sdy_SaveModulePass : Sdy_ModulePass<"sdy-save-module"> {
  let summary = "Writes the module to a file";
  let description = [{
    Writes the module as it is at this place of a pipeline to `<directory>/<index>.<name>.mlir`,
    the index in two digits: `02.after_propagation.mlir`. Without a directory nothing is written.
    The directory must exist. If the file can't be written, that is a warning, and the pipeline
    goes on.
  }];
  let options = [
    Option<"directory", "directory", "std::string", "\"\"", "where to write">,
    Option<"name", "name", "std::string", "\"module\"", "what the module is at this place">,
    Option<"index", "index", "int64_t", "0", "the number of the file in its pipeline">
  ];
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
