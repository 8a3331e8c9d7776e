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
  let summary = "Turns grids and annotations into meshes and shardings";
  let description = [{
    Makes of a program annotated with the `shard` dialect one that Shardy propagates and
    partitions.

    - A `shard.grid` becomes an `sdy.mesh`. Its axes are named as the attribute `sdy.axis_names` of
      the grid says, or `axis0`, `axis1` and so on.
    - An annotation of what makes a value (`shard.shard` without `annotate_for_users`) becomes the
      sharding of that value, closed in every dimension.
    - An annotation of what uses a value becomes an `sdy.sharding_constraint`, or the sharding of a
      function's result if that is what uses it, or nothing if the value is sharded like that.

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

    Halos, offsets other than those of pieces of equal size, grids of unknown size, annotations
    that contradict each other, and collectives have no equivalent: each is an error.
  }];
}

def Shard_ConvertSdyToShardPass : Pass<"convert-sdy-to-shard", "ModuleOp"> {
  let summary = "Turns meshes and shardings into grids and annotations";
  let description = [{
    The inverse of `convert-shard-to-sdy`. An axis of which sub-axes are in use becomes several axes
    of the grid, so that each sub-axis is made of whole ones:

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

    What an annotation can't say is an error that names it. `lossy` drops open dimensions, priorities,
    explicitly replicated axes, barriers and groups. Errors in any case: unreduced axes, orders of
    devices, meshes without axes, inlined meshes, dimensions along several axes that are not divided
    evenly, and operations of the `sdy` dialect other than constants, constraints and reshards.
  }];
  let options = [
    Option<"lossy", "lossy", "bool", "false",
           "whether to drop what tells propagation only how to go on: open dimensions, priorities, "
           "explicitly replicated axes, barriers, and groups">
  ];
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

def Shard_ShardToStablehloPass : Pass<"shard-to-stablehlo", "ModuleOp"> {
  let summary = "Turns the collectives and queries of the shard dialect into StableHLO";
  let description = [{
    Lowers a program for one device, written with collectives of the `shard` dialect, to StableHLO,
    which XLA and others run. Grids give way to device ids: device `i` is the process with the linear
    index `i`.

    - What a device alone knows (its indices, those of neighbours, shapes of shards, and integers
      computed from them) becomes a table with an entry for each device.
    - `gather` and `reduce` give all devices what only the root needs.
    - A `send` and a `recv` become one `collective_permute` if their partners are known: each message
      that is both sent and awaited is a pair. An `scf.if` around them is resolved.
    - A device that gets nothing, by `shift` or `recv`, holds zeros.

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
           "whether devices are the replicas of one program rather than its partitions">
  ];
}

def Shard_StablehloToShardPass : Pass<"stablehlo-to-shard", "ModuleOp"> {
  let summary = "Turns the collectives of a StableHLO program into those of the shard dialect";
  let description = [{
    The inverse of `shard-to-stablehlo`, for programs of one device that are already partitioned. The
    grid is found from the groups of devices: its axes are the coarsest along which all groups run.

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

    A `collective_permute` gathers and takes the piece of its source. So do collectives whose groups
    are not along axes of a grid, or not in their order, as on meshes that order their devices.
  }];
  let options = [
    Option<"devices", "devices", "int64_t", "0",
           "the number of devices; 0 for the number of those that the groups name">
  ];
}

def Shard_ShardPrepareForMpiPass : Pass<"shard-prepare-for-mpi", "ModuleOp"> {
  let summary = "Rewrites collectives to those that convert-shard-to-mpi lowers soundly";
  let description = [{
    Upstream's `convert-shard-to-mpi` lowers a part of the dialect, and some of that to wrong code.
    This pass comes before it:

    - Collectives over no axes, or over a single device, become their operand.
    - A collective over all axes would ignore their order: the grid gets one more axis, of size 1.
    - `all_to_all`, `broadcast`, `gather`, `reduce`, `scatter` and `shift` become all-gathers and
      all-reduces, with a slice for each process.
    - An average becomes a sum and a division.
    - What stays wrong or unsupported is an error with the reason: generic reductions, sends and
      receives, halos along several axes, grids of unknown size, annotations.
  }];
}

//===----------------------------------------------------------------------===//
// Upstream's own
//===----------------------------------------------------------------------===//

def Shard_ShardPartitionPass : Pass<"shard-partition", "func::FuncOp"> {
  let summary = "Upstream's partitioning by annotations, where it is right";
  let description = [{
    Upstream's pass for functions of linalg, tosa and tensor operations. It is refused for dimensions
    that don't divide evenly, reshards that upstream gets wrong, `linalg.index`, and sums of
    `tosa.matmul` along a sharded dimension.
  }];
}

def Shard_ShardSimplifyPass : Pass<"shard-simplify", "ModuleOp"> {
  let summary = "Upstream's simplification of collectives, where it is right";
  let description = [{
    Upstream's pass. It is refused if there is a gather of slices, which it takes for what was sliced
    whether or not all members of a group have the same.
  }];
}

def Shard_ConvertShardToMpiPass : Pass<"convert-shard-to-mpi", "ModuleOp"> {
  let summary = "Upstream's lowering of collectives to MPI, where it is right";
  let description = [{
    Upstream's pass. It is refused for collectives over no axes, or over all of them in another order,
    for averages and generic reductions, and for shapes of pieces of dimensions along several axes.
    `shard-prepare-for-mpi` expresses most of these otherwise.
  }];
}

#endif // SHARD_PASSES
