-- One row for each road and hour that is over, with three congested steps of five minutes or more.
-- Ontology: CongestedReading = dense or gridlocked.
WITH congested AS (
  SELECT t.ts, r.street
  FROM traffic t
  JOIN sensor s ON s.REPORT_ID = t.report_id
  JOIN road r ON r.street = s.POINT_1_STREET
  WHERE t.avg_speed < 20 AND t.vehicle_count >= 10
)
SELECT road_iri(street) AS road, date_trunc('hour', ts) AS hour, 5 * count(DISTINCT ts) AS minutes,
       hour + INTERVAL 1 HOUR AS at
FROM congested
GROUP BY street, hour
HAVING count(DISTINCT ts) >= 3
   AND hour + INTERVAL 1 HOUR <= (SELECT max(ts) FROM traffic) + INTERVAL 5 MINUTE;
