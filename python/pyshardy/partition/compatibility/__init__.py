# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compatible shardings of the tensors of an operation.

| module                     | contents                                                      |
|----------------------------|---------------------------------------------------------------|
| `resolver`                 | the interface of the policies                                 |
| `shardy`                   | the policy of C++ Shardy                                      |
| `cheapest`                 | the policy of the shortest time on some hardware              |
| `compatible_shardings`     | compatible shardings from the axes of factors                 |
| `factor_axes`              | Shardy's choice of the axes of each factor                    |
| `reshape_axes`             | Shardy's choice for reshapes whose axes fit no factor         |
| `dot_result`               | Shardy's choice for results of matrix products                |
| `cheapest_axes`            | the axes of each factor with the shortest time                |
| `cheapest_reshape`         | the shardings of a reshape with the shortest transfer         |
| `reshape_groups`, `reshape_images`, `reshape_sides` | shards before and after a reshape    |
| `planned_axes`             | the axes of each factor that a plan has chosen                |
| `planned_partial`          | the partial results that a plan has chosen                    |
| `signature_memo`           | results for operations with equal signatures                  |
| `elementwise_check`        | a quick check for elementwise operations                      |
| `one_mesh`                 | operations with tensors on several meshes                     |
| `single_device`            | operations on a single device                                 |
| `unreduced`, `uses`        | completion of partial values at their uses                    |
| `has_unreduced_or_maximal` | detection of unreduced values, and of those on a single device |
| `user_collectives`         | collectives in global programs                                |
| `remarks`                  | remarks on gathered operands                                  |
"""
