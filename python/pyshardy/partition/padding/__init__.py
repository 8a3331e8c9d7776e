# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Padding: what each operation needs when its tensors are larger than their contents.

| module        | what it holds                                                           |
|---------------|-------------------------------------------------------------------------|
| `shapes`      | the padded shape of a tensor                                            |
| `builder`     | operations that add, cut off and overwrite padding                      |
| `whole`       | computing on whole dimensions what can't be computed on padded ones     |
| `collectives` | the dialect's collectives between tensors that are padded differently   |
| `neutral`     | operations that look at padding, and the values that do no harm to them |
| `indices`     | indices that count along padded dimensions                              |
"""
