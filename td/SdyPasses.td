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

// The origin of a pass or an option: the oldest supported release of Shardy, which is that of
// jaxlib 0.10.2, a later release, or this project.
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
    "whether to keep the sharding rules on the operations">;
def Sdy_ModuleDumpDirectory : Option<"moduleDumpDirectory", "module-dump-directory",
    "std::string", "\"\"",
    "directory to which the module is saved before each user priority except the first; empty "
    "to save nothing">;
def Sdy_ModuleDumpIndex : Sdy_OwnOption<"moduleDumpIndex", "module-dump-index", "int", "0",
    "number of the first saved file">;
def Sdy_DebugShardingOrigins : Option<"debugShardingOrigins", "debug-sharding-origins",
    "bool", "false",
    "whether to record for each axis the user sharding that it comes from">;
def Sdy_DebugPropagationEdgeSharding : Option<"debugPropagationEdgeSharding",
    "debug-propagation-edge-sharding", "bool", "false",
    "whether to record for each axis the operand or result that it was propagated from">;
def Sdy_Compatible : Sdy_OwnOption<"compatible", "compatible", "bool", "false",
    "whether to reproduce C++ Shardy where it is wrong or lacks a sharding rule">;
def Sdy_PropagationStrategy : Option<"propagationStrategy", "propagation-strategy",
    "PropagationStrategy", "PropagationStrategy::Aggressive",
    "resolution of conflicts between the factors of an operation", [{
      ::llvm::cl::values(
        clEnumValN(PropagationStrategy::Aggressive, "aggressive", "resolve conflicts"),
        clEnumValN(PropagationStrategy::Basic, "basic", "stop at conflicts"),
        clEnumValN(PropagationStrategy::BasicThenAggressive, "basic-then-aggressive",
                   "first without, then with conflicts"))
    }]>;
def Sdy_Compatibility : Option<"compatibility", "compatibility",
    "Compatibility", "Compatibility::Shardy",
    "resolution of incompatible shardings", [{
      ::llvm::cl::values(
        clEnumValN(Compatibility::Shardy, "shardy", "by the sizes of tensors, as C++ Shardy"),
        clEnumValN(Compatibility::Cheapest, "cheapest",
                   "by the cost of communication; replicates the operands of operations for which "
                   "sdy-convert-global-to-local has no local form"))
    }]>, Sdy_From<Sdy_Own>;
def Sdy_Hardware : Sdy_OwnOption<"hardware", "hardware", "std::string", "\"default\"",
    "devices and links whose cost counts: a preset, a TOML file, or an inline table of TOML">;
def Sdy_RunOpPriorityPropagation : Option<"runOpPriorityPropagation",
    "run-op-priority-propagation", "bool", "true",
    "whether to propagate through pass-through operations first">;
def Sdy_ConservativePropagation : Option<"conservativePropagation", "conservative-propagation",
    "bool", "false",
    "whether to propagate full axes only, and not along dimensions of windows and padding">;

def Sdy_ReplicaCount : Sdy_Option012<"replicaCount", "replica-count", "int64_t", "1",
    "number of replicas">;
def Sdy_PartitionCount : Sdy_Option012<"partitionCount", "partition-count", "int64_t", "1",
    "number of partitions">;
def Sdy_RngBitGeneratorUnsafe : Sdy_Option012<"rngBitGeneratorUnsafe", "rng-bit-generator-unsafe",
    "bool", "false",
    "whether each device generates only its shard of a stablehlo.rng_bit_generator, from its own "
    "state; the bits then depend on the sharding">;

defvar Sdy_CommonPropagationOptions = [
  Sdy_KeepShardingRules, Sdy_ModuleDumpDirectory, Sdy_ModuleDumpIndex, Sdy_ConservativePropagation,
  Sdy_DebugShardingOrigins, Sdy_DebugPropagationEdgeSharding, Sdy_Compatible
];

//===----------------------------------------------------------------------===//
// Import
//===----------------------------------------------------------------------===//

def Sdy_LiftInlinedMeshesPass : Sdy_ModulePass<"sdy-lift-inlined-meshes"> {
  let summary = "Replaces inlined meshes by symbols and merges equal meshes";
  let description = [{
    Replaces each mesh that a sharding contains by the symbol of an `sdy.mesh`, and merges equal
    meshes.

    - The first of several equal mesh operations is kept; references to the others are renamed.
    - A mesh without an operation gets one, after the last existing mesh operation or at the start
      of the module. Its name is `mesh`, `empty_mesh` or `maximal_mesh_<device>`, followed by a
      number if the name is taken.

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
    Removes every axis of size 1 from the dimension shardings, replicated axes and unreduced axes of
    all shardings. A closed dimension that has no axes left loses its priority.

    Meshes and the `manual_axes` of manual computations keep their axes. The pass does nothing if no
    `sdy.mesh` of the module has an axis of size 1.

    On a mesh `<["a"=1, "b"=2]>`, `[{"a"}p2, {"a", "b", ?}p1\]` becomes `[{}, {"b", ?}p1\]`.
  }];
}

def Sdy_PropagateShardingFromFuncToCallPass
    : Sdy_ModulePass<"sdy-propagate-sharding-from-func-to-call"> {
  let summary = "Propagates the shardings of callee results to calls";
  let description = [{
    Copies the shardings of the callee's results to each `func.call` that has no `sdy.sharding`. A
    result without a sharding gets a fully open sharding on the mesh of the first result that has
    a sharding on a mesh that is not maximal. If there is no such mesh, or if the call already has a
    sharding, the call is not changed.

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
  let summary = "Copies constants and broadcast scalars for each use";
  let description = [{
    Copies constant subcomputations and broadcasts of scalars, so that each use has its own copy.
    Propagation would otherwise copy shardings between unrelated operations through a constant that
    both use.

    A constant subcomputation is a value together with the operations that compute it, if each of
    them is

    - a constant or an iota,
    - an element-wise operation, broadcast, reshape or slice of constant values, or
    - a call or named computation on constant values that consists of such operations only.

    Scalars are not copied, since they cannot be sharded. Unused constants and constant
    subcomputations are erased. Each `stablehlo.constant` becomes an `sdy.constant`, which
    canonicalization does not merge again.

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
  let summary = "Replaces tuples by their elements";
  let description = [{
    Replaces tuples in the signatures of functions, calls, composites and custom calls by their
    elements, and forwards the operands of `stablehlo.tuple` to the uses of
    `stablehlo.get_tuple_element`, since only the elements can be sharded. Attributes of arguments
    and results are split among the elements; an attribute that cannot be split is an error.

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
  let summary = "Makes the batch dimensions of gathers and scatters explicit";
  let description = [{
    Detects each `stablehlo.gather` and `stablehlo.scatter` whose dimension 0 is an implicit batch
    dimension, and declares it as a batching dimension, along which indices and operand can then be
    sharded alike.

    Dimension 0 is an implicit batch dimension if the index component for dimension 0 of the operand
    is an `iota` along dimension 0 of the indices, possibly broadcast, reshaped, clamped or
    selected, and if dimension 0 has the same size in operand and indices. Operations that are dead
    or have no effect are erased.

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

def Sdy_UnmergeBatchDimensionsPass
    : Sdy_FuncPass<"sdy-unmerge-batch-dimensions", Sdy_Own> {
  let summary = "Restores dimensions that reshapes merge around matrix products";
  let description = [{
    PyTorch merges the batch and the heads of attention for a batched product, and the batch and the
    sequence for a linear layer, and splits them again afterwards. A merged dimension can't be
    sharded by one mesh axis along the batch and by another along the heads. This pass removes such
    reshapes and computes with the dimensions that they merge.

    A dimension of a value is split where this is available and wanted:

    1. A split is available in the result of a `stablehlo.reshape` that merged dimensions, and of a
       constant. It is available in the result of another operation if it is in each operand that
       has the dimension; a dimension that a broadcast adds can be split anywhere.
    2. A split is wanted of the operand of a `stablehlo.reshape` that splits the dimension again,
       and along contracted and reduced dimensions. It is wanted of the operands of another
       operation if it is of one of its results.
    3. Splits pass through `stablehlo.dot_general`, `transpose`, `broadcast_in_dim`, `reduce`,
       `concatenate`, `slice`, `pad`, `reverse` and `iota` along dimensions that these don't change,
       and through elementwise operations.
    4. Operations with a sharding or a sharding rule are not changed, nor are constraints.
       Dimensions that an argument or another operation merged are not split.

    No reshape that splits a dimension is added, and no computation is repeated: a value that is
    also used merged is merged after its definition.

    ```mlir
    %0 = stablehlo.reshape %q : (tensor<8x4x6x16xf32>) -> tensor<32x6x16xf32>
    %1 = stablehlo.reshape %k : (tensor<8x4x6x16xf32>) -> tensor<32x6x16xf32>
    %2 = stablehlo.dot_general %0, %1, batching_dims = [0] x [0], contracting_dims = [2] x [2]
    %3 = stablehlo.reshape %2 : (tensor<32x6x6xf32>) -> tensor<8x4x6x6xf32>
    ```

    becomes

    ```mlir
    %0 = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1],
        contracting_dims = [3] x [3]
    ```

    Then the pass removes batch dimensions of a `stablehlo.dot_general` along which the values of an
    operand are equal, such as those of a weight that is broadcast to the batch. They become free
    dimensions of the other operand.

    ```mlir
    %0 = stablehlo.broadcast_in_dim %w, dims = [1, 2] : (tensor<16x5xf32>) -> tensor<8x16x5xf32>
    %1 = stablehlo.dot_general %x, %0, batching_dims = [0] x [0], contracting_dims = [2] x [1]
    ```

    becomes

    ```mlir
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [2] x [0]
    ```
  }];
}

def Sdy_ManualAxesCleanupPass : Sdy_ModulePass<"sdy-manual-axes-cleanup"> {
  let summary = "Normalizes the manual axes of manual computations";
  let description = [{
    Sorts the manual axes of each `sdy.manual_computation` in mesh order, and adds manual axes that
    an input or output sharding does not mention to its replicated axes.

    A computation without inputs and outputs must have an empty body or no manual axes.

    With the manual axes `{"y", "x"}`, `<@mesh, [{"x"}\]>` becomes
    `<@mesh, [{"x"}\], replicated={"y"}>`, and the manual axes become `{"x", "y"}`.
  }];
}

def Sdy_AddDataFlowEdgesPass : Sdy_ModulePass<"sdy-add-data-flow-edges"> {
  let summary = "Inserts data-flow edges for operations with regions and barriers";
  let description = [{
    Inserts an `sdy.data_flow_edge` after each edge owner of static shape: the results of
    `stablehlo.while`, `stablehlo.case`, `stablehlo.optimization_barrier`, `sdy.manual_computation`
    and `sdy.named_computation`, and the block arguments of the last two. The edge takes over the
    sharding and all uses of the owner. Owners that already have an edge are skipped.

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
  let summary = "Inserts data-flow edges for function arguments and call results";
  let description = [{
    Inserts an `sdy.func_data_flow_edge` after each argument of static shape of each function except
    the main function, and after each call result of static shape. The edge takes over the sharding
    and all uses of the value. Through the edges, shardings propagate from the operands of all calls
    to the function's arguments, and from the returned values to the results of the calls.

    The main function is the only function of the module, or the one named `main`.

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
  let summary = "Applies sharding constraints to their inputs";
  let description = [{
    Copies the sharding of an `sdy.sharding_constraint` to its input, if

    - the input has no sharding,
    - all dimensions of the sharding are closed, and
    - no other constraint and no manual computation requires another sharding of the input.

    Propagation alone would copy the axes of the constraint, but would leave the dimensions open.
    Inputs of manual computations are treated in the same way.

    If the input is the result of a data-flow edge, the sharding is not copied, since an edge has
    one sharding for all values that it connects. Instead, the constraint is moved directly after
    the edge and takes over the other uses of the edge's result.

    In a chain of constraints, each of which has the next one as its only use, uses of the chain's
    input that follow the chain in the same block are replaced by the chain's result. This requires
    that no other constraint and no manual computation uses the chain's input or result.

    ```mlir
    %0 = stablehlo.tanh %a : tensor<8x8xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}, {}\]> : tensor<8x8xf32>
    %2 = sdy.sharding_constraint %1 <@mesh, [{}, {"y"}\]> : tensor<8x8xf32>
    return %0 : tensor<8x8xf32>
    ```

    shards `%0` by `[{"x"}, {}\]`. An `add` that uses `%0` after `%2` would use `%2` instead.
  }];
  let dependentDialects = ["::mlir::sdy::SdyDialect"];
  let options = [
    Option<"debugShardingOrigins", "debug-sharding-origins", "bool", "false",
           "whether to record for each axis the sharding that it comes from">,
    Option<"debugPropagationEdgeSharding", "debug-propagation-edge-sharding", "bool", "false",
           "whether to record the steps that propagated each axis">
  ];
}

def Sdy_ShardingGroupImportPass : Sdy_ModulePass<"sdy-sharding-group-import"> {
  let summary = "Verifies, merges and renumbers sharding groups";
  let description = [{
    Makes the sharding groups of a module disjoint: merges groups that share a value, renumbers the
    groups from 0, and removes duplicate memberships.

    All values of a group must have the same shape, and must be members within the same manual
    computation or all outside of manual computations.

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
  let summary = "Clones functions so that each has a single call";
  let description = [{
    The first call of a function keeps the function; each later call gets a copy, including copies
    of all functions that it calls. The pass visits calls in post-order. The attribute
    `sdy.original_func_name` of a copy holds the name of the original function.

    Recursive functions are an error; declarations are not copied.

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
  let summary = "Replaces calls by named computations";
  let description = [{
    Replaces each call by an `sdy.named_computation` with the body and the original name of the
    function. The shardings of the function's arguments become `in_shardings`, and the sharding of
    the call becomes `out_shardings`. The computation keeps the attributes of the call, and gets
    `execution_thread` of the function. Called functions are erased.

    With `keep-no-inline` the computation also gets `no_inline` of the function, as
    `sdy.func_no_inline`, and so do the named computations of the input.

    Recursive functions are an error; calls of declarations are not replaced.

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
           "bool", "true", "whether to add data-flow edges to all named computations">,
    Sdy_OwnOption<"keepNoInline", "keep-no-inline", "bool", "false",
        "whether functions must not be inlined later that have `no_inline`, or are exported from "
        "named computations of the input">
  ];
}

def Sdy_PreOrderFuncsPass : Sdy_ModulePass<"sdy-pre-order-funcs"> {
  let summary = "Sorts functions so that callers precede callees";
  let description = [{
    Moves all functions with a body to the end of the module, callers before their callees.

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
  let summary = "Attaches sharding rules to operations";
  let description = [{
    Attaches `sdy.sharding_rule` to each operation that has no rule and for which one is
    registered. Existing rules, from the user or from an earlier pass, are kept.

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
    Extends the shardings of values that sharding rules and data-flow edges connect, until nothing
    changes.

    - Along a factor, each tensor is extended to the longest list of axes that is compatible with
      all tensors that have the factor: up to there, their lists must be prefixes of one another.
    - Only open dimensions are extended, and only by axes that the tensor does not use.
    - Where tensors disagree, propagation along the factor stops; the conflict is not resolved.

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
  let summary = "Propagates shardings and resolves conflicts within operations";
  let description = [{
    Works like `sdy-basic-propagate`, but resolves conflicts:

    - Each tensor takes as many of a factor's axes as it can; an axis that one tensor cannot take is
      still propagated to the others.
    - If two factors need the same axis in one tensor, the factor whose source is the larger tensor
      is propagated first. Ties of element-wise operations are broken in favor of the source that
      is sharded further, then of the earlier operand.

    ```mlir
    // a: [{"x"}, {?}\]   b: [{?}, {"x"}\]   both 8x8
    %0 = stablehlo.dot %a, %b : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    ```

    shards `%0` as `[{"x", ?}, {?}\]`; the basic strategy does not shard it.
  }];
  let options = !listconcat(Sdy_CommonPropagationOptions, [Sdy_PropagationStrategy]);
}

def Sdy_OpPriorityPropagatePass : Sdy_ModulePass<"sdy-op-priority-propagate"> {
  let summary = "Propagates shardings in the order of operation priorities";
  let description = [{
    Runs `sdy-aggressive-propagate` five times, each time through more operations and factors:

    0. element-wise operations, reshapes and transposes whose operands have no other use; dynamic
       slices forward;
    1. these operations regardless of the uses of their operands;
    2. all operations along pass-through factors, broadcasts only backward;
    3. all operations along all factors, broadcasts only backward;
    4. all operations along all factors in both directions.
  }];
  let options = !listconcat(Sdy_CommonPropagationOptions,
                            [Sdy_PropagationStrategy, Sdy_RunOpPriorityPropagation]);
}

def Sdy_UserPriorityPropagatePass : Sdy_ModulePass<"sdy-user-priority-propagate"> {
  let summary = "Propagates shardings in the order of user priorities";
  let description = [{
    Runs `sdy-op-priority-propagate` once for each priority that occurs, from the lowest number to
    the highest. Dimensions of later priorities are hidden: they appear unsharded and closed, and
    the same tensor cannot use their axes. Dimensions without a priority have priority 0.

    ```mlir
    func.func @f(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}p1, {}\]>},
                 %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}p0]>}) {
      %0 = stablehlo.add %a, %b : tensor<8x8xf32>
    ```

    shards `%0` like `%b`, whose priority precedes that of `%a`.
  }];
  let options = !listconcat(Sdy_CommonPropagationOptions,
                            [Sdy_PropagationStrategy, Sdy_RunOpPriorityPropagation]);
}

def Sdy_SchedulePass : Sdy_ModulePass<"sdy-schedule", Sdy_Own> {
  let summary = "Propagates the shardings of the tactics of a schedule";
  let description = [{
    Applies tactics, which add axes to values, and propagates after each of them. It stands for
    `sdy-propagation-pipeline`: the program is imported before and exported after. The result is
    that of an annotated program in which the axes of tactic i have user priority i. The tactics are
    in a TOML file, or in an array of inline tables:

    ```
    sdy-schedule{tactics={[{kind='batch', inputs='x', axis='data'}\]}}
    ```

    On a mesh `<["data"=8]>`

    ```mlir
    func.func @main(%x: tensor<64x32xf32> loc("x"), %w: tensor<32x32xf32> loc("w")) -> ... {
      %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : ...
    ```

    becomes

    ```mlir
    func.func @main(%x: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}\]>},
                    %w: tensor<32x32xf32>) -> ... {
      %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
        {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"data"}, {}\]>\]>} : ...
    ```
  }];
  let dependentDialects = ["::mlir::sdy::SdyDialect"];
  let options = [
    Option<"file", "file", "std::string", "\"\"", "TOML file with the tactics">,
    Option<"tactics", "tactics", "std::string", "\"\"",
           "tactics, as an array of inline tables of TOML">
  ];
}

def Sdy_AutoShardPass : Sdy_ModulePass<"sdy-auto-shard", Sdy_Own> {
  let summary = "Chooses the shardings with the least cost";
  let description = [{
    Chooses the sharding of each value such that the estimated time of the program, or the bytes
    that devices send, are minimal on some hardware. Writes closed shardings, which propagation
    keeps. The partitioner follows two further attributes: `sdy.factor_axes`, the axes of the factors
    of operations whose operands have to be resharded, and `sdy.partial_sharding`, the sharding of
    partial results that a later operation completes. Functions that are called several times are
    copied. Runs before propagation.

    ```mlir
    sdy.mesh @mesh = <["data"=8]>
    func.func @main(%x: tensor<1024x64xf32>, %w: tensor<64x64xf32>) -> tensor<1024x64xf32>
    ```

    becomes

    ```mlir
    func.func @main(%x: tensor<1024x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}\]>},
                    %w: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}\]>}) -> ...
    ```
  }];
  let dependentDialects = ["::mlir::sdy::SdyDialect"];
  let options = [
    Sdy_Hardware,
    Option<"memory", "memory", "std::string", "\"\"",
           "memory of a device, such as 16GiB; any amount if empty">,
    Option<"objective", "objective", "std::string", "\"time\"",
           "what is minimized: time, or bytes">,
    Option<"axes", "axes", "std::string", "\"\"",
           "axes of the mesh that may be used, with commas between them; all if empty">,
    Option<"fixed", "fixed", "bool", "true",
           "whether to keep the shardings in the program">,
    Option<"uneven", "uneven", "bool", "false",
           "whether axes may shard dimensions that they don't divide; shards are padded">,
    Option<"subAxes", "sub-axes", "bool", "false",
           "whether a part of an axis may shard a dimension that the whole one doesn't divide">,
    Option<"timeout", "timeout", "int64_t", "60",
           "seconds after which the search ends with the best shardings so far">,
    Option<"gap", "gap", "std::string", "\"0.01\"",
           "proven fraction of the optimum at which the search ends">,
    Option<"solver", "solver", "std::string", "\"combined\"", "solver">
  ];
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
  let summary = "Merges equal constants and equal broadcasts of scalars";
  let description = [{
    Reverts `sdy-constant-or-scalar-splitter` where propagation has given the copies the same
    sharding. Two operations of one region are merged if they have the same attributes, including
    the sharding, the same type, and

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
  let summary = "Removes data-flow edges and moves their shardings to the owners";
  let description = [{
    Moves the shardings of the data-flow edges of an operation to the operation, and replaces each
    `sdy.data_flow_edge` by its input.

    - The edges of block arguments and the edges of results are two separate groups.
    - If no edge of a group has a sharding, the operation keeps its shardings of that group.
    - Otherwise each value of the group gets the sharding of its edge, or a fully open sharding.

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

    The options move the debug information of the edges to the operation, as
    `sdy.block_arg_sharding_origins` and `sdy.result_sharding_origins`, or as
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
  let summary = "Removes data-flow edges of functions and moves their shardings to the inputs";
  let description = [{
    Moves the sharding of each `sdy.func_data_flow_edge` to its input, and replaces the edge by the
    input. If the edge has no sharding and its input has one, that one becomes fully open.

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
  let summary = "Outlines named computations into functions";
  let description = [{
    Moves the body of each `sdy.named_computation` to a private function at the end of the module,
    and replaces the computation by a call. Data-flow edges of the computation are removed.

    - The function has the name of the computation, followed by a number if the name is taken, and
      the attribute `sdy.original_func_name`.
    - The function's arguments get the shardings of the edges in the body, or else `in_shardings`;
      the call gets the shardings of the edges that follow it, or else `out_shardings`. The pass
      `sdy-propagate-to-func-results` sets the shardings of the function's results.
    - The function gets `execution_thread`, and `sdy.func_no_inline` as `no_inline`; the call gets
      all other attributes.

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
        "whether to mark functions `no_inline` and to give them the result shardings of the "
        "computations">
  ];
}

def Sdy_PropagateToFuncResultsPass : Sdy_ModulePass<"sdy-propagate-to-func-results"> {
  let summary = "Propagates the shardings of returned values to function results";
  let description = [{
    Sets the sharding of each function result to that of the returned value, and removes it if the
    returned value has none. The main function is excluded: the user annotates its results, and
    propagation includes them.

    ```mlir
    func.func private @f(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}\]>})
        -> tensor<8xf32> {
      return %a : tensor<8xf32>
    ```

    shards the result of the function by "x".
  }];
}

def Sdy_UnflattenCallGraphPass : Sdy_ModulePass<"sdy-unflatten-call-graph"> {
  let summary = "Merges equal functions that were cloned for their calls";
  let description = [{
    Reverts `sdy-flatten-call-graph` where possible: redirects calls to one of several equivalent
    functions.

    - Two functions are equivalent if they have the same `sdy.original_func_name` (or name, if the
      attribute is absent), the same `sdy.func_manual_axes`, the same shardings of arguments and
      results, and equal bodies.
    - The function that is called first, in textual order, is kept. `symbol-dce` removes the others.
    - With `dedup-functions-fully` shardings are not compared: the function is kept whose shardings
      belong to most calls.

    Finally the pass removes `sdy.original_func_name` and `sdy.func_manual_axes`.

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
           "whether to merge all copies of a function, regardless of their shardings">
  ];
}

def Sdy_RemoveShardingGroupsPass : Sdy_ModulePass<"sdy-remove-sharding-groups"> {
  let summary = "Removes sharding groups";
  let description = [{
    Erases every `sdy.sharding_group`. After propagation, the members of a group have equal
    shardings.

    ```mlir
    sdy.sharding_group %0 group_id=3 : tensor<8xf32>
    ```

    is erased.
  }];
}

def Sdy_ShardingConstraintToReshardPass : Sdy_FuncPass<"sdy-sharding-constraint-to-reshard"> {
  let summary = "Converts sharding constraints to reshards";
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
  let summary = "Shortens shardings of inputs and outputs that are not divisible";
  let description = [{
    Makes the shardings of function arguments and results, call results, and operands and results of
    manual computations split each dimension evenly. A dimension that is not split evenly keeps the
    longest prefix of its axes that divides it, with a sub-axis at the end if necessary, and loses
    its priority.

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
        "whether to skip private functions and their calls, since they are not inputs or outputs "
        "of the program">
  ];
}

def Sdy_RemoveSubAxesInInputOutputShardingsPass
    : Sdy_ModulePass<"sdy-remove-sub-axes-in-input-output-shardings"> {
  let summary = "Removes sub-axes from open dimensions of the main function's signature";
  let description = [{
    Truncates the axes of each open dimension of the main function's arguments and results before
    the first sub-axis, since propagation added the axes of these dimensions. Closed dimensions are
    the user's choice and are not changed.

    The main function is the only function of the module, or the one named `main`.

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
    Closes every dimension of every sharding, and drops replicated axes, which have no meaning in
    a closed sharding. Dimensions keep their axes; unreduced axes are also kept.

    `<@mesh, [{"x", ?}, {?}\], replicated={"y"}>` becomes `<@mesh, [{"x"}, {}\]>`.
  }];
}

def Sdy_RemovePropagationDebugInfoPass : Sdy_ModulePass<"sdy-remove-propagation-debug-info"> {
  let summary = "Removes the debug information of propagation";
  let description = [{
    Removes `sdy.propagation_edges` and `sdy.sharding_origins` from operations, function arguments
    and function results, and their variants for block arguments (`sdy.block_arg_...`) and results
    (`sdy.result_...`) of operations with regions. `sdy.sharding_origin_name` is kept.

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
  let summary = "Removes all-gathers and reduce-scatters around matrix products";
  let description = [{
    Prepares matrix products for a compiler that overlaps communication with the product itself
    (collective matmul, v1) and inserts the collectives. For each `stablehlo.dot` and
    `stablehlo.dot_general`:

    - each operand that is an `sdy.all_gather` with a single use is replaced by the input of the
      all-gather;
    - if there is no such operand, and the only use of the result is an `sdy.reduce_scatter`, the
      product replaces the reduce-scatter and takes over its sharding, unless that has unreduced
      axes.

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
  let summary = "Verifies where unreduced axes begin and end";
  let description = [{
    An axis that is unreduced in the operands of an operation must be unreduced in its results;
    otherwise a reduction is missing. Only `sdy.reshard`, `sdy.sharding_constraint` and collectives
    may remove an unreduced axis. The results of the first two may be unreduced along any axes. The
    reduction kind of a new unreduced axis is a sum for matrix products, and the reduction in the
    body for `stablehlo.reduce`. All unreduced results of an operation have one kind.

    The unreduced axes of call operands and of values that regions and functions return must equal
    those of the values that they are passed to. The pass changes nothing.

    ```mlir
    // %a is sharded as <@mesh, [{}\], unreduced={"x"}>, the result as <@mesh, [{}\]>
    %0 = stablehlo.negate %a
    ```

    is an error, while

    ```mlir
    %0 = sdy.reshard %a <@mesh, [{}\]> : tensor<8xf32>
    %1 = stablehlo.negate %0
    ```

    is valid.
  }];
}

def Sdy_InlineMeshesPass : Sdy_ModulePass<"sdy-inline-meshes"> {
  let summary = "Replaces mesh symbols by the meshes";
  let description = [{
    Replaces the mesh symbol in each sharding, and in `replica_groups` that are given by axes, by
    the mesh itself, and erases all `sdy.mesh`. This reverts `sdy-lift-inlined-meshes`, except for
    the names of the meshes.

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
    Writes the module in its current state to `<directory>/<index>.<name>.mlir`, the index with two
    digits: `02.after_propagation.mlir`. With an empty directory nothing is written. The directory
    must exist. If the file cannot be written, the pass emits a warning and the pipeline continues.
  }];
  let options = [
    Option<"directory", "directory", "std::string", "\"\"", "directory to write to">,
    Option<"name", "name", "std::string", "\"module\"", "stage of the pipeline, for the file name">,
    Option<"index", "index", "int64_t", "0", "number of the file within the pipeline">
  ];
}

//===----------------------------------------------------------------------===//
// Partitioning
//===----------------------------------------------------------------------===//

def Sdy_InsertFuncCallReshardsPass : Sdy_ModulePass<"sdy-insert-func-call-reshards"> {
  let summary = "Inserts reshards between callee results and call results";
  let description = [{
    A call result whose sharding is not equivalent to that of the callee's result gets the sharding
    of the callee's result, followed by a reshard to its former sharding. Callee results without
    a sharding, and results of calls without shardings, are replicated. Operands of calls are
    handled by `sdy-insert-explicit-reshards`.

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
  let summary = "Replaces composites by calls if their decompositions are sharded";
  let description = [{
    Replaces a `stablehlo.composite` by a call of its decomposition if a value in the decomposition
    is sharded. Other composites are computed on replicated tensors.

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
  let summary = "Inlines small functions";
  let description = [{
    Inlines calls of private functions that are called once, that have at most `max-operations`
    operations, or that have an unevenly sharded argument or result. A function signature fixes
    shardings and requires even ones; inside the caller, values can have any sharding.

    Functions with the attribute `no_inline` are not inlined, nor calls with `no_inline`,
    `inlineable = "false"` or `_xla_compute_type` (as attributes or in `mhlo.frontend_attributes`).
    `symbol-dce` erases functions that are no longer called. Reshards of arguments at an inlined
    call get the attribute `sdy.at_call`, and move into the branch of the call.

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
           "maximum number of operations of an inlined function that is called more than once">
  ];
}

def Sdy_PropagatePastCallsPass : Sdy_ModulePass<"sdy-propagate-past-calls", Sdy_Own> {
  let summary = "Propagates shardings past calls that have been inlined";
  let description = [{
    Propagation may leave a function argument unsharded although the operand of a call is sharded,
    for example if the function is called several times or in a loop. After inlining, the pass drops
    the reshard that gathers the argument, which `sdy-inline-small-functions` marks by
    `sdy.at_call`, and propagates the sharding of the operand. All other values keep their axes. The
    pass changes nothing unless devices send fewer bytes.

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
  let options = [Sdy_Hardware];
}

def Sdy_MarkContractsPass : Sdy_ModulePass<"sdy-mark-contracts", Sdy_Own> {
  let summary = "Marks the operations that contracts limit the communication of";
  let description = [{
    A function or an operation with regions may have an attribute `sdy.contract`, a dictionary with
    limits for the collectives that the operations inside need:

    ```mlir
    %0 = stablehlo.while(%i = %a) : tensor<8xf32>
        attributes {sdy.contract = {at_most = {all_gather = 0}, limits = ["at most 8MB along data"\]}}
    ```

    The entries are the arguments of `pyshardy.Contract.of`. The pass moves the contracts to the
    module, and marks the operations inside by their locations. `sdy-check-contracts` checks them.
  }];
  let dependentDialects = ["::mlir::sdy::SdyDialect"];
}

def Sdy_CheckContractsPass : Sdy_ModulePass<"sdy-check-contracts", Sdy_Own> {
  let summary = "Fails if the collectives of a local program violate contracts";
  let description = [{
    Checks the contracts that `sdy-mark-contracts` moved to the module, and removes the marks. A
    collective counts for a contract if it completes the results of a marked operation, or if a
    marked operation uses its result, even if the partitioner moved it out of a loop.
  }];
  let dependentDialects = ["::mlir::sdy::SdyDialect"];
}

def Sdy_CollectivesToReshardsPass : Sdy_FuncPass<"sdy-collectives-to-reshards", Sdy_Own> {
  let summary = "Converts collectives to reshards if the sharding of their operand may change";
  let description = [{
    A collective in a global program assumes a sharding of its operand. Partitioning changes some
    shardings: those of dimensions that their axes do not divide, and those of values behind
    propagation barriers. The pass replaces their collectives, and all collectives that complete
    partial results, by reshards:

    ```mlir
    // %0 is sharded as <@mesh, [{}\], unreduced={"x"}>
    %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}\]> : tensor<8xf32>
    ```

    becomes

    ```mlir
    %1 = sdy.reshard %0 <@mesh, [{}\]> : tensor<8xf32>
    ```

    A sum over values that are not partial would multiply them, and is an error. An operand is
    partial along its unreduced axes, and along the axes that shard the contracting dimensions of
    the operation that defines it.
  }];
  let dependentDialects = ["::mlir::sdy::SdyDialect"];
}

def Sdy_StaticUpdatesToPadsPass : Sdy_FuncPass<"sdy-static-updates-to-pads", Sdy_Own> {
  let summary = "Rewrites updates at constant indices as pads and selects";
  let description = [{
    Rewrites a `stablehlo.dynamic_update_slice`, or a `stablehlo.scatter` of a single window, that
    updates a part of a sharded dimension at constant indices: pads the update to the size of the
    tensor and selects between both, so that devices exchange only the elements that move to another
    shard. JAX lowers `x.at[1:15].set(y)` to such an update. On 4 devices, with constant indices 1,

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
    If the sharding of an argument was dropped because it is not divisible, the shardings that
    propagation derived from it remain. The pass replicates a region of operations whose inputs and
    outputs are not sharded along these axes, unless computing the region on all devices costs more
    than the gathers. On 4 devices,

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
  let options = [Sdy_Hardware];
}

def Sdy_RemovePropagationBarriersPass : Sdy_FuncPass<"sdy-remove-propagation-barriers", Sdy_Own> {
  let summary = "Removes propagation barriers";
  let description = [{
    Replaces each `sdy.propagation_barrier` by its operand. Barriers only affect propagation.
  }];
}

def Sdy_UnshardSizeOneDimsPass : Sdy_FuncPass<"sdy-unshard-size-one-dims", Sdy_Own> {
  let summary = "Unshards dimensions of size 1";
  let description = [{
    Removes the axes from dimensions of size 1. A slice that takes one element of a sharded
    dimension becomes a `stablehlo.dynamic_slice`, so that the device that holds the element
    broadcasts it to the others.

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
  let summary = "Inserts reshards so that the shardings of each operation are compatible";
  let description = [{
    Makes the shardings of each operation compatible with its sharding rule, by reshards of its
    operands and results.

    Precondition: constraints are reshards, data-flow edges have been removed, and meshes are
    symbols. Postcondition of the full version: each operation that has a rule that is not custom,
    and whose shardings have the same mesh, satisfies:

    - a factor is sharded by the same axes in every operand and result that has it;
    - factors that need replication are not sharded;
    - no axis shards two factors;
    - an `sdy.all_reduce` follows it for the axes that shard its reduction factors, except those
      along which its result is declared unreduced.

    Without `enable-full-version`, the pass treats only operations that cannot be left to a later
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
           "whether to make the shardings of all operations compatible">,
    Sdy_Option012<"markPartialResultWithUnreducedAxes", "mark-partial-result-with-unreduced-axes",
           "bool", "false",
           "whether to mark partial results: the axes of the all-reduce that follows become "
           "unreduced axes of the sharding">,
    Sdy_Compatibility,
    Sdy_Hardware
  ];
}

def Sdy_ResolvePermutationFactorsPass : Sdy_ModulePass<"sdy-resolve-permutation-factors"> {
  let summary = "Replaces operations that need elements of other shards by halo exchanges";
  let description = [{
    Handles operations that are sharded along a dimension where a shard of the result depends on
    other shards of the operands: pads, slices, reversals, concatenations, convolutions and windows.
    Replaces each by an `sdy.manual_computation` in which devices exchange only the elements that
    they need.

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

    A dimension is unsharded if that sends fewer bytes, if the operation has no halo exchange, and
    without `enable-halo-exchange`. Dimensions of a `stablehlo.reshape` are unsharded if the shards
    of its operand and of its result do not hold the same data:

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
           "whether to exchange elements between shards instead of unsharding dimensions">,
    Sdy_ReplicaCount,
    Sdy_PartitionCount,
    Sdy_RngBitGeneratorUnsafe,
    Sdy_Hardware
  ];
}

def Sdy_OptimizeReshardsPass : Sdy_FuncPass<"sdy-optimize-reshards", Sdy_Own> {
  let summary = "Reduces the communication of reshards";
  let description = [{
    Computes constants, iotas and other values that need no communication in the sharding that a
    reshard requires. Moves reshards across element-wise operations if that sends fewer bytes, and
    computes whole regions of them in the sharding of the operations around them.
    Reuses an earlier reshard of a value, or of its transposes, reshapes and conversions, as the
    source of a later one if that is cheaper. Makes an all-reduce whose result is only resharded a
    reduce-scatter, if that and the remaining reshards take less time.

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
  let options = [Sdy_Hardware];
}

def Sdy_ReshardToCollectivesPass : Sdy_FuncPass<"sdy-reshard-to-collectives"> {
  let summary = "Converts reshards to collectives";
  let description = [{
    Replaces each `sdy.reshard` by a chain of `sdy.all_slice`, `sdy.collective_permute`,
    `sdy.all_to_all` and `sdy.all_gather` from the sharding of the input to that of the result.

    Reshards from or to a single device, and between meshes with different numbers of devices, are
    kept. Values are replicated before they move to a single device, and sliced after they move from
    one. For meshes with the same devices but different axes, the value is first resharded to
    a layout that both meshes can express; the remaining reshard changes nothing on the devices.

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
           "whether to keep reshards that have no effect">
  ];
}

def Sdy_OptimizeCollectivesPass : Sdy_FuncPass<"sdy-optimize-collectives", Sdy_012> {
  let summary = "Replaces permutes that precede all-to-alls by all-to-alls of single axes";
  let description = [{
    An all-to-all moves the last axes of a dimension; moving another axis requires
    a collective-permute first, in which each device sends its entire shard. If the dimension can be
    reshaped so that each axis has its own dimension, the pass moves the axis from its own
    dimension, followed by the remaining axes. In each of these all-to-alls, a part of the shard
    stays on the device.

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

def Sdy_MoveReshardsPass : Sdy_FuncPass<"sdy-move-reshards", Sdy_Own> {
  let summary = "Moves reshards across regions";
  let description = [{
    Changes the shardings of the operations before or after a reshard that moves axes from one
    dimension to another, if that takes less time, so that the reshard isn't needed there. A region
    consists of elementwise operations, reductions, broadcasts, reshapes, transposes, slices,
    concatenations, paddings and reverses. The cost includes the reshards around it, all-reduces
    and halo exchanges.

    ```mlir
    // %0 is sharded as <@mesh, [{}, {"x"}\]>
    %1 = stablehlo.slice %0 [0:8, 0:4\] : (tensor<8x8xf32>) -> tensor<8x4xf32>
    %2 = sdy.reshard %1 <@mesh, [{"x"}, {}\]> : tensor<8x4xf32>
    %3 = stablehlo.slice %0 [0:8, 4:8\] : (tensor<8x8xf32>) -> tensor<8x4xf32>
    %4 = sdy.reshard %3 <@mesh, [{"x"}, {}\]> : tensor<8x4xf32>
    ```

    becomes

    ```mlir
    %1 = sdy.reshard %0 <@mesh, [{"x"}, {}\]> : tensor<8x8xf32>
    %2 = stablehlo.slice %1 [0:8, 0:4\] : (tensor<8x8xf32>) -> tensor<8x4xf32>
    %3 = stablehlo.slice %1 [0:8, 4:8\] : (tensor<8x8xf32>) -> tensor<8x4xf32>
    ```
  }];
  let dependentDialects = ["::mlir::sdy::SdyDialect"];
  let options = [Sdy_Hardware];
}

def Sdy_HoistReshardsPass : Sdy_FuncPass<"sdy-hoist-reshards", Sdy_Own> {
  let summary = "Hoists reshards of loop invariants";
  let description = [{
    Moves a reshard in the body of a `stablehlo.while` before the loop if its operand is defined
    outside of the loop, is an argument that each iteration returns unchanged, or is computed from
    such values; the computation is hoisted as well. All-reduces are hoisted in the same way. The
    hoisted value occupies memory during the entire loop. A loop that is known to run once is not
    changed.

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
           "maximum number of bytes of a hoisted value on each device">,
    Sdy_Hardware
  ];
}

def Sdy_ReassociateReductionsPass : Sdy_FuncPass<"sdy-reassociate-reductions", Sdy_Own> {
  let summary = "Completes partial results after linear operations on them";
  let description = [{
    Replaces several all-reduces whose results are only added, subtracted or concatenated by
    a single all-reduce after these operations. Negations, products with complete values, exact
    conversions, transposes, reshapes, slices, broadcasts, sums over dimensions and pads with zeros
    may occur in between.
    Reduce-scatters along the same dimensions and axes are merged as well. A loop that only
    accumulates results of all-reduces or reduce-scatters accumulates partial results instead, and
    one collective completes them after the loop. Sums that aren't scattered in the loop any more
    occupy more memory. The all-reduce of a `chlo.ragged_dot` is dropped if its result is only used
    by others of the same groups, of which each device takes the same rows.

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
  let options = [
    Option<"maxBytes", "max-bytes", "int64_t", "1073741824",
           "maximum number of bytes on each device by which the sums of a loop may grow">
  ];
}

def Sdy_PadForDivisibilityPass : Sdy_ModulePass<"sdy-pad-for-divisibility"> {
  let summary = "Pads dimensions that are not divisible by their number of shards";
  let description = [{
    Rounds the size of every sharded dimension up to a multiple of its number of shards. The padding
    is at the end, and its contents are undefined. It is overwritten by the identity of the
    operation where it would affect a result: in reduced dimensions of contractions and reductions,
    and in divisors. Gathered dimensions are sliced to their original size. The dimensions of an
    operation that cannot be computed on padded dimensions, such as a reshape that splits one, are
    unsharded.

    Precondition: reshards have been converted to collectives, the shardings of each operation are
    compatible, and the dimensions of inputs and outputs of functions, calls and manual computations
    are divisible. Postcondition: all dimensions are divisible.

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
  let summary = "Runs operations with a single-device sharding on that device only";
  let description = [{
    Wraps an operation whose result is on a single device in a conditional that only this device
    executes. The result is broadcast by an `sdy.all_reduce` to which the other devices contribute
    zeros, over all axes of the first mesh with axes that the function uses.

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
  let summary = "Converts the global program to the local program";
  let description = [{
    Gives every value its local type, in which each dimension is divided by its number of shards,
    and converts sdy collectives to StableHLO collectives. Partial results that no collective
    completes, such as those of a product that is sharded along a contracting dimension, get an
    all-reduce.

    Precondition: each operation can be computed on shards, and every sharded dimension is
    divisible. Postcondition: all types are local, and no sdy collectives remain; operations keep
    their shardings. The pass fails if an operation has no local form.

    The module gets the shardings of the arguments and results of `@main` as
    `sdy.parameters_shardings` and `sdy.output_shardings`, with inlined meshes; a value without
    a sharding is replicated.

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
           "whether to emit one all-gather per dimension">,
    Option<"combineMultiDimensionReduceScatter", "combine-multi-dimension-reduce-scatter", "bool",
           "false",
           "whether to emit a single reduce-scatter for several dimensions instead of an "
           "all-reduce and a slice">,
    Option<"enableRgv3", "enable-rgv3", "bool", "true",
           "whether to express replica groups along full axes by mesh axes">,
    Sdy_ReplicaCount,
    Sdy_PartitionCount,
    Sdy_Hardware
  ];
}

def Sdy_PerInstructionPartitioningPass : Sdy_ModulePass<"sdy-per-instruction-partitioning", Sdy_012> {
  let summary = "Partitions single operations and keeps the rest of the program global";
  let description = [{
    Converts single operations to their local form within an `sdy.manual_computation` with the
    shardings of the operation. The surrounding program stays global, so that a partitioner bug can
    be bisected to an operation.

    Candidates are operations directly in functions that have a sharded operand or result. They are
    numbered from 0 throughout the module. `filter` is a list of conditions: `selectLow=N` and
    `selectHigh=N` are inclusive bounds of the number, and any other word selects operations whose
    name contains it. An empty filter selects all candidates.

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
    Sdy_Option012<"filter", "filter", "std::string", "\"\"",
        "conditions that select the operations to partition">,
    Option<"enableHaloExchange", "enable-halo-exchange", "bool", "true",
           "whether to exchange elements between shards instead of unsharding dimensions">,
    Sdy_ReplicaCount,
    Sdy_PartitionCount,
    Sdy_RngBitGeneratorUnsafe
  ];
}

def Sdy_CombineCollectivesPass : Sdy_FuncPass<"sdy-combine-collectives", Sdy_Own> {
  let summary = "Combines independent collectives";
  let description = [{
    Merges all-reduces and all-gathers of a local program that differ only in their operands and do
    not depend on each other into one collective, at the position of the last one.

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
           "maximum number of bytes of the operands of a combined collective on each device">
  ];
}

def Sdy_DropShardingAndMeshPass : Sdy_ModulePass<"sdy-drop-sharding-and-mesh"> {
  let summary = "Removes shardings and meshes";
  let description = [{
    Removes the attribute `sdy.sharding` from operations, function arguments and function results,
    and erases all `sdy.mesh` operations. Shardings that are attributes of sdy operations are not
    removed; the program should not contain such operations.

    Also removes `sdy.parameters_shardings` and `sdy.output_shardings`, which
    `sdy-convert-global-to-local` attaches to the module, unless
    `keep-module-sharding-metadata` is set.
  }];
  let options = [
    Sdy_Option012<"keepModuleShardingMetadata", "keep-module-sharding-metadata", "bool", "false",
           "whether to keep sdy.parameters_shardings and sdy.output_shardings on the module">
  ];
}

#endif // SDY_PASSES
