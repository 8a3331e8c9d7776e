# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Schedules of pipelines: in which order each mesh runs its fragments.

| module       | what it holds                                                     |
|--------------|-------------------------------------------------------------------|
| `orders`     | the schedules, each a function of a pipeline and a mesh           |
| `rules`      | rules of users that order or merge fragments, as text             |
| `schedule`   | schedules by their names, with options, or by orders of users     |
| `units`      | the units that are ordered, and their inputs                      |
"""
