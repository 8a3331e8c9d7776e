// RUN: sdy-opt %s --split-input-file --verify-diagnostics -stablehlo-to-shard

func.func @lonely_devices(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<8xf32>) {
  %0 = "stablehlo.collective_permute"(%a) {source_target_pairs = dense<[[2, 3]]> : tensor<1x2xi64>} : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{cannot express 'stablehlo.all_gather' in the shard dialect: its groups don't partition all devices evenly: [0, 1]}}
  %1 = "stablehlo.all_gather"(%a) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4xf32>) -> tensor<8xf32>
  return %0, %1 : tensor<4xf32>, tensor<8xf32>
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
