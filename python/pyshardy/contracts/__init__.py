# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Contracts: limits of the communication and the memory of programs.

| module       | contents                                            |
|--------------|-----------------------------------------------------|
| `contract`   | limits as values and as texts, and violations       |
| `files`      | contracts in TOML files                             |
| `attributes` | contracts in programs: the attribute `sdy.contract` |
"""
