"""R2RML string templates: `http://x/{id}/{"Name"}`, with `\\{`, `\\}` and `\\\\` as escapes."""


def parse_template(text: str) -> tuple[tuple[bool, str], ...] | None:
    """The parts of a template, (is a column, text); None when braces do not match.

    >>> parse_template("s/{id}/x")
    ((False, 's/'), (True, 'id'), (False, '/x'))
    """
    parts: list[tuple[bool, str]] = []
    piece: list[str] = []
    inside = False
    position = 0
    while position < len(text):
        char = text[position]
        if char == "\\" and position + 1 < len(text) and text[position + 1] in "{}\\":
            piece.append(text[position + 1])
            position += 2
            continue
        if char == ("}" if inside else "{"):
            if inside and not piece:
                return None
            if piece:
                parts.append((inside, "".join(piece)))
            piece, inside = [], not inside
        elif char in "{}":
            return None
        else:
            piece.append(char)
        position += 1
    if inside:
        return None
    if piece:
        parts.append((False, "".join(piece)))
    return tuple(parts)
