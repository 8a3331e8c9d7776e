// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bundles the extension with its libraries into dist/extension.js, and their licenses beside it.
"use strict";

const fs = require("node:fs");
const path = require("node:path");
const { buildSync } = require("esbuild");

const { metafile } = buildSync({
  entryPoints: ["extension.js"],
  outfile: "dist/extension.js",
  bundle: true,
  external: ["vscode"],
  metafile: true,
  minify: true,
  platform: "node",
  target: "node18",
});

const folders = Object.keys(metafile.inputs).map((file) => file.match(/^.*node_modules\/(?:@[^/]+\/)?[^/]+/)?.[0]);
const notices = [...new Set(folders)].filter(Boolean).map((folder) => {
  const { name, version, license } = JSON.parse(fs.readFileSync(path.join(folder, "package.json"), "utf8"));
  const file = fs.readdirSync(folder).find((each) => /^licen[sc]e/i.test(each));
  const text = file ? fs.readFileSync(path.join(folder, file), "utf8").trim() : "";
  return `${name} ${version} (${license})\n\n${text}\n`;
});
fs.writeFileSync("dist/NOTICES.txt", notices.sort().join("\n---\n\n"));
