# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The records of operations, one family per file (see `pyshardy.partition.op_facts.record`).

Each module has a table `RECORDS` from the names of operations to their `PartitionRecord`, with the
functions that the records refer to. A new operation needs no other file: the modules are found by
their place.
"""
