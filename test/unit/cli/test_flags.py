# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reading the command line."""

import pytest

from mlir_sdy.diagnostics import UsageError
from pyshardy.cli.opt_flags import FLAGS, Arguments, PassFlag, parse_arguments


def test_defaults():
    assert parse_arguments([]) == Arguments()
    assert Arguments().input == "-"
    assert Arguments().verify_each


@pytest.mark.parametrize(
    ("arguments", "field", "value"),
    [
        ("f.mlir", "input", "f.mlir"),
        ("-", "input", "-"),
        ("-o out.mlir", "output", "out.mlir"),
        ("-o=out.mlir", "output", "out.mlir"),
        ("-split-input-file", "split_input_file", "true"),
        ("--split-input-file", "split_input_file", "true"),
        ("--split-input-file=false", "split_input_file", ""),
        ("--split-input-file=#", "split_input_file", "#"),
        ("--mlir-elide-elementsattrs-if-larger 4", "mlir_elide_elementsattrs_if_larger", 4),
        ("-v", "verbose", True),
        ("--verify-each=0", "verify_each", False),
        ("--verify-diagnostics", "verify_diagnostics", "all"),
        ("--verify-diagnostics=only-expected", "verify_diagnostics", "only-expected"),
        ("--pass-pipeline=a{b=c}", "pass_pipeline", "a{b=c}"),
        ("--pass-pipeline a", "pass_pipeline", "a"),
        ("--mlir-print-ir-before=a,b", "mlir_print_ir_before", ("a", "b")),
        ("-mlir-print-ir-after=a -mlir-print-ir-after=b", "mlir_print_ir_after", ("a", "b")),
        ("-h", "help", "true"),
        ("--help=cse", "help", "cse"),
        ("-- -strange-name", "input", "-strange-name"),
        ("--a -b=x=1 --c", "passes", [PassFlag("a"), PassFlag("b", "x=1"), PassFlag("c")]),
    ],
)
def test_values(arguments: str, field: str, value: object):
    assert getattr(parse_arguments(arguments.split()), field) == value


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("a b", "more than one input file: 'a' and 'b'"),
        ("-o", "'-o' requires a value: -o=<file>"),
        ("--verify-each=maybe", "'--verify-each' is 'maybe': expected true or false"),
        ("--verify-diagnostics=x", "'--verify-diagnostics' is 'x': expected all or only-expected"),
        ("--pass-pipeline=a --b", "cannot be combined with pass flags"),
        ("--mlir-elide-elementsattrs-if-larger=a", "is 'a': expected an integer"),
        ("--schedule=", "'--schedule' requires a value: --schedule=<file>"),
        ("--load-rules=", "'--load-rules' requires a value"),
        ("-o a -o b", "'-o' is given as 'a' and as 'b'"),
        ("--run-reproducer --b", "cannot be combined with passes"),
    ],
)
def test_errors(arguments: str, message: str):
    with pytest.raises(UsageError) as raised:
        parse_arguments(arguments.split())
    assert message in str(raised.value)


def test_flags_are_described():
    assert all(flag.description and flag.group for flag in FLAGS.values())
    assert str(FLAGS["o"]) == "-o=<file>"
    assert str(FLAGS["verify-diagnostics"]) == "--verify-diagnostics[=<all|only-expected>]"


def test_passes_print_as_in_a_pipeline():
    assert ",".join(map(str, [PassFlag("a"), PassFlag("b", "x=1 y")])) == "a,b{x=1 y}"
