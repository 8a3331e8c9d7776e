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

// Where a pass or an option comes from: Shardy from the oldest supported release on, which is that
// of jaxlib 0.10.2, a later one, or this project.
class Sdy_From<string theRelease> {
  string shardyRelease = theRelease;
}
defvar Sdy_Oldest = "0.10.2";
defvar Sdy_012 = "0.12";
defvar Sdy_Own = "pyshardy";

class Sdy_ModulePass<string argument, string theRelease = Sdy_Oldest>
    : Pass<argument, "ModuleOp">, Sdy_From<theRelease>;
class Sdy_FuncPass<string argument, string theRelease = Sdy_Oldest>
    : Pass<argument, "func::FuncOp">, Sdy_From<theRelease>;

class Sdy_Option012<string name, string argument, string type, string default, string description>
    : Option<name, argument, type, default, description>, Sdy_From<Sdy_012>;
class Sdy_OwnOption<string name, string argument, string type, string default, string description>
    : Option<name, argument, type, default, description>, Sdy_From<Sdy_Own>;

//===----------------------------------------------------------------------===//
// Options that several passes share
//===----------------------------------------------------------------------===//

def Sdy_KeepShardingRules : Option<"keepShardingRules", "keep-sharding-rules", "bool", "false",
    "whether to leave the sharding rules on the operations">;
def Sdy_ModuleDumpDirectory : Option<"moduleDumpDirectory", "module-dump-directory",
    "std::string", "\"\"",
    "where to save the module before each user priority but the first; nowhere if empty">;
def Sdy_ModuleDumpIndex : Sdy_OwnOption<"moduleDumpIndex", "module-dump-index", "int", "0",
    "the number of the first file saved">;
def Sdy_DebugShardingOrigins : Option<"debugShardingOrigins", "debug-sharding-origins",
    "bool", "false",
    "whether to note for each axis which of the user's shardings it comes from">;
def Sdy_DebugPropagationEdgeSharding : Option<"debugPropagationEdgeSharding",
    "debug-propagation-edge-sharding", "bool", "false",
    "whether to note for each axis through which operand or result it came">;
def Sdy_Compatible : Sdy_OwnOption<"compatible", "compatible", "bool", "false",
    "whether to do as C++ Shardy does also where that is wrong or has no rule">;
def Sdy_PropagationStrategy : Option<"propagationStrategy", "propagation-strategy",
    "PropagationStrategy", "PropagationStrategy::Aggressive",
    "how conflicts within an operation are handled", [{
      ::llvm::cl::values(
        clEnumValN(PropagationStrategy::Aggressive, "aggressive", "decide conflicts"),
        clEnumValN(PropagationStrategy::Basic, "basic", "take no side"),
        clEnumValN(PropagationStrategy::BasicThenAggressive, "basic-then-aggressive",
                   "first everything without conflicts"))
    }]>;
def Sdy_RunOpPriorityPropagation : Option<"runOpPriorityPropagation",
    "run-op-priority-propagation", "bool", "true",
    "whether operations through which shardings pass unchanged come first">;
def Sdy_ConservativePropagation : Option<"conservativePropagation", "conservative-propagation",
    "bool", "false",
    "whether to propagate full axes only, and not along the dimensions of windows and padding">;

def Sdy_ReplicaCount : Sdy_Option012<"replicaCount", "replica-count", "int64_t", "1",
    "number of replicas">;
def Sdy_PartitionCount : Sdy_Option012<"partitionCount", "partition-count", "int64_t", "1",
    "number of partitions">;
def Sdy_RngBitGeneratorUnsafe : Sdy_Option012<"rngBitGeneratorUnsafe", "rng-bit-generator-unsafe",
    "bool", "false",
    "whether each shard of a stablehlo.rng_bit_generator generates its own bits, from a state of "
    "its own: no device generates all bits, but they depend on the sharding">;

defvar Sdy_CommonPropagationOptions = [
  Sdy_KeepShardingRules, Sdy_ModuleDumpDirectory, Sdy_ModuleDumpIndex, Sdy_ConservativePropagation,
  Sdy_DebugShardingOrigins, Sdy_DebugPropagationEdgeSharding, Sdy_Compatible
];

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
  let options = [
    Sdy_Option012<"useSingleDeviceMeshNames", "use-single-device-mesh-names", "bool", "false",
           "whether to name the mesh of a single device `single_device_<device>` instead of "
           "`maximal_mesh_<device>`">
  ];
}

def Sdy_RemoveSizeOneAxesPass : Sdy_ModulePass<"sdy-remove-size-one-axes"> {
  let summary = "Removes axes of size 1 from shardings";
  let description = [{
    Takes each axis that the mesh of a sharding gives the size 1 out of the sharding's dimensions,
    replicated axes and unreduced axes. A closed dimension that is left without axes loses its
    priority.

    Meshes keep their axes, and so do the `manual_axes` of manual computations. If no `sdy.mesh` of
    the module has an axis of size 1, nothing happens.

    On a mesh `<["a"=1, "b"=2]>`, `[{"a"}p2, {"a", "b", ?}p1\]` becomes `[{}, {"b", ?}p1\]`.
  }];
}

def Sdy_PropagateShardingFromFuncToCallPass
    : Sdy_ModulePass<"sdy-propagate-sharding-from-func-to-call"> {
  let summary = "Shards calls as the results of what they call";
  let description = [{
    Gives each `func.call` without `sdy.sharding` the shardings of its callee's results. Results
    without one get a fully open sharding on the mesh of the first that has one; maximal meshes
    don't count, and if there is no other mesh the call stays as it is. So does a call with a
    sharding, whatever that says.

    ```mlir
    // the result of @f is sharded by [{"x"}\]
    %0 = call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
    ```

    becomes

    ```mlir
    %0 = call @f(%a) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}\]>\]>}
        : (tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
}

class Sdy_ConstantSplitter<string argument, string theRelease = Sdy_Oldest>
    : Sdy_ModulePass<argument, theRelease> {
  let summary = "Gives each use of a constant or of a broadcast scalar its own copy";
  let description = [{
    Copies constant sub-computations and broadcasts of scalars so that each use has one of its own.
    That two operations use the same constant is no reason for sharding them alike, but propagation
    would go from the one to the other through it.

    A constant sub-computation is a value with all that it is computed from, which is

    - a constant or an iota,
    - an element-wise operation, broadcast, reshape or slice of constant values, or
    - a call or named computation on constant values that consists of such operations only.

    Scalars are not copied, as they can't be sharded. Constants and constant sub-computations that
    nothing uses are erased. Each `stablehlo.constant` becomes an `sdy.constant`, which
    canonicalization doesn't merge again.

    ```mlir
    %0 = stablehlo.constant dense<2.0> : tensor<8xf32>
    %1 = stablehlo.negate %0 : tensor<8xf32>
    %2 = stablehlo.add %a, %1 : tensor<8xf32>
    %3 = stablehlo.add %b, %0 : tensor<8xf32>
    ```

    becomes

    ```mlir
    %0 = sdy.constant dense<2.0> : tensor<8xf32>
    %1 = sdy.constant dense<2.0> : tensor<8xf32>
    %2 = stablehlo.negate %0 : tensor<8xf32>
    %3 = stablehlo.add %a, %2 : tensor<8xf32>
    %4 = stablehlo.add %b, %1 : tensor<8xf32>
    ```
  }];
  let dependentDialects = ["::mlir::sdy::SdyDialect"];
}

def Sdy_ConstantOrScalarSplitterPass
    : Sdy_ConstantSplitter<"sdy-constant-or-scalar-splitter">;
def Sdy_ConstantSplitterPass : Sdy_ConstantSplitter<"sdy-constant-splitter", Sdy_Own>;

def Sdy_FlattenTuplesPass : Sdy_ModulePass<"sdy-flatten-tuples", Sdy_Own> {
  let summary = "Takes tuples apart";
  let description = [{
    Lets functions, calls, composites and custom calls take and make the parts of their tuples, and
    what is put into a tuple be used where it is taken from it, as only the parts can be sharded.
    Attributes of arguments and results become those of their parts; one that can't be split is an
    error.

    ```mlir
    %0 = stablehlo.tuple %a, %b : tuple<tensor<8xf32>, tensor<4xf32>>
    %1 = stablehlo.custom_call @f(%0) : (tuple<tensor<8xf32>, tensor<4xf32>>) -> tensor<8xf32>
    ```

    becomes

    ```mlir
    %1 = stablehlo.custom_call @f(%a, %b) : (tensor<8xf32>, tensor<4xf32>) -> tensor<8xf32>
    ```
  }];
}

def Sdy_ExplicitGatherScatterBatchingPass
    : Sdy_FuncPass<"sdy-explicit-gather-scatter-batching"> {
  let summary = "Makes the batch dimension of gathers and scatters explicit";
  let description = [{
    Rewrites each `stablehlo.gather` and `stablehlo.scatter` whose indices count along their own
    dimension 0 in order to say where in dimension 0 of the operand to read or write: this dimension
    is a batch dimension, along which indices and operand can be sharded alike.

    The indices count if their component for dimension 0 of the operand is an `iota` along
    dimension 0, maybe broadcast, reshaped, clamped or selected. Dimension 0 must have the same size
    on both sides. Operations that do nothing and that nothing uses are erased.

    ```mlir
    %i = stablehlo.iota dim = 0 : tensor<4x2x1xi32>
    %0 = stablehlo.concatenate %i, %j, dim = 2 : (...) -> tensor<4x2x2xi32>
    %1 = "stablehlo.gather"(%a, %0) {dimension_numbers = #stablehlo.gather<
        collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 2>, ...}
    ```

    becomes

    ```mlir
    %1 = "stablehlo.gather"(%a, %j) {dimension_numbers = #stablehlo.gather<
        collapsed_slice_dims = [1], operand_batching_dims = [0],
        start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, ...}
    ```
  }];
}

def Sdy_ManualAxesCleanupPass : Sdy_ModulePass<"sdy-manual-axes-cleanup"> {
  let summary = "Writes out the manual axes of manual computations";
  let description = [{
    Sorts the manual axes of each `sdy.manual_computation` as its mesh has them, and adds those that
    an input or output sharding doesn't mention to its replicated axes.

    A computation without inputs and outputs must have an empty body or no manual axes.

    With the manual axes `{"y", "x"}`, `<@mesh, [{"x"}\]>` becomes
    `<@mesh, [{"x"}\], replicated={"y"}>`, and the manual axes become `{"x", "y"}`.
  }];
}

def Sdy_AddDataFlowEdgesPass : Sdy_ModulePass<"sdy-add-data-flow-edges"> {
  let summary = "Marks where values flow through an operation unchanged";
  let description = [{
    Puts an `sdy.data_flow_edge` on each value that owns one and has a static shape: the results of
    `stablehlo.while`, `stablehlo.case`, `stablehlo.optimization_barrier`, `sdy.manual_computation`
    and `sdy.named_computation`, and the arguments of the bodies of the last two. The edge takes
    over the owner's sharding and all its uses. Owners that have an edge are left alone.

    ```mlir
    %0 = stablehlo.optimization_barrier %a : tensor<8xf32>
    return %0 : tensor<8xf32>
    ```

    becomes

    ```mlir
    %0 = stablehlo.optimization_barrier %a : tensor<8xf32>
    %1 = sdy.data_flow_edge %0 : tensor<8xf32>
    return %1 : tensor<8xf32>
    ```
  }];
  let dependentDialects = ["::mlir::sdy::SdyDialect"];
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

def Sdy_ApplyShardingConstraintsPass : Sdy_ModulePass<"sdy-apply-sharding-constraints"> {
  let summary = "Lets constraints dictate the shardings of what they constrain";
  let description = [{
    Copies the sharding of an `sdy.sharding_constraint` to its input, if

    - the input has no sharding,
    - all dimensions of the sharding are closed, and
    - no other constraint and no manual computation demands another sharding of the input.

    Propagation brings the axes of a constraint to its input anyway, but not that its dimensions are
    closed. The inputs of manual computations are treated likewise.

    Where the input comes out of a data-flow edge, which has one sharding for all that flows through
    it, the constraint moves up to it instead and takes over its other uses.

    If a value is used by a chain of constraints, each with the next as its only use, then its uses
    after the chain, in the same block, use the end of the chain instead. There must be no other
    constraint, or manual computation, that uses the value or the end of the chain.

    ```mlir
    %0 = stablehlo.tanh %a : tensor<8x8xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}, {}\]> : tensor<8x8xf32>
    %2 = sdy.sharding_constraint %1 <@mesh, [{}, {"y"}\]> : tensor<8x8xf32>
    return %0 : tensor<8x8xf32>
    ```

    shards `%0` by `[{"x"}, {}\]`. Had an `add` used `%0` after `%2`, it would use `%2` then.
  }];
  let dependentDialects = ["::mlir::sdy::SdyDialect"];
  let options = [
    Option<"debugShardingOrigins", "debug-sharding-origins", "bool", "false",
           "whether to record which sharding each axis comes from">,
    Option<"debugPropagationEdgeSharding", "debug-propagation-edge-sharding", "bool", "false",
           "whether to record the steps by which axes came to values">
  ];
}

def Sdy_ShardingGroupImportPass : Sdy_ModulePass<"sdy-sharding-group-import"> {
  let summary = "Checks, unites and renumbers sharding groups";
  let description = [{
    Makes the sharding groups of a module disjoint: groups with a value in common become one, their
    ids become 0, 1 and so on, and each value is put into its group once.

    All values of a group must have the same shape, and be put into it within the same manual
    computation or all outside of any.

    ```mlir
    sdy.sharding_group %a group_id=7 : tensor<8xf32>
    sdy.sharding_group %a group_id=9 : tensor<8xf32>
    sdy.sharding_group %b group_id=9 : tensor<8xf32>
    ```

    becomes

    ```mlir
    sdy.sharding_group %a group_id=0 : tensor<8xf32>
    sdy.sharding_group %b group_id=0 : tensor<8xf32>
    ```
  }];
}

def Sdy_FlattenCallGraphPass : Sdy_ModulePass<"sdy-flatten-call-graph"> {
  let summary = "Gives each call a function of its own";
  let description = [{
    The first call of a function keeps it; each later one gets a copy of it, with copies of all that
    it calls. Calls are taken function by function, each after those that it calls. A copy has the
    name of the original function in `sdy.original_func_name`.

    Recursive functions are refused; declarations are not copied.

    ```mlir
    %0 = call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
    %1 = call @f(%0) : (tensor<8xf32>) -> tensor<8xf32>
    ```

    becomes

    ```mlir
    %0 = call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
    %1 = call @f_0(%0) : (tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
}

def Sdy_ImportFuncCallsPass : Sdy_ModulePass<"sdy-import-func-calls"> {
  let summary = "Puts the bodies of functions in the place of their calls";
  let description = [{
    Replaces each call by an `sdy.named_computation` with the body of the function and its original
    name. The arguments' shardings become `in_shardings`, the sharding of the call becomes
    `out_shardings`. The attributes of the call stay, and `execution_thread` is taken over from the
    function, as is `no_inline` in the form of `sdy.func_no_inline`, which named computations of the
    input get, too. Functions that were called are erased.

    Recursive functions are refused; calls of declarations stay.

    ```mlir
    %0 = call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
    ```

    becomes

    ```mlir
    %0 = sdy.named_computation<"f">(%a) (%x: tensor<8xf32>) {
      %1 = sdy.data_flow_edge %x : tensor<8xf32>
      ...
      sdy.return %2 : tensor<8xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>
    %3 = sdy.data_flow_edge %0 : tensor<8xf32>
    ```
  }];
  let dependentDialects = ["::mlir::sdy::SdyDialect"];
  let options = [
    Option<"addDataFlowEdgesOnNamedComputations", "add-data-flow-edges-on-named-computations",
           "bool", "true", "whether to put data-flow edges on all named computations">
  ];
}

def Sdy_PreOrderFuncsPass : Sdy_ModulePass<"sdy-pre-order-funcs"> {
  let summary = "Puts each function before those that it calls";
  let description = [{
    Moves all functions with a body to the end of the module, callers before what they call.

    ```mlir
    func.func private @f(...)
    func.func @main(...) { call @f ... }
    ```

    becomes

    ```mlir
    func.func @main(...) { call @f ... }
    func.func private @f(...)
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
  let options = [Sdy_ConservativePropagation, Sdy_Compatible];
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
  let options = Sdy_CommonPropagationOptions;
}

def Sdy_AggressivePropagatePass : Sdy_ModulePass<"sdy-aggressive-propagate"> {
  let summary = "Propagates shardings, deciding conflicts within operations";
  let description = [{
    Works like `sdy-basic-propagate`, but resolves conflicts:

    - Each tensor takes of a factor's axes what it can itself; what one tensor can't take does not
      keep it from others.
    - Where two factors want the same axis in one tensor, the factor that comes from the larger
      tensor goes first; among equals of an element-wise operation the one that is sharded more,
      then the one from the earlier operand.

    ```mlir
    // a: [{"x"}, {?}\]   b: [{?}, {"x"}\]   both 8x8
    %0 = stablehlo.dot %a, %b : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    ```

    shards `%0` as `[{"x", ?}, {?}\]`, where the basic strategy leaves it alone.
  }];
  let options = !listconcat(Sdy_CommonPropagationOptions, [Sdy_PropagationStrategy]);
}

def Sdy_OpPriorityPropagatePass : Sdy_ModulePass<"sdy-op-priority-propagate"> {
  let summary = "Propagates shardings, pass-through operations first";
  let description = [{
    Runs `sdy-aggressive-propagate` five times, each time through more:

    0. element-wise operations, reshapes and transposes whose operands have no other use; dynamic
       slices forward;
    1. the same whatever their operands' uses;
    2. all operations along pass-through factors, broadcasts only backward;
    3. all operations along all factors, broadcasts only backward;
    4. everything.
  }];
  let options = !listconcat(Sdy_CommonPropagationOptions,
                            [Sdy_PropagationStrategy, Sdy_RunOpPriorityPropagation]);
}

def Sdy_UserPriorityPropagatePass : Sdy_ModulePass<"sdy-user-priority-propagate"> {
  let summary = "Propagates shardings by the priorities that the user gave dimensions";
  let description = [{
    Runs `sdy-op-priority-propagate` once for each priority that occurs, the lowest number first.
    Dimensions of later priorities are hidden: they look unsharded and closed, and their axes are
    kept from being used by the same tensor. Dimensions without a priority have priority 0.

    ```mlir
    func.func @f(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}p1, {}\]>},
                 %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}p0]>}) {
      %0 = stablehlo.add %a, %b : tensor<8x8xf32>
    ```

    shards `%0` like `%b`; `%a` comes too late.
  }];
  let options = !listconcat(Sdy_CommonPropagationOptions,
                            [Sdy_PropagationStrategy, Sdy_RunOpPriorityPropagation]);
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
    - `execution_thread` goes to the function, and `sdy.func_no_inline` as `no_inline`; all other
      attributes go to the call.

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
  let options = [
    Sdy_OwnOption<"keepCalls", "keep-calls", "bool", "false",
        "whether functions get `no_inline`, and the shardings of the computations' results">
  ];
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
      own name if absent), `sdy.func_manual_axes`, and shardings of arguments and results, and
      compute the same.
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
  let options = [
    Sdy_OwnOption<"publicFunctionsOnly", "public-functions-only", "bool", "false",
        "whether private functions and calls of them stay as they are: they are no inputs and "
        "outputs of the program">
  ];
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

def Sdy_VerifyUnreducedAxesPass : Sdy_FuncPass<"sdy-verify-unreduced-axes", Sdy_012> {
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

def Sdy_SaveModulePass : Sdy_ModulePass<"sdy-save-module", Sdy_Own> {
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
    latter, and a reshard behind the call leads back to what it had. Results of a callee without a
    sharding are whole, and so is what a call without shardings gives. Operands of calls are left to
    `sdy-insert-explicit-reshards`.

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

def Sdy_CallShardedCompositesPass : Sdy_ModulePass<"sdy-call-sharded-composites", Sdy_Own> {
  let summary = "Calls the functions of composites in which values are sharded";
  let description = [{
    A composite is one operation on whole tensors. If values are sharded in the function that says
    what it is made of, devices do what the function does.

    ```mlir
    %0 = stablehlo.composite "my.norm" %a {decomposition = @norm} : (tensor<8xf32>) -> tensor<8xf32>
    ```

    becomes

    ```mlir
    %0 = call @norm(%a) : (tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
}

def Sdy_InlineSmallFunctionsPass : Sdy_ModulePass<"sdy-inline-small-functions", Sdy_Own> {
  let summary = "Puts the bodies of small functions in the place of their calls";
  let description = [{
    What a function takes and returns is laid out as its signature says, and evenly; inside the
    caller nothing has to be. Private functions that are called once or have few operations are
    inlined, and those with an argument or a result that is sharded unevenly; those with the
    attribute `no_inline` are not, nor calls with `no_inline`, `inlineable = "false"` or
    `_xla_compute_type` (as attributes or in `mhlo.frontend_attributes`). `symbol-dce` erases what
    is not called any more. Reshards that were made for an argument get the attribute `sdy.at_call`.

    ```mlir
    %0 = call @double(%a) : (tensor<7xf32>) -> tensor<7xf32>
    ```

    becomes

    ```mlir
    %0 = stablehlo.add %a, %a : tensor<7xf32>
    ```
  }];
  let options = [
    Option<"maxOperations", "max-operations", "int64_t", "40",
           "the operations of a function that is inlined although it is called more than once">
  ];
}

def Sdy_PropagatePastCallsPass : Sdy_ModulePass<"sdy-propagate-past-calls", Sdy_Own> {
  let summary = "Carries shardings on where propagation stopped at a call";
  let description = [{
    Propagation may leave an argument of a function whole although what is passed is sharded: where
    a function is called several times, or where a loop passes what it carries. Once the function is
    inlined, the reshard that gathers the argument, marked by `sdy-inline-small-functions`, is
    dropped, and what is computed from it is sharded as far as shardings propagate. All else keeps
    the axes that it has. If devices would not send fewer bytes, everything stays as it is.

    ```mlir
    // %w is sharded as [{"x"}, {}\]
    %0 = sdy.reshard %w <@mesh, [{}, {}\]> {sdy.at_call} : tensor<8x4xf32>
    %1 = stablehlo.tanh %0 : tensor<8x4xf32>
    ```

    becomes

    ```mlir
    %1 = stablehlo.tanh %w {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}\]>\]>} : tensor<8x4xf32>
    ```
  }];
  let dependentDialects = ["::mlir::sdy::SdyDialect"];
}

def Sdy_CollectivesToReshardsPass : Sdy_FuncPass<"sdy-collectives-to-reshards", Sdy_Own> {
  let summary = "Replaces collectives whose operands may come to be sharded otherwise";
  let description = [{
    A collective in a global program counts on how its operand is sharded. Partitioning shards some
    values otherwise than they are written: those with dimensions that their axes don't divide, and
    those behind propagation barriers. Their collectives become reshards, and so do all that
    complete partial results:

    ```mlir
    // %0 is sharded as <@mesh, [{}\], unreduced={"x"}>
    %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}\]> : tensor<8xf32>
    ```

    becomes

    ```mlir
    %1 = sdy.reshard %0 <@mesh, [{}\]> : tensor<8xf32>
    ```

    A sum of values that are complete already would multiply them, and is refused. An operand is
    partial along the axes along which it is declared unreduced, and along those along which the
    operation that makes it contracts.
  }];
  let dependentDialects = ["::mlir::sdy::SdyDialect"];
}

def Sdy_StaticUpdatesToPadsPass : Sdy_FuncPass<"sdy-static-updates-to-pads", Sdy_Own> {
  let summary = "Writes updates at constant indices as pads and selects";
  let description = [{
    Where a `stablehlo.dynamic_update_slice` or a `stablehlo.scatter` of one window updates a part of a
    sharded dimension at constant indices, the update is padded to the size of the tensor and
    selected, so that devices exchange only the elements that move to another shard. On 4 devices, with
    constant indices 1, as JAX lowers `x.at[1:15].set(y)`,

    ```mlir
    %0 = stablehlo.dynamic_update_slice %x, %y, %one
        {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"d"}\]>\]>}
        : (tensor<16xf32>, tensor<14xf32>, tensor<i32>) -> tensor<16xf32>
    ```

    becomes

    ```mlir
    %0 = stablehlo.pad %y, %zero, low = [1], high = [1], interior = [0]  // sharded as the result
    %1 = stablehlo.select %mask, %0, %x                                  // the mask: 1 <= iota < 15
    ```
  }];
  let dependentDialects = ["::mlir::sdy::SdyDialect", "::mlir::stablehlo::StablehloDialect"];
}

def Sdy_UnshardUnevenRegionsPass : Sdy_FuncPass<"sdy-unshard-uneven-regions", Sdy_Own> {
  let summary = "Drops uneven shardings that only add communication";
  let description = [{
    Where the sharding of an argument was dropped, since it doesn't divide the argument evenly, what
    propagation derived from it is left. Operations in between whose inputs and outputs aren't sharded
    along these axes are computed on each device, unless that is more work than the gathers cost. On
    4 devices,

    ```mlir
    %0 = stablehlo.negate %a
        {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}\]>\]>} : tensor<9x4xf32>
    return %0 : tensor<9x4xf32>
    ```

    becomes

    ```mlir
    %0 = stablehlo.negate %a
        {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}\]>\]>} : tensor<9x4xf32>
    return %0 : tensor<9x4xf32>
    ```
  }];
}

def Sdy_RemovePropagationBarriersPass : Sdy_FuncPass<"sdy-remove-propagation-barriers", Sdy_Own> {
  let summary = "Removes propagation barriers";
  let description = [{
    Puts the operand of each `sdy.propagation_barrier` in its place. Nothing needs them after
    propagation, and to devices both are one value.
  }];
}

def Sdy_UnshardShortDimensionsPass : Sdy_FuncPass<"sdy-unshard-short-dimensions", Sdy_Own> {
  let summary = "Takes axes from dimensions of one element";
  let description = [{
    A dimension of size 1 isn't sharded any more. A slice that takes one element of a sharded
    dimension becomes a `stablehlo.dynamic_slice`, so that the device that has the element hands it
    to all others.

    ```mlir
    // %0 is sharded as <@mesh, [{"x"}, {}\]> on <["x"=4]>
    %1 = stablehlo.slice %0 [3:4, 0:8] : (tensor<16x8xf32>) -> tensor<1x8xf32>
    ```

    becomes

    ```mlir
    %2 = sdy.constant dense<3> : tensor<i64>
    %3 = sdy.constant dense<0> : tensor<i64>
    %1 = stablehlo.dynamic_slice %0, %2, %3, sizes = [1, 8]
        : (tensor<16x8xf32>, tensor<i64>, tensor<i64>) -> tensor<1x8xf32>
    ```
  }];
  let dependentDialects = ["::mlir::sdy::SdyDialect"];
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
           "whether to make every operation compatible">,
    Sdy_Option012<"markPartialResultWithUnreducedAxes", "mark-partial-result-with-unreduced-axes",
           "bool", "false",
           "whether the sharding of a partial result says so: the axes of the all-reduce after it "
           "are its unreduced axes">,
    Sdy_OwnOption<"replicateWithoutLocalForm", "replicate-without-local-form", "bool", "false",
        "whether to go by the local forms of sdy-convert-global-to-local: tensors agree on what "
        "sends the fewest bytes, and what has no local form is computed on whole tensors">
  ];
}

def Sdy_ResolvePermutationFactorsPass : Sdy_ModulePass<"sdy-resolve-permutation-factors"> {
  let summary = "Lets shards exchange the data that operations need of each other";
  let description = [{
    Looks at operations that are sharded along dimensions where a shard of the result isn't computed
    from the same shard of the operands alone: pads, slices, reversals, concatenations, convolutions,
    and windows. Each one becomes local code in a `sdy.manual_computation`, in which devices send
    each other just the elements that they need.

    ```mlir
    // %0 and %1 are sharded by [{"x"}\] on <["x"=2]>
    %1 = stablehlo.slice %0 [1:8] : (tensor<8xf32>) -> tensor<7xf32>
    ```

    becomes

    ```mlir
    %1 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{"x"}\]>]
        out_shardings=[<@mesh, [{"x"}\]>] manual_axes={"x"} (%arg1: tensor<4xf32>) {
      %3 = stablehlo.slice %arg1 [1:4] : (tensor<4xf32>) -> tensor<3xf32>
      %4 = stablehlo.slice %arg1 [0:1] : (tensor<4xf32>) -> tensor<1xf32>
      %5 = "stablehlo.collective_permute"(%4) <{source_target_pairs = dense<[[1, 0]]>}>
      %6 = stablehlo.concatenate %3, %5, dim = 0
      sdy.return %6 : tensor<4xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>
    %2 = stablehlo.slice %1 [0:7] : (tensor<8xf32>) -> tensor<7xf32>
    ```

    A dimension becomes whole where that sends less, where an operation has no such form, and
    without `enable-halo-exchange`. So do the dimensions of a `stablehlo.reshape` if the shards of
    its operand and those of its result don't hold the same data:

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
  let dependentDialects = ["::mlir::sdy::SdyDialect"];
  let options = [
    Option<"enableHaloExchange", "enable-halo-exchange", "bool", "true",
           "exchange what shards need of each other">,
    Sdy_ReplicaCount,
    Sdy_PartitionCount,
    Sdy_RngBitGeneratorUnsafe
  ];
}

def Sdy_OptimizeReshardsPass : Sdy_FuncPass<"sdy-optimize-reshards", Sdy_Own> {
  let summary = "Lets devices send fewer bytes for the same shardings";
  let description = [{
    What each device can make by itself is made in the sharding that a reshard wants. A reshard moves
    behind an elementwise operation, or before it, where devices send fewer bytes there. Of several
    reshards of one value, and of its transposes, reshapes and conversions, a later one starts from an
    earlier one where that is cheaper.

    ```mlir
    // %0 is sharded as <@mesh, [{"x"}, {}\]>
    %1 = sdy.reshard %0 <@mesh, [{}, {}\]> : tensor<8x8xf32>
    %2 = stablehlo.convert %1 : (tensor<8x8xf32>) -> tensor<8x8xbf16>
    ```

    becomes

    ```mlir
    %1 = stablehlo.convert %0 : (tensor<8x8xf32>) -> tensor<8x8xbf16>
    %2 = sdy.reshard %1 <@mesh, [{}, {}\]> : tensor<8x8xbf16>
    ```
  }];
  let dependentDialects = ["::mlir::sdy::SdyDialect"];
}

def Sdy_ReshardToCollectivesPass : Sdy_FuncPass<"sdy-reshard-to-collectives"> {
  let summary = "Turns reshards into collectives";
  let description = [{
    Replaces each `sdy.reshard` by a chain of `sdy.all_slice`, `sdy.collective_permute`,
    `sdy.all_to_all` and `sdy.all_gather` that leads from the sharding of the input to that of the
    result.

    A reshard is left as it is when it involves a single device, or meshes of different numbers of
    devices. To and from a single device, only whole tensors go: what is sharded is gathered before,
    or sliced afterwards. Between meshes of the same devices that have other axes, it is a layout
    that both can express; the reshard that is left changes nothing on the devices.

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
           "whether to keep reshards that change nothing">
  ];
}

def Sdy_OptimizeCollectivesPass : Sdy_FuncPass<"sdy-optimize-collectives", Sdy_012> {
  let summary = "Replaces permutes before all-to-alls by all-to-alls of single axes";
  let description = [{
    An all-to-all moves the last axes of a dimension, so that moving another axis first needs a
    collective-permute, in which each device sends its whole shard. Where the dimension can be split
    into one for each axis, the axis is moved out of its own dimension, and the axes behind it
    follow. Each of these all-to-alls keeps a part of the shard on the device.

    ```mlir
    // on <["x"=2, "y"=4]>, %0 is sharded as [{}, {"y", "x"}\]
    %1 = sdy.collective_permute %0 out_sharding=<@mesh, [{}, {"x", "y"}\]> : tensor<24x24xf32>
    %2 = sdy.all_to_all [{"y"}: 1->0] %1 out_sharding=<@mesh, [{"y"}, {"x"}\]> : tensor<24x24xf32>
    ```

    becomes

    ```mlir
    %1 = stablehlo.reshape %0 : (tensor<24x24xf32>) -> tensor<24x4x2x3xf32>
    %2 = sdy.all_to_all [{"y"}: 1->0] %1 out_sharding=<@mesh, [{"y"}, {}, {"x"}, {}\]> : ...
    %3 = sdy.all_to_all [{"x"}: 2->1] %2 out_sharding=<@mesh, [{"y"}, {"x"}, {}, {}\]> : ...
    %4 = stablehlo.reshape %3 : (tensor<24x4x2x3xf32>) -> tensor<24x24xf32>
    ```
  }];
  let dependentDialects = ["::mlir::sdy::SdyDialect"];
}

def Sdy_HoistReshardsPass : Sdy_FuncPass<"sdy-hoist-reshards", Sdy_Own> {
  let summary = "Reshards what a loop does not change once, before the loop";
  let description = [{
    A reshard in the body of a `stablehlo.while` moves in front of the loop if its operand comes from
    there, or is an argument that each trip returns as it is. The resharded value occupies memory
    during the whole loop. Where the body computes the operand from such values, the computation
    moves, too; all-reduces move likewise. A loop that is known to run once stays as it is.

    ```mlir
    %0:2 = stablehlo.while(%c = %a, %w = %b) : tensor<8x8xf32>, tensor<8x8xf32> cond {...} do {
      %1 = sdy.reshard %w <@mesh, [{}, {}\]> : tensor<8x8xf32>
      %2 = stablehlo.dot_general %c, %1, ...
      stablehlo.return %2, %w : tensor<8x8xf32>, tensor<8x8xf32>
    }
    ```

    becomes

    ```mlir
    %1 = sdy.reshard %b <@mesh, [{}, {}\]> : tensor<8x8xf32>
    %0:2 = stablehlo.while(%c = %a, %w = %1) : tensor<8x8xf32>, tensor<8x8xf32> cond {...} do {
      %2 = stablehlo.dot_general %c, %w, ...
      stablehlo.return %2, %w : tensor<8x8xf32>, tensor<8x8xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::sdy::SdyDialect"];
  let options = [
    Option<"maxBytes", "max-bytes", "int64_t", "1073741824",
           "the bytes that a value may have on each device to be kept during a loop">
  ];
}

def Sdy_ReassociateReductionsPass : Sdy_FuncPass<"sdy-reassociate-reductions", Sdy_Own> {
  let summary = "Adds partial results up once, after what is linear in them";
  let description = [{
    Where the results of all-reduces are only added, subtracted or concatenated, the partial results
    are, and one all-reduce completes the outcome. Negations, products with complete values, exact
    conversions, transposes, reshapes, slices, broadcasts, sums of elements and pads with zeros may
    be in between.
    Reduce-scatters that scatter alike are merged, too. A loop that only adds up results of
    all-reduces adds up partial ones, which are completed after it.

    ```mlir
    %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}\]> : tensor<8xf32>
    %3 = sdy.all_reduce {"x"} %2 out_sharding=<@mesh, [{}\]> : tensor<8xf32>
    %4 = stablehlo.add %1, %3 : tensor<8xf32>
    ```

    becomes

    ```mlir
    %3 = stablehlo.add %0, %2
        {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}\], unreduced={"x"}>\]>} : tensor<8xf32>
    %4 = sdy.all_reduce {"x"} %3 out_sharding=<@mesh, [{}\]> : tensor<8xf32>
    ```
  }];
  let dependentDialects = ["::mlir::sdy::SdyDialect"];
}

def Sdy_PadForDivisibilityPass : Sdy_ModulePass<"sdy-pad-for-divisibility"> {
  let summary = "Pads the dimensions that their axes do not divide";
  let description = [{
    Rounds every sharded dimension of every value up to a multiple of the number of its pieces. The
    padding is at the end. What it holds is not known, so that it is overwritten by a neutral value
    where an operation would notice: in the reduced dimensions of contractions and reductions, and
    in divisors. What is gathered is cut to its own size again. An operation that can't be computed
    on padded dimensions, such as a reshape that splits one, gets them whole.

    Before: reshards are collectives, the tensors of each operation agree, and the dimensions of
    inputs and outputs of functions, calls and manual computations are divided by their axes. After:
    all dimensions are.

    ```mlir
    // on a mesh <["x"=4]>
    %1 = sdy.all_slice [{"x"}\] %0 out_sharding=<@mesh, [{"x"}\]> : tensor<7xf32>
    ```

    becomes

    ```mlir
    %1 = stablehlo.pad %0, %zero, low = [0], high = [1], interior = [0]
    %2 = sdy.all_slice [{"x"}\] %1 out_sharding=<@mesh, [{"x"}\]> : tensor<8xf32>
    ```
  }];
  let dependentDialects = ["::mlir::sdy::SdyDialect"];
}

def Sdy_ResolveSingleDeviceShardingPass : Sdy_FuncPass<"sdy-resolve-single-device-sharding", Sdy_012> {
  let summary = "Runs operations on the single device that they are sharded on";
  let description = [{
    An operation with a result on a single device becomes a conditional, which all devices but that
    one go past. What it computes is broadcast: the others contribute nothing to an `sdy.all_reduce`
    over all axes of the mesh of the function: the first one with axes that is in use there.

    ```mlir
    %1 = sdy.reshard %0 <@device_1, []> : tensor<8xf32>
    %2 = stablehlo.negate %1 {sdy.sharding = #sdy.sharding_per_value<[<@device_1, []>\]>}
        : tensor<8xf32>
    %3 = sdy.reshard %2 <@mesh, [{}\]> : tensor<8xf32>
    ```

    becomes

    ```mlir
    %1 = "stablehlo.if"(%is_device_1) ({
      %4 = stablehlo.negate %0 : tensor<8xf32>
      stablehlo.return %4 : tensor<8xf32>
    }, {
      %4 = stablehlo.constant dense<0.0> : tensor<8xf32>
      stablehlo.return %4 : tensor<8xf32>
    }) : (tensor<i1>) -> tensor<8xf32>
    %3 = sdy.all_reduce {"x"} %1 out_sharding=<@mesh, [{}\]> : tensor<8xf32>
    ```
  }];
  let dependentDialects = ["::mlir::sdy::SdyDialect"];
  let options = [
    Sdy_ReplicaCount,
    Sdy_PartitionCount
  ];
}

def Sdy_ConvertGlobalToLocalPass : Sdy_ModulePass<"sdy-convert-global-to-local"> {
  let summary = "Turns the global program into that of one device";
  let description = [{
    Gives every value its local type, each dimension divided by the number of pieces it is split
    into, and turns sdy collectives into StableHLO ones. Partial results that no collective
    completes, as those of a product that is sharded along what it contracts, get an all-reduce.

    Before: each operation can execute on shards alone, and every sharded dimension is divisible.
    After: there are local types everywhere and no sdy collectives; shardings stay on the
    operations. An operation without a conversion makes the pass fail.

    The module gets the shardings of the arguments and the results of `@main` as
    `sdy.parameters_shardings` and `sdy.output_shardings`, with their meshes; a value without a
    sharding is replicated.

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
    Option<"combineMultiDimensionReduceScatter", "combine-multi-dimension-reduce-scatter", "bool",
           "false",
           "whether a reduce-scatter of several dimensions becomes one of all of them, instead of "
           "an all-reduce and a slice">,
    Option<"enableRgv3", "enable-rgv3", "bool", "true",
           "whether replica groups along whole axes are given by the axes of the mesh">,
    Sdy_ReplicaCount,
    Sdy_PartitionCount
  ];
}

def Sdy_PerInstructionPartitioningPass : Sdy_ModulePass<"sdy-per-instruction-partitioning", Sdy_012> {
  let summary = "Partitions single operations, and leaves the rest of the program global";
  let description = [{
    Turns operations, one by one, into their local form within an `sdy.manual_computation`, which
    has the shardings of the operation. All that surrounds it stays as it is, so that a fault of
    the partitioner can be tracked down to an operation.

    Operations directly in functions that have a sharded operand or result are candidates. They are
    numbered from 0 through the module. `filter` is a list of conditions: `selectLow=N` and
    `selectHigh=N` bound the numbers, both inclusive, and any other word is a part of the name of
    operations to be chosen. An empty filter chooses all candidates.

    ```mlir
    %1 = stablehlo.negate %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}\]>\]>}
        : tensor<8xf32>
    ```

    becomes, on a mesh of size 2,

    ```mlir
    %1 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{"x"}\]>\]
        out_shardings=[<@mesh, [{"x"}\]>\] manual_axes={"x"} (%arg0: tensor<4xf32>) {
      %2 = stablehlo.negate %arg0 : tensor<4xf32>
      sdy.return %2 : tensor<4xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
  let dependentDialects = ["::mlir::sdy::SdyDialect"];
  let options = [
    Sdy_Option012<"filter", "filter", "std::string", "\"\"", "which operations to partition">,
    Option<"enableHaloExchange", "enable-halo-exchange", "bool", "true",
           "whether shards exchange what they need of their neighbours">,
    Sdy_ReplicaCount,
    Sdy_PartitionCount,
    Sdy_RngBitGeneratorUnsafe
  ];
}

def Sdy_CombineCollectivesPass : Sdy_FuncPass<"sdy-combine-collectives", Sdy_Own> {
  let summary = "Combines collectives that do not need each other's results";
  let description = [{
    All-reduces and all-gathers of a local program that differ only in the shapes of their operands
    become one at the place of the last.

    ```mlir
    %1 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]\]>}> ({ ... })
    %2 = stablehlo.negate %b
    %3 = "stablehlo.all_reduce"(%2) <{replica_groups = dense<[[0, 1]\]>}> ({ ... })
    ```

    becomes

    ```mlir
    %2 = stablehlo.negate %b
    %1:2 = "stablehlo.all_reduce"(%a, %2) <{replica_groups = dense<[[0, 1]\]>}> ({ ... })
    ```
  }];
  let options = [
    Option<"maxBytes", "max-bytes", "int64_t", "33554432",
           "the bytes of the operands of a combined collective on each device">
  ];
}

def Sdy_DropShardingAndMeshPass : Sdy_ModulePass<"sdy-drop-sharding-and-mesh"> {
  let summary = "Removes shardings and meshes";
  let description = [{
    Removes the attribute `sdy.sharding` from operations, function arguments and function results,
    and all `sdy.mesh` operations. Shardings that sdy operations hold as their own attributes
    stay, so no such operation should be left.

    The module loses `sdy.parameters_shardings` and `sdy.output_shardings`, which
    `sdy-convert-global-to-local` has given it, unless they are to be kept.
  }];
  let options = [
    Sdy_Option012<"keepModuleShardingMetadata", "keep-module-sharding-metadata", "bool", "false",
           "whether the module keeps sdy.parameters_shardings and sdy.output_shardings">
  ];
}

#endif // SDY_PASSES
