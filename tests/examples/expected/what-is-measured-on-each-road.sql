-- Updates: one row for each road and step with readings, over all readings up to then. One match is a row of
-- traffic whose sensor is on a road. DuckDB's avg would round twice.
SELECT DISTINCT road_iri(r.street) AS road, t.ts AS at,
       count(*) OVER so_far AS readings, count(DISTINCT t.report_id) OVER so_far AS sensors,
       sum(t.avg_speed) OVER so_far / count(*) OVER so_far AS average, max(t.avg_speed) OVER so_far AS fastest,
       median(t.avg_speed) OVER so_far AS middle
FROM traffic t
JOIN sensor s ON s.REPORT_ID = t.report_id
JOIN road r ON r.street = s.POINT_1_STREET
WHERE t.avg_speed IS NOT NULL
WINDOW so_far AS (PARTITION BY r.street ORDER BY t.ts RANGE UNBOUNDED PRECEDING);
