"""The dashboard over a copy of the example, asked in this process."""

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from ontoweir.dashboard.check_queries import Checks
from ontoweir.dashboard.make_app import make_app
from ontoweir.dashboard.site import Site
from tests.ontoweir.conftest import example as example  # fixtures
from tests.ontoweir.conftest import run as run
from tests.waiting import HANG_TIMEOUT

Record = Callable[..., dict[str, Any]]


@pytest.fixture
def project(root: Path, tmp_path: Path) -> Path:
    """A copy of the example, without data."""
    copy = tmp_path / "traffic"
    skip = shutil.ignore_patterns("data", "out", "__pycache__")
    shutil.copytree(root / "examples" / "traffic", copy, ignore=skip)
    return copy


@pytest.fixture
def site(project: Path) -> Site:
    """The copy, with runs in its folder."""
    out = project / "out"
    return Site(project, out / "registry", out / "answers", out / "answers", limit=HANG_TIMEOUT)


@pytest.fixture
def client(site: Site) -> Iterator[FlaskClient]:
    """Asks the application as a browser on this machine does."""
    with closing(_make_checks(site)) as checks, make_app(site, checks).test_client() as found:
        found.environ_base["HTTP_HOST"] = "127.0.0.1:4080"
        yield found


def _make_checks(site: Site) -> Checks:
    return Checks(site.project, site.overrides, strict=site.strict, limit=site.limit)


@pytest.fixture
def record() -> Record:
    """A line of metrics.jsonl."""

    def make(batch: int, queries: dict[str, tuple[int, int | None]]) -> dict[str, Any]:
        return {
            "batch": batch,
            "time": f"2026-11-21T19:{batch % 60:02}:00.5",
            "seconds": 0.5,
            "tuples_per_second": 200.0,
            "totals": {"tuples": 100 * batch, "results": batch, "rejected": 3, "late": 0},
            "rejects": {"traffic repeats the key (id, ts)": 3},
            "finished": "2014-08-01T02:19:59.999999",
            "behind_seconds": 12.0,
            "waiting": 17,
            "streams": {"traffic": {"lag_seconds": 7200.0}},
            "queries": {
                name: {
                    "state_rows": rows,
                    "bound_rows": bound,
                    "state_bytes": 8 * rows,
                    "bound_bytes": None if bound is None else 8 * bound,
                    "synopses": [
                        {"synopsis": "results", "rows": rows, "bound_rows": bound, "bound": "2 · 3"}
                    ],
                }
                for name, (rows, bound) in queries.items()
            },
        }

    return make


def write_lines(file: Path, records: list[dict[str, Any]], end: str = "") -> None:
    """JSON lines, and what comes after them."""
    file.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(f"{json.dumps(r)}\n" for r in records)
    file.write_text(text + end, encoding="utf-8")
