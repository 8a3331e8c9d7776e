# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""MkDocs hook that shows long results of Python code below the code, on lines that fit the page.

In the sources a result stands behind its expression, `expression  # -> result`, where the tests
check it. A line of more than 100 characters becomes:

    expression
    # -> the result, wrapped
    #    at this width
"""

import re
import textwrap

WIDTH = 100
_BLOCK = re.compile(r"^```python\n.*?^```", re.MULTILINE | re.DOTALL)
_RESULT = re.compile(r"^(?P<code>.*\S)  # -> (?P<result>.*)$", re.MULTILINE)


def on_page_markdown(markdown: str, **_: object) -> str:
    """Return the text of a page with the long results moved."""
    return _BLOCK.sub(lambda block: _RESULT.sub(_moved, block[0]), markdown)


def _moved(line: re.Match[str]) -> str:
    if len(line[0]) <= WIDTH:
        return line[0]
    lines = textwrap.wrap(
        line["result"],
        WIDTH,
        initial_indent="# -> ",
        subsequent_indent="#    ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join([line["code"], *lines])
