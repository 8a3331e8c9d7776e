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
from pygls.lsp.server import LanguageServer

import pyshardy
from mlir_sdy.diagnostics import Severity
from pyshardy.lsp import features
from pyshardy.lsp.documents import Document
from pyshardy.lsp.facts import DiagnosticData, Facts, ValueFact
from pyshardy.processes.child_process import ChildDiedError, ChildProcess

_WORKER = ("-m", "pyshardy.lsp.worker")
_DELAY = 0.3
"""The seconds that a text must be unchanged before it is analyzed."""

_TRIGGERS = ["@", '"', "-"]


class SdyServer(LanguageServer):
    """The server with its documents and its worker."""

    def __init__(self) -> None:
        super().__init__("sdy-lsp", pyshardy.__version__)
        self.facts: dict[str, Facts] = {}
        self._worker: ChildProcess | None = None
        self._one_at_a_time = asyncio.Lock()

    # --- Documents ----------------------------------------------------------------------------

    def document(self, uri: str) -> Document:
        """Return a document with the facts of its last analysis."""
        own = self.workspace.get_text_document(uri)
        return Document(uri, own.source, own.position_codec, self.facts.get(uri, Facts()))

    def documents_with_facts(self) -> list[Document]:
        """Return all documents that were analyzed."""
        return [self.document(uri) for uri in self.facts]

    async def analyze(self, uri: str) -> None:
        """Analyze a program once its text is unchanged for a moment, and publish the results."""
        version = self.workspace.get_text_document(uri).version
        await asyncio.sleep(_DELAY)
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

    # --- The worker ---------------------------------------------------------------------------

    async def ask(self, request: tuple[Any, ...]) -> Any:
        """Return the answer of the worker, or the reason of its crash as a text."""
        async with self._one_at_a_time:
            return await asyncio.to_thread(self._ask, request)

    def _ask(self, request: tuple[Any, ...]) -> Any:
        if self._worker is None:
            self._worker = ChildProcess(_WORKER)
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


def create_server() -> SdyServer:
    """Return a server with all features."""
    server = SdyServer()

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    async def did_open(params: types.DidOpenTextDocumentParams) -> None:
        if not params.text_document.uri.endswith(".py"):
            await server.analyze(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def did_change(params: types.DidChangeTextDocumentParams) -> None:
        if not params.text_document.uri.endswith(".py"):
            await server.analyze(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(params: types.DidCloseTextDocumentParams) -> None:
        server.facts.pop(params.text_document.uri, None)
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
