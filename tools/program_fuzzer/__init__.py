# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fuzzing of parse, propagate and partition with token-level mutations of programs.

`sources` collects the programs, `mutations` damages them, `judgement` says what became of one, and
`processes` runs many, each batch in a process that may die. `tools/fuzz.py` is the command line.
"""
