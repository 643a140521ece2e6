-- Set. A sensor and its road, at the first time at which it was silent while a sensor of that road (itself
-- cannot be) counted 50 vehicles or more.
WITH located AS (
  SELECT t.report_id, t.ts, t.avg_speed, t.vehicle_count, r.street
  FROM traffic t
  JOIN sensor s ON s.REPORT_ID = t.report_id
  JOIN road r ON r.street = s.POINT_1_STREET
)
SELECT sensor_iri(silent.report_id) AS sensor, road_iri(silent.street) AS road, min(silent.ts) AS at
FROM located silent
JOIN located busy ON busy.ts = silent.ts AND busy.street = silent.street
WHERE silent.avg_speed = 0 AND silent.vehicle_count = 0 AND busy.vehicle_count >= 50
GROUP BY silent.report_id, silent.street;
