# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Keep the symbols of a package's shared libraries apart from another LLVM in the process.

TensorFlow loads its libraries into the global symbol scope, and they export all of LLVM and MLIR.
The dynamic linker then resolves the MLIR bindings' own references to TensorFlow's copy: two sets of
command-line options are registered as one, and LLVM aborts the process. `RTLD_DEEPBIND` makes a
library look for symbols in itself and its dependencies first.

The flag is used only where such a copy is visible, since it has a drawback: a library loaded with
it doesn't use a `malloc` of `LD_PRELOAD`, but may free memory that this one allocated. The flag
exists on Linux with glibc; macOS binds each symbol to one library anyway.
"""

from __future__ import annotations

import ctypes
import importlib.machinery
import os
import sys
import types
from collections.abc import Sequence

_FOREIGN_SYMBOLS = (
    "_ZN4llvm2cl6Option11addArgumentEv",
    "_ZN4mlir11MLIRContextC1ENS0_9ThreadingE",
    "LLVMContextCreate",
    "mlirContextCreateWithThreading",
)
"""Symbols that show that LLVM, MLIR or their interfaces for C are visible to every library."""


def isolate_extensions(package: str) -> None:
    """Load the extension modules of `package` with symbols of their own from now on.

    Args:
        package: the name of a top-level package. Modules of it that are loaded already stay as
            they are.
    """
    if hasattr(os, "RTLD_DEEPBIND"):
        sys.meta_path.insert(0, _Finder(package))


class _Finder:
    """A finder of modules that hands out `_Loader` for the extension modules of one package."""

    def __init__(self, package: str) -> None:
        self._prefix = f"{package}."

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if not name.startswith(self._prefix):
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and isinstance(spec.loader, importlib.machinery.ExtensionFileLoader):
            spec.loader = _Loader(spec.loader.name, spec.loader.path)
        return spec


class _Loader(importlib.machinery.ExtensionFileLoader):
    """Loads an extension module; its symbols come first if there is another LLVM."""

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        if not is_llvm_visible():
            return super().create_module(spec)
        if is_malloc_replaced():
            raise ImportError(
                f"cannot load {spec.name}: the process has loaded another LLVM, such as that of "
                "TensorFlow, and replaces malloc of the C library (LD_PRELOAD?); import pyshardy "
                "first, or do not replace malloc",
                name=spec.name,
            )
        flags = sys.getdlopenflags()
        sys.setdlopenflags(flags | os.RTLD_DEEPBIND)
        try:
            return super().create_module(spec)
        finally:
            sys.setdlopenflags(flags)


def is_llvm_visible() -> bool:
    """Whether the process has symbols of another LLVM in its global scope."""
    visible = ctypes.CDLL(None)
    return any(hasattr(visible, symbol) for symbol in _FOREIGN_SYMBOLS)


_ALLOCATING = ("malloc", "calloc", "posix_memalign")
"""The functions that a library in place of the allocator of the C library defines."""


class _SymbolInfo(ctypes.Structure):
    """The `Dl_info` of `dladdr`."""

    _fields_ = (
        ("file", ctypes.c_char_p),
        ("base", ctypes.c_void_p),
        ("symbol", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
    )


def is_malloc_replaced() -> bool:
    """Whether another library than the C library provides an allocator.

    In a program that isn't position-independent, such as Debian's Python, the address of a function
    may be that of the program's own jump to it, which tells nothing.
    """
    visible, library = ctypes.CDLL(None), ctypes.CDLL("libc.so.6")
    program = os.fsencode(sys.orig_argv[0])
    for name in _ALLOCATING:
        found, own = (
            ctypes.cast(getattr(each, name), ctypes.c_void_p) for each in (visible, library)
        )
        info = _SymbolInfo()
        visible.dladdr(found, ctypes.byref(info))
        if found.value != own.value and info.file != program:
            return True
    return False
