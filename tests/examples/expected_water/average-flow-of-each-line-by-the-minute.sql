-- Minutes that the history covers to the end, with the moment when they are over.
WITH rows AS (
  SELECT s.line, date_trunc('minute', f.ts) AS minute, f.litres, f.ts
  FROM flow f JOIN sensor s ON s.id = f.sensor)
SELECT line_iri(line) AS line, minute, (sum(litres) * 10)::DOUBLE / (10 * count(*))::DOUBLE AS average,
  max(litres) AS most, minute + INTERVAL 1 MINUTE AS at
FROM rows GROUP BY line, minute
HAVING minute + INTERVAL 1 MINUTE <= (SELECT max(ts) FROM flow) + INTERVAL 1 SECOND;
