"""Messages of MQTT, kept as the JSON lines that replays and live runs read. Door: `receive_stream`.

MQTT has no offsets to go back to: what is acknowledged is gone. So a message is acknowledged once
its line is on the disk, and the folder of these lines is what is read, with the guarantees that
files have.
"""
