"""The page of what is shipped beside fresh tunes, from the records of benchmarks/shipped_check.py: a part of report.py."""
import json

from report_text import median_text, wrapped
from rondo_program import middle


def shipped_page(results):
    """Of all records *-shipped-check.json in the folder `results`; empty without one."""
    text = ""
    for path in sorted(results.glob("*-shipped-check.json"), reverse=True):
        record = json.loads(path.read_text(encoding="utf-8"))
        text += f"""
## {record['device']}, fresh tunes of {record['seconds']:g} s

| problem | cell | B, T, H, D | dtype | pass | what was taken | ms | tuned ms | ratio | at most |
|---|---|---|---|---|---|--:|--:|--:|--:|
"""
        for row in sorted(record["rows"], key=lambda row: (row["kind"] != "listed", row["ratio"])):
            taken, tuned = (middle(row[key]["ms"]) for key in ("shipped", "tuned"))
            text += (f"| {row['kind']} | {row['cell']} | {row['B']}, {row['T']}, {row['H']}, {row['D']} | {row['dtype']} | {row['pass']} | "
                     f"{row['shipped']['origin']} | {median_text(taken)} | {median_text(tuned)} | {row['ratio']:.2f} | "
                     f"{record['limits'][row['kind']]:.2f} |\n")
    if not text:
        return ""
    return "# What is shipped\n\n" + wrapped("""What [the shipped choices](../tuning.md#what-is-shipped) give without tuning, beside a fresh tune, timed in
turns (`benchmarks/shipped_check.py`). *Listed* problems are drawn from those that were tuned; *beside* them are others with another B, T, D, type, or
a cell of one's own. A ratio above 1 says that the fresh tune is faster. What is shipped was tuned for 12 to
14 s each, and most of it more than once; for the H100 the search started from the H200's.""") + "\n" + text
