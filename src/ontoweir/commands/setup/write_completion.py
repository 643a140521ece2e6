"""Completion scripts for shells, made from the parser of the command line."""

import argparse
import shlex
from dataclasses import dataclass
from typing import Literal, TypeAlias, assert_never

Shell: TypeAlias = Literal["bash", "zsh", "fish"]
Subparsers: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
"""What `add_subparsers` returns."""


@dataclass(frozen=True, slots=True)
class Option:
    """`--name`, its other spellings, the values it takes (None: it takes none; (): any)."""

    names: tuple[str, ...]
    values: tuple[str, ...] | None
    help: str


@dataclass(frozen=True, slots=True)
class Command:
    """A command, what it does, its options, and the choices of its first argument."""

    name: str
    help: str
    options: tuple[Option, ...]
    choices: tuple[str, ...]


def write_completion(subparsers: Subparsers, shell: Shell) -> str:
    """A script that completes commands, options, their values, and else files."""
    commands = _list_commands(subparsers)
    match shell:
        case "bash":
            return _bash(commands)
        case "zsh":
            return (
                f"#compdef ontoweir\nautoload -U +X bashcompinit && bashcompinit\n{_bash(commands)}"
            )
        case "fish":
            return _fish(commands)
        case _:
            assert_never(shell)


def _list_commands(subparsers: Subparsers) -> list[Command]:
    help_of = {a.dest: a.help or "" for a in subparsers._choices_actions}
    return [_read(name, help_of[name], command) for name, command in subparsers.choices.items()]


def _read(name: str, help: str, command: argparse.ArgumentParser) -> Command:
    options: list[Option] = []
    choices: tuple[str, ...] = ()
    for action in command._actions:
        known = tuple(map(str, action.choices or ()))
        if action.option_strings:
            values = None if action.nargs == 0 else known
            text = (action.help or "").replace("%%", "%")
            options.append(Option(tuple(action.option_strings), values, text))
        elif known:
            choices = known
    return Command(name, help, tuple(options), choices)


def _bash(commands: list[Command]) -> str:
    lines = [
        "_ontoweir() {",
        '  local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" known=',
        '  if [ "$COMP_CWORD" -eq 1 ]; then',
        f'    known="{" ".join(c.name for c in commands)} --help --version"',
        "  else",
        '    case "${COMP_WORDS[1]} $before" in',
    ]
    for command in commands:
        for option in command.options:
            for name in option.names:
                if option.values is not None:
                    values = " ".join(option.values)
                    lines.append(f'      "{command.name} {name}") known="{values}" ;;')
    lines.append('      *) case "${COMP_WORDS[1]}" in')
    for command in commands:
        words = [n for o in command.options for n in o.names] + [*command.choices]
        lines.append(f'        {command.name}) known="{" ".join(words)}" ;;')
    lines += [
        "      esac ;;",
        "    esac",
        "  fi",
        '  COMPREPLY=($(compgen -W "$known" -- "$word"))',
        "}",
        "complete -o default -o bashdefault -F _ontoweir ontoweir ./ontoweir",
        "",
    ]
    return "\n".join(lines)


def _fish(commands: list[Command]) -> str:
    names = " ".join(c.name for c in commands)
    lines = ["complete -c ontoweir -e"]
    for command in commands:
        lines.append(
            f"complete -c ontoweir -f -n 'not __fish_seen_subcommand_from {names}' "
            f"-a {command.name} -d {shlex.quote(command.help)}"
        )
        inside = f"complete -c ontoweir -n '__fish_seen_subcommand_from {command.name}'"
        if command.choices:
            lines.append(f"{inside} -f -a {shlex.quote(' '.join(command.choices))}")
        for option in command.options:
            flags = " ".join(
                f"-l {n.removeprefix('--')}" if n.startswith("--") else f"-s {n.removeprefix('-')}"
                for n in option.names
            )
            takes = "" if option.values is None else " -r"
            if option.values:
                takes += f" -f -a {shlex.quote(' '.join(option.values))}"
            lines.append(f"{inside} {flags}{takes} -d {shlex.quote(option.help)}")
    return "\n".join(lines) + "\n"
