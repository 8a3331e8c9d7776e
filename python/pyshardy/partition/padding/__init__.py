# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Padding of dimensions that their axes don't divide.

| module        | contents                                                         |
|---------------|------------------------------------------------------------------|
| `replicated`  | replication of dimensions around operations that can't be padded |
| `collectives` | the dialect's collectives between tensors with different padding |
| `neutral`     | operations that read padding, and the neutral values for them    |
| `indices`     | indices that count along padded dimensions                       |
"""
