#!/usr/bin/env bash
# Wall time of the README's two commands on a copy of this tree, without .venv, with an empty home and
# a PATH without java; then of a second start. What is still missing (Java, venv) is installed for real.
#
#   benchmarks/start/bootstrap_time.sh [demo|test ...]        default: demo test
set -euo pipefail

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
[ $# -gt 0 ] || set -- demo test

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Everything of the system's PATH but java.
mkdir "$work/bin"
for folder in /bin /usr/bin /usr/local/bin; do
  for program in "$folder"/*; do
    name=${program##*/}
    case $name in
      java | javac | jar | uv | pip*) ;;
      *) [ -e "$work/bin/$name" ] || ln -s "$program" "$work/bin/$name" ;;
    esac
  done
done

timed() {
  local name=$1 start end status=0
  shift
  start=$(date +%s.%N)
  env -i HOME="$work/home-$name" PATH="$work/bin" LANG=C.UTF-8 ./ontoweir "$@" </dev/null \
    >"$work/log" 2>&1 || status=$?
  end=$(date +%s.%N)
  awk -v name="$name" -v command="$*" -v status="$status" -v start="$start" -v end="$end" \
    'BEGIN { printf "%-8s ./ontoweir %-6s %7.1f s   exit %d\n", name, command, end - start, status }'
  [ "$status" -eq 0 ] || tail -n 15 "$work/log"
}

for command in "$@"; do
  tree=$work/tree-$command
  mkdir -p "$tree" "$work/home-fresh" "$work/home-again"
  # The data outside the repository stays where it is: tests look for it at ../shared.
  [ -e "$work/shared" ] || [ ! -d "$root/../shared" ] || ln -s "$(readlink -f "$root/../shared")" "$work/shared"
  tar -C "$root" -cf - --exclude=.venv --exclude=.git --exclude='*.egg-info' --exclude='*_cache' \
    --exclude=__pycache__ --exclude=examples/traffic/data --exclude=examples/traffic/out . |
    tar -C "$tree" -xf -
  cd "$tree"
  timed fresh "$command"
  timed again "$command"
  rm -rf "$work/home-fresh" "$work/home-again"
done
