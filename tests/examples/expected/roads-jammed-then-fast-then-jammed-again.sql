-- Set. A road and its name, at the first gridlock that had a fast reading before, which had a gridlock before.
WITH located AS (
  SELECT t.ts, t.avg_speed, t.vehicle_count, r.street
  FROM traffic t
  JOIN sensor s ON s.REPORT_ID = t.report_id
  JOIN road r ON r.street = s.POINT_1_STREET
),
gridlocked AS (SELECT * FROM located WHERE avg_speed < 10 AND vehicle_count >= 10),
fast AS (SELECT * FROM located WHERE avg_speed > 110)
SELECT road_iri(a.street) AS road, a.street AS name, min(c.ts) AS at
FROM gridlocked a
JOIN fast b ON b.street = a.street AND a.ts < b.ts
JOIN gridlocked c ON c.street = a.street AND b.ts < c.ts
GROUP BY a.street;
