-- Set: the first surge after the first closing.
SELECT line_iri(d.line) AS line, min(p.ts) AS at
FROM switch w
JOIN device d ON d.id = w.device
JOIN pressure p ON w.ts < p.ts
JOIN sensor s ON s.id = p.sensor AND s.line = d.line AND s.unit = 'kPa'
WHERE w.state = 'closed' AND p.value > s.high
GROUP BY d.line;
