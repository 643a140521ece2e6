"""Data for a new project that is not in files here: of URLs, of standard input, of MQTT's topics.

Takes what `init --from` names; gives files in a folder. Doors: `fetch_file`, `hear_topic`.
"""
