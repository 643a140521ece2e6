-- Set. A road, at the time of the first slow reading that had a congested one up to 30 minutes before.
-- Ontology: CongestedReading = dense or gridlocked; SlowReading = crawling or gridlocked.
WITH located AS (
  SELECT t.ts, t.avg_speed, t.vehicle_count, r.street
  FROM traffic t
  JOIN sensor s ON s.REPORT_ID = t.report_id
  JOIN road r ON r.street = s.POINT_1_STREET
),
congested AS (SELECT * FROM located WHERE avg_speed < 20 AND vehicle_count >= 10),
slow AS (
  SELECT * FROM located
  WHERE avg_speed > 0 AND avg_speed < 10 AND vehicle_count BETWEEN 1 AND 9
     OR avg_speed < 10 AND vehicle_count >= 10
)
SELECT road_iri(c.street) AS road, min(l.ts) AS at
FROM congested c
JOIN slow l ON l.street = c.street AND c.ts < l.ts AND l.ts <= c.ts + INTERVAL 30 MINUTE
GROUP BY c.street;
