//===- Shard.td - The upstream shard dialect --------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The host registers this dialect itself. Its declarations are read here for the table of its
// operations and for its page of the reference. They come with LLVM 22; what the host has newer is
// listed in test/unit/shard/test_ods.py.
//
//===----------------------------------------------------------------------===//

#ifndef PYSHARDY_SHARD
#define PYSHARDY_SHARD

include "mlir/Dialect/Shard/IR/ShardOps.td"

#endif // PYSHARDY_SHARD
