"""What all tests share: a Spark session, data outside the repository, budgets of random tests."""

import gc
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from tests import in_memory
from tests.case_files import Golden, compare_block, write_block
from tests.java_archive import LOCAL_FILES, java_options
from tests.paths import ROOT, SHARED
from tests.selection import is_fast, list_left_out, rank_test, stays_together, uses_session
from tests.waiting import HANG_TIMEOUT

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from xdist.remote import Producer
    from xdist.scheduler import Scheduling


settings.register_profile(
    "ci",
    derandomize=True,
    max_examples=40,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.register_profile(
    "long",
    settings.get_profile("ci"),
    derandomize=False,
    max_examples=5_000,
)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="a large budget for random tests")
    parser.addoption("--update-cases", action="store_true", help="write what comes of case files")
    parser.addoption("--sample", action="store_true", help="of tests with many cases, some of them")
    parser.addoption("--fast", action="store_true", help="unit tests alone (tests/selection.py)")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    if config.getoption("--fast") and collection_path.match("test_*.py"):
        return not is_fast(collection_path) or None
    return None


@pytest.hookimpl(tryfirst=True)  # before pytest-timeout reads its option
def pytest_configure(config: pytest.Config) -> None:
    long = config.getoption("--long")
    settings.load_profile("long" if long else "ci")
    if config.option.timeout is None and not long:
        config.option.timeout = HANG_TIMEOUT
    os.environ["ONTOWEIR_CACHE"] = "off"  # every test reads and decides by itself
    gc.set_threshold(10_000)  # looking for cycles more often takes a quarter of the collecting
    os.environ.setdefault("SPARK_SUBMIT_OPTS", java_options())
    in_memory.begin()
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a job in the background: programs that
        signal.signal(signal.SIGINT, signal.default_int_handler)  # tests start would inherit it


def pytest_unconfigure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):  # the process that waits for the others
        in_memory.end()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A test that uses a fixture of ours carries its marker, so `-m "not spark"` works. What takes
    long comes first, so that no process has it left when the others have nothing any more."""
    for item in items:
        fixtures = getattr(item, "fixturenames", ())
        for name in ("spark", "shared"):
            if name in fixtures:
                item.add_marker(name)
    items.sort(key=lambda item: rank_test(item.path, item.name))
    if config.getoption("--sample") and not config.getoption("--long"):
        left = {*list_left_out(items)}
        config.hook.pytest_deselected(items=[item for item in items if item in left])
        items[:] = [item for item in items if item not in left]
    if config.getoption("--fast"):
        slow = [item for item in items if item.get_closest_marker("slow")]
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if item not in slow]


def pytest_collection_finish() -> None:
    """The tests themselves, and the modules that they import, are not looked through again."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: "Producer") -> "Scheduling | None":
    """Of `--dist loadfile`: one process has all tests that use the Spark session, the others of a
    file stay together where they share anything, and the order of the tests is kept."""
    if config.getvalue("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class Scheduler(LoadFileScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            file, _, name = nodeid.partition("::")
            if uses_session(ROOT / file, name):
                return "spark"
            return file if stays_together(ROOT / file) else nodeid

    config.option.loadscopereorder = False
    return Scheduler(config, log)


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """Compares what comes of a case with its file; `--update-cases` writes it there."""
    return write_block if request.config.getoption("--update-cases") else compare_block


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """`../shared`: data and suites that are not part of the repository."""
    if not SHARED.is_dir():
        pytest.skip(f"NOT TESTED: {SHARED} is missing (data and suites outside the repository)")
    return SHARED


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator["SparkSession"]:
    """One Spark session for all tests, on two threads."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    from pyspark.sql import SparkSession

    from tests.runtime.kafka_broker import list_jars

    folder = tmp_path_factory.mktemp("spark")
    session = (
        SparkSession.builder.master("local[2]")
        .appName("ontoweir-tests")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.memory", "2g")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.execution.arrow.pyspark.enabled", "true")
        .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
        .config("spark.driver.extraClassPath", str(LOCAL_FILES))
        .config("spark.jars", ",".join(list_jars("connector")))
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()
