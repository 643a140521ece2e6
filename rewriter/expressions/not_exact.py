"""What is not computed exactly as SPARQL has it."""


class NotExactError(Exception):
    """What is not computed exactly as SPARQL has it; the text says what, and what to write."""

    def __init__(self, what: str, fix: str) -> None:
        super().__init__(what)
        self.what, self.fix = what, fix
