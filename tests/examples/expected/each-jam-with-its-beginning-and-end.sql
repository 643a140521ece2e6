-- One row for each run of congested readings of a road, each at most ten minutes after the one before.
-- Ontology: CongestedReading = dense or gridlocked.
WITH congested AS (
  SELECT t.ts, r.street
  FROM traffic t
  JOIN sensor s ON s.REPORT_ID = t.report_id
  JOIN road r ON r.street = s.POINT_1_STREET
  WHERE t.avg_speed < 20 AND t.vehicle_count >= 10
),
marked AS (
  SELECT *, coalesce(ts - lag(ts) OVER (PARTITION BY street ORDER BY ts) > INTERVAL 10 MINUTE, true) AS new
  FROM congested
),
numbered AS (
  SELECT *, sum(new::INT) OVER (PARTITION BY street ORDER BY ts RANGE UNBOUNDED PRECEDING) AS jam
  FROM marked
)
SELECT road_iri(street) AS road, min(ts) AS "begin", max(ts) AS "last", count(*) AS readings,
       max(ts) + INTERVAL 10 MINUTE AS at
FROM numbered
GROUP BY street, jam
HAVING max(ts) + INTERVAL 10 MINUTE <= (SELECT max(ts) FROM traffic);
