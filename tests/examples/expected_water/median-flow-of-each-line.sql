-- Updates, where the median changes.
WITH steps AS (
  SELECT DISTINCT s.line, f.ts, median(f.litres::DOUBLE) OVER so_far AS median
  FROM flow f JOIN sensor s ON s.id = f.sensor
  WINDOW so_far AS (PARTITION BY s.line ORDER BY f.ts RANGE UNBOUNDED PRECEDING)),
before AS (
  SELECT *, lag(median) OVER (PARTITION BY line ORDER BY ts) AS was FROM steps)
SELECT line_iri(line) AS line, median, ts AS at FROM before WHERE was IS DISTINCT FROM median;
