# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The behaviour of the MLIR host that the project relies on, a function for each assumption.

`check_host.py` runs each in a separate process, since another host may end the process. The
docstring of a function is the assumption; `relied_on_by` names the code that breaks without it. The
assumptions hold for the build that `mlir_sdy.host_build` declares.
"""

# ruff: noqa: PLC0415 (each assumption imports what it is about, in its own process)

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


class Broken(Exception):
    """The host violates the assumption; the message states its behaviour."""


@dataclass(frozen=True)
class Assumption:
    """An assumption on the host.

    Attributes:
        name: its name in the report.
        check: raises an exception if it doesn't hold.
        relied_on_by: the modules and features that need it.
    """

    name: str
    check: Callable[[], None]
    relied_on_by: str

    @property
    def statement(self) -> str:
        """The assumption in one sentence."""
        return (self.check.__doc__ or "").strip()


ASSUMPTIONS: dict[str, Assumption] = {}


def relied_on_by(who: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """Declare a function as an assumption that `who` needs."""

    def declare(check: Callable[[], None]) -> Callable[[], None]:
        name = check.__name__.replace("_", "-")
        ASSUMPTIONS[name] = Assumption(name, check, who)
        return check

    return declare


def expect(found: object, wanted: object, what: str) -> None:
    """Raise `Broken` unless `found` equals `wanted`."""
    if found != wanted:
        raise Broken(f"{what}: expected {wanted!r}, got {found!r}")


def expect_in(part: str, text: str, what: str) -> None:
    """Raise `Broken` unless `text` contains `part`."""
    if part not in text:
        raise Broken(f"{what}: expected {part!r} in {text!r}")


_ADD = "func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {{ {body} return %b : tensor<4xf32> }}"
ADD = _ADD.format(body="%b = stablehlo.add %a, %a : tensor<4xf32>")


def _context() -> Any:
    from mlir_sdy import host

    context = host.ir.Context()
    host.load_stablehlo(context)
    return context


# --- Modules, contexts, dialects ------------------------------------------------------------------


@relied_on_by("everything")
def modules() -> None:
    """The bindings have the modules that `mlir_sdy.host` imports."""
    import mlir_sdy.host  # noqa: F401


@relied_on_by("all modules that use the bindings; typings/ declares what they use")
def typed_names() -> None:
    """The bindings have the classes and functions that the project's type stubs declare."""
    import ast
    import importlib
    from pathlib import Path

    from mlir_sdy import host

    package = host.ods_common.__name__.partition(".")[0]
    stubs = Path(__file__).parents[1] / "typings" / package
    missing: list[str] = []
    for stub in sorted(stubs.rglob("*.pyi")):
        if "extras" in stub.parts:  # needs PyTorch; see `pytorch-importer`
            continue
        parts = stub.relative_to(stubs.parent).with_suffix("").parts
        name = ".".join(parts).removesuffix(".__init__")
        module = importlib.import_module(name)
        for node in ast.parse(stub.read_text()).body:
            if not isinstance(node, ast.ClassDef | ast.FunctionDef) or node.name.startswith("_"):
                continue
            if not hasattr(module, node.name):
                missing.append(f"{name}.{node.name}")
    expect(missing, [], "names that are missing")


@relied_on_by("mlir_sdy.dialect.Context, the shard dialect, the JIT")
def upstream_dialects() -> None:
    """A new context holds upstream's dialects."""
    from mlir_sdy import host

    context = host.ir.Context()
    wanted = ("arith", "func", "irdl", "linalg", "llvm", "mpi", "pdl", "scf", "shard", "tensor")
    missing = [name for name in wanted if not context.is_dialect_loaded(name)]
    expect(missing, [], "dialects that are missing")


@relied_on_by("mlir_sdy.dialect.Context")
def stablehlo_and_chlo() -> None:
    """StableHLO is registered by a function, and CHLO is loaded by a pass that runs."""
    context = _context()
    for name in ("stablehlo", "chlo"):
        if not context.is_dialect_loaded(name):
            raise Broken(f"the dialect {name} isn't loaded")


@relied_on_by("--allow-unregistered-dialect, the reader of custom syntax")
def unregistered_dialects() -> None:
    """Generic operations and opaque attributes of unknown dialects are kept as written."""
    from mlir_sdy.host import ir

    context = _context()
    context.allow_unregistered_dialects = True
    text = '"d.op"() {k = #d.attr<@m, [{"x"}, {"y", ?}p1]>} : () -> ()'
    expect_in('#d.attr<@m, [{"x"}, {"y", ?}p1]>', str(ir.Module.parse(text, context)), "the text")


# --- IRDL: the sdy dialect ------------------------------------------------------------------------

_ATTRIBUTES = """
irdl.dialect @d {
  irdl.attribute @mesh { %0 = irdl.any  irdl.parameters(axes: %0) }
}
"""
_OPERATIONS = """
irdl.dialect @d {
  irdl.operation @mesh {
    %0 = irdl.base "#builtin.string"
    irdl.attributes {"sym_name" = %0}
  }
  irdl.operation @copy {
    %0 = irdl.any  %1 = irdl.any
    irdl.operands(a: %0)  irdl.results(b: %1)
  }
}
"""
_USE = """
"d.mesh"() {sym_name = "m", extra = #d.mesh<[1, 2]>} : () -> ()
func.func @f(%a: i32) -> i32 { %0 = "d.copy"(%a) : (i32) -> i32  return %a : i32 }
"""


def _irdl_context() -> Any:
    from mlir_sdy import host

    context = host.ir.Context()
    with context:
        for text in (_ATTRIBUTES, _OPERATIONS):
            host.irdl.load_dialects(host.ir.Module.parse(text))
    return context


@relied_on_by("mlir_sdy.dialect.register")
def irdl_in_two_modules() -> None:
    """A dialect may be declared in two IRDL modules, an attribute and an operation of one name."""
    from mlir_sdy.host import ir

    text = str(ir.Module.parse(_USE, _irdl_context()))
    expect_in('"d.mesh"()', text, "the generic form")
    expect_in("#d.mesh<[1, 2]>", text, "the attribute")


@relied_on_by("mlir_sdy.attributes, mlir_sdy.assembly")
def dynamic_attributes() -> None:
    """Attributes of dynamic dialects have parameters, and classes may be registered for them."""
    from mlir_sdy.host import cext, ir

    with _irdl_context():
        parameter = ir.Attribute.parse("[1, 2]")
        made = ir.DynamicAttr.get("d.mesh", [parameter])
        expect(list(made.params), [parameter], "the parameters")
        expect(made.attr_name, "d.mesh", "the name")

        class Mesh(ir.DynamicAttr):
            pass

        kind = ir.DynamicAttr.lookup_typeid("d.mesh")
        cext.register_type_caster(kind, replace=True)(Mesh)
        found = ir.Attribute.parse("#d.mesh<[3]>")
        expect(type(found).__name__, "Mesh", "the class of a parsed attribute")


@relied_on_by("mlir_sdy.dialect.register: effects of sdy's operations")
def traits() -> None:
    """Traits may be attached to dynamic operations, so that `cse` and DCE know them as pure."""
    from mlir_sdy import host

    with _irdl_context():
        host.ext.Pure.attach("d.copy")
        host.ir.IsIsolatedFromAboveTrait.attach("d.mesh")
        module = host.ir.Module.parse(_USE)
        host.passmanager.PassManager.parse("builtin.module(canonicalize)").run(module.operation)
        if "d.copy" in str(module):
            raise Broken("an unused pure operation is kept")


@relied_on_by("mlir_sdy.verify")
def verifiers() -> None:
    """A trait may bring a verifier in Python, whose error has the operation's location."""
    from mlir_sdy import host

    class Refuses(host.ir.DynamicOpTrait):
        @staticmethod
        def verify_invariants(op: Any) -> bool:
            op.location.emit_error("refused")
            return False

    with _irdl_context():
        Refuses.attach("d.copy")
        try:
            host.ir.Module.parse(_USE)
        except host.ir.MLIRError as refusal:
            expect_in("refused", str(refusal), "the message")
        else:
            raise Broken("the verifier isn't called")


# --- IR -------------------------------------------------------------------------------------------


@relied_on_by("all diagnostics")
def error_locations() -> None:
    """Errors of the parser carry a severity, a message, and the file, line and column."""
    from mlir_sdy import host

    try:
        host.parse_operation("module {\n  %0 = stablehlo.nothing\n}", "f.mlir", _context())
    except host.ir.MLIRError as refusal:
        (diagnostic,) = host.diagnostics_of(refusal)
        expect_in("stablehlo.nothing", diagnostic.message, "the message")
        place = diagnostic.location
        found = place and (place.filename, place.line, place.column)
        expect(found, ("f.mlir", 2, 8), "the location")
    else:
        raise Broken("an unknown operation is accepted")


@relied_on_by("mlir_sdy.host.diagnostics_emitted: warnings and remarks of passes")
def diagnostic_handlers() -> None:
    """Check that diagnostics outside of a parse reach the handlers of the context."""
    from mlir_sdy.host import ir

    context, heard = _context(), list[str]()
    with context.attach_diagnostic_handler(lambda info: bool(heard.append(info.message)) or True):
        ir.Location.unknown(context).emit_error("message")
    expect(heard, ["message"], "what the handler hears")


@relied_on_by("mlir_sdy.host.location_of, explanations that name lines of the source")
def nested_locations() -> None:
    """Locations are files, names, calls and fusions, and give their parts."""
    from mlir_sdy import host

    with _context():
        file = host.ir.Location.file("f.py", 3, 4)
        wrapped = host.ir.Location.name("n", host.ir.Location.fused([file]))
        found = host.location_of(wrapped)
        expect(found and (found.filename, found.line), ("f.py", 3), "the file inside")
        expect(host.inner_locations(wrapped)[0], "n", "the name")


@relied_on_by("all passes: values and operations are keys of dictionaries")
def identity() -> None:
    """Values, operations and attributes are equal, with equal hashes, when MLIR's objects are."""
    from mlir_sdy.host import ir

    module = ir.Module.parse(ADD, _context())
    block = module.body.operations[0].regions[0].blocks[0]
    add = block.operations[0]
    found = {add.operands[0]: 1, add.operation: 2}
    expect(found[block.arguments[0]], 1, "an operand and the argument")
    expect(found[block.operations[0].operation], 2, "an operation asked for twice")
    with module.context:
        expect(ir.StringAttr.get("a"), ir.StringAttr.get("a"), "attributes")


@relied_on_by("the partitioner: programs become local in place")
def edits_in_place() -> None:
    """Types, operands, arguments and places can be changed, and whole blocks moved."""
    from mlir_sdy.host import ir

    module = ir.Module.parse(ADD, _context())
    function = module.body.operations[0]
    with module.context, ir.Location.unknown():
        block = function.regions[0].blocks[0]
        local = ir.RankedTensorType.get([2], ir.F32Type.get())
        block.arguments[0].set_type(local)
        block.operations[0].results[0].set_type(local)
        kind = ir.FunctionType.get([local], [local])
        function.attributes["function_type"] = ir.TypeAttr.get(kind)
        added = block.add_argument(local, ir.Location.unknown())
        block.operations[0].operands[1] = added
        block.operations[0].operands[1] = block.arguments[0]
        block.erase_argument(1)
        empty = ir.Operation.create(
            "func.func",
            regions=1,
            attributes={"sym_name": ir.StringAttr.get("g"), "function_type": ir.TypeAttr.get(kind)},
        )
        module.body.append(empty)
        block.append_to(empty.regions[0])
        function.erase()
    module.operation.verify()
    expect_in("@g(%arg0: tensor<2xf32>)", str(module), "the edited function")


@relied_on_by("builders of StableHLO operations in the partitioner")
def inferred_types() -> None:
    """Operations of StableHLO are made by name, and their result types inferred."""
    from mlir_sdy.host import ir

    with _context(), ir.Location.unknown():
        module = ir.Module.parse(ADD)
        block = module.body.operations[0].regions[0].blocks[0]
        with ir.InsertionPoint(block.operations[1]):
            made = ir.Operation.create(
                "stablehlo.negate", operands=[block.arguments[0]], infer_type=True
            )
        expect(str(made.results[0].type), "tensor<4xf32>", "the inferred type")


@relied_on_by("speed of every pass")
def views_of_unknown_dialects() -> None:
    """An empty Python module for a dialect saves the search for it at every operation."""
    import sys

    from mlir_sdy.host import ir

    sought: list[str] = []

    class Listener:
        @staticmethod
        def find_spec(name: str, *_: Any) -> None:
            sought.append(name)

    module = ir.Module.parse(ADD, _context())
    block = module.body.operations[0].regions[0].blocks[0]
    sys.meta_path.insert(0, Listener())  # type: ignore[arg-type]
    expect(len(list(block.operations)), 2, "the number of operations")
    sought.clear()  # The first visit may look for a module.
    expect(len(list(block.operations)), 2, "the number of operations")
    expect(sought, [], "modules that are looked for again")


@relied_on_by("constants in passes, the interpreter")
def constants() -> None:
    """NumPy arrays become constants and come back, complex ones as plain attributes."""
    from mlir_sdy import host

    context = _context()
    host.hand_out_all_constants(context)
    with context:
        array = np.arange(6, dtype=np.float32).reshape(2, 3)
        expect(np.array(host.ir.DenseElementsAttr.get(array)).tolist(), array.tolist(), "floats")
        ints = host.ir.Attribute.parse("dense<[1, 2]> : tensor<2xi64>")
        expect(np.array(ints).tolist(), [1, 2], "integers")
        host.ir.Attribute.parse("dense<(1.0, 2.0)> : tensor<2xcomplex<f32>>")


@relied_on_by("sdy.write, sdy-opt --emit-bytecode")
def bytecode() -> None:
    """Bytecode holds dynamic attributes."""
    from mlir_sdy.host import ir

    context = _irdl_context()
    module = ir.Module.parse(_USE, context)
    buffer = io.BytesIO()
    module.operation.write_bytecode(buffer)
    again = ir.Module.parse(buffer.getvalue(), context)
    expect(str(again), str(module), "the module after a round trip")


# --- Passes and rewrites --------------------------------------------------------------------------


@relied_on_by("sdy-opt, pipelines: the names that --help lists")
def pass_names() -> None:
    """The well-known passes of the host have their names."""
    from pyshardy.pipeline.host_pass_names import WELL_KNOWN_HOST_PASSES
    from pyshardy.pipeline.host_passes import knows

    expect([name for name in WELL_KNOWN_HOST_PASSES if not knows(name)], [], "unknown passes")


@relied_on_by("pyshardy.pipeline.host_passes: unknown names and options, where passes may run")
def pipeline_errors() -> None:
    """The pipeline parser tells unknown names, unknown options, and passes at a wrong level."""
    from mlir_sdy.diagnostics import UsageError
    from pyshardy.pipeline.host_passes import anchor_for, knows
    from pyshardy.pipeline.syntax import PassUse, parse_options

    expect(knows("no-such-pass"), False, "an unknown pass")
    for_functions = PassUse("chlo-legalize-to-stablehlo")
    found = anchor_for(for_functions, "builtin.module")
    expect(found, "func.func", "where a pass for functions runs")
    try:
        anchor_for(PassUse("canonicalize", parse_options("no-such-option=1")), "builtin.module")
    except UsageError as refusal:
        expect_in("no-such-option", refusal.diagnostics[0].message, "the unknown option")
    else:
        raise Broken("an unknown option is accepted")


@relied_on_by("pyshardy.irtools.walks: finding operations by name or attribute")
def patterns() -> None:
    """PDL patterns and patterns in Python are matched by a walk."""
    from mlir_sdy.host import ir, rewrite
    from pyshardy.irtools.walks import operations_named

    module = ir.Module.parse(ADD, _context())
    expect(len(operations_named(["stablehlo.add"], module)), 1, "operations found by PDL")

    def negate(operation: Any, rewriter: Any) -> None:
        with rewriter.ip, operation.location:
            made = ir.Operation.create(
                "stablehlo.negate", operands=[operation.operands[0]], infer_type=True
            )
        rewriter.replace_op(operation, made)

    with module.context:
        found = rewrite.RewritePatternSet()
        found.add("stablehlo.add", negate)
        rewrite.walk_and_apply_patterns(module.operation, found.freeze())
    expect_in("stablehlo.negate", str(module), "the rewritten program")


@relied_on_by("mlir_sdy.fold: the pass canonicalize")
def greedy_driver() -> None:
    """The greedy driver folds, and takes a configuration."""
    from mlir_sdy.host import ir, rewrite

    text = "func.func @f() -> i32 { %0 = arith.constant 1 : i32 " + (
        "%1 = arith.addi %0, %0 : i32 return %1 : i32 }"
    )
    module = ir.Module.parse(text, _context())
    with module.context:
        frozen = rewrite.RewritePatternSet().freeze()
        config = rewrite.GreedyRewriteConfig()
        config.region_simplification_level = rewrite.GreedySimplifyRegionLevel.DISABLED
        rewrite.apply_patterns_and_fold_greedily(module, frozen, config)
    expect_in("arith.constant 2", str(module), "the folded program")


@relied_on_by("pyshardy.shard: upstream's passes on the shard dialect")
def shard_passes() -> None:
    """The shard dialect partitions a function, and becomes calls of MPI."""
    from mlir_sdy.host import ir, passmanager

    text = """
    shard.grid @g(shape = 2)
    func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
      %s = shard.sharding @g split_axes = [[0]] : !shard.sharding
      %0 = shard.shard %a to %s : tensor<4xf32>
      %1 = shard.shard %0 to %s annotate_for_users : tensor<4xf32>
      %2 = tosa.tanh %1 : (tensor<4xf32>) -> tensor<4xf32>
      %3 = shard.shard %2 to %s : tensor<4xf32>
      %4 = shard.shard %3 to %s annotate_for_users : tensor<4xf32>
      return %4 : tensor<4xf32>
    }
    """
    module = ir.Module.parse(text, _context())
    with module.context:
        pipeline = "builtin.module(shard-simplify,func.func(shard-partition),convert-shard-to-mpi)"
        passmanager.PassManager.parse(pipeline)
        passmanager.PassManager.parse("builtin.module(func.func(shard-partition))").run(
            module.operation
        )
    expect_in("tensor<2xf32>", str(module), "the partitioned function")


# --- Running programs -----------------------------------------------------------------------------


@relied_on_by("the backend interpreter, and every check of numbers")
def interpreter() -> None:
    """The reference interpreter runs a program with calls and branches."""
    from mlir_sdy.host import ir, stablehlo

    text = """
    func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
      %0 = func.call @f(%a) : (tensor<2xf32>) -> tensor<2xf32>
      return %0 : tensor<2xf32>
    }
    func.func private @f(%a: tensor<2xf32>) -> tensor<2xf32> {
      %t = stablehlo.constant dense<true> : tensor<i1>
      %0 = "stablehlo.if"(%t) ({
        %1 = stablehlo.add %a, %a : tensor<2xf32>
        stablehlo.return %1 : tensor<2xf32>
      }, { stablehlo.return %a : tensor<2xf32> }) : (tensor<i1>) -> tensor<2xf32>
      return %0 : tensor<2xf32>
    }
    """
    module = ir.Module.parse(text, _context())
    with module.context:
        given = ir.DenseElementsAttr.get(np.array([1, 2], np.float32))
        (found,) = stablehlo.eval_module(module, [given])
    expect(np.array(found).tolist(), [2.0, 4.0], "the result")


@relied_on_by("the backend jit")
def machine_code() -> None:
    """The passes of the JIT lower a program to machine code, which runs."""
    from pyshardy.backends.jit.compiler import compile_text

    text = """
    func.func @main(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>) -> tensor<2x2xf32> {
      %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
        : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
      return %0 : tensor<2x2xf32>
    }
    """
    from mlir_sdy import host

    host.load_loop_passes()
    a, b = np.ones((2, 3), np.float32), np.full((3, 2), 2, np.float32)
    (found,) = compile_text(text, _context(), 2)([a, b])
    expect(found.tolist(), [[6.0, 6.0], [6.0, 6.0]], "the result")


@relied_on_by("sdy-translate, XLA and IREE, which get portable artifacts")
def portable_artifacts() -> None:
    """Portable artifacts are written for older versions of StableHLO, and read."""
    from mlir_sdy.host import ir, stablehlo

    context = _context()
    module = ir.Module.parse(ADD, context)
    version = stablehlo.get_smaller_version("1.0.0", stablehlo.get_current_version())
    expect(version, "1.0.0", "the smaller version")
    artifact = stablehlo.serialize_portable_artifact_str(str(module), version)
    again = stablehlo.deserialize_portable_artifact(context, artifact)
    expect(str(again), str(module), "the module after a round trip")


@relied_on_by("sdy.torch")
def pytorch_importer() -> None:
    """The importer of PyTorch's programs is there, with its passes to StableHLO."""
    from importlib.util import find_spec

    from mlir_sdy import host

    host.load_loop_passes()  # registers the passes of PyTorch's dialects as well
    with host.ir.Context():
        host.passmanager.PassManager.parse(host.TORCH_TO_STABLEHLO)
    package = host.ods_common.__name__.partition(".")[0]
    if find_spec(f"{package}.extras.fx_importer") is None:
        raise Broken("the module fx_importer is missing")
    if find_spec("torch") is None:
        return
    host.decompositions_of_torch()
