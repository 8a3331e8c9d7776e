# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Damaged texts end in diagnostics: never in another exception, a hang, or a crash.

Programs of the repository, and random ones, are damaged byte by byte and token by token. A child
process reads them, so that a crash of the host is a failed test that names the text. A long run:

    PYSHARDY_FUZZ_CASES=200000 pytest test/unit/test_fuzz.py
"""

import json
import os
import random
import re
import selectors
import subprocess
import sys
from pathlib import Path

import pytest
from random_modules import random_module

ROOT = Path(__file__).resolve().parents[2]
CASES = int(os.environ.get("PYSHARDY_FUZZ_CASES", "4000"))
BATCHES = 4
SECONDS_PER_CASE = 20
"""Far more than any case needs, also on a busy machine."""

SOURCES = sorted(
    [
        *ROOT.glob("examples/*.mlir"),
        *ROOT.glob("test/lit/dialect/*.mlir"),
        *ROOT.glob("test/lit/collectives/*.mlir"),
        *ROOT.glob("test/oracle/assembly/*.mlir"),
    ]
)
RANDOM_MODULES = 30

LONGEST = 4000
"""Texts are cut into parts of about so many characters: reading is what takes the time."""

TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|[\w.$]+|->|::|\s+|[^\w\s]')
STRANGE = (
    *"{}()[]<>\"'\\,:;=?!#@%^*-+/|\x00\n\t \x7f\u00fc\u2028",
    *(
        "->",
        "::",
        "//",
        "{-#",
        "#-}",
        "#sdy<",
        "#sdy.sharding<",
        "@",
        "%0#",
        "!sdy.x",
        '"\\',
        "\\FF",
    ),
    *("-1", "0", "9223372036854775807", "9223372036854775808", "99999999999999999999", "0x", "1e9"),
    *(
        "sdy.",
        "sdy.return",
        "sdy.mesh",
        "module",
        "loc(",
        "loc(#a)",
        "#a = ",
        "p1",
        "z_1",
        "dense<",
    ),
    *("tensor<", "tensor<*xf32>", "tensor<?xf32>", "!stablehlo.token", "index", "()", "{}", "<>"),
)

CHILD = """
import json, sys
from mlir_sdy.assembly import asm, parse
from mlir_sdy.diagnostics import SdyError
from mlir_sdy.dialect import Context

context = Context()
for number, line in enumerate(sys.stdin):
    if number % 50 == 49:
        context = Context()  # attributes live as long as their context
    try:
        module = parse(json.loads(line), context)
        asm(module)
        asm(module, generic=True)
        answer = "accepted"
    except SdyError as error:
        texts = [diagnostic.message for diagnostic in error.diagnostics]
        answer = "refused" if texts and all(texts) else "an error without a message"
    except Exception as error:
        answer = f"{type(error).__name__}: {error}"
    print(json.dumps(answer), flush=True)
"""


def parts_of(path):
    """The parts of a file, each a text by itself."""
    parts = path.read_text().split("// -----\n")
    meshes = "".join(line for line in parts[0].splitlines(True) if line.startswith("sdy.mesh"))
    for part in parts:
        functions = re.split(r"(?m)^(?=func\.func)", part)
        head, texts = functions[0], functions[1:]
        if not texts or len(part) < LONGEST:
            yield part
            continue
        definitions = head if len(head) < LONGEST else meshes
        yield from (definitions + text for text in texts)


def damaged(rng, text, others):
    """The text with a few places changed."""
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        if rng.random() < 0.4:
            text = _damaged_characters(rng, text)
        else:
            text = _damaged_tokens(rng, text, others)
    return text


def _damaged_characters(rng, text):
    start = rng.randrange(len(text) + 1)
    end = min(len(text), start + rng.choice((0, 1, 1, 2, 5, 40)))
    match rng.randrange(5):
        case 0:
            return text[:start] + text[end:]
        case 1:
            return text[:end] + text[start:]
        case 2:
            return text[:start]
        case 3:
            return text[:start] + chr(rng.choice((*range(1, 256), 0x20AC, 0x1F600))) + text[end:]
        case _:
            return text[:start] + rng.choice(STRANGE) + text[end:]


def _damaged_tokens(rng, text, others):
    tokens = TOKEN.findall(text)
    if not tokens:
        return text
    at = rng.randrange(len(tokens))
    match rng.randrange(6):
        case 0:
            del tokens[at]
        case 1:
            tokens.insert(at, tokens[at])
        case 2:
            tokens[at] = rng.choice(tokens)
        case 3:
            other = rng.randrange(len(tokens))
            tokens[at], tokens[other] = tokens[other], tokens[at]
        case 4:
            tokens[at] = rng.choice(STRANGE)
        case _:
            tokens[at] = rng.choice(TOKEN.findall(rng.choice(others)) or [""])
    return "".join(tokens)


class Child:
    """The process that reads texts, with a limit for the time of each."""

    def __init__(self):
        self.process = subprocess.Popen(
            [sys.executable, "-c", CHILD],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.process.stdout, selectors.EVENT_READ)

    def outcome(self, text):
        """What became of a text: accepted, refused, or something that must not happen."""
        self.process.stdin.write(json.dumps(text) + "\n")
        self.process.stdin.flush()
        if not self.selector.select(SECONDS_PER_CASE):
            return f"no answer within {SECONDS_PER_CASE} s"
        line = self.process.stdout.readline()
        return json.loads(line) if line else f"died with status {self.process.wait()}"

    def close(self):
        """End the process."""
        self.selector.close()
        self.process.kill()
        self.process.communicate()


@pytest.mark.parametrize(
    "text",
    [
        'module {\n}\n{-#\n  dialect_resources: {\n    builtin: {\n      weights: "0x04',
        '"sdy.manual_computation"() : () -> ()',
        '"sdy.constant"() {value = 1 : i32} : () -> ()',
        '"sdy.sharding_group"() {group_id = [1]} : () -> ()',
    ],
)
def test_texts_that_once_broke(text):
    child = Child()
    try:
        assert child.outcome(text) == "refused"
    finally:
        child.close()


@pytest.mark.parametrize("batch", range(BATCHES))
def test_damaged_texts(batch):
    texts = [part for path in SOURCES for part in parts_of(path)]
    texts += map(random_module, range(RANDOM_MODULES))
    child = Child()
    outcomes = {"accepted": 0, "refused": 0}
    try:
        for case in range(batch, CASES, BATCHES):
            rng = random.Random(case)
            text = damaged(rng, rng.choice(texts), texts)
            outcome = child.outcome(text)
            assert outcome in outcomes, f"case {case}: {outcome}\n{text!r}"
            outcomes[outcome] += 1
    finally:
        child.close()
    assert min(outcomes.values()) > CASES // BATCHES // 50, "both outcomes occur"
