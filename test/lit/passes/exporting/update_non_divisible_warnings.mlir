// RUN: sdy-opt %s -sdy-update-non-divisible-input-output-shardings -verify-diagnostics

sdy.mesh @mesh = <["data"=4, "model"=6]>

func.func @main(
    // expected-warning@+1 {{argument 0 of @main: 4 shards along {"data"} don't divide dimension 0 of size 9 evenly, so it is left unsharded}}
    %arg0: tensor<9x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>},
    // expected-warning@+1 {{argument 1 of @main: 6 shards along {"model"} don't divide dimension 1 of size 9 evenly, so it is sharded by {"model":(1)3} instead}}
    %arg1: tensor<4x9xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>},
    %arg2: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}]>}) {
  return
}

// A private function isn't part of the program's interface.
func.func private @callee(
    %arg0: tensor<9xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}]>}) {
  return
}
