-- Updates, where the average changes; compared as fractions, since doubles would round.
WITH steps AS (
  SELECT DISTINCT s.line, f.ts, (sum(f.litres) OVER so_far * 10)::HUGEINT AS total, count(*) OVER so_far AS n
  FROM flow f JOIN sensor s ON s.id = f.sensor
  WINDOW so_far AS (PARTITION BY s.line ORDER BY f.ts RANGE UNBOUNDED PRECEDING)),
before AS (
  SELECT *, lag(total) OVER by_time AS old_total, lag(n) OVER by_time AS old_n
  FROM steps WINDOW by_time AS (PARTITION BY line ORDER BY ts))
SELECT line_iri(line) AS line, total::DOUBLE / (10 * n)::DOUBLE AS average, ts AS at
FROM before WHERE old_n IS NULL OR old_total * n <> total * old_n;
