# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The language server, as an editor talks to it."""

import json
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import pytest_asyncio
import pytest_lsp
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities

from pyshardy.lsp.features import LEGEND

PROGRAM = """\
// RUN: sdy-opt %s -sdy-propagation-pipeline
sdy.mesh @mesh = <["data"=2, "model"=4]>
func.func @main(
    %x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>},
    %w: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>})
    -> tensor<8x32xf32> {
  %hidden = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
  %y = stablehlo.tanh %hidden : tensor<8x32xf32>
  return %y : tensor<8x32xf32>
}
"""
MISTAKE = PROGRAM.replace("stablehlo.tanh", "stablehlo.tanhh")
SCRIPT = """\
import jax
from jax import numpy as jnp
from jax.sharding import PartitionSpec as P

import pyshardy as sdy


def layer(x, w):
    return jnp.tanh(x @ w)


module = sdy.jax.trace(
    layer,
    jax.ShapeDtypeStruct((8, 16), jnp.float32),
    jax.ShapeDtypeStruct((16, 32), jnp.float32),
    mesh=sdy.Mesh.of({"data": 2, "model": 4}),
    in_shardings=(P("data"), P("model")),
)
"""
EXAMPLES = Path(__file__).parents[3] / "examples"
URI = "file:///tmp/program.mlir"


@pytest_lsp.fixture(
    scope="module",
    config=ClientServerConfig(server_command=[sys.executable, "-m", "pyshardy", "lsp"]),
)
async def session(lsp_client: LanguageClient):
    """A server for all tests, whose start and whose worker's take a second."""
    capabilities = client_capabilities("visual-studio-code")
    await lsp_client.initialize_session(types.InitializeParams(capabilities=capabilities))
    yield
    await lsp_client.shutdown_session()


@pytest_asyncio.fixture(loop_scope="module")
async def client(session):
    session.opened = set()
    yield session
    for uri in session.opened:
        document = types.TextDocumentIdentifier(uri)
        session.text_document_did_close(types.DidCloseTextDocumentParams(document))
        await session.wait_for_notification("textDocument/publishDiagnostics")


async def open_document(client, text, uri=URI, language="mlir"):
    """Open a document and return its diagnostics."""
    item = types.TextDocumentItem(uri=uri, language_id=language, version=1, text=text)
    client.text_document_did_open(types.DidOpenTextDocumentParams(item))
    client.opened.add(uri)
    if language == "mlir":
        await client.wait_for_notification("textDocument/publishDiagnostics")
    return list(client.diagnostics.get(uri, []))


def position(text, word, occurrence=0, at=0):
    """The position of a word in a text."""
    offset = -1
    for _ in range(occurrence + 1):
        offset = text.index(word, offset + 1)
    offset += at
    line = text.count("\n", 0, offset)
    return types.Position(line, offset - (text.rfind("\n", 0, offset) + 1))


def within(uri, place):
    return {"text_document": types.TextDocumentIdentifier(uri), "position": place}


async def hover_text(client, place, uri=URI):
    found = await client.text_document_hover_async(types.HoverParams(**within(uri, place)))
    return "" if found is None else found.contents.value


@pytest.mark.asyncio(loop_scope="module")
async def test_a_program(client):
    assert await open_document(client, PROGRAM) == []

    text = await hover_text(client, position(PROGRAM, "%hidden", 1))
    assert "%hidden : tensor<8x32xf32>" in text
    assert '`<@mesh, [{"data"}, {}]>`: `tensor<4x32xf32>` on each device' in text
    assert 'dimension 0, "data"' in text
    assert '--what-if="%' in text

    assert "all_reduce along model" in await hover_text(client, position(PROGRAM, "dot_general"))
    assert "8 devices" in await hover_text(client, position(PROGRAM, "@mesh", 1))
    assert "4 devices" in await hover_text(client, position(PROGRAM, '"model"', 1))
    assert "Import a program" in await hover_text(client, position(PROGRAM, "propagation-pipeline"))

    everything = types.Range(types.Position(0, 0), types.Position(20, 0))
    hints = await client.text_document_inlay_hint_async(
        types.InlayHintParams(types.TextDocumentIdentifier(URI), everything)
    )
    after_hidden = position(PROGRAM, "%hidden", at=len("%hidden"))
    assert [(hint.position, hint.label) for hint in hints][:1] == [(after_hidden, '[{"data"}, {}]')]
    assert len(hints) == 2  # arguments state their shardings

    place = await client.text_document_definition_async(
        types.DefinitionParams(**within(URI, position(PROGRAM, "%hidden", 1)))
    )
    assert place.range.start == position(PROGRAM, "%hidden")
    axis = await client.text_document_definition_async(
        types.DefinitionParams(**within(URI, position(PROGRAM, '"model"', 1, at=2)))
    )
    assert axis.range.start == position(PROGRAM, '"model"')
    uses = await client.text_document_references_async(
        types.ReferenceParams(
            **within(URI, position(PROGRAM, "%x:")), context=types.ReferenceContext(True)
        )
    )
    assert [use.range.start for use in uses] == [
        position(PROGRAM, "%x", at=0),
        position(PROGRAM, "%x,"),
    ]

    explained = await client.workspace_execute_command_async(
        types.ExecuteCommandParams(
            "pyshardy.explain",
            [URI, after_hidden.line, after_hidden.character - 1],
        )
    )
    assert "dot_general" in explained


@pytest.mark.asyncio(loop_scope="module")
async def test_a_hover_is_about_what_is_under_the_cursor(client):
    """A line has all arguments; a collective moves a single argument, for a single product."""
    text = (EXAMPLES / "mlp.mlir").read_text()
    uri = "file:///tmp/mlp.mlir"
    await open_document(client, text, uri)
    moved = "all_gather along model, 1,024 bytes sent, mlp.mlir:3:402"

    async def collectives(word, occurrence=0, at=1):
        hover = await hover_text(client, position(text, word, occurrence, at), uri)
        assert "-:" not in hover
        return [line for line in hover.splitlines() if line.startswith("**collective**")]

    for number in range(8):
        of_argument = await collectives(f"%arg{number}")
        assert [moved in each for each in of_argument] == ([True] if number == 5 else [])
    product = text.index("%arg5,", text.index("%31"))
    before = text.count("%arg5", 0, product)
    # At the operand it is that of this operand; at the operation that of the other operand too.
    assert [moved in each for each in await collectives("%arg5", before)] == [True]
    operation = text.count("stablehlo.dot_general", 0, product) - 1
    assert len(await collectives("stablehlo.dot_general", operation)) == 2
    assert await collectives("%arg5", 1) == []  # another product, which takes it as it is


@pytest.mark.asyncio(loop_scope="module")
async def test_a_mistake_and_its_correction(client):
    (problem,) = await open_document(client, MISTAKE)
    assert problem.severity == types.DiagnosticSeverity.Error
    assert problem.range.start == position(MISTAKE, "stablehlo.tanhh")
    actions = await client.text_document_code_action_async(
        types.CodeActionParams(
            types.TextDocumentIdentifier(URI),
            problem.range,
            types.CodeActionContext([problem]),
        )
    )
    (edit,) = actions[0].edit.changes[URI]
    assert (actions[0].title, edit.new_text) == ("Change to stablehlo.tanh", "stablehlo.tanh")
    assert edit.range == problem.range

    change = types.TextDocumentContentChangePartial(edit.range, edit.new_text)
    client.text_document_did_change(
        types.DidChangeTextDocumentParams(types.VersionedTextDocumentIdentifier(2, URI), [change])
    )
    await client.wait_for_notification("textDocument/publishDiagnostics")
    assert list(client.diagnostics[URI]) == []


@pytest.mark.asyncio(loop_scope="module")
async def test_a_problem_in_the_source_of_a_traced_program(client):
    text = PROGRAM.replace("tensor<8x16xf32> {", "tensor<9x16xf32> {", 1)
    text = text.replace("(tensor<8x16xf32>,", "(tensor<9x16xf32>,").replace("8x32", "9x32")
    text = text.replace('[{"data"}, {}]>}', '[{"data"}, {}]>} loc("model.py":7:1)', 1)
    problems = await open_document(client, text)
    assert "model.py:7: argument 0 of @main" in problems[0].message
    assert problems[0].range.start == types.Position(0, 0)


@pytest.mark.asyncio(loop_scope="module")
async def test_completion(client):
    text = PROGRAM.replace('[{"data"}, {}]', '[{"", {}]').replace("pipeline", "")
    await open_document(client, text)

    async def labels(place):
        found = await client.text_document_completion_async(
            types.CompletionParams(**within(URI, place))
        )
        return [item.label for item in found]

    assert await labels(position(text, '[{""', at=3)) == ["data", "model"]
    assert await labels(position(text, "<@mesh", at=2)) == ["mesh", "main"]
    assert "sdy-propagation-pipeline" in await labels(position(text, "-sdy-prop", at=9))


@pytest.mark.asyncio(loop_scope="module")
async def test_a_python_file(client, tmp_path):
    script = tmp_path / "train.py"
    script.write_text(SCRIPT)
    uri = script.as_uri()
    await open_document(client, SCRIPT, uri, "python")
    said = await client.workspace_execute_command_async(
        types.ExecuteCommandParams("pyshardy.trace", [uri])
    )
    assert said == "4 values, 1 collectives"
    text = await hover_text(client, position(SCRIPT, "x @ w"), uri)
    assert '`<@mesh, [{"data"}, {}]>`' in text
    assert "all_reduce along model" in text
    assert text.count("```mlir") == 1
    outer = await hover_text(client, position(SCRIPT, "tanh"), uri)
    assert outer.count("```mlir") == 1
    assert "all_reduce" not in outer
    lines = types.Range(types.Position(0, 0), types.Position(30, 0))
    hints = await client.text_document_inlay_hint_async(
        types.InlayHintParams(types.TextDocumentIdentifier(uri), lines)
    )
    assert (position(SCRIPT, "x @ w").line, '[{"data"}, {}]') in [
        (hint.position.line, hint.label) for hint in hints
    ]


@pytest.mark.asyncio(loop_scope="module")
async def test_a_script_that_fails(client, tmp_path):
    script = tmp_path / "fails.py"
    text = textwrap.dedent("""\
        import pyshardy as sdy

        sdy.Mesh.of({"data": 0})
        """)
    script.write_text(text)
    await open_document(client, text, script.as_uri(), "python")
    await client.workspace_execute_command_async(
        types.ExecuteCommandParams("pyshardy.trace", [script.as_uri()])
    )
    (problem,) = client.diagnostics[script.as_uri()]
    assert problem.range.start.line == 2
    assert "0" in problem.message


MODULE_URI = "file:///tmp/module.mlir"
MODULE = """\
// A mesh,
// and a program.
sdy.mesh @mesh = <["x"=2]>
module @inner {
  func.func private @g(tensor<8xf32>) -> tensor<8xf32>
  func.func @f(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
    %c, %d:2 = "some.op"(%a) ({
      "some.end"() : () -> ()
    }) : (tensor<8xf32>) -> (tensor<8xf32>, i32, i32)
    %0 = call @g(%c) : (tensor<8xf32>) -> tensor<8xf32> // %c
    return %0 : tensor<8xf32>
  }
}
"""


async def open_unanalyzed(client, text, uri=MODULE_URI):
    item = types.TextDocumentItem(uri=uri, language_id="mlir", version=1, text=text)
    client.text_document_did_open(types.DidOpenTextDocumentParams(item))
    client.opened.add(uri)
    return types.TextDocumentIdentifier(uri)


@pytest.mark.asyncio(loop_scope="module")
async def test_symbols_and_folds(client):
    document = await open_unanalyzed(client, MODULE)
    found = await client.text_document_document_symbol_async(types.DocumentSymbolParams(document))
    mesh, module = found
    assert (mesh.name, mesh.kind, mesh.detail) == ("@mesh", types.SymbolKind.Struct, "x=2")
    assert [(each.name, each.range.end.line) for each in module.children] == [("@g", 4), ("@f", 11)]
    assert module.children[1].selection_range.start == position(MODULE, "@f")
    folds = await client.text_document_folding_range_async(types.FoldingRangeParams(document))
    lines = {(each.start_line, each.end_line) for each in folds}
    assert lines == {(0, 1), (3, 11), (5, 10), (6, 7)}


@pytest.mark.asyncio(loop_scope="module")
async def test_semantic_tokens(client):
    document = await open_unanalyzed(client, MODULE)
    legend = LEGEND.token_types

    def words(data):
        line = column = 0
        for at in range(0, len(data), 5):
            down, across, length, kind, modifiers = data[at : at + 5]
            line, column = line + down, across if down else column + across
            word = MODULE.splitlines()[line][column : column + length]
            yield word, legend[kind], modifiers

    full = await client.text_document_semantic_tokens_full_async(
        types.SemanticTokensParams(document)
    )
    found = list(words(full.data))
    assert found[0] == ("// A mesh,", "comment", 0)
    assert ("sdy.mesh", "keyword", 0) in found
    assert ("@mesh", "struct", 1) in found
    assert ("@mesh", "struct", 0) in found
    assert ('"x"', "enumMember", 1) in found
    assert ("%a", "parameter", 1) in found
    assert ("%a", "parameter", 0) in found
    assert ("%d", "variable", 1) in found
    assert ("@g", "function", 0) in found
    assert ('"some.op"', "string", 0) in found
    assert ("tensor", "type", 0) in found
    assert ("// %c", "comment", 0) in found
    line = types.Range(types.Position(9, 0), types.Position(10, 0))
    part = await client.text_document_semantic_tokens_range_async(
        types.SemanticTokensRangeParams(document, line)
    )
    assert [word for word, *_ in words(part.data)][:4] == ["%0", "call", "@g", "%c"]


@pytest.mark.asyncio(loop_scope="module")
async def test_renaming(client):
    document = await open_unanalyzed(client, MODULE)

    async def rename(place, new):
        params = types.RenameParams(document, place, new)
        found = await client.text_document_rename_async(params)
        edits = found.changes[MODULE_URI]
        lines = MODULE.splitlines(keepends=True)
        for edit in sorted(edits, key=lambda each: -each.range.start.character):
            at, start, end = edit.range.start.line, edit.range.start, edit.range.end
            lines[at] = lines[at][: start.character] + edit.new_text + lines[at][end.character :]
        return "".join(lines)

    prepared = await client.text_document_prepare_rename_async(
        types.PrepareRenameParams(document, position(MODULE, "%c"))
    )
    assert prepared.start == position(MODULE, "%c", at=1)
    renamed = await rename(position(MODULE, "%c)"), "%call")
    assert renamed == MODULE.replace("%c,", "%call,").replace("%c)", "%call)")
    assert await rename(position(MODULE, "@mesh"), "grid") == MODULE.replace("@mesh", "@grid")
    assert await rename(position(MODULE, '"x"'), "y") == MODULE.replace('"x"', '"y"')
    for place, new, reason in (
        (position(MODULE, "%c"), "%d", "'%d' is a name there already"),
        (position(MODULE, "%c"), "a b", "'a b' is no name"),
        (position(MODULE, "some.end"), "b", "no name here that this file defines"),
    ):
        with pytest.raises(JsonRpcException, match=reason):
            await rename(place, new)


LAYERS = """\
import jax
from jax import numpy as jnp
from jax.sharding import PartitionSpec as P

import pyshardy as sdy


def stack(x, weights):
    for number, w in enumerate(weights):
        with jax.named_scope(f"layer_{number}"):
            x = x @ w
    return x


shape = jax.ShapeDtypeStruct((16, 16), jnp.float32)
mesh = sdy.Mesh.of({"data": 2})
sdy.jax.trace(stack, shape, [shape] * 12, mesh=mesh, in_shardings=(P("data"), None))
"""


@pytest.mark.asyncio(loop_scope="module")
async def test_values_of_equal_layers_are_shown_once(client, tmp_path):
    script = tmp_path / "layers.py"
    script.write_text(LAYERS)
    await open_document(client, LAYERS, script.as_uri(), "python")
    command = types.ExecuteCommandParams("pyshardy.trace", [script.as_uri()])
    await client.workspace_execute_command_async(command)
    text = await hover_text(client, position(LAYERS, "x @ w"), script.as_uri())
    assert "12 values in layer_*" in text
    assert text.count("```mlir") == 1


def test_the_server_leaves_the_host_to_its_worker():
    """Loading the host and NumPy would delay the first answer by a third."""
    program = "import sys, pyshardy.lsp.server\nprint({'torch_mlir', 'numpy'} & sys.modules.keys())"
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=True, text=True
    )
    assert ran.stdout == "set()\n"


@pytest.mark.asyncio(loop_scope="module")
async def test_documents_without_anything(client):
    await open_document(client, "")
    symbols = types.DocumentSymbolParams(types.TextDocumentIdentifier(URI))
    assert await client.text_document_document_symbol_async(symbols) == []
    nowhere = "file:///nowhere/program.mlir"
    assert await hover_text(client, types.Position(0, 0), nowhere) == ""


def test_malformed_parameters_are_answered():
    request = {"jsonrpc": "2.0", "id": 7, "method": "textDocument/hover", "params": {"text": 1}}
    stop = {"jsonrpc": "2.0", "method": "exit"}
    bodies = [json.dumps(each).encode() for each in (request, stop)]
    sent = b"".join(b"Content-Length: %d\r\n\r\n%b" % (len(body), body) for body in bodies)
    command = [sys.executable, "-m", "pyshardy", "lsp"]
    ran = subprocess.run(command, input=sent, capture_output=True, check=False, timeout=120)
    answer, _ = json.JSONDecoder().raw_decode(ran.stdout.decode().partition("\r\n\r\n")[2])
    assert (answer["id"], answer["error"]["message"]) == (7, "Invalid Params")
