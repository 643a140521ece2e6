-- Bag. One match is a gridlocked row before Monday, 4 August 2014, and a later fast row, on one express road (normal
-- speed 80 km/h or more).
WITH located AS (
  SELECT t.id, t.ts, t.avg_speed, t.vehicle_count, r.street
  FROM traffic t
  JOIN sensor s ON s.REPORT_ID = t.report_id
  JOIN road r ON r.street = s.POINT_1_STREET
  WHERE r.normal_speed >= 80
)
SELECT reading_iri(f.id) AS fast, f.avg_speed AS speed, road_iri(f.street) AS road,
       f.ts AS at, count(*) AS multiplicity
FROM located g
JOIN located f ON f.street = g.street AND g.ts < f.ts
WHERE g.avg_speed < 10 AND g.vehicle_count >= 10 AND g.ts < TIMESTAMP '2014-08-04 00:00:00'
  AND f.avg_speed > 110
GROUP BY ALL;
