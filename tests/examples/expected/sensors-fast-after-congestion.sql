-- Bag. One match is a congested and a later fast row of the same sensor. The register is not asked.
SELECT sensor_iri(c.report_id) AS sensor, f.ts AS at, count(*) AS multiplicity
FROM traffic c
JOIN traffic f ON f.report_id = c.report_id AND c.ts < f.ts
WHERE c.avg_speed < 20 AND c.vehicle_count >= 10 AND f.avg_speed > 110
GROUP BY ALL;
