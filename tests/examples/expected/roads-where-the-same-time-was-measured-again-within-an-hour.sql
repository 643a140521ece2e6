-- Set. A road, at the first gridlock that took as long as one at most twelve steps of five minutes before it.
WITH gridlocked AS (
  SELECT t.ts, t.avg_measured_time, r.street
  FROM traffic t
  JOIN sensor s ON s.REPORT_ID = t.report_id
  JOIN road r ON r.street = s.POINT_1_STREET
  WHERE t.avg_speed < 10 AND t.vehicle_count >= 10
)
SELECT road_iri(a.street) AS road, min(b.ts) AS at
FROM gridlocked a
JOIN gridlocked b ON b.street = a.street AND b.avg_measured_time = a.avg_measured_time
  AND a.ts < b.ts AND b.ts <= a.ts + INTERVAL 1 HOUR
GROUP BY a.street;
