# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A hook of MkDocs: links to MLIR's own documentation lead to its site.

The reference is generated from declarations of MLIR, too, whose links are paths in its repository:
`mlir/docs/Dialects/Shard.md` is https://mlir.llvm.org/docs/Dialects/Shard/.
"""

import re

_UPSTREAM = re.compile(r"\]\(mlir/docs/([\w/]+)\.md\)")


def on_page_markdown(markdown: str, **_: object) -> str:
    """The text of a page with these links replaced."""
    return _UPSTREAM.sub(r"](https://mlir.llvm.org/docs/\1/)", markdown)
