-- Set: the first reading that is higher than the least one since the first closing.
WITH closed AS (
  SELECT d.line, min(w.ts) AS ts FROM switch w JOIN device d ON d.id = w.device
  WHERE w.state = 'closed' GROUP BY d.line),
since AS (
  SELECT s.tank, l.ts, l.millimetres,
         min(l.millimetres) OVER (PARTITION BY l.sensor ORDER BY l.ts
                                  ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS least
  FROM level l JOIN sensor s ON s.id = l.sensor JOIN closed c ON c.line = s.line AND c.ts < l.ts
  WHERE s.tank IS NOT NULL)
SELECT tank_iri(tank) AS tank, min(ts) AS at FROM since WHERE least < millimetres GROUP BY tank;
