//===- ShardPasses.td - Passes on the shard dialect -------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In descriptions `}\]` is written for the two brackets alone, which would end the text;
// tools/gen_dialect.py takes the backslash out.
//
//===----------------------------------------------------------------------===//

#ifndef SHARD_PASSES
#define SHARD_PASSES

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// Between the dialects
//===----------------------------------------------------------------------===//

def Shard_ConvertShardToSdyPass : Pass<"convert-shard-to-sdy", "ModuleOp"> {
  let summary = "Converts grids and annotations to meshes and shardings";
  let description = [{
    Converts a program that is annotated with the `shard` dialect to a program that Shardy can
    propagate and partition.

    - A `shard.grid` becomes an `sdy.mesh`. The attribute `sdy.axis_names` of the grid names its
      axes; without it, they are `axis0`, `axis1` and so on.
    - An annotation of a definition (`shard.shard` without `annotate_for_users`) becomes the
      sharding of the value, closed in every dimension.
    - An annotation of a use becomes an `sdy.sharding_constraint`, or the sharding of a function
      result if the use is a return. It is dropped if the value already has the sharding.

    ```mlir
    shard.grid @grid(shape = 2x4)
    func.func @f(%a: tensor<8x4xf32>) -> tensor<8x4xf32> {
      %s = shard.sharding @grid split_axes = [[0], [1]] : !shard.sharding
      %0 = shard.shard %a to %s : tensor<8x4xf32>
    ```

    becomes

    ```mlir
    sdy.mesh @grid = <["axis0"=2, "axis1"=4]>
    func.func @f(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@grid, [{"axis0"}, {"axis1"}\]>})
    ```

    Halos, offsets other than those of equal shards, grids of dynamic size, contradictory
    annotations, and collectives have no equivalent and are errors.
  }];
}

def Shard_ConvertSdyToShardPass : Pass<"convert-sdy-to-shard", "ModuleOp"> {
  let summary = "Converts meshes and shardings to grids and annotations";
  let description = [{
    The inverse of `convert-shard-to-sdy`. An axis whose sub-axes are used becomes several axes of
    the grid, so that each sub-axis is a list of full grid axes:

    ```mlir
    sdy.mesh @mesh = <["x"=8]>
    func.func @f(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2}, {"x":(2)4}\]>})
    ```

    becomes

    ```mlir
    shard.grid @mesh(shape = 2x4) {sdy.axis_names = ["x", "x"]}
    func.func @f(%a: tensor<8x4xf32>) {
      %s = shard.sharding @mesh split_axes = [[0], [1]] : !shard.sharding
      %0 = shard.shard %a to %s : tensor<8x4xf32>
    ```

    Features that annotations cannot express are errors. With `lossy`, open dimensions, priorities,
    explicitly replicated axes, barriers and groups are dropped instead. The following are always
    errors: unreduced axes, device orders, meshes without axes, inlined meshes, dimensions that
    several axes split unevenly, and `sdy` operations other than constants, constraints and
    reshards.
  }];
  let options = [
    Option<"lossy", "lossy", "bool", "false",
           "whether to drop annotations that only affect propagation: open dimensions, priorities, "
           "explicitly replicated axes, barriers, and groups">
  ];
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

def Shard_ShardToStablehloPass : Pass<"shard-to-stablehlo", "ModuleOp"> {
  let summary = "Lowers collectives and queries of the shard dialect to StableHLO";
  let description = [{
    Lowers a local program with collectives of the `shard` dialect to StableHLO. Grids are replaced
    by device ids: device `i` is the process with the linear index `i`.

    - Values that depend on the device (its indices, those of its neighbors, shapes of shards, and
      integers computed from them) become tables with an entry for each device.
    - `gather` and `reduce` return the result on all devices, not only on the root.
    - A `send` and a `recv` become one `collective_permute` if their partners are known: each message
      that is both sent and received is a pair. An `scf.if` around them is resolved.
    - A device that receives nothing, by `shift` or `recv`, holds zeros.

    ```mlir
    shard.grid @grid(shape = 2x2)
    func.func @f(%a: tensor<2xf32>) -> tensor<4xf32> {
      %0 = shard.all_gather %a on @grid grid_axes = [1] gather_axis = 0
          : tensor<2xf32> -> tensor<4xf32>
    ```

    becomes

    ```mlir
    func.func @f(%a: tensor<2xf32>) -> tensor<4xf32> {
      %0 = "stablehlo.all_gather"(%a) {all_gather_dim = 0, replica_groups = dense<[[0, 1], [2, 3]]>,
          ...} : (tensor<2xf32>) -> tensor<4xf32>
    ```
  }];
  let options = [
    Option<"replicas", "replicas", "bool", "false",
           "whether devices are replicas of the program rather than partitions">
  ];
}

def Shard_StablehloToShardPass : Pass<"stablehlo-to-shard", "ModuleOp"> {
  let summary = "Raises StableHLO collectives to the shard dialect";
  let description = [{
    The inverse of `shard-to-stablehlo`, for local programs. The grid is inferred from the groups of
    devices: it has the coarsest axes by which all groups can be expressed.

    ```mlir
    %0 = "stablehlo.all_gather"(%a) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 2], [1, 3]]>
        : tensor<2x2xi64>, ...} : (tensor<2xf32>) -> tensor<4xf32>
    ```

    becomes

    ```mlir
    shard.grid @grid(shape = 2x2)
    %0 = shard.all_gather %a on @grid grid_axes = [0] gather_axis = 0
        : tensor<2xf32> -> tensor<4xf32>
    ```

    A `collective_permute` becomes an all-gather and a slice. So do collectives whose groups are not
    along axes of a grid, or not in their order, as on meshes with device ids.
  }];
  let options = [
    Option<"devices", "devices", "int64_t", "0",
           "number of devices; 0 to count the devices in the groups">
  ];
}

def Shard_ShardPrepareForMpiPass : Pass<"shard-prepare-for-mpi", "ModuleOp"> {
  let summary = "Rewrites collectives into those that convert-shard-to-mpi lowers correctly";
  let description = [{
    Upstream's `convert-shard-to-mpi` lowers a part of the dialect, and some of it incorrectly. This
    pass runs before it:

    - Collectives over no axes, or over a single device, are replaced by their operands.
    - If a collective uses all axes, the grid gets an additional axis of size 1, since upstream
      ignores the order of the axes otherwise.
    - `all_to_all`, `broadcast`, `gather`, `reduce`, `scatter` and `shift` become all-gathers and
      all-reduces, with a slice for each process.
    - An average becomes a sum and a division.
    - All other unsupported operations are errors: generic reductions, sends and receives, halos
      along several axes, grids of dynamic size, annotations.
  }];
}

//===----------------------------------------------------------------------===//
// Upstream passes with a check
//===----------------------------------------------------------------------===//

def Shard_ShardPartitionPass : Pass<"shard-partition", "func::FuncOp"> {
  let summary = "Runs upstream's partitioning by annotations if it is correct";
  let description = [{
    Runs upstream's pass for functions of linalg, tosa and tensor operations. Programs that upstream
    partitions incorrectly are errors: uneven dimensions, some reshards, `linalg.index`, and
    `tosa.matmul` with a sharded contracting dimension.
  }];
}

def Shard_ShardSimplifyPass : Pass<"shard-simplify", "ModuleOp"> {
  let summary = "Runs upstream's simplification of collectives if it is correct";
  let description = [{
    Runs upstream's pass. An all-gather of slices is an error: upstream replaces it by the operand of
    the slices, even if that differs between the devices of a group.
  }];
}

def Shard_ConvertShardToMpiPass : Pass<"convert-shard-to-mpi", "ModuleOp"> {
  let summary = "Runs upstream's lowering of collectives to MPI if it is correct";
  let description = [{
    Runs upstream's pass. Operations that upstream lowers incorrectly are errors: collectives over no
    axes, or over all axes in another order, averages and generic reductions, and shapes of shards of
    dimensions along several axes. `shard-prepare-for-mpi` rewrites most of them.
  }];
}

#endif // SHARD_PASSES
