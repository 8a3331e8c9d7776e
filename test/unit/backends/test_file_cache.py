# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Caches of machine code are kept apart by the kind of CPU."""

from pathlib import Path

import pytest

from pyshardy.backends.engines import FileCache, this_cpu

X86 = "processor\t: 0\nflags\t\t: fpu sse2 avx512_bf16\n"
ARM = "processor\t: 0\nFeatures\t: fp asimd bf16\n"


@pytest.mark.parametrize(("told", "feature"), [(X86, "avx512_bf16"), (ARM, "asimd")])
def test_linux_tells_the_features(monkeypatch, told, feature):
    monkeypatch.setattr(Path, "read_text", lambda _: told)
    assert feature in this_cpu()
    with_all = this_cpu()
    monkeypatch.setattr(Path, "read_text", lambda _: told.replace(feature, ""))
    assert this_cpu() != with_all


def test_elsewhere_the_machine_is_named(monkeypatch):
    def refuse(_):
        raise FileNotFoundError

    monkeypatch.setattr(Path, "read_text", refuse)
    monkeypatch.setattr("platform.node", lambda: "one")
    first = this_cpu()
    monkeypatch.setattr("platform.node", lambda: "other")
    assert this_cpu() != first


def test_what_is_stored_is_found_by_its_key(tmp_path):
    cache = FileCache(str(tmp_path), ".xla")
    cache.store(b"code", this_cpu(), "program")
    assert cache.load(this_cpu(), "program") == b"code"
    assert cache.load("another CPU", "program") is None
