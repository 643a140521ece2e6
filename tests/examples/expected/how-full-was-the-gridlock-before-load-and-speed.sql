-- Bag. One match is three rows of one sensor in order of time: gridlock, heavy load, fast reading; the vehicles are
-- those of the gridlock. The register is not asked.
SELECT sensor_iri(g.report_id) AS sensor, g.vehicle_count AS vehicles,
       f.ts AS at, count(*) AS multiplicity
FROM traffic g
JOIN traffic h ON h.report_id = g.report_id AND g.ts < h.ts
JOIN traffic f ON f.report_id = g.report_id AND h.ts < f.ts
WHERE g.avg_speed < 10 AND g.vehicle_count >= 10
  AND h.vehicle_count >= 50
  AND f.avg_speed > 110
GROUP BY ALL;
