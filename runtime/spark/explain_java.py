"""Errors of Spark's Java side, in words: the cause without classes, and what is missing."""

import re
from importlib.util import find_spec
from pathlib import Path

_CALLED = re.compile(r"^An error occurred while calling [^\n]*\n?:?\s*")
_CLASS = re.compile(r"^(?:[a-z_]\w*\.)+[A-Z][\w$]*(?::\s*|$)")
_PACKAGES = {
    "s3a": "org.apache.hadoop:hadoop-aws:{hadoop}",
    "abfs": "org.apache.hadoop:hadoop-azure:{hadoop}",
    "abfss": "org.apache.hadoop:hadoop-azure:{hadoop}",
    "wasb": "org.apache.hadoop:hadoop-azure:{hadoop}",
    "wasbs": "org.apache.hadoop:hadoop-azure:{hadoop}",
    "adl": "org.apache.hadoop:hadoop-azure-datalake:{hadoop}",
    "oss": "org.apache.hadoop:hadoop-aliyun:{hadoop}",
    "gs": "com.google.cloud.bigdataoss:gcs-connector:VERSION",
}
"""Which package reads a scheme."""
_FORMATS = {
    "avro": "org.apache.spark:spark-avro_2.13:VERSION",
    "delta": "io.delta:delta-spark_2.13:VERSION",
    "iceberg": "org.apache.iceberg:iceberg-spark-runtime-4.0_2.13:VERSION",
}
_NO_FORMAT = re.compile(r"find (?:the )?data source: (arrow|avro|delta|iceberg)\b")
_MISSING = re.compile(r"No FileSystem for scheme|Class \S*FileSystem\S* not found")


def java_errors() -> tuple[type[Exception], ...]:
    """What pyspark raises when Java does: its own errors, and those that it does not translate.

    That Java has gone is none of them.
    """
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    return PySparkException, Py4JJavaError


def describe_cause(error: BaseException) -> str:
    """The first line that says what went wrong.

    >>> describe_cause(Exception("An error occurred while calling o6.\\n: a.b.IOError: it is gone"))
    'it is gone'
    >>> describe_cause(MemoryError())
    'it asks for more memory than there is'
    """
    if isinstance(error, UnicodeDecodeError):
        byte = error.object[error.start]
        return f"byte {error.start} is {byte:#04x}, which is not {error.encoding.upper()}"
    if isinstance(error, MemoryError):
        return "it asks for more memory than there is"
    text = _CALLED.sub("", str(error).strip(), count=1)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    first = lines[0] if lines else "its reader does not say why"
    while (match := _CLASS.match(first)) is not None and first[match.end() :]:
        first = first[match.end() :]
    return first[:300]


def suggest_package(path: str, error: BaseException) -> str | None:
    """How to have what reads a format, or a path's scheme; None where that is not what is missing.
    ORC's `timestamp with local time zone` is parsed as the name of a type before Spark 4.2.

    >>> suggest_package("gs://b/x", Exception('No FileSystem for scheme "gs"'))[:44]
    'add --spark spark.jars.packages=com.google.c'
    """
    if "timestamp with local time zone" in str(error):
        return "pip install 'pyspark>=4.2': older ones read no times that Arrow has written to ORC"
    if (format := _NO_FORMAT.search(str(error))) is not None:
        if format[1] == "arrow":
            return "name local files, and leave out options: Spark reads no Arrow"
        if format[1] == "iceberg" and find_spec("pyiceberg") is not None:
            return (
                "leave out options but snapshot-id and as-of-timestamp, and name a local table: of "
                "these pyiceberg reads static relations, and streams in replays, none live; "
                f"or add --spark spark.jars.packages={_FORMATS[format[1]]}"
            )
        for_what = "local files" if format[1] == "avro" else "replays of local tables"
        extra = f"pip install 'ontoweir[{format[1]}]', for {for_what}, or "
        return f"{extra}add --spark spark.jars.packages={_FORMATS[format[1]]}"
    scheme = path.partition("://")[0]
    if _MISSING.search(str(error)) is None or scheme == path:
        return None
    if scheme in ("s3", "s3n"):
        package = _PACKAGES["s3a"].format(hadoop=_find_hadoop())
        return f"write s3a:// instead of {scheme}://, and add --spark spark.jars.packages={package}"
    if scheme not in _PACKAGES:
        return f"add the package that reads {scheme}://: --spark spark.jars.packages=…"
    package = _PACKAGES[scheme].format(hadoop=_find_hadoop())
    return f"add --spark spark.jars.packages={package}"


def _find_hadoop() -> str:
    """The version of the Hadoop that Spark brings, which its packages must have too."""
    import pyspark

    jars = Path(pyspark.__file__).parent / "jars"
    for jar in jars.glob("hadoop-client-api-*.jar"):
        return jar.stem.removeprefix("hadoop-client-api-")
    return "VERSION"
