# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cache of programs: results of pipelines on disk, found by the content of their inputs.

| module      | contents                                                              |
|-------------|-----------------------------------------------------------------------|
| `store`     | the files of a folder: reading, writing, and the limit of their size  |
| `user_code` | the content of the rules and passes of users                          |
| `programs`  | the key of a run, and the replacement of the run by its stored result |
"""
