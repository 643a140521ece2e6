-- Updates: one row for each road and step with a fast reading after congestion, over all matches up to then. One
-- match is a congested and a later fast row of traffic whose sensors are on one road.
-- Ontology: CongestedReading = dense or gridlocked, which do not overlap.
WITH located AS (
  SELECT t.ts, t.avg_speed, t.vehicle_count, t.avg_measured_time, r.street
  FROM traffic t
  JOIN sensor s ON s.REPORT_ID = t.report_id
  JOIN road r ON r.street = s.POINT_1_STREET
), found AS (
  SELECT f.street, f.ts, count(*) AS pairs, sum(c.avg_measured_time) AS total
  FROM located c
  JOIN located f ON f.street = c.street AND c.ts < f.ts
  WHERE c.avg_speed < 20 AND c.vehicle_count >= 10 AND f.avg_speed > 110 AND c.avg_measured_time IS NOT NULL
  GROUP BY ALL
)
SELECT road_iri(street) AS road, ts AS at, sum(pairs) OVER so_far AS pairs, sum(total) OVER so_far AS total
FROM found
WINDOW so_far AS (PARTITION BY street ORDER BY ts);
