# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fuzzing of parse, propagate and partition with token-level mutations of programs.

`sources` collects the programs, `mutations` changes them, `judgement` determines the outcome of
one, and `processes` runs batches in processes that may die. `tools/fuzz.py` is the command line.
"""
