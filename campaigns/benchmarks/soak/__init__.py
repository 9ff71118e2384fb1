"""Many evaluations in a row, some hostile: what is left behind, and whether they get slower.

`census` counts what can be left behind, `run` evaluates, `page` writes the report.
"""
