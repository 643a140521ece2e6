SELECT date_trunc('hour', b.ts) AS hour, COUNT(*) AS recovered, AVG(TIMESTAMPDIFF(MINUTE, a.ts, b.ts)) AS minutes
FROM traffic a JOIN traffic b ON a.report_id = b.report_id
WHERE a.avg_speed < 20 AND b.avg_speed > 60 AND b.ts > a.ts AND b.ts <= a.ts + INTERVAL '30' MINUTE
  AND NOT EXISTS (SELECT 1 FROM traffic m WHERE m.report_id = a.report_id AND m.ts > a.ts AND m.ts < b.ts)
GROUP BY hour
