-- Changes. Of each sensor the speeds of its latest time, as often as they were measured; what the next time changes.
WITH told AS (SELECT report_id, ts, avg_speed, count(*) AS n FROM traffic GROUP BY ALL),
times AS (SELECT DISTINCT report_id, ts FROM traffic),
steps AS (SELECT report_id, ts, lag(ts) OVER (PARTITION BY report_id ORDER BY ts) AS before FROM times),
now AS (SELECT s.report_id, s.ts, t.avg_speed, t.n FROM steps s JOIN told t ON t.report_id = s.report_id AND t.ts = s.ts),
old AS (SELECT s.report_id, s.ts, t.avg_speed, -t.n AS n FROM steps s JOIN told t ON t.report_id = s.report_id AND t.ts = s.before),
changes AS (
  SELECT report_id, ts, avg_speed, sum(n) AS n FROM (SELECT * FROM now UNION ALL SELECT * FROM old) AS both_of_them
  GROUP BY ALL HAVING sum(n) <> 0
)
SELECT sensor_iri(report_id) AS sensor, avg_speed AS speed, ts AS at, CASE WHEN n > 0 THEN '+' ELSE '-' END AS op,
       CAST(abs(n) AS BIGINT) AS multiplicity
FROM changes;
