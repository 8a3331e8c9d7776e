# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Labels of the origins of assignments, as C++ Shardy writes them."""

USER_INPUT = "user_in"
"""An argument that the user has placed on a mesh."""

USER_OUTPUT = "user_out"
"""A result that the user has placed on a mesh."""

INFERRED_INPUT = "inferred_in"
"""An argument whose mesh is inferred."""

INFERRED_OUTPUT = "inferred_out"
"""A result whose mesh is inferred."""

CONSTRAINED_INPUT = "io_constraint_in"
"""An argument that must be on the mesh of a result."""

CONSTRAINED_OUTPUT = "io_constraint_out"
"""A result that must be on the mesh of an argument."""
