-- Bag. A row with 50 vehicles or more and each congested row of its sensor of the next 15 minutes; where there is none,
-- NULL, at the end of these, where the history goes as far.
WITH heavy AS (SELECT * FROM traffic WHERE vehicle_count >= 50),
jammed AS (SELECT * FROM traffic WHERE avg_speed < 20 AND vehicle_count >= 10),
pairs AS (
  SELECT h.report_id, h.id AS heavy, j.id AS jam, coalesce(j.ts, h.ts + INTERVAL 15 MINUTE) AS told
  FROM heavy h LEFT JOIN jammed j ON j.report_id = h.report_id AND h.ts < j.ts AND j.ts <= h.ts + INTERVAL 15 MINUTE
)
SELECT sensor_iri(report_id) AS sensor, reading_iri(heavy) AS load, reading_iri(jam) AS jam, told AS at, count(*) AS multiplicity
FROM pairs
WHERE told <= (SELECT max(ts) FROM traffic)
GROUP BY ALL;
