# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The functions that machine code calls and doesn't hold, as its object file lists them."""

import struct
import tempfile
from pathlib import Path


def undefined_symbols(engine) -> set[str]:
    """The undefined symbols of the code of an execution engine, on Linux."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "code.o"
        engine.dump_to_object_file(str(path))
        return _undefined(path.read_bytes())


def _undefined(code: bytes) -> set[str]:
    """Read the symbol table of an object file in the format ELF, of 64 bits."""
    assert code[:6] == b"\x7fELF\x02\x01", "no little-endian object file of 64 bits"
    (sections_at,) = struct.unpack_from("<Q", code, 0x28)
    entry_size, count = struct.unpack_from("<HH", code, 0x3A)
    # Of each section: name, type, flags, address, offset, size, link, info, alignment, entry size.
    sections = [
        struct.unpack_from("<IIQQQQIIQQ", code, sections_at + index * entry_size)
        for index in range(count)
    ]
    found = set()
    for section in sections:
        if section[1] != 2:  # SHT_SYMTAB
            continue
        names_at = sections[section[6]][4]
        for at in range(section[4], section[4] + section[5], 24):
            name, _, _, where = struct.unpack_from("<IBBH", code, at)
            if where == 0 and name != 0:  # SHN_UNDEF
                start = names_at + name
                found.add(code[start : code.index(b"\0", start)].decode())
    return found
