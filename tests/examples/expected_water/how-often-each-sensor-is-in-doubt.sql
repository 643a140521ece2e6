-- Updates: one row for each sensor and second with something doubtful.
WITH doubtful AS (
  SELECT sensor, ts FROM level WHERE quality IN ('bad', 'suspect')
  UNION ALL SELECT sensor, ts FROM flow WHERE quality IN ('bad', 'suspect')
  UNION ALL SELECT sensor, ts FROM pressure WHERE quality IN ('bad', 'suspect'))
SELECT DISTINCT sensor_iri(sensor) AS sensor, ts AS at, count(*) OVER so_far AS times
FROM doubtful
WINDOW so_far AS (PARTITION BY sensor ORDER BY ts RANGE UNBOUNDED PRECEDING);
