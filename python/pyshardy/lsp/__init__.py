# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The language server `sdy-lsp`: programs in MLIR, and Python files that trace programs.

| module       | contents                                                      |
|--------------|---------------------------------------------------------------|
| `text_index` | names in the text of a program, and their definitions         |
| `analysis`   | programs of files and scripts: errors, shardings, collectives |
| `worker`     | the process that analyzes programs                            |
| `documents`  | open documents with their text indexes and facts              |
| `features`   | hover, hints, definitions, completion, actions                |
| `server`     | the protocol                                                  |
| `main`       | the command line                                              |
"""

WORKER = ("-m", "pyshardy.lsp.worker")
"""The arguments of Python for the process that analyzes programs."""
