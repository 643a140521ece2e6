#!/bin/sh
# runtime/spark/java -> runtime/spark/local_files.jar, the same bytes each time. Needs a JDK and pyspark.
set -eu
export LC_ALL=C
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
jars=$(python3 -c 'import pathlib, pyspark; print(pathlib.Path(pyspark.__file__).parent / "jars")')
javac --release 17 -g:none -cp "$jars/*" -d "$work" runtime/spark/java/*.java
(cd "$work" && jar --create --no-manifest --date 2000-01-01T00:00:00Z --file out.jar ontoweir/*.class)
mv "$work/out.jar" "${1:-runtime/spark/local_files.jar}"
