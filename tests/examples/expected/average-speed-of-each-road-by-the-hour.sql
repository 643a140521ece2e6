-- One row for each road and hour that is over: the last step of an hour ends with it.
WITH located AS (
  SELECT t.ts, t.avg_speed, r.street
  FROM traffic t
  JOIN sensor s ON s.REPORT_ID = t.report_id
  JOIN road r ON r.street = s.POINT_1_STREET
  WHERE t.avg_speed IS NOT NULL
)
SELECT road_iri(street) AS road, date_trunc('hour', ts) AS hour, sum(avg_speed)::DOUBLE / count(*) AS average,
       count(*) AS readings, hour + INTERVAL 1 HOUR AS at
FROM located
GROUP BY street, hour
HAVING hour + INTERVAL 1 HOUR <= (SELECT max(ts) FROM traffic) + INTERVAL 5 MINUTE;
