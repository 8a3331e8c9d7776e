// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Search the site as its pages do: node search_site.js SITE QUERY ...
// Prints for each query the pages and sections that are found, the best ones first, as JSON.

const fs = require("fs")
const path = require("path")
const { runInThisContext } = require("vm")

const [site, ...queries] = process.argv.slice(2)
const SETUP = 0
const QUERY = 2
const RESULT = 3

const folder = path.join(site, "assets", "javascripts", "workers")
const [file] = fs.readdirSync(folder).filter((name) => name.endsWith(".js"))
const listeners = []
const answers = []
globalThis.self = globalThis
globalThis.importScripts = () => {}
globalThis.addEventListener = (kind, listener) => listeners.push(listener)
globalThis.postMessage = (message) => answers.push(message)
runInThisContext(fs.readFileSync(path.join(folder, file), "utf8"))

let delivered
globalThis.Worker = class {
  postMessage(data) {
    delivered = Promise.all(listeners.map((listener) => listener({ data })))
  }
}
runInThisContext(fs.readFileSync(path.join(site, "search.js"), "utf8"))

async function main() {
  const index = JSON.parse(fs.readFileSync(path.join(site, "search", "search_index.json"), "utf8"))
  const worker = new Worker()
  worker.postMessage({ type: SETUP, data: { ...index, options: { suggest: false } } })
  await delivered
  const found = {}
  for (const query of queries) {
    answers.length = 0
    worker.postMessage({ type: QUERY, data: query })
    await delivered
    const { items } = answers.find(({ type }) => type === RESULT).data
    found[query] = items.map(([first]) => first.location)
  }
  console.log(JSON.stringify(found))
}

main()
