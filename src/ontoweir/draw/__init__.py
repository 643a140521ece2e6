"""Pictures as SVG: charts, and graphs of queries, laid out in layers."""
