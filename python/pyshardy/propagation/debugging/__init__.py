# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Records of propagation, and explanations of the shardings that it gave to values.

| module         | contents                                                            |
|----------------|---------------------------------------------------------------------|
| `flows`        | the axes that a step propagated, and between which tensors          |
| `refusals`     | the axes that a step did not propagate, and the reasons             |
| `record`       | the steps of a propagation, found again for values of later modules |
| `explanation`  | the steps behind a sharding, in words                               |
| `axis_chains`  | the steps behind an axis, back to an annotation                     |
| `connections`  | where an axis of a dimension could have come from                   |
| `debug_info`   | the debug information that propagation writes                       |
| `reason_texts` | reasons in words                                                    |
| `reasons`      | why a tensor is, or isn't, sharded by an axis                       |
| `replayed`     | the record of a propagation that comes from a cache                 |
"""
