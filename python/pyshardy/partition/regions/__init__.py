# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Regions of operations that are computed along other axes, so that reshards move or go away.

| module    | contents                                                      |
|-----------|---------------------------------------------------------------|
| `kinds`   | the axes that operations of a kind have in regions            |
| `graph`   | values, the axes along which they are used, and operations    |
| `growth`  | the operations of a region, from a reshard on                 |
| `balance` | the time and memory that the change of a region saves         |
| `writing` | the axes of a graph, written to its function                  |
"""
