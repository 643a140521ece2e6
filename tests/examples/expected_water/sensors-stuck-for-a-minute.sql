-- Bag: one match for each reading with a twin a minute before.
SELECT sensor_iri(b.sensor) AS sensor, a.millimetres AS level, b.ts AS at, count(*) AS multiplicity
FROM level a JOIN level b ON b.ts - a.ts = INTERVAL 1 MINUTE AND a.sensor = b.sensor
WHERE a.millimetres = b.millimetres
GROUP BY ALL;
