# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training steps of PyTorch: forward, backward and optimizer as one program.

| module       | contents                                                          |
|--------------|-------------------------------------------------------------------|
| `tracing`    | `trace_training`                                                  |
| `forward`    | the model with its loss, exported                                 |
| `step`       | the graph of forward, backward and optimizer                      |
| `optimizers` | optimizers as functions: their state, and their step              |
"""
