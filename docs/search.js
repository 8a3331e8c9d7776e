// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Find flags as they are written. The search reads the dash in front of a word as "without it".

const QUERY = 2 // the type of the message with the words that are searched
const send = Worker.prototype.postMessage
Worker.prototype.postMessage = function (message, ...rest) {
  if (message && message.type === QUERY && typeof message.data === "string")
    message = { ...message, data: message.data.replace(/(^|\s)-+(?=\w)/g, "$1") }
  return send.call(this, message, ...rest)
}
