# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Records of propagation, and explanations of the shardings that it gave to values.

| module                | contents                                                             |
|-----------------------|----------------------------------------------------------------------|
| `flows`               | the axes that a step propagated, and between which tensors           |
| `refusals`            | the axes that a step did not propagate, and the reasons              |
| `record`              | the steps of a propagation, found again for values of later modules  |
| `explanation`         | the steps behind a sharding, in words                                |
| `axis_chains`         | the steps behind an axis, back to an annotation                      |
| `propagation_edges`   | the attribute `sdy.propagation_edges`, in the format of upstream     |
| `sharding_origins`    | the attribute `sdy.sharding_origins`, in the format of upstream      |
| `constraint_history`  | both attributes for `sdy-apply-sharding-constraints`                 |
"""
