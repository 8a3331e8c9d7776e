#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generate dialect/mlir_sdy/ods/ and the reference documentation of the dialects from td/.

    python tools/gen_dialect.py           # write the files
    python tools/gen_dialect.py --check   # list the files that differ; fail if there are any

Needs llvm-tblgen, mlir-tblgen and the ODS headers of MLIR; see `INSTALL`. Their output is used
unchanged if possible:

1. mlir-tblgen generates the classes of operations and enums, and the reference documentation. Their
   imports are replaced, and the code that dialects registered at run time need is added.
2. All other files (IRDL, tables, classes of attributes) are generated here from the records of
   llvm-tblgen.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

# The tables use the project's classes, which need not be installed.
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "dialect"))

from dialect_generator.attributes import AttributeClasses
from dialect_generator.bindings import enum_builders, operation_classes, public_names
from dialect_generator.declarations import Declarations, OperationDeclarations
from dialect_generator.irdl import IrdlWriter
from dialect_generator.layout import ODS, REFERENCE
from dialect_generator.reference import reference
from dialect_generator.tablegen import INSTALL, MissingToolError
from dialect_generator.tables import mpmd_tables_source, shard_tables_source, tables_source
from generated_files import write_or_check


def generate() -> dict[Path, str]:
    """Return the text of every generated file."""
    declarations = Declarations()
    shard = OperationDeclarations("Shard.td", "shard", "Shard_")
    mpmd = Declarations("Mpmd.td", "mpmd", "Mpmd_")
    irdl, irdl_of_mpmd = IrdlWriter(declarations), IrdlWriter(mpmd)
    operations = operation_classes(declarations)
    attributes = AttributeClasses(declarations).source()
    return {
        ODS / "tables.py": tables_source(declarations),
        ODS / "mpmd_tables.py": mpmd_tables_source(mpmd),
        ODS / "shard_tables.py": shard_tables_source(shard),
        ODS / "attributes.py": attributes,
        ODS / "_sdy_names_gen.py": public_names([operations, attributes]),
        ODS / "_sdy_enum_gen.py": enum_builders(),
        ODS / "_sdy_ops_gen.py": operations,
        ODS / "sdy_attributes.irdl.mlir": irdl.attributes(),
        ODS / "sdy_operations.irdl.mlir": irdl.operations(),
        ODS / "mpmd_attributes.irdl.mlir": irdl_of_mpmd.attributes(),
        ODS / "mpmd_operations.irdl.mlir": irdl_of_mpmd.operations(),
        REFERENCE / "dialect.md": reference("SdyOps.td", "sdy"),
        REFERENCE / "mpmd.md": reference("Mpmd.td", "mpmd"),
        REFERENCE / "shard.md": reference("Shard.td", "shard"),
    }


def main() -> int:
    """Run the command line, and return the exit status."""
    parser = argparse.ArgumentParser(
        description="Generate the dialect's Python files and reference from td/."
    )
    parser.add_argument(
        "--check", action="store_true", help="write nothing; list what differs, and fail if any"
    )
    check = parser.parse_args().check
    try:
        files = generate()
    except MissingToolError as error:
        print(f"{error}\n{INSTALL}", file=sys.stderr)
        return 2
    return write_or_check(files, check=check, tool="gen_dialect.py")


if __name__ == "__main__":
    sys.exit(main())
