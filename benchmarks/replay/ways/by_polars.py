"""polars' expressions, by hand."""

from pathlib import Path

import numpy as np
from ways.iris import find_streets, make_road_iris
from ways.queries import CLEARED, PAIRS, ROADS, SENSORS, Run


def by_polars(query: str, folder: Path, settings: list[str]) -> Run:
    """Running sums and join_asof; two threads."""
    import polars as pl

    def strictly(left: "pl.LazyFrame", right: "pl.LazyFrame", key: str) -> "pl.LazyFrame":
        """The last row of `right` strictly before each row of `left`."""
        return left.sort("ts").join_asof(
            right.sort("ts"), on="ts", by=key, strategy="backward", allow_exact_matches=False,
            check_sortedness=False,
        )  # fmt: skip

    def running(frame: "pl.LazyFrame", key: str) -> "pl.LazyFrame":
        counted = frame.group_by(key, "ts").agg(n=pl.len().cast(pl.Int64)).sort("ts")
        return counted.with_columns(n=pl.col("n").cum_sum().over(key))

    def q() -> "pl.LazyFrame":
        s = pl.scan_parquet(folder / "s.parquet").select("ts")
        s = s.group_by("ts").agg(m=pl.len().cast(pl.Int64)).sort("ts")
        s = s.with_columns(pl.col("m").cum_sum())
        t = pl.scan_parquet(folder / "t.parquet").select("ts", "b")
        t = t.filter(pl.col("b").is_between(0, 99))
        t = t.join_asof(s, on="ts", strategy="backward", allow_exact_matches=False)
        t = t.filter(pl.col("m").is_not_null()).group_by("b", "ts").agg(pl.col("m").sum())
        t = t.sort("ts").with_columns(pl.col("m").cum_sum().over("b"))
        u = pl.scan_parquet(folder / "u.parquet").rename({"d": "b"})
        u = u.filter(pl.col("b").is_between(0, 99))
        found = strictly(u, t, "b").filter(pl.col("m").is_not_null())
        return found.select("b", "e", at="ts", multiplicity="m")

    def month() -> "pl.LazyFrame":
        t = pl.scan_parquet(folder / "traffic.parquet")
        if query in (PAIRS, ROADS):
            street, names = find_streets(folder)
            keys = {"report_id": np.arange(len(street)), "road": street}
            s = pl.LazyFrame(keys, schema={"report_id": pl.Int32, "road": pl.Int64})
            t = t.join(s.filter(pl.col("road") >= 0), on="report_id")
        jam = t.filter((pl.col("avg_speed") < 20) & (pl.col("vehicle_count") >= 10))
        fast = t.filter(pl.col("avg_speed") > 110)

        def iri(kind: str, column: str) -> "pl.Expr":
            return pl.format(f"http://traffic.example/{kind}/{{}}", pl.col(column))

        if query == SENSORS:
            found = strictly(fast, running(jam, "report_id"), "report_id")
            found = found.filter(pl.col("n").is_not_null())
            return found.select(sensor=iri("sensor", "report_id"), at="ts", multiplicity="n")
        if query == CLEARED:
            clear = (pl.col("avg_speed") >= 60) & (pl.col("vehicle_count") >= 5)
            right = t.filter((pl.col("avg_speed") > 110) | clear)
            both = jam.join(right, on="report_id", suffix="_c")
            gap = pl.col("ts_c") - pl.col("ts")
            both = both.filter((gap > pl.duration()) & (gap <= pl.duration(minutes=30)))
            return both.select(
                sensor=iri("sensor", "report_id"), jam=iri("reading", "id"),
                clear=iri("reading", "id_c"), speed="avg_speed_c", at="ts_c",
                multiplicity=pl.lit(1, pl.Int64),
            )  # fmt: skip
        iris = pl.LazyFrame(
            {"road": np.arange(len(names)), "iri": make_road_iris(names).to_pylist(), "name": names}
        )
        if query == PAIRS:
            found = strictly(fast, running(jam, "road"), "road").filter(pl.col("n").is_not_null())
            found = found.join(iris, on="road")
            return found.select(
                fast=iri("reading", "id"), speed="avg_speed", road="iri", at="ts", multiplicity="n"
            )
        grid = jam.filter(pl.col("avg_speed") < 10)
        first = grid.group_by("road").agg(a=pl.col("ts").min())
        then = fast.join(first, on="road").filter(pl.col("ts") > pl.col("a"))
        then = then.group_by("road").agg(b=pl.col("ts").min())
        last = grid.join(then, on="road").filter(pl.col("ts") > pl.col("b"))
        last = last.group_by("road").agg(at=pl.col("ts").min()).join(iris, on="road")
        return last.select(road="iri", name="name", at="at")

    def run(output: Path) -> None:
        frame = q() if query == "Q" else month()
        frame.collect().write_parquet(output)

    return run
