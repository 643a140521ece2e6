WITH hourly AS (
  SELECT report_id, date_trunc('hour', ts) AS hour, AVG(avg_speed) AS mean
  FROM traffic
  GROUP BY report_id, hour
)
SELECT b.report_id, b.hour, a.mean AS before, b.mean
FROM hourly a, hourly b
WHERE a.report_id = b.report_id AND b.hour = a.hour + INTERVAL '1' HOUR AND b.mean < a.mean - 10
