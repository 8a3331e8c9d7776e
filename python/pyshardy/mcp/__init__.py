# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The server `sdy-mcp`: the tools for coding agents, by the Model Context Protocol.

| module     | contents                                                            |
|------------|---------------------------------------------------------------------|
| `requests` | the arguments of each tool; descriptions and schemas come from them |
| `answers`  | the answers to requests, as data for JSON                           |
| `worker`   | the process that answers, for programs that crash the host          |
| `server`   | the protocol                                                        |
| `main`     | the command line                                                    |

`mcp` without `pyshardy` in front is the SDK of the protocol, a package of its own.
"""
