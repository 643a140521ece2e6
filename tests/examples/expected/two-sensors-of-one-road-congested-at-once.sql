-- Bag. One match is two rows of traffic of one timestamp, with the sensors they name and the road of both.
-- Ontology: CongestedReading = DenseReading or GridlockedReading, which do not overlap:
-- below 20 km/h with 10 vehicles or more.
WITH congested AS (
  SELECT t.id, t.ts, s.REPORT_ID AS number, r.street
  FROM traffic t
  JOIN sensor s ON s.REPORT_ID = t.report_id
  JOIN road r ON r.street = s.POINT_1_STREET
  WHERE t.avg_speed < 20 AND t.vehicle_count >= 10
)
SELECT reading_iri(a.id) AS first, reading_iri(b.id) AS second, road_iri(a.street) AS road,
       a.ts AS at, count(*) AS multiplicity
FROM congested a
JOIN congested b ON b.ts = a.ts AND b.street = a.street AND a.number < b.number
GROUP BY ALL;
