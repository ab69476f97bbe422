"""Tuning parameters that records hold, under the names of this version.

Records are never rewritten: what was measured under earlier names stays as it was written, and readers map it. The tables are those of
`schedule::Strategy::renamed_parameters` and `added_parameters` (compiler/schedule/*/strategy.cpp).
"""
# By strategy: the earlier name, and the name now with what is added to the value.
RENAMED = {
    "stream": {
        "cluster": ("time_split", 0),
        "grid": ("exchange", 0),
        "behind": ("pipeline_depth", 1),
        "shorten": ("rewrite", 0),
        "pieces": ("interleaved_copies", 0),
        "loaders": ("producer_warps", 0),
    },
    "persistent": {
        "grid": ("exchange", 0),
        "share": ("cluster_k_split", 0),
        "lend": ("setmaxnreg", 0),
        "resident": ("register_k_tiles", 0),
        "splits": ("split_k", 0),
        "chains": ("accumulators", 0),
        "loaders": ("producer_warps", 0),
        "writers": ("store_warps", 0),
        "together": ("batch_tiles_in_flight", 0),
    },
}
# By strategy: parameters that a record may be too old to have, and the values that change nothing.
ADDED = {
    "stream": {"time_split": 1, "exchange": 0, "stream_stores": 0, "interleaved_copies": 0, "pipeline_depth": 1},
    "shoot": {"keep_inputs": 0},
    "persistent": {"reduce_scatter": 0, "cluster_k_split": 1, "setmaxnreg": 0, "poll_delay": 0},
}

# By parameter: the words that texts for people have for its values (compiler/schedule/problem/parameters.cpp).
WORDS = {"exchange": {"cluster": 0, "global": 1, "launch": 2}, "keep_inputs": {"memory": 0, "shared": 1, "registers": 2},
         "rewrite": {"none": 0, "latency": 1, "throughput": 2}}


def from_text(text):
    """The numbers of "channels=96 exchange=global"."""
    parts = (word.split("=") for word in text.split())
    return {name: WORDS.get(name, {}).get(value) if value in WORDS.get(name, {}) else int(value) for name, value in parts}


def current(strategy, parameters):
    """The recorded parameters of one choice, with every earlier name replaced."""
    names = RENAMED.get(strategy, {})
    result = {}
    for name, value in parameters.items():
        now, shift = names.get(name, (name, 0))
        result[now] = value + shift
    return result


def completed(strategy, parameters):
    """The same, and what was added since the record at the values that change nothing."""
    return ADDED.get(strategy, {}) | current(strategy, parameters)
