-- How R2RML makes IRIs from columns. In a template, every character outside RFC 3987's
-- `iunreserved` is percent-encoded: a space is, a Danish letter is not.
CREATE OR REPLACE MACRO iri_safe(value) AS
  array_to_string(list_transform(string_split(value, ''),
                                 lambda c: CASE WHEN unicode(c) >= 160 THEN c ELSE url_encode(c) END), '');
CREATE OR REPLACE MACRO reading_iri(id) AS 'http://traffic.example/reading/' || id;
CREATE OR REPLACE MACRO sensor_iri(report_id) AS 'http://traffic.example/sensor/' || report_id;
CREATE OR REPLACE MACRO road_iri(street) AS 'http://traffic.example/road/' || iri_safe(street);
