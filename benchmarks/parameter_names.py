"""Tuning parameters that records hold, under the names of this version.

Records are never rewritten: what was measured under earlier names stays as it was written, and readers map it. parameter_names.json has
what they need of the strategies' tables; a test (tests/schedule/problem) compares it with these.
"""
import json
import pathlib

_TOLD = json.loads(pathlib.Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
# By strategy: the earlier name, and the name now with what is added to the value.
RENAMED = _TOLD["renamed"]
# By strategy: parameters that a record may be too old to have, and the values that change nothing.
ADDED = _TOLD["added"]
# By parameter: the words that texts for people have for its values.
WORDS = _TOLD["words"]


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
