# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pipelines of fragments on named meshes.

| module      | what it holds                                                      |
|-------------|--------------------------------------------------------------------|
| `schedules` | in which order each mesh runs its fragments                        |
| `simulator` | when each mesh runs each fragment under a schedule                 |
"""
