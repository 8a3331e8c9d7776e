# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Automatic sharding: the best plan of a cost model, with a proven bound.

| module             | contents                                                         |
|--------------------|------------------------------------------------------------------|
| `axis_choices`     | the assignments of mesh axes to factors                          |
| `strategies`       | the ways to compute an operation on shards                       |
| `costs`            | the cost of operations and collectives                           |
| `measured`         | costs from measured collectives                                  |
| `exchange`         | the communication of halo exchanges                              |
| `padding`          | the memory traffic of padding                                    |
| `alternatives`     | strategies with their costs, by signature                        |
| `computations`     | the work of manual and named computations                        |
| `graph`            | a program as choices, and the tensors that flow between them     |
| `sites`            | the sites where a strategy is chosen                             |
| `chains`           | chains of elementwise operations                                 |
| `partial_values`   | values that may stay partial until a later operation             |
| `partial_results`  | strategies with partial operands and results                     |
| `fold`             | equal choices of equal parts                                     |
| `build`            | the optimization problem of a program                            |
| `untied`           | lower bounds of plans without folding                            |
| `memory`           | its memory                                                       |
| `problem`          | the optimization problem as arrays, its cost and its memory      |
| `solution`         | choices with their bounds, and missing memory                    |
| `solve`            | the protocol of solvers, their registry, and the choice of one   |
| `solver_run`       | the reduction before all solvers, and the state of a search      |
| `reduce`           | exact reductions of a problem                                    |
| `tied_nodes`       | nodes that become part of a neighbor                             |
| `reduction_tables` | tables of reshards while a problem is reduced                    |
| `memory_points`    | the points of time at which the memory limit can bind            |
| `flow_model`       | the flow form: a mixed-integer linear program                    |
| `dual`             | lower bounds by messages between nodes                           |
| `combined`         | the default solver: HiGHS, and message passing after it          |
| `highs`            | the solver by HiGHS                                              |
| `message_passing`  | the solver by message passing                                    |
| `neighborhoods`    | parts of a choice that are solved exactly                        |
| `kept_messages`    | the solution of problems that differ in permitted strategies     |
| `local_search`     | moves of nodes within the memory limit                           |
| `linear_program`   | linear programs in HiGHS                                         |
| `least_memory`     | the choice of the lowest peak of memory                          |
| `shortage`         | the memory that is missing                                       |
| `apply`            | writing shardings into a program                                 |
| `options`          | the options, and their checks                                    |
| `search`           | from a program to an annotated one                               |
| `ties`             | the order of plans with equal costs                              |
| `prediction`       | the communication of a choice                                    |
| `forced`           | the cost of each other sharding of an argument                   |
| `pareto`           | the cost of plans by their memory                                |
| `texts`            | texts of shardings and costs                                     |
| `page`             | the report of a plan                                             |
| `jax_code`         | a plan as Python code for JAX                                    |
| `certificate`      | the proven bounds of a plan, and what they cover                 |
| `restrictions`     | shardings that values must or must not have                      |
| `differences`      | differences between plans, and to the partitioned program        |
| `saved_plan`       | plans in JSON files                                              |
| `plan`             | plans with their certificate, and answers about them             |
| `entry`            | `sdy.auto_shard`                                                 |
| `for_jax`          | `sdy.jax.auto_shard`                                             |
| `for_torch`        | `sdy.torch.auto_shard`                                           |
"""
