"""The page of how well the cost models rank, from the records of benchmarks/model_rank.py: a part of report.py."""
import json

from report_text import median_text, wrapped

WORST = 12  # problems that the page shows, of each strategy


def model_page(results):
    """Of all records *-model.json in the folder `results`; empty without one."""
    text = ""
    for path in sorted(results.glob("*-model.json"), reverse=True):
        record = json.loads(path.read_text(encoding="utf-8"))
        text += f"\n## {record['device']}\n\n" + summary_table(record["summary"])
        for strategy in record["summary"]:
            text += "\n" + worst_table(strategy, [row for row in record["rows"] if row["strategy"] == strategy])
    if not text:
        return ""
    return "# How well the models rank\n\n" + wrapped("""The configurations that searches have timed, as the cost model of each strategy ranks them
(`benchmarks/model_rank.py`). *First* is how many times as long as the fastest takes the one that the model puts first: what a user without a tune
may lose; *of six* is the best of the model's first six, which a short search tries. Searches try what an earlier model liked, so the page says
nothing of configurations that no model has liked.""") + "\n" + text


def summary_table(summary):
    text = """| strategy | problems | trials | first, on average | in nine of ten | at most | of six, on average | at most |
|---|--:|--:|--:|--:|--:|--:|--:|
"""
    for strategy, of in summary.items():
        first, few = of["first"], of["of_first"]
        text += (f"| {strategy} | {of['problems']} | {of['trials']} | {first['mean']:.3f} | {first['nine_of_ten']:.2f} | {first['most']:.2f} | "
                 f"{few['mean']:.3f} | {few['most']:.2f} |\n")
    return text


def worst_table(strategy, rows):
    text = f"""| {strategy}, worst first | trials | best ms | first | of six | model / best |
|---|--:|--:|--:|--:|--:|
"""
    for row in sorted(rows, key=lambda row: -row["first"])[:WORST]:
        text += (f"| {row['problem']} | {row['trials']} | {median_text(row['best_ms'])} | {row['first']:.2f} | {row['of_first']:.2f} | "
                 f"{row['model_of_best']:.2f} |\n")
    return text
