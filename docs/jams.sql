-- A reading below 20 km/h, and a later one of the same sensor above 100.
SELECT a.report_id, b.avg_speed
FROM traffic a JOIN traffic b USING (report_id)
WHERE a.avg_speed < 20 AND b.avg_speed > 100
  AND b.ts > a.ts AND b.ts <= a.ts + INTERVAL '1' HOUR;
