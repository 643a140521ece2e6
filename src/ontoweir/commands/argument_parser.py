"""A parser of arguments whose errors are one line."""

import argparse
import re
from difflib import get_close_matches
from typing import NoReturn

from ontoweir.errors import UsageError

_OTHER_WORDS = {
    "lint": "check --mappings-only",
    "validate": "check --data",
    "query": "show",
    "head": "show",
    "dashboard": "ui",
    "serve": "run --ui 8080",
    "start": "run",
    "new": "init",
}
"""What commands of other programs are called here."""


class ArgumentParser(argparse.ArgumentParser):
    """An argument parser whose errors are one line, like all others, and name the command."""

    # the signature is argparse's
    def parse_known_args(self, args=None, namespace=None):  # type: ignore[no-untyped-def]
        """As argparse has it; what is not known is an error of the command that was asked for, not
        of the program."""
        known, others = super().parse_known_args(args, namespace)
        options = [one.partition("=")[0] for one in others if one.startswith("-")]
        if options:
            near = get_close_matches(options[0], self._option_string_actions, 1, 0.75)
            raise UsageError(
                f"{self.prog}: there is no option {options[0]}",
                why="the arguments do not fit the command",
                fix=f"did you mean {near[0]}? See `{self.prog} --help`"
                if near
                else f"see `{self.prog} --help`",
            )
        if others:
            self.error(f"{', '.join(map(repr, others))} is more than it takes")
        return known, others

    def error(self, message: str) -> NoReturn:
        wrong = re.search(r"invalid choice: '(.*?)' \(choose from (.*)\)", message)
        if wrong and wrong[1] in _OTHER_WORDS:
            raise UsageError(
                f"{self.prog}: there is no command {wrong[1]!r}",
                why="it has another name here",
                fix=f"write `{self.prog} {_OTHER_WORDS[wrong[1]]}`",
            )
        near = get_close_matches(wrong[1], re.findall(r"[\w-]+", wrong[2]), n=1) if wrong else []
        asked = f"did you mean {near[0]!r}? See" if near else "see"
        for kind, said in (("int", "whole number"), ("float", "number")):
            message = re.sub(f"invalid {kind} value: (.*)", rf"\1 is not a {said}", message)
        raise UsageError(
            f"{self.prog}: {message}",
            why="the arguments do not fit the command",
            fix=f"{asked} `{self.prog} --help`",
        )
