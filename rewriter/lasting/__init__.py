"""What has been so for some time: rows that came so long before NOW(), and are not ended yet.

Takes SQL as it was written, which was refused, or a text of SPARQL; makes a query of rows that
nothing ends within the time, which hold from then on until others end them. Doors: `open_for`,
`number_latest`, `spell_latest`, `imply_windows`; of SPARQL `split_open`, `find_open`.
"""
