-- Bag. One match is a congested row and a free-flowing row of the same sensor up to 30 minutes later. The register is
-- not asked.
-- Ontology: FreeFlowReading = fast (above 110 km/h) or steady (5 vehicles or more at 60 to 110), which do not overlap.
SELECT sensor_iri(c.report_id) AS sensor, reading_iri(c.id) AS jam, reading_iri(f.id) AS clear, f.avg_speed AS speed,
       f.ts AS at, count(*) AS multiplicity
FROM traffic c
JOIN traffic f ON f.report_id = c.report_id AND c.ts < f.ts AND f.ts <= c.ts + INTERVAL 30 MINUTE
WHERE c.avg_speed < 20 AND c.vehicle_count >= 10
  AND (f.avg_speed > 110 OR f.avg_speed BETWEEN 60 AND 110 AND f.vehicle_count >= 5)
GROUP BY ALL;
