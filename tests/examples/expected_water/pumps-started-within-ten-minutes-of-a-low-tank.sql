-- Bag; each begins before the other one's window ends.
SELECT device_iri(d.id) AS pump, tank_iri(s.tank) AS tank, w.ts AS started, l.ts AS low,
       greatest(w.ts, l.ts) AS at,
       least(w.ts + INTERVAL 10 MINUTE, l.ts + INTERVAL 1 MINUTE) AS until,
       count(*) AS multiplicity
FROM switch w
JOIN device d ON d.id = w.device AND d.kind = 'pump'
JOIN level l ON l.ts < w.ts + INTERVAL 10 MINUTE AND w.ts < l.ts + INTERVAL 1 MINUTE
JOIN sensor s ON s.id = l.sensor AND s.line = d.line
WHERE w.state = 'on' AND l.millimetres < s.low AND s.tank IS NOT NULL
GROUP BY ALL;
