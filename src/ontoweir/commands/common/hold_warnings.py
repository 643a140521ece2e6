"""Warnings, held back until the input is known to be right."""

import sys


class Warnings:
    """Warnings, each once; held back until the input is known to be right, so that what is wrong
    is said in one line."""

    def __init__(self, *, quiet: bool) -> None:
        self.quiet, self.held = quiet, True
        self.seen: dict[str, None] = {}

    def __call__(self, message: str) -> None:
        if message not in self.seen:
            self.seen[message] = None
            if not self.held:
                self._print(message)

    def release(self) -> None:
        """Print what was held back, and from now on at once."""
        self.held = False
        for message in self.seen:
            self._print(message)

    def _print(self, message: str) -> None:
        if not self.quiet:
            print(f"warning: {message}", file=sys.stderr)
