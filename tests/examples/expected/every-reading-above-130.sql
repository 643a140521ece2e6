-- Bag. One match is one row of traffic; a row delivered twice matches twice.
-- Ontology: nothing. `at` is the row's own timestamp.
SELECT reading_iri(id) AS reading, sensor_iri(report_id) AS sensor, avg_speed AS speed,
       ts AS at, count(*) AS multiplicity
FROM traffic
WHERE avg_speed > 130
GROUP BY ALL;
