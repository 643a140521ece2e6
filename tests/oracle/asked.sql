-- Questions of test_asked_sql.py, one a line: answered as DuckDB answers them over the history, of which EARLY
-- is the part whose buckets are over; or, under a comment that says so, refused with what the comment says.

SELECT 1 AS c, sensor FROM reading
SELECT 1 AS c, 2.5 AS d, TRUE AS b, 'x' AS e, -3 AS f, sensor FROM reading
SELECT DISTINCT level FROM reading UNION SELECT 3 FROM reading
SELECT level, sensor FROM reading UNION SELECT 3, 'a' FROM alarm UNION SELECT grade, 'b' FROM alarm
SELECT level AS x, 7 AS c FROM reading UNION ALL SELECT 3, level FROM reading
SELECT amount AS x FROM reading UNION ALL SELECT 1.5 FROM reading
SELECT 1.5 AS x FROM reading UNION SELECT 1.50 FROM alarm UNION SELECT 2.25 FROM reading
SELECT c + 1 AS d, sensor FROM (SELECT 1 AS c, sensor FROM reading) x
SELECT r.sensor, 4 AS c, a.grade FROM reading r LEFT JOIN alarm a ON a.ts = r.ts AND a.sensor = r.sensor
SELECT r.sensor, 4 AS c, r.level + a.grade AS k FROM reading r JOIN alarm a ON a.ts = r.ts AND a.sensor = r.sensor
SELECT sensor, 2 AS c, LAG(level) OVER (PARTITION BY sensor ORDER BY ts) AS l FROM reading
SELECT sensor, date_trunc('hour', ts) AS h FROM reading WHERE EARLY GROUP BY 1, 2
SELECT sensor, date_trunc('hour', ts) AS h FROM reading WHERE EARLY GROUP BY 1, 2 HAVING COUNT(*) > 3
SELECT ts, sensor FROM reading WHERE EARLY GROUP BY ts, sensor
SELECT DISTINCT date_trunc('hour', ts) AS h, sensor FROM reading WHERE EARLY
SELECT DISTINCT CAST(ts AS DATE) AS d FROM reading WHERE EARLY AND level > 5
SELECT DISTINCT CAST(ts AS DATE) AS d, HOUR(ts) AS h, level FROM reading WHERE EARLY AND level > 5
SELECT DISTINCT HOUR(ts) AS h FROM reading WHERE EARLY AND level > 5
SELECT DISTINCT 1 AS one, TRUE AS b, date_trunc('day', ts) AS h FROM reading WHERE EARLY
SELECT DISTINCT date_trunc('hour', ts) AS h, s.city FROM reading r JOIN sensor s ON s.id = r.sensor WHERE EARLY
SELECT DISTINCT date_trunc('hour', ts) AS h, s.city FROM reading r LEFT JOIN sensor s ON s.id = r.sensor WHERE EARLY
SELECT date_trunc('day', h) AS d, COUNT(*) AS n FROM (SELECT DISTINCT date_trunc('hour', ts) AS h, sensor FROM reading WHERE EARLY) x GROUP BY d
SELECT sensor FROM reading GROUP BY sensor
SELECT sensor, level FROM reading GROUP BY 1, level
SELECT UPPER(sensor) AS s, level + 1 AS x FROM reading GROUP BY s, x
SELECT sensor FROM (SELECT sensor FROM reading GROUP BY sensor) x
SELECT sensor FROM reading WHERE sensor IN (SELECT id FROM sensor GROUP BY id)
SELECT 1 AS one, 'x' AS e, 2.5 AS b, COUNT(*) AS n, date_trunc('day', ts) AS h FROM reading WHERE EARLY GROUP BY h
SELECT h, n, c FROM (SELECT date_trunc('hour', ts) AS h, COUNT(*) AS n, 5 AS c FROM reading WHERE EARLY GROUP BY 1) x WHERE n > c

-- refused: SELECT DISTINCT
SELECT HOUR(ts) AS h FROM reading GROUP BY h
-- refused: select level too
SELECT sensor FROM reading GROUP BY sensor, level
-- refused: GROUP BY is outside
SELECT sensor FROM reading GROUP BY sensor UNION SELECT id FROM sensor
