SELECT t.report_id, COUNT(*) AS n
FROM (SELECT DISTINCT report_id FROM traffic WHERE avg_speed < 10) slow JOIN traffic t ON t.report_id = slow.report_id
GROUP BY t.report_id
