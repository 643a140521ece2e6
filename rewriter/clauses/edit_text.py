"""Changes of a SPARQL text at its tokens."""

import re

from ontoweir.rewriter.syntax.locate_tokens import Tokens


class Edit:
    """Changes of a text at tokens of it, that leave its lines."""

    def __init__(self, text: str) -> None:
        self.text, self.tokens = text, Tokens(text).tokens
        self.made = list(text)

    def put(self, n: int, text: str) -> None:
        """Another text in the place of a token."""
        token = self.tokens[n]
        for place in range(token.offset, token.offset + len(token.text)):
            self.made[place] = "" if self.made[place] != "\n" else "\n"
        self.made[token.offset] = text

    def before(self, n: int, text: str) -> None:
        """A text before a token."""
        self.made[self.tokens[n].offset] = text + self.made[self.tokens[n].offset]

    def after(self, n: int, text: str) -> None:
        """A text after a token."""
        last = self.tokens[n].offset + len(self.tokens[n].text) - 1
        self.made[last] += text

    def blank(self, first: int, last: int) -> None:
        """Nothing in the place of some tokens."""
        for n in range(first, last + 1):
            self.put(n, re.sub(r"[^\n]", "", self.tokens[n].text))

    def finish(self) -> str:
        """The changed text."""
        return "".join(self.made)
