"""What `ui` and `run --ui` share: the site, and the dashboard while something goes on."""

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ontoweir.commands.operate.token_option import read_token
from ontoweir.dashboard.serve import Wait, parse_address, require_web, say_where, serve_dashboard
from ontoweir.dashboard.site import Site
from ontoweir.project.project import PROJECT_FILE
from ontoweir.registry.find_registry import find_registry

CHECK_SECONDS = 30.0
"""Seconds of a check."""


@dataclass(frozen=True, slots=True)
class RunPlace:
    """Where a run without a registry writes metrics.jsonl and answers; `here`: it is this
    process."""

    metrics: Path
    answers: Path
    here: bool = False


@contextmanager
def serve_ui(
    args: argparse.Namespace,
    address: str,
    option: str,
    root: Path,
    *,
    run: RunPlace,
    limit: float = CHECK_SECONDS,
) -> Iterator[Wait]:
    """Serve the dashboard of a project while the block runs, and say where, on stderr.

    Args:
        args: the command's arguments: project, overrides, registry.
        address: where to listen, as `option` has it.
        option: its name.
        root: the project's folder.
        run: its plain run.
        limit: seconds of a check.

    Raises:
        UsageError: it is not an address, or cannot be listened on, or the framework is missing;
            or the token is none.
    """
    require_web()
    host, port = parse_address(address, option)
    named = Path(args.project).resolve()
    site = Site(
        named if named.is_file() else root / PROJECT_FILE,
        find_registry(args.registry, root),
        run.metrics,
        run.answers,
        overrides=tuple(args.set),
        strict=args.strict,
        running=run.here,
        host=host,
        token=read_token(args.token, host),
        limit=limit,
        changes=args.allow_changes,
    )
    with serve_dashboard(site, port) as (url, wait):
        for line in say_where(url, host):
            print(line, file=sys.stderr, flush=True)
        yield wait
