# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes .npz files: `make_arrays.py FILE NAME=EXPRESSION ...`, where `np` is NumPy."""

import sys

import numpy as np

path, *definitions = sys.argv[1:]
arrays = dict(definition.split("=", 1) for definition in definitions)
np.savez(path, **{name: eval(expression) for name, expression in arrays.items()})
