"""Writes docs/commands/*.md: a page for each command, made of its arguments as `--help` has them.
With --check, only says whether they are as they would be written.

    .venv/bin/python .ci/write_commands.py [--check]
"""

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from ontoweir.cli import GROUPS, make_parser

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "commands"
HEAD = "<!-- Made by .ci/write_commands.py of the command's own help: change that. -->"


def write_pages() -> dict[str, str]:
    """The text of each page, by the name of its file."""
    parser = make_parser()
    (commands,) = (a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    helps = {a.dest: a.help or "" for a in commands._choices_actions}
    pages = {f"{name}.md": _page(name, helps[name], commands.choices[name]) for name in helps}
    return {"index.md": _index(helps), **pages}


def _index(helps: dict[str, str]) -> str:
    lines = [
        HEAD,
        "",
        "# Commands",
        "",
        "What [the command line](../command-line.md) has, as each says by `--help`.",
        "",
    ]
    names = iter(helps)
    for title, adds in GROUPS.items():
        lines += [f"| {title} | |", "| --- | --- |"]
        for name in (next(names) for _ in adds):
            lines.append(f"| [`{name}`]({name}.md) | {_cell(helps[name])} |")
        lines.append("")
    return "\n".join(lines)


def _page(name: str, help_text: str, parser: argparse.ArgumentParser) -> str:
    lines = [HEAD, "", f"# ontoweir {name}", "", "```sh", *list_examples(parser), "```", ""]
    lines += [f"{help_text[:1].upper()}{help_text[1:]}.", ""]
    listed = [a for a in parser._actions if a.help is not argparse.SUPPRESS]
    for title, wanted in (("argument", False), ("option", True)):
        rows = [a for a in listed if bool(a.option_strings) == wanted]
        if rows:
            lines += [f"| {title} | |", "| --- | --- |"]
            lines += [f"| {_called(a)} | {_cell(_explain(a, parser))} |" for a in rows]
            lines.append("")
    return "\n".join(lines)


def list_examples(parser: argparse.ArgumentParser) -> list[str]:
    """The commands that the help of a command ends with; behind each, as a comment, what is said
    of it there."""
    _, _, text = (parser.epilog or "").partition(": ")
    if "`" not in text:
        return [text]
    said = re.findall(r"([^`]*)`([^`]*)`", text)
    notes = [before.strip(" ;:") for before, _ in said]
    return [
        f"{command}  # {note}" if note else command
        for note, (_, command) in zip(notes, said, strict=True)
    ]


def _called(action: argparse.Action) -> str:
    """An argument, with what it takes."""
    taken = "" if action.nargs == 0 else " ".join(_metavars(action))
    names = action.option_strings or [""]
    text = ", ".join(f"{name} {taken}".strip() for name in names)
    return f"`{text}`".replace("|", "\\|")


def _metavars(action: argparse.Action) -> Iterator[str]:
    named = action.metavar or (action.dest.upper() if action.option_strings else action.dest)
    if action.choices is not None and action.metavar is None:
        named = "{" + ",".join(map(str, action.choices)) + "}"
    names = named if isinstance(named, tuple) else (named,)
    for name in names:
        match action.nargs:
            case "*":
                yield f"[{name} …]"
            case "+":
                yield f"{name} …"
            case "?":
                yield f"[{name}]"
            case _:
                yield name


def _explain(action: argparse.Action, parser: argparse.ArgumentParser) -> str:
    text = (action.help or "") % {**vars(action), "prog": parser.prog}
    return f"{text} (must be given)" if action.option_strings and action.required else text


def _cell(text: str) -> str:
    """A text in a table, whose `<…>` is no HTML."""
    plain = " ".join(text.split()).replace("|", "\\|")
    return re.sub(r"<(?=[A-Za-z/])", "&lt;", plain)


def main() -> int:
    pages = write_pages()
    there = {file.name: file.read_text(encoding="utf-8") for file in FOLDER.glob("*.md")}
    if sys.argv[1:] == ["--check"]:
        wrong = sorted({n for n in {*pages, *there} if pages.get(n) != there.get(n)})
        if wrong:
            print(f"docs/commands: {', '.join(wrong)}: run .venv/bin/python .ci/write_commands.py")
        return 1 if wrong else 0
    FOLDER.mkdir(exist_ok=True)
    for name in there.keys() - pages.keys():
        (FOLDER / name).unlink()
    for name, text in pages.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
