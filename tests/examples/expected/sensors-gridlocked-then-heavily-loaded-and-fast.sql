-- Bag. One match is three rows of one registered sensor with a known road: a gridlock, and a heavy load and a fast
-- reading both after it, in any order. The match is complete with the later of these two.
SELECT sensor_iri(s.REPORT_ID) AS sensor, road_iri(r.street) AS road,
       greatest(h.ts, f.ts) AS at, count(*) AS multiplicity
FROM sensor s
JOIN road r ON r.street = s.POINT_1_STREET
JOIN traffic g ON g.report_id = s.REPORT_ID AND g.avg_speed < 10 AND g.vehicle_count >= 10
JOIN traffic h ON h.report_id = s.REPORT_ID AND h.vehicle_count >= 50 AND g.ts < h.ts
JOIN traffic f ON f.report_id = s.REPORT_ID AND f.avg_speed > 110 AND g.ts < f.ts
GROUP BY ALL;
