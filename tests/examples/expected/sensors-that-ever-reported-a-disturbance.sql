-- Set. A registered sensor, at the time of its first disturbance.
-- Ontology: a Disturbance is a SlowReading (crawling: 1 to 9 vehicles at 1 to 9 km/h; gridlocked: 10 or more
-- below 10 km/h) or a CongestedReading (gridlocked; dense: 10 or more at 10 to 19 km/h).
-- A registered sensor is a TrafficSensor, hence a RoadsideDevice, and monitors, hence watches, something, with
-- or without a street in the register: so there is no join with road.
SELECT sensor_iri(s.REPORT_ID) AS device, min(t.ts) AS at
FROM traffic t
JOIN sensor s ON s.REPORT_ID = t.report_id
WHERE t.avg_speed > 0 AND t.avg_speed < 10 AND t.vehicle_count >= 1
   OR t.avg_speed < 20 AND t.vehicle_count >= 10
GROUP BY s.REPORT_ID;
