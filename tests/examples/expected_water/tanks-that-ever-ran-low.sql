-- Set: the first time.
SELECT tank_iri(s.tank) AS tank, min(l.ts) AS at
FROM level l JOIN sensor s ON s.id = l.sensor
WHERE l.millimetres < s.low AND s.tank IS NOT NULL
GROUP BY s.tank;
