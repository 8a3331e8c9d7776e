# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Custom calls that Python functions implement.

| module      | what it holds                                               |
|-------------|-------------------------------------------------------------|
| `functions` | calling a function, and checking what it returns            |
| `calls`     | the calls of a program, and what is known about each        |
"""
