-- Bag. A congested row beside which no free-flowing row of the same sensor comes within 30 minutes, at the end of
-- these, where the history goes as far.
-- Ontology: FreeFlowReading = fast (above 110 km/h) or steady (5 vehicles or more at 60 to 110), which do not overlap.
SELECT sensor_iri(c.report_id) AS sensor, reading_iri(c.id) AS jam, c.ts + INTERVAL 30 MINUTE AS at,
       count(*) AS multiplicity
FROM traffic c
WHERE c.avg_speed < 20 AND c.vehicle_count >= 10
  AND c.ts + INTERVAL 30 MINUTE <= (SELECT max(ts) FROM traffic)
  AND NOT EXISTS (
    SELECT 1 FROM traffic f
    WHERE f.report_id = c.report_id AND c.ts < f.ts AND f.ts <= c.ts + INTERVAL 30 MINUTE
      AND (f.avg_speed > 110 OR f.avg_speed BETWEEN 60 AND 110 AND f.vehicle_count >= 5))
GROUP BY ALL;
