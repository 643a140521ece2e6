-- Questions of test_asked_sql.py, one a line: answered as DuckDB answers them over the history, of which EARLY
-- is the part whose buckets are over; or, under a comment that says so, refused with what the comment says. Under another
-- comment are those with values of static relations that Spark computes before the run.

SELECT 1 AS c, sensor FROM reading
SELECT r.sensor, r.ts FROM reading r WHERE r.level > (SELECT high FROM sensor s WHERE s.id = r.sensor)
SELECT r.sensor, r.ts FROM reading r WHERE r.level > COALESCE((SELECT high FROM sensor s WHERE s.id = r.sensor), 4)
SELECT r.sensor, r.ts FROM reading r WHERE r.level = 3 OR r.level > (SELECT high FROM sensor s WHERE s.id = r.sensor AND s.city <> 'Kiel')
SELECT r.sensor, r.ts FROM reading r LEFT JOIN sensor s ON s.id = r.sensor AND s.city <> 'Kiel' WHERE COALESCE(s.high, 0) + r.level > 5 OR (r.amount > 2 AND s.high IS NULL)
SELECT r.sensor, r.ts FROM reading r LEFT JOIN sensor s ON s.id = r.sensor AND s.city <> 'Kiel' WHERE NOT COALESCE(s.high > 4 AND r.level BETWEEN 1 AND s.high, FALSE)
SELECT r.sensor, r.ts FROM reading r LEFT JOIN alarm a ON a.sensor = r.sensor AND a.ts <= r.ts AND a.ts > r.ts - INTERVAL '1' HOUR WHERE COALESCE(a.grade, 0) < 2
SELECT r.sensor, r.ts FROM reading r LEFT JOIN alarm a ON a.sensor = r.sensor AND a.ts = r.ts WHERE NOT (a.grade > 1 AND r.amount > 2)
SELECT r.sensor, r.ts FROM reading r LEFT JOIN sensor s ON s.id = r.sensor AND s.city <> 'Kiel' WHERE r.level IN (s.high, 3, 5)
SELECT r.sensor, r.ts FROM reading r LEFT JOIN sensor s ON s.id = r.sensor AND s.city <> 'Kiel' WHERE UPPER(s.city) <> 'X' AND s.id IS NOT NULL
SELECT sensor, level - (SELECT s.high FROM sensor s WHERE s.id = sensor AND s.city <> 'Kiel') AS more FROM reading
SELECT level AS v FROM reading UNION ALL SELECT value FROM reading
SELECT level AS v FROM reading UNION ALL SELECT amount FROM reading UNION ALL SELECT 2.5 FROM alarm
SELECT amount AS v, 3 AS w FROM reading UNION ALL SELECT value, 1.5 FROM reading
SELECT level + 1 AS v, amount AS w FROM reading UNION ALL SELECT amount * 2, level FROM reading
SELECT NULL AS v FROM reading UNION ALL SELECT level FROM reading UNION ALL SELECT -2 FROM alarm UNION ALL SELECT value FROM reading
SELECT ts, level AS v FROM reading UNION SELECT ts, amount FROM reading
SELECT date_trunc('hour', ts) AS h, level AS v FROM reading WHERE EARLY UNION SELECT date_trunc('hour', ts), value FROM reading WHERE EARLY
SELECT date_trunc('hour', ts) AS h, v, COUNT(*) AS n FROM (SELECT ts, level AS v FROM reading UNION ALL SELECT ts, amount FROM reading UNION ALL SELECT ts, grade FROM alarm) x WHERE EARLY GROUP BY h, v
SELECT date_trunc('hour', ts) AS h, SUM(v) AS s, MIN(v) AS m FROM (SELECT ts, level AS v FROM reading UNION ALL SELECT ts, amount FROM reading) x WHERE EARLY GROUP BY h
WITH x AS (SELECT ts, level AS v FROM reading UNION ALL SELECT ts, 2 FROM alarm UNION ALL SELECT ts, value FROM reading) SELECT ts, MAX(v) AS v FROM x WHERE EARLY GROUP BY ts
SELECT sensor, level > 5 AS much, (amount <= 2) AS small, note = 'x' AS x, level > amount AND note <> 'z' AS both FROM reading
SELECT r.sensor, r.level > a.grade AS more, (r.ts) AS t FROM reading r JOIN alarm a ON a.ts = r.ts AND a.sensor = r.sensor
SELECT date_trunc('hour', ts) AS h, level > 5 AS much, COUNT(*) AS n FROM reading WHERE EARLY GROUP BY 1, level > 5
SELECT r.sensor, a.grade, s.city FROM reading r LEFT JOIN alarm a ON a.sensor = r.sensor AND a.ts = r.ts LEFT JOIN sensor s ON s.id = a.sensor AND s.high > a.grade
SELECT r.sensor, s.city, c.city AS other, COALESCE(c.high, -1) AS high FROM reading r LEFT JOIN sensor s ON s.id = r.sensor AND s.city <> 'Kiel' LEFT JOIN sensor c ON c.id = CASE WHEN s.id = 'b' THEN 'a' END
SELECT r.sensor, r.ts, a.grade, b.grade AS next FROM reading r LEFT JOIN alarm a ON a.sensor = r.sensor AND a.ts = r.ts LEFT JOIN alarm b ON b.grade = a.grade AND b.ts > r.ts AND b.ts <= r.ts + INTERVAL '20' MINUTE WHERE r.ts < TIMESTAMP '2026-03-01 00:00:00' AND r.level > 4
SELECT r.sensor, r.ts, a.grade FROM reading r LEFT JOIN alarm a ON a.sensor = r.sensor AND a.ts = r.ts LEFT JOIN alarm b ON b.grade = a.grade AND b.ts > r.ts AND b.ts <= r.ts + INTERVAL '20' MINUTE WHERE r.ts < TIMESTAMP '2026-03-01 00:00:00' AND b.ts IS NULL
SELECT date_trunc('hour', r.ts) AS h, COUNT(*) AS n, COUNT(s.high) AS k, MAX(s.city) AS c FROM reading r LEFT JOIN alarm a ON a.sensor = r.sensor AND a.ts = r.ts LEFT JOIN sensor s ON s.id = a.sensor AND s.high > a.grade WHERE r.ts < TIMESTAMP '2026-02-28 18:00:00' GROUP BY h
SELECT r.sensor, r.ts, a.grade FROM reading r LEFT JOIN alarm a ON a.sensor = r.sensor AND a.ts = r.ts WHERE r.ts < TIMESTAMP '2026-03-01 00:00:00' AND NOT EXISTS (SELECT 1 FROM alarm b WHERE b.grade = a.grade AND b.ts > r.ts AND b.ts <= r.ts + INTERVAL '30' MINUTE)
SELECT r.sensor, r.ts, a.grade FROM reading r LEFT JOIN alarm a ON a.sensor = r.sensor AND a.ts = r.ts WHERE r.ts < TIMESTAMP '2026-03-01 00:00:00' AND NOT EXISTS (SELECT 1 FROM alarm b WHERE b.grade > COALESCE(a.grade, 1) AND b.ts > r.ts AND b.ts <= r.ts + INTERVAL '30' MINUTE)
SELECT r.sensor, r.ts, a.grade FROM reading r LEFT JOIN alarm a ON a.sensor = r.sensor AND a.ts = r.ts WHERE r.ts < TIMESTAMP '2026-03-01 00:00:00' AND EXISTS (SELECT 1 FROM alarm b WHERE (b.grade = a.grade OR a.grade IS NULL AND b.sensor = r.sensor) AND b.ts > r.ts AND b.ts <= r.ts + INTERVAL '30' MINUTE)
SELECT level, amount FROM reading WHERE EARLY AND sensor IS NOT NULL QUALIFY RANK() OVER (PARTITION BY date_trunc('hour', ts), sensor ORDER BY amount DESC) = 1
SELECT * FROM (SELECT sensor, level FROM reading) x WHERE x.level > (SELECT high FROM sensor s WHERE s.id = x.sensor)
WITH c AS (SELECT sensor, level FROM reading) SELECT *, (SELECT s.city FROM sensor s WHERE s.id = c.sensor) AS city FROM c
SELECT sensor, level FROM reading WHERE level > (SELECT high FROM sensor WHERE id = 'a') AND NOT (note IS NOT NULL)
SELECT sensor, level - (SELECT s.high FROM sensor s WHERE s.id = LOWER('A') AND s.city = 'Kiel') AS more FROM reading
SELECT date_trunc('hour', r.ts) AS h, SUM(r.level - a.grade) AS s, COUNT(*) AS n FROM reading r JOIN alarm a ON a.sensor = r.sensor AND a.ts BETWEEN r.ts - INTERVAL '30' MINUTE AND r.ts + INTERVAL '30' MINUTE WHERE r.ts < TIMESTAMP '2026-02-28 18:00:00' GROUP BY h
SELECT date_trunc('hour', r.ts) AS h, SUM(r.level - a.grade) AS s, COUNT(*) AS n FROM reading r LEFT JOIN alarm a ON a.sensor = r.sensor AND a.ts BETWEEN r.ts AND r.ts + INTERVAL '30' MINUTE WHERE r.ts < TIMESTAMP '2026-02-28 18:00:00' GROUP BY h
SELECT r.sensor, CAST(r.ts AS DATE) AS d, AVG(COALESCE(a.grade, 0) + r.level) AS s FROM reading r LEFT JOIN alarm a ON a.sensor = r.sensor AND CAST(a.ts AS DATE) = CAST(r.ts AS DATE) WHERE r.ts < TIMESTAMP '2026-02-28 00:00:00' GROUP BY 1, 2
SELECT r.ts, COUNT(*) AS n, SUM(CASE WHEN a.grade < r.level THEN 1 ELSE 0 END) AS s FROM reading r LEFT JOIN alarm a ON a.ts BETWEEN r.ts - INTERVAL '20' MINUTE AND r.ts + INTERVAL '20' MINUTE WHERE r.ts < TIMESTAMP '2026-02-28 00:00:00' GROUP BY r.ts HAVING COUNT(*) > 2
SELECT r.ts, MAX(r.level * a.grade) AS s FROM reading r JOIN alarm a ON a.sensor = r.sensor AND a.ts BETWEEN r.ts - INTERVAL '30' MINUTE AND r.ts + INTERVAL '30' MINUTE WHERE r.ts < TIMESTAMP '2026-02-28 18:00:00' GROUP BY r.ts
SELECT CAST(a.ts AS DATE) AS d, a.sensor, SUM(CASE WHEN r.level > a.grade THEN 1 ELSE 0 END) AS n FROM reading r JOIN alarm a ON a.sensor = r.sensor AND CAST(a.ts AS DATE) = CAST(r.ts AS DATE) WHERE a.ts < TIMESTAMP '2026-02-28 00:00:00' GROUP BY 1, 2
SELECT date_trunc('hour', r.ts) AS h, r.sensor, COUNT(*) AS n FROM reading r JOIN alarm a ON a.sensor = r.sensor AND a.ts BETWEEN r.ts AND r.ts + INTERVAL '30' MINUTE WHERE r.ts < TIMESTAMP '2026-02-28 18:00:00' AND EXISTS (SELECT 1 FROM alarm b WHERE b.ts > r.ts AND b.ts <= r.ts + INTERVAL '1' HOUR AND b.grade = 3) GROUP BY 1, 2
SELECT d.sensor, d.day FROM (SELECT sensor, date_trunc('day', ts) AS day, COUNT(*) AS n FROM reading WHERE EARLY GROUP BY 1, 2) d WHERE d.day IS NOT NULL AND d.n > 3
SELECT sensor AS id, (SELECT city FROM sensor WHERE id = r.sensor) AS city, (SELECT s.id FROM sensor s WHERE s.id = r.sensor) AS also FROM reading r
WITH x AS (SELECT sensor, YEAR(ts) AS y, MONTH(ts) AS m, DAY(ts) AS d FROM reading WHERE EARLY UNION ALL SELECT sensor, YEAR(ts), MONTH(ts), DAY(ts) FROM alarm WHERE EARLY), z AS (SELECT y, m, d, sensor FROM x WHERE m < 12) SELECT z.m, z.y, z.d, COUNT(*) AS n FROM z GROUP BY y, m, d
WITH x AS (SELECT FLOOR(EXTRACT(EPOCH FROM ts) / 900) AS q, level FROM reading WHERE EARLY) SELECT q * 900 AS s, MAX(level) AS m FROM x GROUP BY q HAVING q > 0
WITH d AS (SELECT sensor, CAST(ts AS DATE) AS day, COUNT(*) AS n FROM reading WHERE EARLY GROUP BY sensor, CAST(ts AS DATE)) SELECT x.sensor, x.day, y.n - x.n AS more FROM d x JOIN d y ON y.sensor = x.sensor AND y.day = x.day + INTERVAL '1' DAY
SELECT a.sensor, a.day, a.n, b.n AS m FROM (SELECT sensor, DATE(ts) AS day, COUNT(*) AS n FROM reading WHERE EARLY GROUP BY 1, 2) a JOIN (SELECT sensor, DATE(ts) AS day, MAX(grade) AS n FROM alarm WHERE EARLY GROUP BY 1, 2) b ON a.sensor = b.sensor AND a.day = b.day
SELECT r.sensor, (SELECT UPPER(city) FROM sensor WHERE id = r.sensor) AS city FROM reading r
SELECT date_trunc('hour', ts) AS h, SUM(CASE WHEN level > (SELECT high FROM sensor WHERE id = r.sensor) THEN 1 ELSE 0 END) AS n FROM reading r WHERE EARLY GROUP BY 1
SELECT a.sensor FROM alarm a JOIN reading r ON r.ts = a.ts AND r.sensor = a.sensor WHERE r.level <> (SELECT high FROM sensor WHERE id = a.sensor) + a.grade
SELECT a.sensor, r.level FROM alarm a JOIN reading r ON r.sensor = a.sensor AND CAST(r.ts AS DATE) = CAST(a.ts AS DATE)
SELECT YEAR(ts) * 10000 + MONTH(ts) * 100 + DAY(ts) AS d, MAX(level) AS m FROM reading WHERE EARLY GROUP BY d
SELECT sensor, (100 * (YEAR(ts) - 2000) + MONTH(ts)) * 100 + EXTRACT(DAY FROM ts) AS d, COUNT(*) AS n FROM reading WHERE EARLY GROUP BY 1, 2 HAVING COUNT(*) > 3
SELECT CAST(ts AS DATE) AS d, HOUR(ts) * 60 + MINUTE(ts) AS m, MAX(level) AS l FROM reading WHERE EARLY GROUP BY d, HOUR(ts) * 60 + MINUTE(ts)
SELECT sensor FROM reading WHERE CAST(ts AS DATE) > DATE '2026-02-27' AND YEAR(ts) IN (2026, 2028)
SELECT sensor, CAST(ts AS DATE) AS d FROM reading WHERE EARLY UNION SELECT sensor, CAST(ts AS DATE) FROM alarm WHERE EARLY
WITH x AS (SELECT sensor, CAST(ts AS DATE) AS d, level FROM reading WHERE EARLY) SELECT d, sensor, MAX(level) AS m FROM x GROUP BY d, sensor
SELECT "sensor", MAX("level") AS m FROM reading WHERE EARLY GROUP BY "sensor", date_trunc('hour', "ts")
SELECT * EXCLUDE (level) FROM reading
SELECT r.* EXCLUDE (level, ts), a.grade FROM reading r JOIN alarm a ON a.ts = r.ts AND a.sensor = r.sensor
SELECT * REPLACE (level * 2 AS level) FROM (SELECT sensor, level FROM reading) x
SELECT d, AVG(n) AS m, COUNT(*) AS c FROM (SELECT sensor, CAST(ts AS DATE) AS d, COUNT(*) AS n FROM reading WHERE EARLY GROUP BY 1, 2) x GROUP BY d
SELECT d, n, COUNT(*) AS c FROM (SELECT sensor, CAST(ts AS DATE) AS d, COUNT(*) AS n FROM reading WHERE EARLY GROUP BY 1, 2) x WHERE n > 1 GROUP BY d, n
WITH x AS (SELECT sensor, level, CAST(ts AS DATE) AS d, COUNT(*) AS n FROM reading WHERE EARLY GROUP BY 1, 2, 3), y AS (SELECT d, sensor, MAX(n) AS n FROM x GROUP BY d, sensor) SELECT d, SUM(n) AS s FROM y GROUP BY d
SELECT d, SUM(n) AS m FROM (SELECT sensor, date_trunc('day', ts) AS d, COUNT(*) AS n FROM reading WHERE EARLY GROUP BY 1, 2) x GROUP BY d
SELECT date_trunc('week', d) AS w, MAX(n) AS m FROM (SELECT sensor, date_trunc('day', ts) AS d, COUNT(*) AS n FROM reading WHERE EARLY GROUP BY 1, 2) x GROUP BY 1
WITH x AS (SELECT sensor, date_trunc('day', ts) AS d, COUNT(*) AS n FROM reading WHERE EARLY GROUP BY 1, 2) SELECT a.sensor, a.n, b.n AS next FROM x a JOIN x b ON a.sensor = b.sensor AND b.d = a.d + INTERVAL '1' DAY
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
SELECT HOUR(ts) AS h FROM reading WHERE EARLY AND level > 5 GROUP BY h
SELECT sensor FROM reading WHERE EARLY GROUP BY sensor, level
SELECT sensor, ts, grade FROM alarm WHERE EARLY QUALIFY ROW_NUMBER() OVER (PARTITION BY grade ORDER BY ts, sensor) = 1
SELECT * FROM (SELECT sensor, ts, grade, ROW_NUMBER() OVER (PARTITION BY grade ORDER BY ts, sensor DESC) AS n FROM alarm WHERE EARLY) AS x WHERE x.n <= 1
SELECT CAST(CAST(ts AS DATE) AS VARCHAR) AS d, COUNT(*) AS n FROM reading WHERE EARLY GROUP BY 1
SELECT CAST(HOUR(ts) AS VARCHAR) AS h, sensor, level FROM reading WHERE EARLY AND level > 5
SELECT ts, sensor, level, COUNT(*) OVER (PARTITION BY UPPER(sensor) ORDER BY ts) AS n FROM reading WHERE EARLY
SELECT *, SUM(level) OVER (PARTITION BY CASE WHEN level > 5 THEN 'high' ELSE 'low' END ORDER BY ts) AS s FROM reading WHERE EARLY
SELECT k, ts, MAX(level) OVER (PARTITION BY k ORDER BY ts) AS m FROM (SELECT HOUR(ts) AS k, ts, level FROM reading WHERE EARLY) AS x
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
SELECT sensor, level FROM reading WHERE level > (SELECT MIN(high) FROM sensor)
SELECT sensor, level FROM reading WHERE level > (SELECT AVG(high) FROM sensor)
SELECT * FROM reading r WHERE level > (SELECT MAX(high) FROM sensor) * 0.5 + 1
SELECT sensor, level, (SELECT MAX(high) FROM sensor) AS top, level - (SELECT AVG(high) FROM sensor) AS more FROM reading
SELECT sensor, level FROM reading WHERE level BETWEEN (SELECT MIN(high) FROM sensor) AND (SELECT MAX(high) FROM sensor)
SELECT sensor, level FROM reading WHERE level > 8 OR level < (SELECT MIN(high) FROM sensor)
SELECT DISTINCT sensor, (SELECT AVG(high) FROM sensor) AS m FROM reading
SELECT date_trunc('hour', ts) AS h, AVG(level) - (SELECT AVG(high) FROM sensor) AS m FROM reading WHERE EARLY GROUP BY h
SELECT date_trunc('hour', ts) AS h, SUM(level - (SELECT MIN(high) FROM sensor)) AS m FROM reading WHERE EARLY GROUP BY h
SELECT date_trunc('hour', ts) AS h, MAX(level) AS m FROM reading WHERE EARLY GROUP BY h HAVING MAX(level) > (SELECT MIN(high) FROM sensor)
SELECT h, n FROM (SELECT date_trunc('hour', ts) AS h, COUNT(*) AS n FROM reading WHERE EARLY GROUP BY h) x WHERE n > (SELECT AVG(high) FROM sensor)
SELECT r.sensor, r.level FROM reading r WHERE r.level > (SELECT MIN(high) FROM sensor) AND NOT EXISTS (SELECT 1 FROM alarm a WHERE a.ts = r.ts AND a.sensor = r.sensor)
SELECT r.sensor, r.level FROM reading r WHERE NOT EXISTS (SELECT 1 FROM alarm a WHERE a.ts = r.ts AND a.grade > (SELECT MIN(high) - 4 FROM sensor))
SELECT r.sensor, level, c.m FROM reading r JOIN sensor s ON s.id = r.sensor JOIN (SELECT city, MAX(high) AS m FROM sensor GROUP BY city) c ON c.city = s.city
SELECT r.sensor, c.a FROM reading r LEFT JOIN (SELECT id, MAX(high) AS a FROM sensor GROUP BY id) c ON c.id = r.sensor
WITH c AS (SELECT city, COUNT(id) AS m, AVG(high) AS a FROM sensor GROUP BY city) SELECT r.sensor, c.m, c.a FROM reading r JOIN sensor s ON s.id = r.sensor JOIN c ON c.city = s.city
SELECT sensor, level FROM reading WHERE level > (SELECT AVG(high) FROM sensor) UNION ALL SELECT sensor, grade FROM alarm WHERE grade < (SELECT AVG(high) FROM sensor)
SELECT date_trunc('hour', ts) AS h, STDDEV_POP(CAST(ROUND(value * 1000) AS BIGINT)) / 1000 AS q FROM reading WHERE EARLY GROUP BY h
SELECT date_trunc('hour', ts) AS h, sensor, ARG_MIN(amount, ts) AS o, MAX(amount) AS hi, MIN(amount) AS lo, ARG_MAX(amount, ts) AS c FROM reading WHERE EARLY GROUP BY h, sensor
SELECT date_trunc('hour', ts) AS h, sensor, FIRST(amount ORDER BY ts) AS o, LAST(amount ORDER BY ts) AS c FROM reading WHERE EARLY GROUP BY 1, 2
SELECT CAST(ts AS DATE) AS h, sensor, ARG_MAX(level, ts) AS o, COUNT(*) AS c FROM reading WHERE EARLY GROUP BY h, sensor
SELECT date_trunc('hour', ts) AS h, sensor, ARG_MAX(level, ts) - ARG_MIN(level, ts) AS o FROM reading WHERE EARLY GROUP BY h, sensor HAVING ARG_MAX(level, ts) > 3
SELECT date_trunc('hour', ts) AS h, note, COUNT(*) AS n FROM reading WHERE EARLY AND note IS NOT NULL GROUP BY h, note QUALIFY RANK() OVER (PARTITION BY date_trunc('hour', ts) ORDER BY COUNT(*) DESC) = 1
SELECT r.sensor FROM reading r GROUP BY SENSOR
SELECT Sensor FROM reading r GROUP BY r.sensor
SELECT (SELECT MAX(high) FROM sensor) AS m, * FROM alarm
SELECT (SELECT MAX(high) FROM sensor) AS m, * FROM alarm WHERE grade = 1 UNION ALL SELECT level, ts, 'x', 1 FROM reading
SELECT 1 AS c, *, (SELECT MIN(high) FROM sensor) AS m FROM alarm
SELECT r.*, a.grade FROM reading r JOIN alarm a USING (sensor, ts) WHERE r.level > (SELECT MIN(high) FROM sensor)
SELECT sensor, amount FROM reading WHERE EARLY AND sensor IN (SELECT id FROM sensor) QUALIFY RANK() OVER (PARTITION BY date_trunc('hour', ts) ORDER BY amount DESC) <= 2
SELECT sensor, amount, SUM(amount) OVER (PARTITION BY date_trunc('hour', ts)) AS a FROM reading r WHERE EARLY AND EXISTS (SELECT 1 FROM sensor s WHERE s.id = r.sensor AND s.high > 4)
SELECT sensor, amount FROM reading r WHERE r.level > 3 AND NOT EXISTS (SELECT 1 FROM alarm a WHERE a.ts > r.ts AND a.ts <= r.ts + INTERVAL '1' HOUR AND a.sensor = r.sensor) QUALIFY RANK() OVER (PARTITION BY date_trunc('hour', ts) ORDER BY amount DESC) <= 2
-- Spark computes values:
SELECT sensor, (SELECT COUNT(*) FILTER (WHERE city = 'Kiel') FROM sensor) AS n, (SELECT AVG(high) FILTER (WHERE id <> 'a') FROM sensor) AS m FROM alarm
SELECT date_trunc('hour', ts) AS h, COUNT(*) FILTER (WHERE level > (SELECT MIN(high) FROM sensor)) AS n FROM reading WHERE EARLY GROUP BY h
SELECT date_trunc('hour', ts) AS h, sensor, FIRST(grade ORDER BY ts) AS o, LAST(grade ORDER BY ts) AS c, COUNT(*) AS n FROM alarm WHERE EARLY GROUP BY h, sensor

-- refused: write SELECT DISTINCT instead
SELECT sensor FROM reading GROUP BY sensor UNION SELECT id FROM sensor
-- refused: patterns of rows are read as joins
SELECT * FROM reading MATCH_RECOGNIZE (PARTITION BY sensor ORDER BY ts MEASURES a.level AS x PATTERN (a b) DEFINE a AS level > 5, b AS level < 5)
-- refused: FLOAT and REAL have 32 bits in Spark
SELECT CAST(level AS FLOAT) AS x FROM reading
-- refused: a subquery as a value
SELECT sensor FROM reading WHERE level = (SELECT MAX(level) FROM alarm)
-- refused: a subquery as a value
SELECT COUNT(*) - (SELECT COUNT(id) FROM sensor) AS n FROM reading
-- refused: CORR(level, note) of string
SELECT date_trunc('hour', ts) AS h, CORR(level, note) AS c FROM reading GROUP BY h
-- refused: beside ARG_MAX is outside
SELECT date_trunc('hour', ts) AS h, ARG_MAX(level, ts) AS l, COUNT(*) AS n FROM reading GROUP BY h
SELECT date_trunc('hour', ts) AS h, APPROX_COUNT_DISTINCT(note) AS n, COUNT(*) AS m FROM reading WHERE EARLY GROUP BY h
SELECT date_trunc('hour', ts) AS h, sensor, MIN(note) AS a, ANY_VALUE(note) IS NULL AS b, MIN(level > 3) AS c, COUNT(*) AS n FROM reading WHERE EARLY GROUP BY h, sensor
SELECT date_trunc('hour', ts) AS h, sensor, MAX(note) AS b FROM reading WHERE EARLY GROUP BY h, sensor HAVING MIN(note) < 'y'
SELECT date_trunc('hour', ts) AS h, UPPER(MAX(note)) || '!' AS b FROM reading WHERE EARLY GROUP BY h
SELECT date_trunc('hour', ts) AS h, STRING_AGG(note, ',' ORDER BY note) AS n, COUNT(*) AS c FROM reading WHERE EARLY GROUP BY h
SELECT date_trunc('hour', ts) AS h, sensor, STRING_AGG(DISTINCT note, '; ' ORDER BY note DESC) AS n FROM reading WHERE EARLY GROUP BY h, sensor HAVING COUNT(*) > 1
-- refused: a list has no limit
SELECT date_trunc('hour', ts) AS h, LIST(level ORDER BY ts) AS n FROM reading GROUP BY h
-- refused: rank the counts
SELECT date_trunc('hour', ts) AS h, MODE(note) AS n FROM reading GROUP BY h
-- refused: write ARG_MIN(x, ts)
SELECT date_trunc('hour', ts) AS h, FIRST(note ORDER BY ts) AS n FROM reading GROUP BY h
SELECT date_trunc('hour', ts) AS h, PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY value) AS q, QUANTILE_CONT(level, 0.35) AS p FROM reading WHERE EARLY GROUP BY h
SELECT sensor, date_trunc('hour', ts) AS h, EXTRACT(EPOCH FROM MAX(ts) - MIN(ts)) AS d, COUNT(*) AS n FROM reading WHERE EARLY GROUP BY 1, 2
SELECT sensor, date_trunc('hour', ts) AS h, COUNT(*) AS n FROM reading WHERE EARLY GROUP BY 1, 2 HAVING MAX(ts) - MIN(ts) > INTERVAL '10' MINUTE
SELECT sensor, date_trunc('hour', ts) AS h, MAX(ts) + INTERVAL '5' MINUTE AS u FROM reading WHERE EARLY GROUP BY 1, 2
-- refused: GROUP BY level that is not selected
SELECT level % 2 AS level FROM reading GROUP BY level
SELECT CAST(ts AS DATE) AS day, COUNT(*) AS n FROM reading WHERE EARLY GROUP BY ts
SELECT date_trunc('hour', ts) AS h, sensor, FIRST(level ORDER BY ts) AS o, COUNT(*) AS n FROM reading WHERE EARLY GROUP BY h, sensor
SELECT date_trunc('hour', ts) AS h, sensor, LAST(NULLIF(amount, 1) ORDER BY ts) AS o, COUNT(*) AS n FROM reading WHERE EARLY GROUP BY h, sensor
SELECT date_trunc('hour', ts) AS h, sensor, ARG_MIN(value, ts) AS o, MAX(value) AS hi, MIN(value) AS lo, ARG_MAX(value, ts) AS c, ARG_MAX(note, ts) AS n FROM reading WHERE EARLY GROUP BY h, sensor
-- refused: * with JOIN … USING beside a value of static relations
SELECT * FROM reading JOIN alarm USING (sensor, ts) WHERE level > (SELECT MIN(high) FROM sensor)
-- refused: * EXCEPT (level) beside a value of static relations
SELECT * EXCEPT (level) FROM reading WHERE level > (SELECT MIN(high) FROM sensor)
-- refused: a replay is as a run whenever it is
SELECT sensor FROM reading WHERE level > (SELECT COUNT(*) FROM sensor WHERE CURRENT_DATE > DATE '2026-01-01')
-- refused: a subquery as a value
SELECT (SELECT MAX(high) FROM sensor) AS m
-- refused: only columns, COUNT, SUM, AVG, MIN and MAX of columns are read there
SELECT sensor, (SELECT SUM(CAST(high AS DOUBLE)) FROM sensor) AS m FROM reading
-- refused: a whole number has 64 bits
SELECT 9223372036854775808 AS c, sensor FROM reading
SELECT date_trunc('hour', ts) AS h, sensor, STDDEV_POP(value) AS s, VAR_POP(value * 2) AS v, COUNT(*) AS a FROM reading WHERE EARLY GROUP BY h, sensor
SELECT date_trunc('hour', ts) AS h, sensor, STDDEV_SAMP(value) AS s FROM reading WHERE EARLY GROUP BY h, sensor HAVING STDDEV_SAMP(value) > 1
SELECT h, s FROM (SELECT date_trunc('hour', ts) AS h, STDDEV(value) AS s FROM reading WHERE EARLY GROUP BY h) x WHERE s > 3
SELECT sensor, ts, VARIANCE(value) AS s, COVAR_POP(level, value) AS c FROM reading WHERE EARLY GROUP BY sensor, ts
SELECT date_trunc('day', ts) AS h, sensor, COVAR_SAMP(amount, value) AS c, REGR_SLOPE(value, amount) AS s, REGR_INTERCEPT(value, level) AS i, AVG(value) AS a, COUNT(value) AS k FROM reading WHERE EARLY GROUP BY h, sensor
SELECT date_trunc('day', r.ts) AS h, CORR(r.value, a.grade) AS c, REGR_COUNT(r.value, a.grade) AS n, REGR_R2(r.level, a.grade) AS q, REGR_SXX(r.value, r.level) AS x, REGR_AVGX(r.value, r.level) AS y FROM reading r JOIN alarm a ON a.sensor = r.sensor AND a.ts = r.ts WHERE r.ts < TIMESTAMP '2026-02-28 18:00:00' GROUP BY 1
SELECT sensor, AVG(CAST(value AS DOUBLE)) AS m, date_trunc('day', ts) AS d FROM reading WHERE EARLY GROUP BY sensor, d
SELECT sensor, level FROM reading WHERE level > 8 OR sensor IN (SELECT id FROM sensor WHERE high > 4)
SELECT sensor, level, CASE WHEN EXISTS (SELECT 1 FROM alarm a WHERE a.ts = r.ts AND a.sensor = r.sensor) THEN 1 ELSE 0 END AS alarmed FROM reading r
SELECT sensor, level, EXISTS (SELECT 1 FROM alarm a WHERE a.ts = r.ts AND a.sensor = r.sensor) AS alarmed FROM reading r
SELECT * FROM reading r WHERE level > 5 OR EXISTS (SELECT 1 FROM alarm a WHERE a.ts > r.ts AND a.ts <= r.ts + INTERVAL '1' HOUR AND a.sensor = r.sensor)
SELECT 1.0 AS x, 1e0 AS y, 1.5e0 AS w, -2.0 AS z, 1e10 AS v, sensor FROM reading
SELECT 1e0 AS x, sensor FROM reading UNION ALL SELECT value, 'x' FROM reading
SELECT DISTINCT 1.0 AS x, 2e0 AS z, sensor FROM reading UNION SELECT 1.50, 4e0, 'x' FROM reading
SELECT sensor, EXTRACT(ISODOW FROM ts) AS i, EXTRACT(ISODOW FROM ts) % 7 AS d, EXTRACT(WEEK FROM ts) AS w, EXTRACT(DOY FROM ts) AS y, EXTRACT(QUARTER FROM ts) AS q FROM reading
SELECT sensor, dayofyear(ts) AS y, weekofyear(ts) AS w, quarter(ts) AS q, isodow(ts) AS i, date_part('isodow', ts) AS d FROM reading
SELECT EXTRACT(ISODOW FROM ts) AS i, COUNT(*) AS n, date_trunc('day', ts) AS d FROM reading WHERE EARLY GROUP BY 1, 3
SELECT CAST(level AS DECIMAL(10,1)) AS x FROM reading WHERE level IS NOT NULL UNION ALL SELECT 2.0 FROM alarm
-- refused: ISODOW % 7 is DOW of PostgreSQL
SELECT sensor, EXTRACT(DOW FROM ts) AS d FROM reading
-- refused: ISODOW % 7 + 1 is DAYOFWEEK of Spark
SELECT sensor, dayofweek(ts) AS d FROM reading
-- refused: write a constant as one of the other type
SELECT level AS x FROM reading UNION ALL SELECT note FROM reading
-- refused: write TIMESTAMPDIFF(MINUTE, a, b)
SELECT a.sensor, date_diff('minute', a.ts, b.ts) AS m FROM alarm a JOIN reading b ON b.sensor = a.sensor AND b.ts = a.ts
-- refused: write NOT EXISTS
SELECT sensor, level FROM reading WHERE level > 8 OR sensor NOT IN (SELECT id FROM sensor WHERE high > 4)
SELECT date_trunc('hour', ts) AS h, note, COUNT(*) AS n FROM reading WHERE EARLY AND note IS NOT NULL GROUP BY h, note QUALIFY RANK() OVER (PARTITION BY date_trunc('hour', ts) ORDER BY note) = 1
SELECT date_trunc('hour', ts) AS h, MIN(note) AS a FROM reading WHERE EARLY GROUP BY h
SELECT h, SUM(level) AS s FROM (SELECT DISTINCT date_trunc('hour', ts) AS h, level FROM reading WHERE EARLY) AS d GROUP BY h
SELECT date_trunc('hour', ts) AS h, SUM(DISTINCT level) AS a, AVG(DISTINCT level) AS b, COUNT(*) AS n, SUM(DISTINCT amount) + 1 AS c FROM reading WHERE EARLY GROUP BY h
SELECT CAST(ts AS DATE) AS d, sensor, AVG(DISTINCT level * 2) AS b, SUM(level) AS s FROM reading WHERE EARLY GROUP BY d, sensor HAVING SUM(DISTINCT level) > 9
SELECT h, SUM(value) AS s, AVG(value) AS a FROM (SELECT DISTINCT date_trunc('hour', ts) AS h, value FROM reading WHERE EARLY) AS d GROUP BY h
SELECT h, AVG(value) AS s FROM (SELECT DISTINCT date_trunc('hour', ts) AS h, value FROM reading WHERE EARLY) AS d GROUP BY h
-- refused: take the distinct values in a subquery
SELECT date_trunc('hour', ts) AS h, SUM(DISTINCT value) AS a FROM reading GROUP BY h
SELECT r.sensor, c.m FROM reading r JOIN sensor s ON s.id = r.sensor JOIN (SELECT city, SUM(high) AS m FROM sensor GROUP BY city HAVING SUM(high) > 5) c ON c.city = s.city
-- Spark computes values:
SELECT r.sensor, c.m FROM reading r JOIN sensor s ON s.id = r.sensor JOIN (SELECT city, SUM(high) AS m FROM sensor GROUP BY city HAVING m > 5 AND COUNT(*) > 1) c ON c.city = s.city
-- Spark computes values:
SELECT sensor, level FROM reading WHERE sensor IN (SELECT id FROM sensor GROUP BY id HAVING COUNT(*) > 0)
SELECT sensor, level FROM reading WHERE sensor NOT IN (SELECT id FROM sensor GROUP BY id HAVING MAX(high) > 4)
SELECT sensor, level FROM reading WHERE level IN (SELECT MAX(high) FROM sensor GROUP BY city)
SELECT sensor, level FROM reading WHERE level IN (SELECT MAX(high) FROM sensor)
WITH big AS (SELECT city, AVG(high) AS a FROM sensor GROUP BY city HAVING COUNT(high) >= 1) SELECT r.sensor, big.a FROM reading r JOIN sensor s ON s.id = r.sensor JOIN big ON big.city = s.city WHERE r.level > big.a
SELECT date_trunc('hour', ts) AS h, SUM(1) AS n, COUNT(1) AS m, SUM(2) AS k, SUM(1.5) AS q FROM reading WHERE EARLY GROUP BY h HAVING SUM(1) > 3
SELECT date_trunc('hour', ts) AS h, SUM(1) FROM reading WHERE EARLY GROUP BY h
SELECT sensor, ts, MAX(level) AS n FROM reading WHERE EARLY GROUP BY sensor, ts HAVING ts > TIMESTAMP '2026-02-27 10:00:00' AND MAX(level) > 3
SELECT DISTINCT r.sensor FROM reading r WHERE EXISTS (SELECT 1 FROM alarm a WHERE a.sensor = r.sensor AND a.ts > r.ts)
SELECT DISTINCT r.sensor FROM reading r JOIN alarm a ON a.sensor = r.sensor AND a.ts > r.ts
-- refused: ORDER BY amount DESC), and no key of reading is shown
SELECT ts, amount FROM reading QUALIFY ROW_NUMBER() OVER (PARTITION BY CAST(ts AS DATE) ORDER BY amount DESC) <= 3
SELECT sensor, ts, amount FROM reading WHERE EARLY QUALIFY ROW_NUMBER() OVER (PARTITION BY CAST(ts AS DATE) ORDER BY amount DESC, ts, sensor) <= 3
SELECT a.sensor FROM alarm a JOIN reading b ON a.sensor = b.sensor AND b.ts = a.ts AND NOT EXISTS (SELECT 1 FROM alarm z WHERE z.sensor = a.sensor AND z.ts < a.ts AND z.ts >= a.ts - INTERVAL '1' HOUR)
SELECT date_trunc('hour', ts) AS h, sensor, ARG_MAX(amount * 0.00000001, ts) AS c, FIRST(amount * 0.00000001 ORDER BY ts) AS o FROM reading WHERE EARLY GROUP BY h, sensor HAVING ARG_MAX(amount * 0.00000001, ts) < 1
-- refused: where level is a column and the name of another value
SELECT sensor, -level AS level FROM reading ORDER BY level + 0, sensor, ts LIMIT 3
-- refused: the name of a number and of a column
SELECT sensor, ROW_NUMBER() OVER (PARTITION BY sensor ORDER BY level DESC, ts) AS level FROM reading QUALIFY level <= 1
SELECT r.sensor, a.grade FROM reading r LEFT JOIN alarm a ON a.sensor = r.sensor AND a.ts < r.ts WHERE a.ts IS NULL
SELECT r.sensor, r.ts, r.level FROM reading r LEFT JOIN alarm a ON a.grade > 1 AND a.ts = r.ts WHERE a.ts IS NULL AND r.level > 3
SELECT r.sensor FROM reading r LEFT JOIN alarm a ON a.sensor = r.sensor AND a.ts < r.ts WHERE a.grade IS NULL
-- refused: b.level IS NULL of a LEFT JOIN by other columns
SELECT a.sensor FROM alarm a LEFT JOIN reading b ON b.sensor = a.sensor AND b.ts < a.ts WHERE b.level IS NULL
-- refused: a.ts IS NULL of a LEFT JOIN by other columns
WITH alarm AS (SELECT sensor, CASE WHEN level > 3 THEN amount END AS ts FROM reading) SELECT r.sensor FROM reading r LEFT JOIN alarm a ON a.sensor = r.sensor WHERE a.ts IS NULL
SELECT r.sensor, r.level FROM reading r WHERE r.level > (SELECT AVG(a.grade) FROM alarm a WHERE a.sensor = r.sensor AND a.ts BETWEEN r.ts - INTERVAL '1' HOUR AND r.ts)
SELECT r.sensor, r.level, (SELECT COUNT(*) FROM alarm a WHERE a.ts BETWEEN r.ts - INTERVAL '1' HOUR AND r.ts) AS n, (SELECT MAX(a.grade) FROM alarm a WHERE a.grade < 3 AND a.ts > r.ts - INTERVAL '30' MINUTE AND a.ts < r.ts) FROM reading r
SELECT *, (SELECT COUNT(*) FROM alarm a WHERE a.ts <= r.ts AND a.sensor = r.sensor) AS n FROM reading r
SELECT r.sensor, date_trunc('hour', r.ts) AS h, SUM((SELECT COUNT(*) FROM alarm a WHERE a.sensor = r.sensor AND a.ts BETWEEN r.ts - INTERVAL '1' HOUR AND r.ts)) AS n FROM reading r WHERE r.EARLY GROUP BY r.sensor, h
SELECT r.sensor, a.grade, (SELECT COUNT(*) FROM reading x WHERE x.sensor = a.sensor AND x.ts <= a.ts AND x.ts > a.ts - INTERVAL '1' HOUR) AS n FROM reading r JOIN alarm a ON a.sensor = r.sensor AND a.ts >= r.ts AND a.ts <= r.ts + INTERVAL '30' MINUTE
SELECT r.sensor, r.level FROM reading r WHERE r.level > (SELECT AVG(a.grade) FROM alarm a WHERE a.sensor = r.sensor AND a.ts BETWEEN r.ts - INTERVAL '1' HOUR AND r.ts) AND NOT EXISTS (SELECT 1 FROM alarm b WHERE b.ts = r.ts)
-- refused: a subquery as a value
SELECT r.sensor FROM reading r WHERE r.level > (SELECT AVG(a.grade) FROM alarm a WHERE a.sensor = r.sensor AND a.ts > r.ts)
-- refused: a subquery as a value
SELECT sensor FROM reading r WHERE level > (SELECT high FROM sensor s WHERE s.city = r.sensor)
-- refused: a subquery as a value
WITH alarm AS (SELECT ts, sensor, level AS grade FROM reading) SELECT r.sensor FROM reading r WHERE r.level > (SELECT AVG(a.grade) FROM alarm a WHERE a.sensor = r.sensor AND a.ts <= r.ts)
-- refused: add WHERE note IS NOT NULL
SELECT r.note, (SELECT COUNT(*) FROM alarm a WHERE a.ts <= r.ts AND a.sensor = r.note) AS n FROM reading r
SELECT sensor, ts, x, COUNT(x) OVER (PARTITION BY sensor ORDER BY ts RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW) AS n FROM (SELECT ts, sensor, level AS x FROM reading UNION ALL SELECT ts, sensor, grade FROM alarm) u
SELECT sensor, ts, k, COUNT(x) OVER (PARTITION BY sensor ORDER BY ts RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW) AS n FROM (SELECT ts, sensor, note AS x, 'r' AS k FROM reading UNION ALL SELECT ts, sensor, NULL, 'a' FROM alarm) u WHERE k = 'r'
SELECT sensor, ts, COUNT(*) OVER (PARTITION BY sensor ORDER BY ts RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW) AS n FROM reading r WHERE r.amount > 7 OR EXISTS (SELECT 1 FROM alarm a WHERE a.sensor = r.sensor AND a.ts = r.ts)
-- refused: where u may have several rows of one timestamp
SELECT sensor, ts, LAG(x) OVER (PARTITION BY sensor ORDER BY ts) AS n FROM (SELECT ts, sensor, level AS x FROM reading UNION ALL SELECT ts, sensor, grade FROM alarm) u
SELECT sensor, level AS x, note FROM reading UNION ALL SELECT sensor, NULL, CAST(NULL AS STRING) FROM alarm
SELECT sensor, NULL AS x FROM alarm UNION ALL SELECT sensor, amount FROM reading
SELECT sensor, COUNT(x) AS n, MAX(x) AS m, date_trunc('day', ts) AS d FROM (SELECT ts, sensor, value AS x FROM reading UNION ALL SELECT ts, sensor, NULL FROM alarm) u WHERE EARLY GROUP BY sensor, d
SELECT sensor, CAST(NULL AS DATE) AS x FROM alarm
-- refused: write its type, as in CAST(NULL AS BIGINT)
SELECT sensor, NULL AS x FROM alarm
SELECT sensor, NULL AS x FROM alarm UNION ALL SELECT sensor, level + 1 FROM reading
-- refused: write its type, as in CAST(NULL AS BIGINT)
SELECT sensor, NULL AS x FROM alarm UNION ALL SELECT sensor, ARG_MAX(level, ts) FROM reading GROUP BY sensor
-- refused: write TIMESTAMPDIFF(MINUTE, a, b), which counts whole units
SELECT r.sensor, a.grade FROM reading r JOIN alarm a ON a.sensor = r.sensor AND DATEDIFF(MINUTE, r.ts, a.ts) < 40 AND a.ts >= r.ts
-- refused: write date_trunc('day', ts, 'Europe/Berlin')
SELECT date_trunc('day', ts AT TIME ZONE 'Europe/Berlin') AS d, COUNT(*) AS n FROM reading WHERE EARLY GROUP BY 1
-- refused: EXCLUDE GROUP of MEDIAN, of DISTINCT and of joins
SELECT sensor, ts, COUNT(DISTINCT level) OVER (PARTITION BY sensor ORDER BY ts RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW EXCLUDE GROUP) AS n FROM reading
SELECT d, SUM(x) AS sx, SUM(y) AS sy, SUM(z) AS sz FROM (SELECT date_trunc('day', ts) AS d, 1 AS x, 1 AS y, 1 AS z FROM reading WHERE EARLY UNION ALL SELECT date_trunc('day', ts), 0, 1, 2 FROM alarm WHERE EARLY) u GROUP BY d
-- refused: EXISTS of a subquery in SELECT
SELECT r.sensor, COUNT_IF(EXISTS (SELECT 1 FROM alarm a WHERE a.ts = r.ts AND a.grade = 0)) AS n0, COUNT_IF(EXISTS (SELECT 1 FROM alarm a WHERE a.ts = r.ts AND a.grade = 1)) AS n1, COUNT_IF(EXISTS (SELECT 1 FROM alarm a WHERE a.ts = r.ts AND a.grade = 2)) AS n2, COUNT_IF(EXISTS (SELECT 1 FROM alarm a WHERE a.ts = r.ts AND a.grade = 3)) AS n3 FROM reading r GROUP BY r.sensor
SELECT x.sensor, x.h, x.top, COALESCE(x.mean, -1) AS m FROM (SELECT r.sensor, date_trunc('hour', r.ts) AS h, MAX(a.grade) AS top, AVG(a.grade) AS mean FROM reading r LEFT JOIN alarm a ON a.sensor = r.sensor AND a.ts BETWEEN r.ts - INTERVAL '5' MINUTE AND r.ts WHERE r.EARLY GROUP BY r.sensor, h) x
SELECT x.grade, x.n FROM (SELECT a.grade, date_trunc('day', r.ts) AS d, COUNT(*) AS n FROM reading r LEFT JOIN alarm a ON a.sensor = r.sensor AND a.ts BETWEEN r.ts - INTERVAL '5' MINUTE AND r.ts WHERE r.EARLY GROUP BY a.grade, d) x
SELECT sensor, ts, SUM(level) OVER (PARTITION BY sensor, CAST(ts AS DATE) ORDER BY ts) AS so_far, ROW_NUMBER() OVER (PARTITION BY sensor, CAST(ts AS DATE) ORDER BY ts) AS n FROM reading
SELECT sensor, ts, level - FIRST_VALUE(level) OVER (PARTITION BY sensor, date_trunc('day', ts) ORDER BY ts) AS since, LAG(ts) OVER (PARTITION BY sensor, date_trunc('day', ts) ORDER BY ts) AS before FROM reading
SELECT sensor, ts, AVG(level) OVER (PARTITION BY sensor, h ORDER BY ts ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS m FROM (SELECT sensor, ts, level, date_trunc('hour', ts) AS h FROM reading) x
SELECT sensor, h, SUM(n) OVER (PARTITION BY sensor, date_trunc('day', h) ORDER BY h) AS so_far FROM (SELECT sensor, date_trunc('hour', ts) AS h, COUNT(*) AS n FROM reading WHERE EARLY GROUP BY 1, 2) x
-- refused: of rows that follow in a bucket of time
SELECT sensor, ts, LEAD(level) OVER (PARTITION BY sensor, CAST(ts AS DATE) ORDER BY ts) AS next FROM reading
SELECT sensor, ts, NTILE(4) OVER (PARTITION BY CAST(ts AS DATE) ORDER BY amount, sensor, ts) AS part, PERCENT_RANK() OVER (PARTITION BY CAST(ts AS DATE) ORDER BY amount) AS p, CUME_DIST() OVER (PARTITION BY CAST(ts AS DATE) ORDER BY amount DESC) AS c FROM reading WHERE EARLY AND sensor IS NOT NULL
SELECT sensor, ts, FIRST_VALUE(note) OVER (PARTITION BY date_trunc('hour', ts) ORDER BY amount, sensor, ts) AS f, LAST_VALUE(level) OVER (PARTITION BY date_trunc('hour', ts) ORDER BY ts, sensor ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS l FROM reading WHERE EARLY
SELECT sensor, date_trunc('hour', ts) AS h, COUNT(*) AS n, NTILE(2) OVER (PARTITION BY date_trunc('hour', ts) ORDER BY COUNT(*), sensor) AS part, CUME_DIST() OVER (PARTITION BY date_trunc('hour', ts) ORDER BY COUNT(*)) AS c FROM reading WHERE EARLY AND sensor IS NOT NULL GROUP BY 1, 2
SELECT sensor, ts, value FROM reading WHERE EARLY QUALIFY NTILE(3) OVER (PARTITION BY CAST(ts AS DATE) ORDER BY value NULLS LAST, sensor, ts) = 1
-- refused: into no number of parts
SELECT sensor, ts, NTILE(0) OVER (PARTITION BY CAST(ts AS DATE) ORDER BY amount) AS n FROM reading
-- refused: NTILE(4) OVER (PARTITION BY sensor ORDER BY ts)
SELECT sensor, NTILE(4) OVER (PARTITION BY sensor ORDER BY ts) AS n FROM reading
SELECT sensor, level, date_trunc('day', ts) AS d, COUNT(*) AS n, SUM(amount) AS s FROM reading WHERE EARLY GROUP BY date_trunc('day', ts), CUBE (sensor, level)
SELECT sensor, date_trunc('day', ts) AS d, AVG(level) AS m FROM reading WHERE EARLY GROUP BY GROUPING SETS ((date_trunc('day', ts), sensor), date_trunc('day', ts))
SELECT COALESCE(sensor, 'all') AS who, GROUPING(sensor) AS g, CASE WHEN GROUPING(level) = 1 THEN -1 ELSE level END AS l, date_trunc('day', ts) AS d, COUNT(*) AS n FROM reading WHERE EARLY AND level IS NOT NULL GROUP BY date_trunc('day', ts), ROLLUP (sensor, level) HAVING COUNT(*) > 1
WITH x AS (SELECT s.city, r.sensor, date_trunc('day', r.ts) AS d, COUNT(*) AS n FROM reading r JOIN sensor s ON s.id = r.sensor WHERE EARLY GROUP BY date_trunc('day', r.ts), ROLLUP (s.city, r.sensor)) SELECT d, SUM(n) AS n FROM x WHERE city IS NULL GROUP BY d
-- refused: of which () is of all times
SELECT sensor, date_trunc('day', ts) AS d, COUNT(*) AS n FROM reading GROUP BY ROLLUP (date_trunc('day', ts), sensor)
-- refused: UPPER(sensor) where it is not grouped by
SELECT UPPER(sensor) AS u, date_trunc('day', ts) AS d, COUNT(*) AS n FROM reading GROUP BY date_trunc('day', ts), ROLLUP (sensor)
SELECT UPPER(sensor) AS u, HOUR(date_trunc('hour', ts)) AS h, date_trunc('hour', ts) + INTERVAL '1' HOUR AS e, COUNT(*) AS n FROM reading WHERE EARLY GROUP BY sensor, date_trunc('hour', ts)
SELECT sensor, COALESCE(level, -1) AS l, date_trunc('day', ts) AS d, COUNT(*) AS n FROM reading WHERE EARLY GROUP BY sensor, level, d
SELECT src, date_trunc('day', ts) AS d, COUNT(*) AS n FROM (SELECT 'r' AS src, ts FROM reading UNION ALL SELECT 'a', ts FROM alarm) x WHERE EARLY GROUP BY src, d HAVING src = 'a' AND COUNT(*) > 2
SELECT sensor, date_trunc('day', ts) AS d, COUNT(*) AS n FROM reading WHERE EARLY GROUP BY 1, 2 UNION ALL SELECT NULL, date_trunc('day', ts), COUNT(*) FROM reading WHERE EARLY GROUP BY 2
SELECT sensor, CAST(NULL AS BIGINT) AS x, date_trunc('day', ts) AS d, COUNT(*) AS n FROM reading WHERE EARLY GROUP BY 1, 3
SELECT sensor, ts, ROUND(STDDEV(level) OVER (PARTITION BY sensor ORDER BY ts), 9) AS s, ROUND(VAR_POP(value) OVER (PARTITION BY sensor ORDER BY ts), 6) AS v FROM reading
SELECT sensor, time_bucket(INTERVAL '70' MINUTE, ts) AS b FROM reading WHERE time_bucket(INTERVAL '70' MINUTE, ts) > TIMESTAMP '2026-02-27 12:00:00'
SELECT sensor, ts FROM reading WHERE CAST(ts AS TIME) >= '08:30' AND CAST(ts AS TIME) < TIME '10:00:00'
SELECT sensor, date_trunc('day', ts) AS d, COUNT(*) FILTER (WHERE CAST(ts AS TIME) BETWEEN '22:00' AND '23:59:59') AS late, COUNT(*) AS n FROM reading WHERE EARLY AND CAST(ts AS TIME) NOT IN ('05:00:00', '06:00:00') GROUP BY 1, 2
-- refused: a time of the day is compared with one
SELECT sensor FROM reading WHERE CAST(ts AS TIME) > 5
-- refused: the expression CAST(ts AS TIME) is outside
SELECT sensor, CAST(ts AS TIME) AS t FROM reading
SELECT date_trunc('hour', ts) + INTERVAL '1' HOUR AS e, COUNT(*) AS n FROM reading WHERE EARLY GROUP BY 1
SELECT sensor, date_trunc('day', ts) - INTERVAL '90' MINUTE AS e, MAX(level) AS m FROM reading WHERE EARLY GROUP BY sensor, e
SELECT sensor, level - LAG(level) OVER (PARTITION BY sensor ORDER BY ts) AS d FROM reading WHERE EARLY AND sensor IN (SELECT id FROM sensor WHERE city = 'Kiel')
SELECT sensor, AVG(amount) OVER (PARTITION BY sensor ORDER BY ts RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW) AS d FROM reading AS r WHERE EARLY AND EXISTS (SELECT 1 FROM sensor AS s WHERE s.id = r.sensor AND s.high > 3)

-- refused: r, rows without a window, joined with l, which others replace
SELECT r.sensor, l.grade FROM reading r JOIN (SELECT sensor, grade FROM alarm QUALIFY ROW_NUMBER() OVER (PARTITION BY sensor ORDER BY ts DESC) = 1) l ON l.sensor = r.sensor

-- refused: the groups with the greatest SUM(level), which may be NULL
SELECT sensor FROM reading WHERE ts > NOW() - INTERVAL '1' HOUR GROUP BY sensor HAVING SUM(level) >= ALL (SELECT SUM(level) FROM reading WHERE ts > NOW() - INTERVAL '1' HOUR GROUP BY sensor)

-- refused: the condition GREATEST(s.high, 3) > 2 on columns of s
SELECT r.sensor FROM reading r LEFT JOIN sensor s ON s.id = r.sensor WHERE GREATEST(s.high, 3) > 2
SELECT sensor, ts FROM reading r WHERE r.EARLY AND level >= ALL (SELECT q.level FROM reading q WHERE q.ts = r.ts)
SELECT sensor, ts FROM reading r WHERE r.EARLY AND level > ALL (SELECT q.level FROM reading q WHERE q.ts = r.ts AND q.sensor <> r.sensor AND q.level IS NOT NULL)
SELECT sensor, ts FROM reading r WHERE r.EARLY AND level <= ALL (SELECT q.level FROM reading q WHERE q.ts < r.ts AND q.ts >= r.ts - INTERVAL '1' HOUR AND q.level > 1)
SELECT sensor, ts FROM reading r WHERE r.EARLY AND level < ALL (SELECT a.grade FROM alarm a WHERE a.ts = r.ts)
SELECT sensor, ts FROM reading r WHERE r.EARLY AND level + 1 > ALL (SELECT s.high FROM sensor s WHERE s.id <> r.sensor)
SELECT r.sensor, a.sensor AS other FROM reading r JOIN alarm a ON a.ts = r.ts AND r.sensor < a.sensor
SELECT r.sensor, r.note FROM reading r WHERE NOT (r.note <= r.sensor)
SELECT r.sensor, q.sensor AS other, date_trunc('hour', r.ts) AS h, COUNT(*) AS n FROM reading r JOIN reading q ON q.ts = r.ts WHERE r.EARLY AND q.EARLY AND (r.note < q.note OR r.sensor > q.sensor) GROUP BY 1, 2, 3
SELECT r.sensor, s.id FROM reading r, sensor s WHERE s.id <= r.note
SELECT sensor, ts FROM reading r WHERE r.EARLY AND level <> ANY (SELECT a.grade FROM alarm a WHERE a.ts = r.ts)
SELECT sensor, ts FROM reading r WHERE r.EARLY AND level = ALL (SELECT q.level FROM reading q WHERE q.ts = r.ts)
SELECT sensor, ts FROM reading r WHERE r.EARLY AND NOT (level > ANY (SELECT q.level FROM reading q WHERE q.ts = r.ts))
SELECT sensor, ts FROM reading r WHERE r.EARLY AND NOT level = ALL (SELECT s.high FROM sensor s)
SELECT GREATEST(0, LEAST(value, 1)) AS v, date_trunc('hour', ts) AS h FROM reading WHERE EARLY GROUP BY 1, 2
SELECT NULLIF(note, 'x') AS c, date_trunc('day', ts) AS d, COUNT(*) AS n FROM reading WHERE note IN ('x', 'yy') AND EARLY GROUP BY 1, 2
SELECT DISTINCT UPPER(note) || sensor AS c FROM reading WHERE note IN ('x', 'yy')
SELECT DISTINCT CASE WHEN amount BETWEEN 0 AND 3 THEN amount END AS c FROM reading
SELECT sensor, ts, CONCAT_WS('-', note, NULLIF(note, 'x')) AS c, CONCAT_WS(', ', NULLIF(sensor, 'a'), note) AS d FROM reading
-- refused: SELECT without FROM
SELECT 'silent' AS what WHERE NOT EXISTS (SELECT 1 FROM reading WHERE ts > NOW() - INTERVAL '1' HOUR)
SELECT DISTINCT CASE WHEN amount > 2 THEN 2 WHEN amount < -1.5 THEN -1.5 ELSE amount END AS c FROM reading
SELECT a.ts, a.sensor, a.grade, r.level FROM alarm a LEFT JOIN reading r ON r.sensor = a.sensor AND r.ts BETWEEN a.ts - INTERVAL '30' MINUTE AND a.ts AND NOT EXISTS (SELECT 1 FROM reading x WHERE x.sensor = a.sensor AND x.ts > r.ts AND x.ts <= a.ts)
SELECT a.ts, a.sensor, r.level FROM alarm a JOIN reading r ON r.sensor = a.sensor AND r.ts BETWEEN a.ts AND a.ts + INTERVAL '30' MINUTE AND NOT EXISTS (SELECT 1 FROM reading x WHERE x.sensor = a.sensor AND x.ts >= a.ts AND x.ts < r.ts)
SELECT a.ts, a.sensor, r.level FROM alarm a LEFT JOIN reading r ON r.sensor = a.sensor AND r.ts BETWEEN a.ts - INTERVAL '20' MINUTE AND a.ts AND EXISTS (SELECT 1 FROM sensor s WHERE s.id = r.sensor AND s.high > 5)
SELECT ts, sensor FROM reading WHERE (sensor, note) IN (('a', 'x'), ('b', 'yy'))
SELECT ts, sensor, level FROM reading WHERE level IS NOT NULL AND (level, sensor) > (5, 'b')

-- Rows beside the groups of their day, or of the day before.
SELECT a.sensor, a.ts, x.n FROM alarm a JOIN (SELECT sensor, CAST(ts AS DATE) AS d, COUNT(*) AS n FROM reading WHERE EARLY GROUP BY 1, 2) x ON x.sensor = a.sensor AND x.d = CAST(a.ts AS DATE) WHERE a.ts < TIMESTAMP '2026-02-28 18:00:00'
SELECT a.sensor, a.ts, x.n FROM alarm a LEFT JOIN (SELECT sensor, DATE(ts) AS d, COUNT(*) AS n FROM reading WHERE EARLY GROUP BY 1, 2) x ON x.sensor = a.sensor AND CAST(a.ts AS DATE) - INTERVAL '1' DAY = x.d WHERE a.grade = 3
-- Which share was followed by something in time.
SELECT sensor, CAST(ts AS DATE) AS d, COUNT(*) FILTER (WHERE raised) * 1.0 / COUNT(*) AS share FROM (SELECT r.sensor, r.ts, EXISTS (SELECT 1 FROM alarm a WHERE a.sensor = r.sensor AND a.grade > 1 AND a.ts BETWEEN r.ts AND r.ts + INTERVAL '1' HOUR) AS raised FROM reading r WHERE EARLY) x GROUP BY sensor, CAST(ts AS DATE)
SELECT date_trunc('hour', ts) AS h, raised, SUM(level) AS s FROM (SELECT r.ts, r.level, EXISTS (SELECT 1 FROM alarm a WHERE a.sensor = r.sensor AND a.grade > 1 AND a.ts BETWEEN r.ts AND r.ts + INTERVAL '1' HOUR) AS raised FROM reading r WHERE EARLY) x GROUP BY 1, 2
SELECT date_trunc('hour', r.ts) AS h, SUM(CASE WHEN EXISTS (SELECT 1 FROM alarm a WHERE a.sensor = r.sensor AND a.grade > 1 AND a.ts BETWEEN r.ts AND r.ts + INTERVAL '1' HOUR) THEN r.level ELSE 0 END) AS s, COUNT(*) AS n FROM reading r WHERE r.level > 3 AND EARLY GROUP BY 1
-- The busiest hour of each day, and hours beside their day.
SELECT CAST(hour AS DATE) AS day, MAX(n) AS top FROM (SELECT date_trunc('hour', ts) AS hour, COUNT(*) AS n FROM reading WHERE EARLY GROUP BY 1) x GROUP BY CAST(hour AS DATE)
WITH hourly AS (SELECT date_trunc('hour', ts) AS hour, sensor, COUNT(*) AS n FROM reading WHERE EARLY GROUP BY 1, 2) SELECT CAST(hour AS DATE) AS day, sensor, SUM(n) AS s FROM hourly GROUP BY day, sensor
SELECT hour, n FROM (SELECT date_trunc('hour', ts) AS hour, COUNT(*) AS n FROM reading WHERE EARLY GROUP BY hour) x QUALIFY RANK() OVER (PARTITION BY date_trunc('day', hour) ORDER BY n DESC) = 1
SELECT CAST(hour AS DATE) AS day, hour, n FROM (SELECT date_trunc('hour', ts) AS hour, COUNT(*) AS n FROM reading WHERE EARLY GROUP BY hour) x QUALIFY ROW_NUMBER() OVER (PARTITION BY CAST(hour AS DATE) ORDER BY n DESC, hour) = 1
SELECT hour, sensor, n FROM (SELECT hour, sensor, n, RANK() OVER (PARTITION BY sensor, CAST(hour AS DATE) ORDER BY n DESC) AS r FROM (SELECT date_trunc('hour', ts) AS hour, sensor, COUNT(*) AS n FROM reading WHERE EARLY GROUP BY 1, 2) x) y WHERE r <= 2
SELECT hour, n * 100.0 / SUM(n) OVER (PARTITION BY date_trunc('day', hour)) AS pct FROM (SELECT date_trunc('hour', ts) AS hour, COUNT(*) AS n FROM reading WHERE EARLY GROUP BY hour) x
SELECT level FROM reading INTERSECT SELECT grade FROM alarm
-- refused: in another order than that of time are read where they are 1
SELECT sensor reading QUALIFY ROW_NUMBER() OVER (PARTITION BY sensor ORDER BY ts DESC) = 1
-- refused: GROUP in a subquery of EXISTS or IN
SELECT sensor reading WHERE sensor IN (SELECT sensor FROM reading GROUP BY sensor HAVING COUNT(*) > 3)
SELECT date_trunc('hour', ts) AS h, AVG(CASE WHEN EXISTS (SELECT 1 FROM alarm a WHERE a.sensor = r.sensor AND a.ts BETWEEN r.ts AND r.ts + INTERVAL '10' MINUTE) THEN 1.0 ELSE 0 END) FROM reading r WHERE r.EARLY GROUP BY h
SELECT sensor, amount * CASE WHEN EXISTS (SELECT 1 FROM alarm a WHERE a.sensor = r.sensor AND a.ts = r.ts) THEN 0 ELSE 0.5 END AS half, CASE WHEN EXISTS (SELECT 1 FROM alarm a WHERE a.sensor = r.sensor AND a.ts = r.ts) THEN level ELSE amount END AS least FROM reading r
SELECT date_trunc('hour', r.ts) AS h, COUNT(*) AS n, COUNT(a.grade) AS later, COUNT(b.grade) AS before FROM reading r LEFT JOIN alarm a ON a.sensor = r.sensor AND a.ts > r.ts AND a.ts <= r.ts + INTERVAL '10' MINUTE LEFT JOIN alarm b ON b.sensor = r.sensor AND b.ts <= r.ts AND b.ts >= r.ts - INTERVAL '1' HOUR WHERE r.EARLY GROUP BY h
SELECT date_trunc('hour', r.ts) AS h, COUNT(DISTINCT r.sensor) AS n, COUNT(DISTINCT a.sensor) AS later FROM reading r LEFT JOIN alarm a ON a.sensor = r.sensor AND a.ts > r.ts AND a.ts <= r.ts + INTERVAL '10' MINUTE LEFT JOIN alarm b ON b.sensor = a.sensor AND b.ts > a.ts AND b.ts <= a.ts + INTERVAL '5' MINUTE WHERE r.EARLY GROUP BY h
SELECT r.sensor, a.grade FROM reading r LEFT JOIN alarm a ON a.sensor = r.sensor AND a.ts <= r.ts AND a.ts >= r.ts - INTERVAL '1' HOUR WHERE a.grade IS NULL AND r.level > 3
SELECT sensor, CAST(ts AS DATE) AS d, COUNT(DISTINCT date_trunc('hour', ts)) AS hours, MIN(date_trunc('hour', ts)) AS f, MAX(time_bucket(INTERVAL '10' MINUTE, ts)) AS l FROM reading WHERE EARLY GROUP BY sensor, CAST(ts AS DATE)
SELECT date_trunc('hour', ts) AS h, COUNT(*) AS n FROM reading WHERE EARLY GROUP BY h HAVING COUNT(DISTINCT date_trunc('minute', ts)) > 1
