-- Bag. One match is a congested and a later fast row of traffic whose sensors are on one road.
-- Ontology: CongestedReading = dense or gridlocked, which do not overlap.
WITH located AS (
  SELECT t.id, t.ts, t.avg_speed, t.vehicle_count, r.street
  FROM traffic t
  JOIN sensor s ON s.REPORT_ID = t.report_id
  JOIN road r ON r.street = s.POINT_1_STREET
)
SELECT reading_iri(f.id) AS fast, f.avg_speed AS speed, road_iri(f.street) AS road,
       f.ts AS at, count(*) AS multiplicity
FROM located c
JOIN located f ON f.street = c.street AND c.ts < f.ts
WHERE c.avg_speed < 20 AND c.vehicle_count >= 10 AND f.avg_speed > 110
GROUP BY ALL;
