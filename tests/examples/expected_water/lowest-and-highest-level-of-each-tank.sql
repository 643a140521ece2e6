-- Updates: only where the lowest or the highest changes.
WITH steps AS (
  SELECT DISTINCT s.tank, l.ts, min(l.millimetres) OVER so_far AS lowest,
         max(l.millimetres) OVER so_far AS highest
  FROM level l JOIN sensor s ON s.id = l.sensor
  WHERE l.millimetres > 0 AND s.tank IS NOT NULL
  WINDOW so_far AS (PARTITION BY s.tank ORDER BY l.ts RANGE UNBOUNDED PRECEDING)),
before AS (SELECT *, lag((lowest, highest)) OVER (PARTITION BY tank ORDER BY ts) AS was FROM steps)
SELECT tank_iri(tank) AS tank, lowest, highest, ts AS at
FROM before WHERE was IS NULL OR was <> (lowest, highest);
