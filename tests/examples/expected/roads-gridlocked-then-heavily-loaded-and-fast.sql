-- Set. A road, at the first moment by which a gridlock was followed by a heavy load and by a fast reading, each on
-- any of its sensors, in any order.
WITH seen AS (
  SELECT t.ts, t.avg_speed, t.vehicle_count, r.street
  FROM traffic t
  JOIN sensor s ON s.REPORT_ID = t.report_id
  JOIN road r ON r.street = s.POINT_1_STREET
), gridlock AS (
  SELECT street, min(ts) AS ts FROM seen WHERE avg_speed < 10 AND vehicle_count >= 10 GROUP BY street
)
SELECT road_iri(g.street) AS road, min(greatest(h.ts, f.ts)) AS at
FROM gridlock g
JOIN (SELECT g.street, min(h.ts) AS ts FROM gridlock g JOIN seen h ON h.street = g.street
      AND h.vehicle_count >= 50 AND g.ts < h.ts GROUP BY g.street) h ON h.street = g.street
JOIN (SELECT g.street, min(f.ts) AS ts FROM gridlock g JOIN seen f ON f.street = g.street
      AND f.avg_speed > 110 AND g.ts < f.ts GROUP BY g.street) f ON f.street = g.street
GROUP BY g.street;
