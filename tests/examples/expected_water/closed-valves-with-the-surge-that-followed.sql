-- Bag: every closing of a valve with each pressure of its line above the limit within the next five seconds, when that
-- is measured; without one at their end, where the history goes as far.
WITH closings AS (
  SELECT w.device, w.ts, d.line FROM switch w JOIN device d ON d.id = w.device AND d.kind = 'valve' WHERE w.state = 'closed'
),
surges AS (
  SELECT p.ts, p.value, s.line FROM pressure p JOIN sensor s ON s.id = p.sensor AND s.unit = 'kPa' WHERE p.value > s.high
),
told AS (
  SELECT c.device, v.value, v.ts AS told_at
  FROM closings c JOIN surges v ON v.line = c.line AND c.ts < v.ts AND v.ts - c.ts <= INTERVAL 5 SECOND
  UNION ALL
  SELECT c.device, NULL, c.ts + INTERVAL 5 SECOND
  FROM closings c
  WHERE c.ts + INTERVAL 5 SECOND <= (SELECT max(ts) FROM (SELECT ts FROM switch UNION ALL SELECT ts FROM pressure) AS both_of_them)
    AND NOT EXISTS (SELECT 1 FROM surges v WHERE v.line = c.line AND c.ts < v.ts AND v.ts - c.ts <= INTERVAL 5 SECOND)
)
SELECT device_iri(device) AS valve, value AS pressure, told_at AS at, count(*) AS multiplicity FROM told GROUP BY ALL;
