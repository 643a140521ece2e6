"""The command line: `ontoweir COMMAND`; each command is a module in `ontoweir.commands`.

Exit codes: 0 done; 1 a verdict reached --fail-on; 2 invalid input or usage; 3 failed at run time;
130 interrupted; 143 ended by SIGTERM.
"""

import argparse
import errno
import gc
import logging
import os
import platform
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module

from ontoweir import __version__
from ontoweir.commands.argument_parser import ArgumentParser
from ontoweir.commands.common.arguments import (
    hide_kept,
    name_query,
    settle_input,
    settle_project,
)
from ontoweir.commands.scripts.name_scripts import name_scripts
from ontoweir.end_on_term import Terminated, end_on_term
from ontoweir.errors import OntoweirError, RunError, UsageError, explain_missing
from ontoweir.project.pipe_query import pipe_query

GROUPS = {
    "begin": ("setup.init", "setup.doctor", "setup.completion"),
    "before anything runs": (
        *("design.check", "design.explain", "design.measure", "design.rewrite", "design.ontology"),
        *("design.report", "design.plot", "design.materialize"),
    ),
    "replay history": ("operate.replay", "operate.show", "operate.diff"),
    "run live": (
        *("operate.run", "operate.register", "operate.list", "operate.status", "operate.drop"),
        "operate.receive",
        "operate.ui",
    ),
}
"""The module of each command, in the order of `ontoweir --help`, which has the titles."""
COMMANDS = tuple(module for modules in GROUPS.values() for module in modules)
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code."""
    _open_closed()
    logging.getLogger().addFilter(_is_for_users)
    thresholds = gc.get_threshold()
    gc.set_threshold(1_000_000)  # queries are small: collecting often only costs start-up time
    try:
        typed = sys.argv[1:] if arguments is None else list(arguments)
        given = name_query(name_scripts(pipe_query(typed)))
        args = make_parser(given[0] if given else None).parse_args(given)
        settle_project(args)
        settle_input(args)
        code: int = args.run(args)
        sys.stdout.flush()
        return code
    except OntoweirError as error:
        print(hide_kept(str(error)), file=sys.stderr)
        return error.exit_code
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except SystemExit as error:
        if isinstance(error.__context__, BrokenPipeError):  # rich ends with 1, a verdict's code
            return 0
        raise
    except KeyboardInterrupt as error:
        ended = isinstance(error, Terminated)
        what = "ended by SIGTERM" if ended else "interrupted"
        print(f"{what}; nothing is half written", file=sys.stderr)
        return 143 if ended else 130
    except Exception as error:
        missing = explain_missing(error) if isinstance(error, ModuleNotFoundError) else None
        if missing is not None:
            print(missing, file=sys.stderr)
            return missing.exit_code
        if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
            return _report_name(error)
        if isinstance(error, FileNotFoundError) and not _has_folder():
            return _report_no_folder()
        if isinstance(error, OSError) and error.errno in _FULL:
            return _report_full(error)
        if type(error).__module__.partition(".")[0] == "py4j":
            return _report_java(error)
        return _report_bug(error)
    finally:
        gc.set_threshold(*thresholds)


def _is_for_users(record: logging.LogRecord) -> bool:
    """Py4J logs a traceback of a call that is interrupted, or fails, and raises an error too."""
    return record.module != "java_gateway"


def run_program() -> int:
    """The installed program: `main`, after which the process ends at once."""
    if sys.platform == "linux" and platform.machine() == "x86_64":
        # of the memory that threads give to each other Arrow's default keeps up to twice as much
        os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "jemalloc")
    end_on_term()
    code = main()
    if "duckdb" not in sys.modules:  # which says what is left
        gc.freeze()  # looking through what is left, once more, would only cost time
    return code


def _report_java(error: Exception) -> int:
    """Report an unforeseen failure or end of Spark's Java process."""
    from ontoweir.runtime.spark.explain_java import describe_cause

    reported = RunError(
        f"Spark failed: {describe_cause(error)}",
        why="what was committed or written whole before is intact",
        fix="see Spark's log for the cause, run `ontoweir doctor`, and start again",
    )
    print(reported, file=sys.stderr)
    return reported.exit_code


def _report_name(error: OSError) -> int:
    """Report a path that no file can have."""
    reported = UsageError(
        f"the name {error.filename} is too long",
        why="a name has at most 255 bytes, and a path some 4,000",
        fix="name another",
    )
    print(reported, file=sys.stderr)
    return reported.exit_code


def _has_folder() -> bool:
    """Whether the current folder is still there."""
    try:
        os.getcwd()
    except FileNotFoundError:
        return False
    return True


def _report_no_folder() -> int:
    """Report that the folder that the command was started in has been removed."""
    reported = UsageError(
        "the current folder is not there any more",
        why="it was removed or replaced, and paths are relative to it",
        fix='change into a folder that is there: `cd "$PWD"` if it was replaced',
    )
    print(reported, file=sys.stderr)
    return reported.exit_code


def _report_full(error: OSError) -> int:
    """Report an unforeseen full disk, mostly of standard output."""
    place = "the output" if error.filename is None else error.filename
    reported = RunError(
        f"cannot write {place}: {error.strerror}",
        why="files and folders that were there before are intact",
        fix="make room, and start again",
    )
    print(reported, file=sys.stderr)
    if error.filename is None:  # what is left in its buffer is not tried again
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return reported.exit_code


def _open_closed() -> None:
    """If standard output or error is closed (`>&-`), discard what is printed."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115


def _report_bug(error: Exception) -> int:
    """Report an unforeseen exception in one line; the traceback only with ONTOWEIR_DEBUG."""
    if os.environ.get("ONTOWEIR_DEBUG") == "1":
        traceback.print_exception(error)
        fix = "report it with the traceback above"
    else:
        fix = "report it with the traceback that ONTOWEIR_DEBUG=1 in the environment shows"
    what = " ".join(str(error).split()) or "without a message"
    print(
        f"internal error: {what}; this is a bug in ontoweir, not in your input; {fix}",
        file=sys.stderr,
    )
    return RunError.exit_code


def make_parser(asked: str | None = None) -> argparse.ArgumentParser:
    """The parser of the command line, with all commands; with the one that is asked for alone,
    where there is such a one: others have much to import. `completion` tells of all."""
    parser = ArgumentParser(
        prog="ontoweir",
        description="Ontology-based data access over streams, in bounded memory.",
        epilog="`ontoweir COMMAND --help` says more of each.",
        formatter_class=_GroupedHelp,
    )
    parser.add_argument("--version", action="version", version=f"ontoweir {__version__}")
    commands = parser.add_subparsers(
        title="commands", required=True, metavar="COMMAND", parser_class=ArgumentParser
    )
    alone = [m for m in COMMANDS if m.partition(".")[2] == asked != "completion"]
    for module in alone or COMMANDS:
        name = module.partition(".")[2]
        vars(import_module(f"ontoweir.commands.{module}"))[f"add_{name}"](commands)
    return parser


class _GroupedHelp(argparse.HelpFormatter):
    """Lists the commands group by group."""

    def _format_action(self, action: argparse.Action) -> str:
        if not isinstance(action, argparse._SubParsersAction):
            return super()._format_action(action)
        listed = iter(action._choices_actions)
        parts = []
        for title, modules in GROUPS.items():
            shown = [super(_GroupedHelp, self)._format_action(next(listed)) for _ in modules]
            parts += [f"  {title}:\n", *(f"  {line}\n" for s in shown for line in s.splitlines())]
        return "".join(parts)


if __name__ == "__main__":
    raise SystemExit(run_program())
