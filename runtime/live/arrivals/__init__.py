"""What a micro-batch brings: files (`read_arrivals`) and Kafka's messages (`read_stream`).

Takes Spark's offsets and logs of files; makes tables of rows by stream. Late and repeated rows
become rejects here (`ingest`). Door for `live` only.
"""
