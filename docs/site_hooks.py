"""What mkdocs does to a page: links to files outside the site become their names."""

import re
from typing import Any

_OUTSIDE = re.compile(r"\[([^\]]*)\]\(\.\./([^)\s]+)\)")


def on_page_markdown(markdown: str, **_: Any) -> str:
    """The page with `[text](../examples/x)` as `text (examples/x)`, which is in the repository."""

    def name(found: re.Match[str]) -> str:
        text, path = found[1], found[2]
        return f"`{path}`" if text.strip("`") in path else f"{text} (`{path}`)"

    return _OUTSIDE.sub(name, markdown)
