"""An intake without Spark: `intake_cycles.py FOLDER SEED SESSIONS [kill|cut] [keep] [compact]
[topics] [archive]`.

Files of three streams arrive. In each session a child process serves some of the queries, in
batches of the files listed as Spark lists them; some join late, some leave. With `kill`, it kills
itself somewhere at the disk, and the next session goes on. With `cut`, the power goes with it: of
every file a part is lost that nobody has waited for (fsync). In the end all are served, to the end,
and every query has the answers of a replay, once. With `keep`, files of answers are kept for an
instant only; whoever reads them does so before (`read`), and after a cut some are there again. With
`compact`, files of answers are merged, and of each session some other number of them. With
`topics`, one of the streams is a topic of two partitions: Spark hands over some of the columns that
are read, and the others are read again. With `archive`, files that are read are moved to archives,
and now and then Spark's logs forget those; a cut undoes some of the renames that nobody waited for.
"""

import itertools
import json
import os
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.csv as pcsv
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from ontoweir.pipeline.pipeline import Workspace
from ontoweir.project.project import load_project
from ontoweir.run.prepare_live_run import check_live, prepare_run
from ontoweir.run.replay_query import ReplayOptions, replay_query
from ontoweir.run.run_options import RunOptions
from ontoweir.runtime.kept import kept_rows
from ontoweir.runtime.live.arrivals.open_sources import LiveSources
from ontoweir.runtime.live.checkpoint import table_changes
from ontoweir.runtime.live.checkpoint.rotate_spark import rotate_spark
from ontoweir.runtime.live.checkpoint.spark_folder import SparkFolder
from ontoweir.runtime.live.intake.intake import Intake
from ontoweir.runtime.live.intake.keep_spans import list_topics
from ontoweir.runtime.live.intake.model import IntakeOptions, Member, Reach
from ontoweir.runtime.live.intake.save_intake import last_commit, load_commit
from ontoweir.runtime.live.output import list_parts, merge_parts
from ontoweir.runtime.live.output.sinks.files import FileSink
from ontoweir.runtime.live.output.write_parts import PartFolder, PartWriter
from ontoweir.runtime.live.topics.open_topic import Histories
from ontoweir.runtime.located.data_files import local_path
from tests.runtime.kill_at import kill_at
from tests.runtime.topic_here import TopicHere

NO_HISTORIES: Histories = {}
STREAM = """
[streams.{0}]
source = {{ format = "{2}", path = "{1}/{0}"{3}{5} }}
timestamp = {{ column = "ts", unit = "1 second" }}
max_per_timestamp = 50
{4}
[streams.{0}.columns]
k = {{ type = "int", min = 0, max = 4 }}
a = "int"
note = {{ type = "string", enum = ["xxx", "yyy", "zzz"] }}
"""
RELATION = """
[relations.p]
versions = { stream = "v", key = ["k"] }
"""
FORMATS = {"s": "parquet", "u": "parquet", "v": "csv"}
QUERIES = {
    "filter": "SELECT s.k, s.note FROM s WHERE s.a > 50",
    "matches": "SELECT s.k, u.a FROM s, u WHERE s.ts < u.ts AND s.k = u.k",
    "better": "SELECT DISTINCT s.k FROM s, u WHERE s.ts < u.ts AND s.k = u.k AND s.a < u.a",
    "sums": "SELECT s.k, COUNT(*) AS n, SUM(s.a) AS t FROM s, u "
    "WHERE s.ts < u.ts AND s.k = u.k GROUP BY s.k",
    "three": "SELECT s.k, v.a FROM s, u, v WHERE s.ts < u.ts AND u.ts < v.ts AND s.k = u.k "
    "AND u.k = v.k",
    "hourly": "SELECT date_trunc('hour', ts) AS h, k, AVG(a) AS m FROM v "
    "GROUP BY date_trunc('hour', ts), k",
    "alone": "SELECT u.k, u.note FROM u WHERE NOT EXISTS (SELECT 1 FROM v WHERE v.k = u.k "
    "AND v.ts > u.ts AND v.ts <= u.ts + INTERVAL '10' MINUTE)",
    "valued": "SELECT s.k, p.a FROM s JOIN p FOR SYSTEM_TIME AS OF s.ts ON p.k = s.k",
    "latest": "SELECT k, a FROM v QUALIFY ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) = 1",
    "again": "SELECT s.k, u.a FROM s, u WHERE s.ts < u.ts AND s.k = u.k",
    "some": "SELECT s.k, u.a FROM s, u WHERE s.ts < u.ts AND s.k = u.k AND s.k < 3 AND u.a > 20",
    "fewer": "SELECT s.k, u.a FROM s, u WHERE s.ts < u.ts AND s.k = u.k AND s.k < 2 AND u.a > 5",
    "counts": "SELECT s.k, COUNT(*) AS n FROM s WHERE s.a > 20 GROUP BY s.k",
    "counted": "SELECT s.k, COUNT(*) AS n FROM s WHERE s.a > 60 GROUP BY s.k",
    "seen": "SELECT DISTINCT s.k FROM s, u WHERE s.ts < u.ts AND s.k = u.k AND s.a < 30",
    "watched": "SELECT DISTINCT s.k FROM s, u WHERE s.ts < u.ts AND s.k = u.k AND s.a < 9",
    "notes": "SELECT s.note, COUNT(*) AS n FROM s WHERE s.note <> 'xxx' GROUP BY s.note",
    "noted": "SELECT s.note, COUNT(*) AS n FROM s WHERE s.note <> 'yyy' GROUP BY s.note",
    "same": "SELECT s.k, s.note FROM s, u WHERE s.ts < u.ts AND s.note = u.note "
    "AND u.ts <= s.ts + INTERVAL '2' MINUTE AND s.note IN ('xxx', 'zzz')",
    "equal": "SELECT s.k, s.note FROM s, u WHERE s.ts < u.ts AND s.note = u.note "
    "AND u.ts <= s.ts + INTERVAL '2' MINUTE AND s.note IN ('yyy', 'zzz')",
}
QUERIES |= {  # whose synopses are those of others
    "renamed": "SELECT y.note FROM u AS y, s AS x WHERE x.k = y.k AND x.ts < y.ts",
    "limited": "SELECT s.k, u.note FROM s, u WHERE s.ts < u.ts AND s.k = u.k AND u.a > 40",
}
TOPIC = "u"
SOURCE = '"kafka", options = { subscribe = "u", maxOffsetsPerTrigger = "5" }'
CHANGES: tuple[str, ...] = ("sums", "counts", "counted", "notes", "noted")
"""Those that tell a group again with each micro-batch that changes it."""
END = 8 * 3600 + 700
ARCHIVES = "archive" in sys.argv[4:]
_KEPT = (0, 20_000_000, *((3_000_000_000,) * 4 if "compact" in sys.argv[4:] else ()))
"""How long files of answers are kept, in ns: some time where they are merged."""


def write_files(folder: Path, random: Random) -> dict[str, list[Path]]:
    """The files of each stream, in the order of their times, beside where they will arrive."""
    files: dict[str, list[Path]] = {}
    for name, form in FORMATS.items():
        chosen = random.sample if name == "v" else random.choices  # of v no two at a time
        times = sorted(chosen(range(0, END, 7), k=random.randint(30, 120)))
        times.append(END)  # the last marker: what is before it is finished
        cuts = sorted({0, len(times), *(random.randrange(len(times)) for _ in range(9))})
        (folder / f"{name}.staged").mkdir(parents=True)
        (folder / name).mkdir()
        files[name] = []
        for number, (first, last) in enumerate(itertools.pairwise(cuts)):
            mine = times[first:last]
            table = pa.table(
                {
                    "ts": pa.array([t * 1_000_000 for t in mine], pa.timestamp("us")),
                    "k": pa.array([random.choice([0, 1, 2, 3, 4, 9]) for _ in mine], pa.int64()),
                    "a": pa.array([random.randrange(100) for _ in mine], pa.int64()),
                    "note": pa.array([random.choice("xyz") * 3 for _ in mine]),
                }
            )
            file = folder / f"{name}.staged" / f"{number:03d}.{form}"
            if form == "csv":
                pcsv.write_csv(table, file)
            else:
                pq.write_table(table, file)
            os.utime(file, (1000 + mine[0], 1000 + mine[0]))
            files[name].append(file)
    return files


def open_project(folder: Path, *, topics: bool = False) -> Workspace:
    """The project of the three streams; with `topics`, of one of them as a topic."""
    text = ""
    for name, form in FORMATS.items():
        options = ', options = { header = "true" }' if form == "csv" else ""
        keys = 'keys = [["k", "ts"]]' if name == "v" else ""
        archive = f', archive = "{folder}/archive/{name}"' if ARCHIVES else ""
        if topics and name == TOPIC:
            archive = ""
        declared = STREAM.format(name, folder, form, options, keys, archive)
        if topics and name == TOPIC:
            declared = declared.replace(f'"{form}", path = "{folder}/{name}"', SOURCE)
        text += declared
    (folder / "ontoweir.toml").write_text(text + RELATION)
    for name, sql in QUERIES.items():
        (folder / f"{name}.sql").write_text(sql)
    return Workspace(load_project(folder, environ={}))


def make_member(folder: Path, workspace: Workspace, name: str) -> Member:
    """A query as it would be registered."""
    compiled = workspace.compile_sql(folder / f"{name}.sql")
    verdict = check_live(workspace, compiled)
    options = RunOptions(None, folder / "out")
    spark: Any = object()  # reads nothing here
    prepared = prepare_run(workspace, [compiled], [verdict], spark, options)
    (folder / "registry" / name).mkdir(parents=True, exist_ok=True)
    place, sink = folder / "registry" / name, FileSink(folder / "out")
    return Member(name, name, prepared.fingerprint, prepared.job, sink, place)


def read_before_they_go(folder: Path) -> None:
    """From now on files of answers and of rejected rows are read when they are written: they have
    a second name below `read`. A list of them is made anew when it has some lines."""
    list_parts._LONG = 500
    put_each = PartWriter.put_each

    def put(writer: PartWriter, parts: Sequence[tuple[PartFolder, pa.Table]], batch: int) -> Any:
        failed = put_each(writer, parts, batch)
        for part, _ in parts:
            name = f"part-{batch:012d}.{part.format}"
            file = writer.places[part.place] / part.name / name
            second = folder / "read" / file.relative_to(folder)
            second.parent.mkdir(parents=True, exist_ok=True)
            if second.exists() and not second.samefile(file):
                second.unlink()  # the power was cut, and it is written again
            if not second.exists():
                os.link(file, second)
        return failed

    PartWriter.put_each = put  # type: ignore[assignment,method-assign]


def bring_back(folder: Path, random: Random) -> int:
    """Some files that were removed are there again, as nobody waited for that: how many."""
    count = 0
    for second in sorted((folder / "read").rglob("part-*")):
        file = folder / second.relative_to(folder / "read")
        # folders are exchanged durably: what is in a merged file does not come back
        inside = any(covers(other, file) for other in file.parent.glob("part-*-*"))
        if not file.exists() and not inside and random.random() < 0.2:
            shutil.copy(second, file)
            count += 1
    return count


def covers(merged: Path, file: Path) -> bool:
    """Whether a merged part may have the rows of a part."""
    made, mine = merge_parts.find_batches(merged.name), merge_parts.find_batches(file.name)
    return made is not None and mine is not None and made[0] <= mine[0] <= made[1]


class Lister:
    """Lists files as Spark does: logs and offsets in its folder, at most so many at once."""

    def __init__(
        self,
        folder: Path,
        intake: Intake,
        most: int,
        topic: TopicHere | None = None,
        handed: Histories = NO_HISTORIES,
    ) -> None:
        self.folder, self.intake, self.most = folder, intake, most
        self.order = [[name] for name in FORMATS]
        self.spark = SparkFolder(intake.spark_folder.path)
        for place in (self.spark.offsets, self.spark.commits):
            place.mkdir(parents=True, exist_ok=True)
        self.spark.metadata.write_text("the run")
        numbers = {name: n for n, name in enumerate(FORMATS)}
        listed = frozenset(FORMATS) - (set() if topic is None else {TOPIC})
        read = {} if topic is None else {TOPIC: handed.keys()}
        topics = {s: frozenset(keys) for s, keys in read.items()}
        intake.open(LiveSources(listed, numbers, {}, self.order, topics=topics))
        self.batch = intake.record.spark.batch + 1 if intake.begun else 0
        self.reached = [intake.reach.entries.get(name, -1) for name in FORMATS]
        known = intake.reach.offsets.get(TOPIC)
        reached = None if known is None else [known[f"{TOPIC}/{n}"] for n in (0, 1)]
        self.taken: Sequence[int] | None = reached
        self.topic, self.handed = topic, handed
        self.seen: set[str] = set()
        for log in self.spark.list_logs():
            for line in (self.spark.path / log).read_text().splitlines()[1:]:
                self.seen.add(json.loads(line)["path"])

    def list(self) -> bool:
        """A micro-batch of the files that are new, taken in: whether there were any."""
        brought = False
        for number, name in enumerate(FORMATS):
            if self.topic is not None and name == TOPIC:
                continue
            there = sorted((self.folder / name).iterdir(), key=lambda f: f.stat().st_mtime_ns)
            fresh = [f for f in there if f.as_uri() not in self.seen][: self.most]
            if not fresh:
                continue
            brought = True
            self.reached[number] += 1
            entry = self.reached[number]
            lines = [
                json.dumps(
                    {
                        "path": f.as_uri(),
                        "timestamp": f.stat().st_mtime_ns // 1_000_000,
                        "batchId": entry,
                    }
                )
                for f in fresh
            ]
            self.seen |= {f.as_uri() for f in fresh}
            place = self.spark.sources / str(number)
            place.mkdir(parents=True, exist_ok=True)
            (place / str(entry)).write_text("\n".join(["v1", *lines]))
        before, self.taken = self.taken, self.take_messages()
        brought = brought or before != self.taken
        if brought:
            told = ["-" if n < 0 else json.dumps({"logOffset": n}) for n in self.reached]
            if self.topic is not None and self.taken is not None:
                told[list(FORMATS).index(TOPIC)] = self.topic.offsets(self.taken)
            self.spark.offsets_of(self.batch).write_text("\n".join(["v1", "{}", *told]))
            frame = None if self.topic is None else self
            self.span = before or [0, 0], self.taken or [0, 0]
            self.intake.take(frame, self.batch)  # type: ignore[arg-type]
            self.spark.commit_of(self.batch).write_text('v1\n{"nextBatchWatermarkMs":0}')
            self.batch += 1
        return brought

    def take_messages(self) -> Sequence[int] | None:
        """Up to where messages are taken: some more of each partition."""
        if self.topic is None:
            return self.taken
        held = self.taken or [0, 0]
        return [
            min(n + min(2 * self.most, 9), last)
            for n, last in zip(held, self.topic.ends(), strict=True)
        ]

    def toArrow(self) -> pa.Table:
        """What Spark hands over."""
        assert self.topic is not None
        return self.topic.frame(self.handed, *self.span)


def serve(folder: Path, random: Random, names: list[str], *, last: bool) -> None:
    """One session: some queries, files that arrive, queries that join and leave meanwhile."""
    spark: Any = object()  # reads nothing here
    topic = TopicHere(TOPIC, folder / TOPIC, END) if "topics" in sys.argv[4:] else None
    workspace = open_project(folder, topics=topic is not None)
    failed: dict[str, Any] = {}
    options = IntakeOptions(
        folder / "intake",
        (40, 1 << 20),
        random.choice([300, 1 << 20]),
        keep_ns=random.choice(_KEPT) if "keep" in sys.argv[4:] else None,
        compact=random.choice([2, 3, None]) if "compact" in sys.argv[4:] else None,
        on_failed=failed.__setitem__,
    )
    kept_rows._SMALL = random.choice([0, 1 << 13])
    kept_rows._FEW = random.choice([0, 16])
    intake = Intake(options, spark)
    intake.restore(ticks=False)
    for name in names:
        intake.join(make_member(folder, workspace, name))
    handed: Histories = {}
    if topic is not None:
        topic.stand_in()
        read = sorted(list_topics(intake.lanes).get(TOPIC, {}).items())
        handed = dict(random.sample(read, random.choice([len(read), random.randint(0, len(read))])))
    lister = Lister(folder, intake, random.choice([1, 2, 20]), topic, handed)
    steps = 200 if last else random.randint(1, 8)
    for _ in range(steps):
        staged = sorted(
            (f for name in FORMATS for f in (folder / f"{name}.staged").iterdir()),
            key=lambda f: f.stat().st_mtime_ns,
        )
        for file in staged[: random.randint(0, 4)]:
            os.rename(file, folder / file.parent.name.removesuffix(".staged") / file.name)
        more = lister.list()
        even = topic is not None and random.random() < 0.3  # what Spark hands over is used then
        for _ in range(1000 if even else random.randint(0, 3)):
            intake.catch_up(all_listed=random.random() < 0.5)
        there = {m.id for lane in intake.lanes for m in lane.members}
        if not last and random.random() < 0.3:
            name = random.choice(list(QUERIES))
            if name in there:
                intake.leave(name)
            else:
                intake.join(make_member(folder, workspace, name))
        assert not failed, failed
        if ARCHIVES and random.random() < 0.3 and may_forget(intake):
            lister = renew(folder, intake, lister.most)
        if last and not more and not staged:
            while intake.catch_up(all_listed=True):
                pass
            break
    if last:
        assert intake.is_even
    intake.close()


def may_forget(intake: Intake) -> bool:
    """Whether Spark's logs may forget what has been moved away, as IntakeRun.rotate has it."""
    goes_on = any(parked.gap is None for parked in intake.parked.values())
    return intake.begun and intake.is_even and not goes_on and not intake.reach.offsets


def renew(folder: Path, intake: Intake, most: int) -> Lister:
    """Go on from new logs of Spark's, as a server does (IntakeRun.rotate)."""
    intake.keeper.settle()
    log = rotate_spark(intake.options.folder, intake.record, frozenset(range(len(FORMATS))))
    entries = {s: min(entry, 0) for s, entry in intake.reach.entries.items()}
    intake.go_on_from(log, Reach(0, entries))
    intake.restore(ticks=False)
    return Lister(folder, intake, most)


def undo_moves(folder: Path, random: Random) -> int:
    """Move some files back from archives that Spark's logs have: nobody has waited for that."""
    place = last_commit(folder / "intake" / "commits")
    if place is None:
        return 0
    commit, _ = load_commit(place)
    spark = SparkFolder(folder / "intake" / commit.record.spark.folder)
    count = 0
    for log in commit.record.spark.files:
        for line in (spark.path / log).read_text().splitlines()[1:]:
            file = Path(local_path(json.loads(line)["path"]))
            archived = folder / "archive" / file.relative_to(folder)
            if archived.exists() and not file.exists() and random.random() < 0.3:
                os.rename(archived, file)
                count += 1
    return count


def list_written(folder: Path, place: str) -> list[Path]:
    """The parts in a folder, and those that were read before they went."""
    files: dict[str, Path] = {}
    for whole in (folder / "read", folder):
        files |= {f.name: f for f in (whole / place).glob("part-*.parquet")}
    if (folder / "read").exists():  # merged ones are of what was read, and have no other rows
        for merged in [f for name, f in files.items() if name.count("-") > 1]:
            rows = Counter(map(str, pq.read_table(files.pop(merged.name)).to_pylist()))
            parts = [f for f in files.values() if covers(merged, f)]
            read = Counter(str(r) for f in parts for r in pq.read_table(f).to_pylist())
            assert rows <= read, merged
    return [files[name] for name in sorted(files)]


def read_answers(folder: Path, name: str) -> list[Any]:
    """The answers that are there."""
    files = list_written(folder, f"out/{name}")
    rows = [tuple(row.items()) for f in files for row in pq.read_table(f).to_pylist()]
    return sorted(rows, key=repr)


def count_rejects(folder: Path, name: str) -> int:
    """The rejected rows of a query that are there."""
    files = list_written(folder, f"registry/{name}/rejects")
    return sum(pq.read_metadata(file).num_rows for file in files)


def count_bad(folder: Path, name: str) -> int:
    """The rows of a query's streams that break what is declared, before the last timestamp."""
    found = 0
    for stream, form in FORMATS.items():
        read = f"{stream}." in QUERIES[name] or f"FROM {stream} " in QUERIES[name]
        read |= f" {stream} AS " in QUERIES[name]
        if read or (name, stream) == ("valued", "v"):
            for file in (*(folder / stream).iterdir(), *folder.glob(f"archive/{stream}/*.{form}")):
                table = pcsv.read_csv(file) if form == "csv" else pq.read_table(file)
                times = table["ts"].cast(pa.timestamp("us")).cast(pa.int64()).to_pylist()
                keys = table["k"].to_pylist()
                found += sum(k == 9 and t < END * 1e6 for k, t in zip(keys, times, strict=True))
    return found


def replay(folder: Path, workspace: Workspace, name: str) -> list[Any]:
    """What a replay gives before the last timestamp."""
    output = folder / f"{name}-replayed.parquet"
    compiled = workspace.compile_sql(folder / f"{name}.sql")
    replay_query(workspace, compiled, ReplayOptions(output, progress=False), None)
    rows = [row for row in pq.read_table(output).to_pylist() if row["at"].timestamp() < END]
    return sorted((tuple(row.items()) for row in rows), key=repr)


def note_syncs(journal: Path) -> None:
    """From now on, write down which files are on the disk, and how much of them."""
    sync, handle = os.fsync, os.open(journal, os.O_CREAT | os.O_APPEND | os.O_WRONLY)

    def noted(file: Any) -> None:
        sync(file)
        status = os.fstat(file if isinstance(file, int) else file.fileno())
        os.write(handle, f"{status.st_ino} {status.st_size} {status.st_mtime_ns}\n".encode())

    os.fsync = noted  # type: ignore[assignment]


def cut_power(folder: Path, random: Random) -> None:
    """Lose what nobody has waited for: the end of each such file, or all of it."""
    journal = folder / "synced"
    lines = journal.read_text().splitlines() if journal.exists() else []
    synced = {(int(i), int(s), int(t)) for i, s, t in map(str.split, lines)}
    least: dict[int, int] = {}
    kept: list[str] = []
    for inode, size, _ in synced:
        least[inode] = max(size, least.get(inode, 0))
    for place in ("intake", "out", "registry"):
        for file in (folder / place).rglob("*"):
            status = file.stat()
            mark = (status.st_ino, status.st_size, status.st_mtime_ns)
            if file.is_file() and mark not in synced:
                safe = min(least.get(status.st_ino, 0), status.st_size)
                os.truncate(file, random.randint(safe, status.st_size))
            status = file.stat()  # what is left is on the disk
            kept.append(f"{status.st_ino} {status.st_size} {status.st_mtime_ns}\n")
    journal.write_text("".join(kept))


def run_session(folder: Path, seed: int, session: int, names: list[str], kill: int) -> int:
    """A session in a child, which kills itself at the `kill`-th call that changes the disk."""
    child = os.fork()
    if child == 0:
        note_syncs(folder / "synced")
        if "keep" in sys.argv[4:]:
            read_before_they_go(folder)
        if kill:
            kill_at("at-the-disk", kill)
        try:
            serve(folder, Random(f"{seed} {session}"), names, last=not kill and session < 0)
        except BaseException as error:
            print(repr(error), file=sys.stderr)
            import traceback

            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    return os.waitpid(child, 0)[1]


def main() -> None:
    """Serve in several sessions, then compare."""
    folder, seed, sessions = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    kills = not {"kill", "cut"}.isdisjoint(sys.argv[4:])
    merge_parts.PATIENCE = 0.0  # steps are not that far apart
    table_changes.LARGE = 3  # commits have changes of tables of more rows
    random = Random(seed)
    write_files(folder, random)
    killed = back = undone = 0
    for session in range(sessions):
        names = random.sample(list(QUERIES), random.randint(1, len(QUERIES)))
        died = run_session(folder, seed, session, names, random.randint(1, 900) if kills else 0)
        assert died in (0, int(signal.SIGKILL)), died
        killed += died != 0
        if died and "cut" in sys.argv[4:]:
            cut_power(folder, random)
            back += bring_back(folder, random)
            undone += undo_moves(folder, random) if ARCHIVES else 0
    assert run_session(folder, seed, -1, list(QUERIES), 0) == 0
    if ARCHIVES:
        assert not [f for name in FORMATS for f in (folder / name).iterdir() if f.is_file()]
    workspace = open_project(folder, topics=False)
    rows = 0
    for name in QUERIES:
        found, wanted = read_answers(folder, name), replay(folder, workspace, name)
        if name in CHANGES:
            found, wanted = [list(_last(found))], [list(_last(wanted))]
        assert found == wanted, (name, len(found), len(wanted))
        assert count_rejects(folder, name) == count_bad(folder, name), name
        rows += len(found)
    there = sum(len(list((folder / "out" / name).glob("part-*"))) for name in QUERIES)
    lists = sorted(f.name for f in (folder / "intake").glob("parts*"))
    merged = sum(len(list((folder / "out" / name).glob("part-*-*"))) for name in QUERIES)
    place = last_commit(folder / "intake" / "commits")
    assert place is not None
    told = {
        "forgot": load_commit(place)[0].record.spark.folder.partition("-")[2],
        "merged": merged,
        "killed": killed,
        "rows": rows,
        "files": there,
        "back": back,
        "undone": undone,
        "lists": lists,
    }
    print(json.dumps(told))


def _last(rows: list[Any]) -> list[Any]:
    latest: dict[Any, Any] = {}
    for row in rows:
        held = dict(row)
        group = held.get("k", held.get("note"))
        known = latest.get(group)
        if known is None or known["at"] < held["at"]:
            latest[group] = held
    return sorted(map(str, latest.values()))


if __name__ == "__main__":
    main()
