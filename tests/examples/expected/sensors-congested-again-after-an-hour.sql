-- Set. A registered sensor, at the first congested reading with another one to two hours before.
WITH congested AS (
  SELECT ts, report_id FROM traffic WHERE avg_speed < 20 AND vehicle_count >= 10
)
SELECT sensor_iri(s.REPORT_ID) AS sensor, min(b.ts) AS at
FROM sensor s
JOIN congested a ON a.report_id = s.REPORT_ID
JOIN congested b ON b.report_id = s.REPORT_ID
 AND b.ts BETWEEN a.ts + INTERVAL 1 HOUR AND a.ts + INTERVAL 2 HOUR
GROUP BY s.REPORT_ID;
