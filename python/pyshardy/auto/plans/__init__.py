# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The plan that a search returns: its certificate, answers, files and report.

| module         | contents                                                  |
|----------------|-----------------------------------------------------------|
| `pareto`       | the cost of plans by their memory                         |
| `page`         | the report of a plan                                      |
| `jax_code`     | a plan as Python code for JAX                             |
| `certificate`  | the predicted costs of a plan, and its proven bounds      |
| `restrictions` | shardings of values, required, forbidden, or in JSON files |
| `plan`         | plans with their certificate, and answers about them      |
"""
