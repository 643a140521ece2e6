-- Bag: one match a reading.
SELECT tank_iri(s.tank) AS tank, l.millimetres AS level, l.ts AS at, count(*) AS multiplicity
FROM level l JOIN sensor s ON s.id = l.sensor
WHERE l.millimetres > s.high AND s.tank IS NOT NULL
GROUP BY ALL;
