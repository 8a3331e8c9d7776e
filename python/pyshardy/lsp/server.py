# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The language server: the protocol, and when to analyze what.

A program is analyzed when it is opened, and when its text has been unchanged for a moment. The
worker is started when first needed, and again after a crash, which becomes a diagnostic.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol

import pyshardy
from mlir_sdy.diagnostics import Severity, UsageError
from pyshardy.lsp import WORKER, features
from pyshardy.lsp.documents import NO_FACTS, DiagnosticData, Document, Facts, ValueFact
from pyshardy.processes.child_process import ChildDiedError, ChildProcess

_DELAY = 0.3
"""The seconds that a text must be unchanged before it is analyzed."""

_TRIGGERS = ["@", '"', "-"]


class _Protocol(LanguageServerProtocol):
    """The protocol, which also answers requests with malformed parameters."""

    def structure_message(self, data: dict[str, Any]) -> Any:
        try:
            return super().structure_message(data)
        except JsonRpcException as problem:
            if "id" in data and "method" in data:
                self._send_response(data["id"], error=problem.to_response_error())
            raise


class SdyServer(LanguageServer):
    """The server with its documents and its worker.

    Args:
        worker: the worker, if it is started already.
    """

    def __init__(self, worker: ChildProcess | None = None):
        super().__init__("sdy-lsp", pyshardy.__version__, protocol_cls=_Protocol)
        self.facts: dict[str, Facts] = {}
        # It loads its libraries while this process loads those of the protocol.
        self._worker: ChildProcess | None = worker
        self._documents: dict[str, Document] = {}
        self._one_at_a_time = asyncio.Lock()

    # --- Documents ----------------------------------------------------------------------------

    def document(self, uri: str) -> Document:
        """Return a document with the facts of its last analysis, and the names in its text."""
        own = self.workspace.get_text_document(uri)
        try:
            text = own.source
        except (OSError, UnicodeDecodeError):  # neither opened nor a file
            text = ""
        kept, facts = self._documents.get(uri), self.facts.get(uri, NO_FACTS)
        if kept is None or kept.facts is not facts or kept.text != text:
            kept = self._documents[uri] = Document(uri, text, own.position_codec, facts)
        return kept

    def documents_with_facts(self) -> list[Document]:
        """Return all documents that were analyzed."""
        return [self.document(uri) for uri in self.facts]

    async def analyze(self, uri: str, delay: float = 0) -> None:
        """Analyze a program, and publish the results.

        Args:
            uri: the program.
            delay: the seconds that its text must be unchanged before.
        """
        version = self.workspace.get_text_document(uri).version
        await asyncio.sleep(delay)
        document = self.workspace.text_documents.get(uri)
        if document is None or document.version != version:
            return
        answer = await self.ask(("analyze", uri, document.source))
        if isinstance(answer, str):
            problem = DiagnosticData(
                Severity.ERROR.value, f"the analysis crashed: {answer}", "", 1, 1
            )
            self.publish(uri, Facts((problem,)))
        elif uri in self.workspace.text_documents:
            self.publish(uri, Facts.from_data(answer))

    async def trace(self, uri: str) -> str:
        """Run a Python file, and publish the facts of what it traces.

        Returns:
            The number of values and collectives in one line, or the reason of a crash.
        """
        document = self.document(uri)
        answer = await self.ask(("run", uri, document.path))
        if isinstance(answer, str):
            return f"the script ended the process: {answer}"
        facts = Facts.from_data(answer)
        self.publish(uri, facts)
        return f"{len(facts.values)} values, {len(facts.collectives)} collectives"

    def publish(self, uri: str, facts: Facts) -> None:
        """Store the facts of a document, and show its problems."""
        self.facts[uri] = facts
        document = self.document(uri)
        params = types.PublishDiagnosticsParams(uri, features.diagnostics(document, facts.problems))
        self.text_document_publish_diagnostics(params)
        hints = self.client_capabilities.workspace
        if hints and hints.inlay_hint and hints.inlay_hint.refresh_support:
            self.workspace_inlay_hint_refresh(None)

    def forget(self, uri: str) -> None:
        """Drop what is known of a document that was closed."""
        self.facts.pop(uri, None)
        self._documents.pop(uri, None)

    # --- The worker ---------------------------------------------------------------------------

    async def ask(self, request: tuple[Any, ...]) -> Any:
        """Return the answer of the worker, or the reason of its crash as a text."""
        async with self._one_at_a_time:
            return await asyncio.to_thread(self._ask, request)

    def _ask(self, request: tuple[Any, ...]) -> Any:
        if self._worker is None:
            self._worker = ChildProcess(WORKER)
        try:
            succeeded, answer = self._worker.ask(request)
        except ChildDiedError as death:
            self._worker = None
            return str(death)
        return answer if succeeded else f"internal error: {answer}"

    async def explanation(self, values: Sequence[tuple[Document, ValueFact]]) -> str:
        """Return the explanations of values as they stand in their last analysis."""
        texts = [await self.ask(("explain", one.uri, value.key)) for one, value in values]
        return "\n\n".join(text for text in texts if text)

    def close(self) -> None:
        """End the worker."""
        if self._worker is not None:
            self._worker.close()


def create_server(worker: ChildProcess | None = None) -> SdyServer:
    """Return a server with all features.

    Args:
        worker: the worker, if it is started already.
    """
    server = SdyServer(worker)

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    async def did_open(params: types.DidOpenTextDocumentParams) -> None:
        if not params.text_document.uri.endswith(".py"):
            await server.analyze(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def did_change(params: types.DidChangeTextDocumentParams) -> None:
        if not params.text_document.uri.endswith(".py"):
            await server.analyze(params.text_document.uri, _DELAY)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(params: types.DidCloseTextDocumentParams) -> None:
        server.forget(params.text_document.uri)
        closed = types.PublishDiagnosticsParams(params.text_document.uri, [])
        server.text_document_publish_diagnostics(closed)

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(params: types.HoverParams) -> types.Hover | None:
        document = server.document(params.text_document.uri)
        others = server.documents_with_facts()
        text, explained = features.hover(document, params.position, others)
        reason = await server.explanation(explained)
        parts = [text, f"```text\n{reason}\n```" if reason else ""]
        content = "\n\n".join(part for part in parts if part)
        if not content:
            return None
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, content))

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
    def inlay_hint(params: types.InlayHintParams) -> list[types.InlayHint]:
        document = server.document(params.text_document.uri)
        return features.hints(document, params.range, server.documents_with_facts())

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    def definition(params: types.DefinitionParams) -> types.Location | None:
        return features.definition(server.document(params.text_document.uri), params.position)

    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    def references(params: types.ReferenceParams) -> list[types.Location]:
        return features.references(server.document(params.text_document.uri), params.position)

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def document_symbol(params: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
        return features.symbols(server.document(params.text_document.uri))

    @server.feature(types.TEXT_DOCUMENT_FOLDING_RANGE)
    def folding_range(params: types.FoldingRangeParams) -> list[types.FoldingRange]:
        return features.folds(server.document(params.text_document.uri))

    @server.feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, features.LEGEND)
    def semantic_tokens(params: types.SemanticTokensParams) -> types.SemanticTokens:
        return features.tokens(server.document(params.text_document.uri))

    @server.feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE)
    def tokens_of_range(params: types.SemanticTokensRangeParams) -> types.SemanticTokens:
        return features.tokens(server.document(params.text_document.uri), params.range)

    @server.feature(types.TEXT_DOCUMENT_PREPARE_RENAME)
    def prepare_rename(params: types.PrepareRenameParams) -> types.Range | None:
        return features.renamed_place(server.document(params.text_document.uri), params.position)

    @server.feature(types.TEXT_DOCUMENT_RENAME, types.RenameOptions(prepare_provider=True))
    def rename(params: types.RenameParams) -> types.WorkspaceEdit:
        document = server.document(params.text_document.uri)
        try:
            return features.renamed(document, params.position, params.new_name)
        except UsageError as refusal:
            raise JsonRpcInvalidParams(str(refusal)) from None

    @server.feature(
        types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=_TRIGGERS)
    )
    def completion(params: types.CompletionParams) -> list[types.CompletionItem]:
        return features.completions(server.document(params.text_document.uri), params.position)

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION)
    def code_action(params: types.CodeActionParams) -> list[types.CodeAction]:
        return features.actions(server.document(params.text_document.uri), params)

    @server.command(features.EXPLAIN)
    async def explain(uri: str, line: int, character: int) -> str:
        document = server.document(uri)
        others = server.documents_with_facts()
        _, explained = features.hover(document, types.Position(line, character), others)
        return await server.explanation(explained) or "there is no value of a program here"

    @server.command(features.TRACE)
    async def trace(uri: str) -> str:
        return await server.trace(uri)

    @server.feature(types.SHUTDOWN)
    def shutdown(_: None) -> None:
        server.close()

    return server
