-- Set, as changes. A stretch of a road's congestion begins with a congested reading that has none in the ten minutes
-- before it, and ends ten minutes after its last one, if the history goes so far.
-- Ontology: CongestedReading = dense or gridlocked.
WITH congested AS (
  SELECT DISTINCT t.ts, r.street
  FROM traffic t
  JOIN sensor s ON s.REPORT_ID = t.report_id
  JOIN road r ON r.street = s.POINT_1_STREET
  WHERE t.avg_speed < 20 AND t.vehicle_count >= 10
), beside AS (
  SELECT street, ts, lag(ts) OVER of_road AS before, lead(ts) OVER of_road AS after
  FROM congested WINDOW of_road AS (PARTITION BY street ORDER BY ts)
)
SELECT road_iri(street) AS road, '+' AS op, ts AS at
FROM beside WHERE before IS NULL OR ts > before + INTERVAL 10 MINUTE
UNION ALL
SELECT road_iri(street), '-', ts + INTERVAL 10 MINUTE
FROM beside
WHERE (after IS NULL OR after > ts + INTERVAL 10 MINUTE)
  AND ts + INTERVAL 10 MINUTE <= (SELECT max(ts) FROM traffic);
