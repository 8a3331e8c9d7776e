# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""MkDocs hook that resolves links to the documentation of MLIR.

The reference contains descriptions from MLIR, whose links are paths in its repository:
`mlir/docs/Dialects/Shard.md` is https://mlir.llvm.org/docs/Dialects/Shard/.
"""

import re

_UPSTREAM = re.compile(r"\]\(mlir/docs/([\w/]+)\.md\)")


def on_page_markdown(markdown: str, **_: object) -> str:
    """Return the text of a page with these links replaced."""
    return _UPSTREAM.sub(r"](https://mlir.llvm.org/docs/\1/)", markdown)
