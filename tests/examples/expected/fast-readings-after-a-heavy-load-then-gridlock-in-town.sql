-- Bag. One match is three rows in order of time: a heavy load by a sensor that stands in a city, a gridlock by a
-- sensor that stands in that city, a fast reading by a sensor on the road of the gridlock.
-- A sensor without a city has no :standsIn, one without a street no :monitors.
WITH located AS (
  SELECT t.id, t.ts, t.avg_speed, t.vehicle_count, s.POINT_1_CITY AS city, r.street
  FROM traffic t
  JOIN sensor s ON s.REPORT_ID = t.report_id
  LEFT JOIN road r ON r.street = s.POINT_1_STREET
)
SELECT reading_iri(f.id) AS fast, f.avg_speed AS speed, road_iri(f.street) AS road,
       f.ts AS at, count(*) AS multiplicity
FROM located h
JOIN located g ON g.city = h.city AND h.ts < g.ts
JOIN located f ON f.street = g.street AND g.ts < f.ts
WHERE h.vehicle_count >= 50
  AND g.avg_speed < 10 AND g.vehicle_count >= 10
  AND f.avg_speed > 110
GROUP BY ALL;
