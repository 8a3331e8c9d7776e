# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Single MPMD passes of C++ Shardy, which jaxlib has without a way to name them.

The wheel links the passes into `libjax_common.so`, since the partitioner of MPMD programs runs
them, and registers none. Its symbol table is complete: each pass has a function that creates it, or
a constructor with a virtual table, at an address that `llvm-nm` tells. `register_passes` hands
MLIR's `registerPass` a function for each of them, so that pipelines as texts may name them.

This holds for the calling convention of x86-64 Linux, and for the wheel that
`test/oracle/requirements.txt` pins: `symbols` fails with a reason otherwise. The process that
registers the passes is the one of `worker.py`, a child of the tests.
"""

from __future__ import annotations

import ctypes
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

LIBRARY = "libjax_common.so"
CACHE = Path(__file__).parents[2] / "build" / "mpmd_symbols.json"
REGISTER = (
    "mlir::registerPass(std::function<std::unique_ptr<mlir::Pass, "
    "std::default_delete<mlir::Pass>> ()> const&)"
)
PASS = re.compile(r"vtable for mlir::mpmd::\(anonymous namespace\)::(\w+)Pass")
FEWEST = 60
"""The number of passes in jaxlib 0.12."""

ANCHORS = {
    "CallInline": b"builtin.module",
    "InferMeshPopulateSrcSet": b"builtin.module",
    "InferMeshPopulateUseSet": b"builtin.module",
    "MoveTransfersToProducer": b"func.func",
    "SchedulingUnitVerifier": b"func.func",
    "UniquifyFunctionInputOutputs": b"func.func",
}
"""The operations of passes whose constructors are part of their pipelines only.

Their objects are filled in here, so that they have their default options.
"""

OPTIONS = {
    "InferMeshValidateNoAdditionalTransfersNeeded": 5,
    "InferMeshValidateSrcSetNotEmpty": 5,
    "ValidateNoInferredFragments": 1,
}
"""The default options of passes that take them as a number; all others of this kind have 0."""

POINTERS = frozenset({"EnforceEquisharding", "InferMeshAssignUsingInputOutputConstraints"})
"""Passes that take their options by the address of a structure."""

_Pointer = ctypes.c_void_p
_kept: list[object] = []  # C++ calls these as long as the process runs


def symbols(python: str | Path) -> Path:
    """Return the file with the addresses of the passes in an environment, writing it if necessary.

    Raises:
        RuntimeError: they can't be found here, with the reason.
    """
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        raise RuntimeError("single passes of C++ Shardy need x86-64 Linux")
    (library,) = Path(python).parents[1].glob(f"lib/python*/site-packages/jaxlib/{LIBRARY}")
    wheel = f"{library.resolve()} {library.stat().st_mtime_ns} {library.stat().st_size}"
    if CACHE.exists() and json.loads(CACHE.read_text())["wheel"] == wheel:
        return CACHE
    tool = next(filter(None, map(shutil.which, ("llvm-nm-22", "llvm-nm", "nm"))), None)
    if tool is None:
        raise RuntimeError("single passes of C++ Shardy need llvm-nm: install the package llvm-22")
    listed = subprocess.run(
        [tool, "--demangle", library], capture_output=True, text=True, check=True
    )
    found: dict[str, int] = {}
    for line in listed.stdout.splitlines():
        address, _, name = line.partition(" ")
        name = name[2:].replace("> >", ">>")
        if address and (name == REGISTER or ("mlir::mpmd::" in name and "Pass" in name)):
            found.setdefault(name, int(address, 16))
    passes = sum(PASS.fullmatch(name) is not None for name in found)
    if REGISTER not in found or passes < FEWEST:
        raise RuntimeError(
            f"{library} has {passes} MPMD passes with symbols instead of {FEWEST}: "
            "test/support/mpmd_passes.py is for the wheel in test/oracle/requirements.txt"
        )
    CACHE.parent.mkdir(exist_ok=True)
    new = CACHE.with_suffix(f".{os.getpid()}")  # several processes may write it at the same time
    new.write_text(json.dumps({"wheel": wheel, "symbols": found}))
    new.replace(CACHE)
    return CACHE


def register_passes(table: Path) -> None:
    """Register all passes in this process, in which jaxlib is loaded."""
    found = json.loads(table.read_text())["symbols"]
    base = _base_address()
    addresses = {name: base + address for name, address in found.items()}
    register = ctypes.CFUNCTYPE(None, _Pointer)(addresses[REGISTER])
    for name in addresses:
        if matched := PASS.fullmatch(name):
            function = _function_object(_maker(matched.group(1), addresses))
            register(ctypes.addressof(function))


def _base_address() -> int:
    for line in Path("/proc/self/maps").read_text().splitlines():
        addresses, _, offset, *_ = line.split()
        if line.endswith(LIBRARY) and int(offset, 16) == 0:
            return int(addresses.split("-")[0], 16)
    raise RuntimeError(f"{LIBRARY} is not loaded")


def _maker(name: str, addresses: dict[str, int]) -> Callable[[], int]:
    """Return a function that creates a pass, and returns the address of the object."""
    prefix = "mlir::mpmd::"
    table = addresses[f"vtable for {prefix}(anonymous namespace)::{name}Pass"] + 16
    constructor = _address(addresses, rf"{prefix}impl::{name}PassBase<.*>::{name}PassBase\(\)")
    create = _address(addresses, rf"{prefix}(impl::)?create{name}Pass\(\)")
    with_options = _address(addresses, rf"{prefix}(impl::)?create{name}Pass\(.+\)")

    def constructed() -> int:
        assert constructor is not None
        made = _zeros(0x1000)
        ctypes.CFUNCTYPE(None, _Pointer)(constructor)(made)
        _words(made)[0] = table
        return made

    def created() -> int:
        made = _Pointer(0)
        ctypes.CFUNCTYPE(None, _Pointer)(create or 0)(ctypes.addressof(made))
        assert made.value is not None
        return made.value

    def created_with_options() -> int:
        made = _Pointer(0)
        options = _zeros(0x400) if name in POINTERS else OPTIONS.get(name, 0)
        ctypes.CFUNCTYPE(None, _Pointer, _Pointer)(with_options or 0)(
            ctypes.addressof(made), options
        )
        assert made.value is not None
        return made.value

    if constructor is not None:
        return constructed
    if create is not None:
        return created
    if with_options is not None:
        return created_with_options
    identity = _address(addresses, rf".*::{name}Pass>::resolveTypeID\(\)::id")
    if identity is None or name not in ANCHORS:
        raise RuntimeError(f"{LIBRARY} has no way to create the pass {name}")
    return lambda: _filled_in(table, identity, ANCHORS[name])


def _filled_in(table: int, identity: int, anchor: bytes) -> int:
    """Return the address of a pass as its inlined constructor would leave it."""
    text = ctypes.create_string_buffer(anchor)
    _kept.append(text)
    made = _zeros(0x400)
    words = _words(made)
    words[0:4] = [table, identity, ctypes.addressof(text), len(anchor)]
    words[4] = 1  # the operation is told
    words[0xB0 // 8] = made + 0xC0  # the list of statistics, with room for four
    ctypes.cast(made + 0xBC, ctypes.POINTER(ctypes.c_uint32))[0] = 4
    return made


def _address(addresses: dict[str, int], pattern: str) -> int | None:
    matching = re.compile(pattern)
    return next((each for name, each in addresses.items() if matching.fullmatch(name)), None)


def _zeros(size: int) -> int:
    allocate = ctypes.CDLL(None).calloc
    allocate.restype, allocate.argtypes = ctypes.c_size_t, (ctypes.c_size_t, ctypes.c_size_t)
    return allocate(1, size)


def _words(address: int) -> ctypes.Array[ctypes.c_uint64]:
    return (ctypes.c_uint64 * 32).from_address(address)


def _function_object(make: Callable[[], int]) -> ctypes.Array[ctypes.c_uint64]:
    """Return a `std::function<std::unique_ptr<Pass>()>` of libstdc++: state, manager, invoker."""

    def invoke(result: int, _: int) -> int:
        _words(result)[0] = make()
        return result

    def manage(*_: object) -> bool:
        return False  # copying and destroying it do nothing: the function has no state

    invoker = ctypes.CFUNCTYPE(_Pointer, _Pointer, _Pointer)(invoke)
    manager = ctypes.CFUNCTYPE(ctypes.c_bool, _Pointer, _Pointer, ctypes.c_int)(manage)
    addresses = [ctypes.cast(each, _Pointer).value or 0 for each in (manager, invoker)]
    function = (ctypes.c_uint64 * 4)(0, 0, *addresses)
    _kept.extend((invoker, manager, function))
    return function
