-- Bag. One match is three rows: a fast one, an earlier gridlocked one on its road, and an earlier heavy-load one of
-- its sensor. The two earlier ones are in no order.
WITH located AS (
  SELECT t.id, t.report_id, t.ts, t.avg_speed, t.vehicle_count, r.street
  FROM traffic t
  JOIN sensor s ON s.REPORT_ID = t.report_id
  JOIN road r ON r.street = s.POINT_1_STREET
)
SELECT reading_iri(f.id) AS fast, f.avg_speed AS speed, road_iri(f.street) AS road,
       f.ts AS at, count(*) AS multiplicity
FROM located f
JOIN located g ON g.street = f.street AND g.ts < f.ts
JOIN traffic h ON h.report_id = f.report_id AND h.ts < f.ts
WHERE f.avg_speed > 110
  AND g.avg_speed < 10 AND g.vehicle_count >= 10
  AND h.vehicle_count >= 50
GROUP BY ALL;
