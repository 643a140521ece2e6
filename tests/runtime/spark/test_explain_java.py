"""What Java says is told without its classes, and a package that is missing is named."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ontoweir.cli import main
from ontoweir.errors import DataError
from ontoweir.mappings.model.catalog import DataSource
from ontoweir.runtime.sources.read_source import WantedColumns, read_source
from ontoweir.runtime.spark.explain_java import describe_cause, suggest_package

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CAUSES = {
    "An error occurred while calling o6.csv.\n: a.b.C: x: y\n\tat d.E.f(G.java:1)": "x: y",
    "An error occurred while calling o6.csv.\n: j.l.RuntimeException: a.b.Cls: it": "it",
    "[PATH_NOT_FOUND] there is none": "[PATH_NOT_FOUND] there is none",
    "java.lang.OutOfMemoryError": "java.lang.OutOfMemoryError",
    "": "its reader does not say why",
    "note: this.is no class": "note: this.is no class",
}


@pytest.mark.parametrize("text", CAUSES)
def test_causes(text: str) -> None:
    assert describe_cause(ValueError(text)) == CAUSES[text]


def test_causes_that_name_classes_alone() -> None:
    assert describe_cause(MemoryError()) == "it asks for more memory than there is"
    wrong = UnicodeDecodeError("utf-8", b"a\xac", 1, 2, "invalid start byte")
    assert describe_cause(wrong) == "byte 1 is 0xac, which is not UTF-8"


@pytest.mark.parametrize(
    ("path", "package"),
    [
        ("s3://b/x", "write s3a:// instead of s3://, and add --spark spark.jars.packages=org"),
        ("s3a://b/x", "org.apache.hadoop:hadoop-aws:3."),
        ("gs://b/x", "gcs-connector"),
        ("abfss://c@a/x", "hadoop-azure:3."),
        ("foo://b/x", "reads foo://"),
    ],
)
def test_the_package_is_named(path: str, package: str, spark: "SparkSession") -> None:
    for source in (DataSource("parquet", path), DataSource("csv", path)):
        with pytest.raises(DataError) as caught:
            read_source(spark, source, path, WantedColumns(()))
        assert package in caught.value.fix
        for name in ("Py4J", "Exception", "An error occurred"):
            assert name not in str(caught.value)


def test_other_faults_name_none(spark: "SparkSession") -> None:
    path = "hdfs://nowhere.invalid:1/x"
    with pytest.raises(DataError) as caught:
        read_source(spark, DataSource("parquet", path), path, WantedColumns(()))
    assert "packages" not in caught.value.fix
    assert suggest_package("/x", Exception('No FileSystem for scheme "s3"')) is None
    assert suggest_package("s3://x", Exception("access denied")) is None


def test_times_in_orc_need_a_newer_spark() -> None:
    """As Spark 4.1.0 says it of a file of Arrow's."""
    said = "[PARSE_SYNTAX_ERROR] Syntax error at or near 'with'. SQLSTATE: 42601 (line 1, pos 10)"
    told = suggest_package(
        "/x.orc", Exception(f"{said}\n\n== SQL ==\ntimestamp with local time zone")
    )
    assert told is not None
    assert told.startswith("pip install 'pyspark>=4.2'")
    assert suggest_package("/x.orc", Exception(f"{said}\n\n== SQL ==\ntimestamp with")) is None


def test_what_nobody_foresaw_names_no_class(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    from py4j.protocol import Py4JError

    def fail(*_: object) -> int:
        raise Py4JError("An error occurred while calling o7.x. Trace:\npy4j.Py4JException: gone")

    monkeypatch.setattr("ontoweir.commands.setup.doctor._doctor", fail)
    assert main(["doctor"]) == 3
    told = capsys.readouterr().err
    assert told.startswith("Spark failed: ")
    assert "internal error" not in told
    assert "Py4J" not in told
