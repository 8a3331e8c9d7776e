// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Starts sdy-lsp, and shows what its commands return.
"use strict";

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

const SCHEME = "pyshardy";

let client;

/** Shows explanations as read-only documents. */
class Explanations {
  constructor() {
    this.texts = new Map();
    this.changed = new vscode.EventEmitter();
    this.onDidChange = this.changed.event;
  }

  provideTextDocumentContent(uri) {
    return this.texts.get(uri.toString()) ?? "";
  }

  async show(title, text) {
    const uri = vscode.Uri.from({ scheme: SCHEME, path: `${title}.txt` });
    this.texts.set(uri.toString(), text);
    this.changed.fire(uri);
    const document = await vscode.workspace.openTextDocument(uri);
    await vscode.window.showTextDocument(document, { preview: true, viewColumn: vscode.ViewColumn.Beside });
  }
}

async function start() {
  const [command, ...args] = vscode.workspace.getConfiguration("pyshardy").get("server");
  const selector = [
    { scheme: "file", language: "mlir" },
    { scheme: "untitled", language: "mlir" },
    { scheme: "file", language: "python" },
  ];
  client = new LanguageClient("pyshardy", "pyshardy", { command, args }, { documentSelector: selector });
  try {
    await client.start();
  } catch (reason) {
    client = undefined;
    vscode.window.showErrorMessage(
      `pyshardy: '${command}' did not start (${reason.message}). Install it by: pip install 'pyshardy[lsp]', ` +
        "or set pyshardy.server.",
    );
  }
}

/** Runs a command of the server with the document and the position of the cursor. */
async function ask(command, withPosition) {
  const editor = vscode.window.activeTextEditor;
  if (!editor || !client) {
    return undefined;
  }
  const uri = editor.document.uri.toString();
  const { line, character } = editor.selection.active;
  const args = withPosition ? [uri, line, character] : [uri];
  return client.sendRequest("workspace/executeCommand", { command, arguments: args });
}

async function activate(context) {
  const explanations = new Explanations();
  const register = (name, run) => context.subscriptions.push(vscode.commands.registerCommand(name, run));
  context.subscriptions.push(vscode.workspace.registerTextDocumentContentProvider(SCHEME, explanations));
  register("pyshardy.explainValue", async () => {
    const text = await ask("pyshardy.explain", true);
    if (text) {
      await explanations.show("explanation", text);
    }
  });
  register("pyshardy.traceFile", async () => {
    await vscode.window.activeTextEditor?.document.save();
    const said = await vscode.window.withProgress(
      { location: vscode.ProgressLocation.Window, title: "pyshardy: running" },
      () => ask("pyshardy.trace", false),
    );
    if (said) {
      vscode.window.setStatusBarMessage(`pyshardy: ${said}`, 10000);
    }
  });
  register("pyshardy.restart", async () => {
    await client?.stop();
    await start();
  });
  await start();
}

function deactivate() {
  return client?.stop();
}

module.exports = { activate, deactivate };
