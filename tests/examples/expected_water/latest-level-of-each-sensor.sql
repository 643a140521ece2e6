-- Changes: each reading takes the place of the one of its sensor before it, where it is another level.
WITH steps AS (
  SELECT sensor, ts, millimetres, lag(millimetres) OVER (PARTITION BY sensor ORDER BY ts) AS before FROM level
),
changes AS (
  SELECT sensor, millimetres AS level, ts, '+' AS op FROM steps WHERE before IS DISTINCT FROM millimetres
  UNION ALL
  SELECT sensor, before, ts, '-' FROM steps WHERE before IS NOT NULL AND before <> millimetres
)
SELECT sensor_iri(sensor) AS sensor, level, ts AS at, op, CAST(1 AS BIGINT) AS multiplicity FROM changes;
