-- Bag, all of one second.
SELECT device_iri(d.id) AS pump, tank_iri(s.tank) AS tank, l.millimetres AS level, l.ts AS at,
       count(*) AS multiplicity
FROM switch w
JOIN device d ON d.id = w.device AND d.kind = 'pump'
JOIN level l ON l.ts = w.ts
JOIN sensor s ON s.id = l.sensor AND s.line = d.line
WHERE w.state = 'on' AND l.millimetres < s.low AND s.tank IS NOT NULL
GROUP BY ALL;
