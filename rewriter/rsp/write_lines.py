"""Write tokens of a text, and others between them, so that tokens stay on their lines."""

from ontoweir.rewriter.syntax.locate_tokens import SparqlToken, Tokens


class LineWriter:
    """What is added stands at the end of the line before the next token, so that the first token of
    each line keeps its column, as do those that nothing is added before."""

    def __init__(self, tokens: Tokens) -> None:
        self._text = tokens.text
        self._lines = [""]
        self._end = 0
        self.last = (0, 0)
        """The line and offset of the token that was put last."""
        self.columns: dict[tuple[int, int], int] = {}
        """By line and column, from 1, the column of a token as it was given."""

    @property
    def text(self) -> str:
        return "\n".join(self._lines)

    def put(self, token: SparqlToken) -> None:
        """A token of the text."""
        self.last = token.line, token.offset
        adjoins, self._end = self._end == token.offset, token.offset + len(token.text)
        column = token.offset - self._text.rfind("\n", 0, token.offset) - 1
        while len(self._lines) < token.line:
            self._lines.append("")
            adjoins = True
        line = self._lines[-1]
        line = line.ljust(column)
        if len(line) > column and not adjoins:
            line += " "
        self.columns[len(self._lines), len(line) + 1] = column + 1
        self._lines[-1] = line + token.text
        if "\n" in token.text:  # a long string
            *whole, last = self._lines.pop().split("\n")
            self._lines += [*whole, last]

    def add(self, text: str) -> None:
        """Something else."""
        self._end = -1
        self._lines[-1] += f" {text}"
