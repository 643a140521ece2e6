-- Set. A road, at the first congested reading that took longer than an earlier one.
WITH congested AS (
  SELECT t.ts, t.avg_measured_time, r.street
  FROM traffic t
  JOIN sensor s ON s.REPORT_ID = t.report_id
  JOIN road r ON r.street = s.POINT_1_STREET
  WHERE t.avg_speed < 20 AND t.vehicle_count >= 10
)
SELECT road_iri(a.street) AS road, min(b.ts) AS at
FROM congested a
JOIN congested b ON b.street = a.street AND a.ts < b.ts AND a.avg_measured_time < b.avg_measured_time
GROUP BY a.street;
