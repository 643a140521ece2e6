"""How many tasks a session runs side by side."""

from typing import TYPE_CHECKING

from ontoweir.runtime.spark.refuse_connect import is_connect

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def count_cores(spark: "SparkSession") -> int:
    """How many tasks Spark runs side by side; of Spark Connect, as its default of partitions
    says."""
    if not is_connect(spark):
        return spark.sparkContext.defaultParallelism
    from pyspark.sql import functions as fn

    parts = spark.range(1 << 16).select(fn.spark_partition_id().alias("p"))
    return parts.distinct().count()
