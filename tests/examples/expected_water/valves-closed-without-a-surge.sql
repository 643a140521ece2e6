-- Bag: every closing of a valve beside which no pressure of its line is above the limit within the next five seconds, at
-- their end, where the history goes as far.
SELECT device_iri(d.id) AS valve, w.ts + INTERVAL 5 SECOND AS at, count(*) AS multiplicity
FROM switch w
JOIN device d ON d.id = w.device AND d.kind = 'valve'
WHERE w.state = 'closed'
  AND w.ts + INTERVAL 5 SECOND <= (SELECT max(ts) FROM (SELECT ts FROM switch UNION ALL SELECT ts FROM pressure) AS both_of_them)
  AND NOT EXISTS (
    SELECT 1
    FROM pressure p JOIN sensor s ON s.id = p.sensor AND s.line = d.line AND s.unit = 'kPa'
    WHERE w.ts < p.ts AND p.ts - w.ts <= INTERVAL 5 SECOND AND p.value > s.high)
GROUP BY ALL;
