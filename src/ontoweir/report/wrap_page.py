"""A self-contained HTML page: no script, no foreign host."""

from collections.abc import Sequence
from html import escape

from ontoweir.report.render_html_style import PAGE_STYLE


def wrap_page(title: str, parts: Sequence[str]) -> str:
    """A page.

    Args:
        title: as text.
        parts: of its body, as HTML.
    """
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>{escape(title)}</title>\n<style>{PAGE_STYLE}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(parts)
        + "\n</main>\n</body>\n</html>\n"
    )
