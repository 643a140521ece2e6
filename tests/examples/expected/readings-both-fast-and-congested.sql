-- Bag. A reading is both if one row (ids are a key) is above 110 and below 20 km/h: there is none.
SELECT reading_iri(id) AS reading, ts AS at, count(*) AS multiplicity
FROM traffic
WHERE avg_speed > 110 AND avg_speed < 20 AND vehicle_count >= 10
GROUP BY ALL;
