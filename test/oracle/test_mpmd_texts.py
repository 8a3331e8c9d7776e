# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The syntax and the verifiers of the mpmd dialect, compared with C++ Shardy."""

import pytest
from mpmd_texts import ACCEPTED, REFUSED
from shardy import ShardyRefused, not_stated

from mlir_sdy.assembly import asm, parse
from mlir_sdy.diagnostics import SdyError


def lines(text):
    """The lines without white space at their ends, which upstream prints after `mpmd.return`."""
    return [line.rstrip() for line in text.splitlines()]


def test_counts():
    """There are at least the number of texts that the specification asks for."""
    assert min(len(ACCEPTED), len(REFUSED)) >= 25


@pytest.mark.parametrize("generic", [False, True], ids=["custom", "generic"])
@pytest.mark.shardy_since(0, 12)
def test_accepted_texts_print_the_same(generic, shardy, context):
    """Both print the same, and print the same when they read what was printed."""
    for what, text in ACCEPTED.items():
        ours = asm(parse(text, context), generic=generic)
        assert lines(shardy.run(text, generic=generic)) == lines(ours), what
        assert asm(parse(ours, context), generic=generic) == ours, what


@pytest.mark.shardy_since(0, 12)
def test_refused_texts_have_the_same_reason(shardy, context):
    """Both refuse the texts, and state the same fact."""
    for what, (text, reason) in REFUSED.items():
        with pytest.raises(SdyError) as ours:
            parse(text, context)
        with pytest.raises(ShardyRefused) as theirs:
            shardy.run(text)
        assert reason in str(ours.value), what
        assert reason in str(theirs.value), what
        assert not_stated(theirs.value, ours.value) == [], what
