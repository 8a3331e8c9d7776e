# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files of all kinds, read and written."""

import pytest

import pyshardy as sdy
from mlir_sdy.diagnostics import ParseError, PassError, UsageError
from mlir_sdy.host import stablehlo
from pyshardy.frontends.files import Kind, dump, load
from pyshardy.frontends.portable import target_version

TEXT = """\
module {
  sdy.mesh @mesh = <["x"=2]>
  func.func @main(%arg0: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) \
-> tensor<4xf32> {
    %0 = stablehlo.tanh %arg0 : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
"""


@pytest.fixture(scope="module")
def context():
    return sdy.Context()


@pytest.fixture
def module(context):
    return sdy.parse(TEXT, context)


@pytest.mark.parametrize("kind", [kind for kind in Kind if kind is not Kind.EXPORTED])
def test_round_trip(kind, module, context, tmp_path):
    path = tmp_path / "program.mlirbc"
    sdy.write(module, path, kind.value)
    assert Kind.of(path.read_bytes()) is kind
    assert sdy.asm(sdy.parse(path, context)).strip() == TEXT.strip()
    assert sdy.asm(sdy.parse(str(path), context)).strip() == TEXT.strip()
    assert sdy.asm(module).strip() == TEXT.strip(), "writing changes nothing"


@pytest.mark.parametrize("kind", [Kind.BYTECODE, Kind.PORTABLE])
def test_places_survive(kind, context):
    module = load(TEXT.encode(), context, "source.mlir")
    again = load(dump(module, kind), context, "other")
    assert 'loc("source.mlir":4:10)' in sdy.asm(again, debug_info=True)


@pytest.mark.parametrize("version", ["1.0.0", "1.15.0", "minimum", "current"])
def test_versions(version, module):
    data = dump(module, Kind.PORTABLE, version)
    expected = {
        "minimum": stablehlo.get_minimum_version(),
        "current": stablehlo.get_current_version(),
    }.get(version, version)
    producer = data[5:].partition(b"\0")[0].decode()
    assert producer.removeprefix("StableHLO_v") == expected


@pytest.mark.parametrize("version", ["", "newest", "1.2", "v1.2.3", "1.2.3-rc"])
def test_what_is_no_version(version):
    with pytest.raises(UsageError, match="is not a version of StableHLO: expected 'current', 'min"):
        target_version(version)


@pytest.mark.parametrize("version", ["0.8.9", "1.99.0"])
def test_versions_that_cannot_be_written(version):
    with pytest.raises(UsageError, match=rf"support StableHLO 0.9.0 to .*, not {version}"):
        target_version(version)


def test_an_operation_of_a_later_version(context):
    module = load(TEXT.replace("tanh %arg0", "tan %arg0").encode(), context, "program.mlir")
    with pytest.raises(
        PassError, match=r"cannot write the program for StableHLO 0.9.0: .*'stablehlo.tan"
    ) as caught:
        dump(module, Kind.PORTABLE, "0.9.0")
    place = caught.value.diagnostics[0].location
    assert (place.filename, place.line) == ("program.mlir", 4)


def test_an_operation_of_another_dialect(context):
    module = sdy.parse(TEXT.replace("stablehlo.tanh", "math.tanh"), context)
    with pytest.raises(PassError, match="cannot write the program for StableHLO"):
        dump(module, Kind.PORTABLE)


def test_operations_of_chlo_are_written_out(context):
    module = sdy.parse(
        TEXT.replace(
            "stablehlo.tanh %arg0 : tensor<4xf32>",
            "chlo.square %arg0 : tensor<4xf32> -> tensor<4xf32>",
        ),
        context,
    )
    again = load(dump(module, Kind.PORTABLE), context)
    assert "stablehlo.multiply %arg0, %arg0" in sdy.asm(again)


def test_an_operation_that_only_passes_make(context):
    text = TEXT.replace("stablehlo.tanh %arg0", "sdy.reshard %arg0 <@mesh, [{}]>")
    module = sdy.parse(text, context)
    with pytest.raises(PassError, match=r"cannot write 'sdy.reshard' to a portable artifact"):
        dump(module, Kind.PORTABLE)
    assert "sdy.reshard" in sdy.asm(module)


def test_unreadable_files(context, tmp_path):
    with pytest.raises(UsageError, match=r"cannot read the file: .*No such file"):
        sdy.parse(tmp_path / "nowhere.mlirbc", context)
    with pytest.raises(ParseError, match="other: error: cannot read the portable artifact"):
        load(b"ML\xefR\rStableHLO_v1.0.0\0\1rest", context, "other")
    with pytest.raises(ParseError, match="other: error"):
        load(b"ML\xefR\rMLIR24\0\1rest", context, "other")
    with pytest.raises(
        UsageError, match="other:2:1: error: the file is neither bytecode nor UTF-8 text"
    ):
        load(b"module {\n\xff}", context, "other")


def test_unwritable_files(module, tmp_path):
    with pytest.raises(UsageError, match=r"cannot write output file .*No such file"):
        sdy.write(module, tmp_path / "nowhere" / "program.mlir")
    with pytest.raises(
        UsageError, match="unknown file kind 'vhlo'; expected one of: 'text', 'bytecode'"
    ):
        sdy.write(module, tmp_path / "program.mlir", "vhlo")


def spelled(body):
    """An artifact with operations as somebody else may have spelled them."""
    context = sdy.Context()
    module = sdy.parse(body, context)
    return stablehlo.serialize_portable_artifact(module, "1.15.0")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('xla.sdy.sharding = "#sdy.sharding<@mesh, [{"', "cannot parse the string .*"),
        ('xla.sdy.sharding = "nonsense"', "cannot parse the string 'nonsense'"),
        ('xla.sdy.sharding = "#sdy.sharding<@other, [{}]>"', "unknown mesh"),
    ],
)
def test_strings_that_cannot_be_read(text, message, context):
    data = spelled(
        f"func.func @main(%a: tensor<4xf32> {{mhlo.frontend_attributes = {{{text}}}}}) {{ return }}"
    )
    with pytest.raises(sdy.SdyError, match=message):
        load(data, context)


def test_a_manual_computation_without_changes_of_shape(context):
    data = spelled("""
    func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
      %0 = func.call @xla.sdy.manual_computation_body(%a) : (tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    func.func private @xla.sdy.manual_computation_body(%a: tensor<4xf32>) -> tensor<4xf32> {
      return %a : tensor<4xf32>
    }
    """)
    with pytest.raises(PassError, match=r"is not between '@xla.sdy.GlobalToLocalShape'"):
        load(data, context)


def test_programs_that_jax_has_serialized(context):
    jax = pytest.importorskip("jax")
    exported = jax.export.export(jax.jit(lambda x: x + x))(jax.ShapeDtypeStruct((4,), "float32"))
    data = bytes(exported.serialize())
    assert Kind.of(data) is Kind.EXPORTED
    assert "stablehlo.add" in sdy.asm(load(data, context))
