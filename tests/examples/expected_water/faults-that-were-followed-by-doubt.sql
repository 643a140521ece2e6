-- Bag: every pair of a fault and a later doubt of one sensor. They may be of any kind of reading, of which a
-- sensor has one.
WITH said AS (
  SELECT sensor, ts, quality FROM level UNION ALL SELECT sensor, ts, quality FROM flow
  UNION ALL SELECT sensor, ts, quality FROM pressure)
SELECT sensor_iri(b.sensor) AS sensor, b.ts AS at, count(*) AS multiplicity
FROM said a JOIN said b ON a.sensor = b.sensor AND a.ts < b.ts
WHERE a.quality = 'bad' AND b.quality = 'suspect'
GROUP BY ALL;
