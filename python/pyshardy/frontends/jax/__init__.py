# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""JAX: programs in, and partitioned programs out, as `sdy.jax`.

    module = sdy.jax.trace(step, parameters, batch, in_shardings=(P("model"), P("data")), mesh=mesh)
    sdy.propagate(module)
    step = sdy.partition(module).as_jax()
    parameters = step(parameters, batch)

| module        | what it holds                                               |
|---------------|-------------------------------------------------------------|
| `tracing`     | functions, traced with shardings of JAX's and of ours       |
| `lowered`     | what JAX has lowered                                        |
| `exported`    | what `jax.export` has exported                              |
| `locations`   | places in the user's source                                 |
| `structure`   | which trees of arrays a function takes and gives            |
| `callbacks`   | functions of Python that a program calls                    |
| `custom_partitioning` | functions with a partition function of their own    |
| `process`     | a name for this process                                     |
| `random_keys` | keys of random numbers                                      |
| `meshes`      | meshes and shardings as JAX has them                        |
| `refined_mesh`        | one mesh of whole axes for parts of axes and several meshes |
| `dtypes`      | element types                                               |
| `renumber_devices`   | devices by other numbers                                    |
| `callable`    | partitioned programs as functions of JAX                    |
"""

from pyshardy.frontends.jax.exported import from_exported
from pyshardy.frontends.jax.lowered import from_lowered
from pyshardy.frontends.jax.tracing import trace

__all__ = ["from_exported", "from_lowered", "trace"]
