"""`ontoweir completion`."""

import argparse
from typing import Any


def add_completion(commands: Any) -> None:
    """Add `completion` to the commands."""
    completion = commands.add_parser(
        "completion",
        help="print a script that lets a shell complete commands and options",
        epilog='examples: `eval "$(ontoweir completion bash)"`; in fish: '
        "`ontoweir completion fish | source`",
    )
    completion.add_argument("shell", choices=("bash", "zsh", "fish"))
    completion.set_defaults(run=_complete, commands=commands)


def _complete(args: argparse.Namespace) -> int:
    from ontoweir.commands.setup.write_completion import write_completion

    print(write_completion(args.commands, args.shell), end="")
    return 0
