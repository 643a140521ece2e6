-- Bag: every closing of the five seconds before counts.
SELECT device_iri(d.id) AS valve, sensor_iri(s.id) AS sensor, p.value AS pressure, p.ts AS at,
       count(*) AS multiplicity
FROM switch w
JOIN device d ON d.id = w.device AND d.kind = 'valve'
JOIN pressure p ON w.ts < p.ts AND p.ts - w.ts <= INTERVAL 5 SECOND
JOIN sensor s ON s.id = p.sensor AND s.line = d.line AND s.unit = 'kPa'
WHERE w.state = 'closed' AND p.value > s.high
GROUP BY ALL;
