# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The types of options that several passes have, with the help on these options."""

from typing import Annotated

from pyshardy.pipeline.options import Help, Positive

EnableHaloExchange = Annotated[
    bool, Help("whether to exchange elements between shards instead of unsharding dimensions")
]
PartitionCount = Annotated[Positive, Help("number of partitions", release="0.12")]
ReplicaCount = Annotated[Positive, Help("number of replicas", release="0.12")]
RngBitGeneratorUnsafe = Annotated[
    bool,
    Help(
        "whether each device generates only its shard of a stablehlo.rng_bit_generator, from its "
        "own state; the bits then depend on the sharding",
        release="0.12",
    ),
]
