// RUN: sdy-opt %s --split-input-file --verify-diagnostics -stablehlo-to-shard

func.func @no_digits(%a: tensor<4xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{cannot express 'stablehlo.all_gather' in the shard dialect: its groups are not along axes of a grid: [0, 1], [3, 2]}}
  %0 = "stablehlo.all_gather"(%a) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1], [3, 2]]> : tensor<2x2xi64>} : (tensor<4xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @no_grid(%a: tensor<4xf32>) -> (tensor<8xf32>, tensor<12xf32>) {
  // expected-error @+1 {{no grid of 6 devices has axes for all groups: 2 at stride 1, 3 at stride 1}}
  %0 = "stablehlo.all_gather"(%a) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1], [2, 3], [4, 5]]> : tensor<3x2xi64>} : (tensor<4xf32>) -> tensor<8xf32>
  %1 = "stablehlo.all_gather"(%a) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1, 2], [3, 4, 5]]> : tensor<2x3xi64>} : (tensor<4xf32>) -> tensor<12xf32>
  return %0, %1 : tensor<8xf32>, tensor<12xf32>
}

// -----

func.func @body(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{its body is more than one operation on both arguments}}
  %0 = "stablehlo.all_reduce"(%a) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.add %x, %y : tensor<f32>
    %t = stablehlo.abs %s : tensor<f32>
    stablehlo.return %t : tensor<f32>
  }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
