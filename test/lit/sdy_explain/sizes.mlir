// RUN: sdy-explain %s --size=b=8,64 | FileCheck %s
// RUN: sdy-explain %s --size=b=8 --size=t=4,32 | FileCheck %s --check-prefix=PINNED
// RUN: sdy-explain %s --check="at most 4*b*t + 128 bytes of all_gather" --html=- 2>&1 | FileCheck %s --check-prefix=KEPT
// RUN: not sdy-explain %s --size=b=8,64 --check="at most 4096 bytes of all_gather" --json 2>&1 | FileCheck %s --check-prefix=BROKEN

// CHECK:      b in 8..4096, a multiple of 8 (hint 512)
// CHECK:      t >= 1 (hint 16)
// CHECK:      4 divides b: proven; dimension 0 of %x
// CHECK:      Costs by sizes
// CHECK:      as expression {{.*}}b = 512 (hint) {{.*}}b = 8 {{.*}}b = 64
// CHECK:      all_gather along model {{ *}}4*b*t + 128 {{ *}}32,896 {{ *}}640 {{ *}}4,224
// CHECK:      loss
// CHECK:      Inputs

// PINNED: t = 16 (hint) {{.*}}t = 4 {{.*}}t = 32
// PINNED: all_gather along model {{ *}}4*b*t + 128 {{ *}}640 {{ *}}- * {{ *}}1,152
// PINNED: all_reduce along model {{ *}}- {{ *}}256 * {{ *}}-

// KEPT: aria-controls="sizes">Sizes</button>
// KEPT-NOT: Costs by sizes
// KEPT: the program keeps its contract (1 limit)
// BROKEN: error: the contract 'at most 4,096 bytes of all_gather' is violated: found 2 collectives, 32,896 bytes sent at b = 512, t = 16
// BROKEN: error: the contract 'at most 4,096 bytes of all_gather' is violated: found 2 collectives, 4,224 bytes sent at b = 64, t = 16
// BROKEN: "all_gather along model": "4*b*t + 128"

module attributes {sdy.symbols = {b = {min = 8, max = 4096, multiple_of = 8, hint = 512}, t = {hint = 16}}} {
  sdy.mesh @mesh = <["data"=4, "model"=2]>
  func.func @main(
      %x: tensor<?x?x8xf32> {sdy.sizes = ["b", "t", ""], sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}, {"model"}]>},
      %w: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}) -> tensor<?x?x8xf32> {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [2] x [0] : (tensor<?x?x8xf32>, tensor<8x8xf32>) -> tensor<?x?x8xf32>
    return %0 : tensor<?x?x8xf32>
  }
}
