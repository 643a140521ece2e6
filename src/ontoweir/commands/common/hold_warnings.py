"""Warnings, held back until the input is known to be right."""

import sys
from collections import Counter

from ontoweir.commands.common.arguments import hide_kept

SHOWN = 3
"""How many warnings of a kind are printed, unless all are asked for."""


class Warnings:
    """Warnings, each once; held back until the input is known to be right, so that what is wrong
    is said in one line.

    `seen` has all of them. Of those that were held back and have the same reason (of `file:line:
    what; why; fix` all but the place and what is wrong there), the first few are printed and the
    others counted, unless they are `verbose`.
    """

    def __init__(self, *, quiet: bool, verbose: bool = False) -> None:
        self.quiet, self.verbose, self.held = quiet, verbose, True
        self.seen: dict[str, None] = {}

    def __call__(self, message: str) -> None:
        if message not in self.seen:
            self.seen[message] = None
            if not self.held:
                self._print(message)

    def release(self) -> None:
        """Print what was held back, and from now on at once."""
        self.held = False
        count: Counter[str] = Counter()
        for message in self.seen:
            kind = message.partition("; ")[2]
            count[kind] += 1
            if self.verbose or not kind or count[kind] <= SHOWN:
                self._print(message)
        for kind, number in count.items():
            if kind and number > SHOWN and not self.verbose:
                self._print(f"{number - SHOWN:,} more (--verbose shows them): {kind}")

    def _print(self, message: str) -> None:
        if not self.quiet:
            print(f"warning: {hide_kept(message)}", file=sys.stderr)
