"""A model is asked about a row once, where what it said may be remembered."""

from __future__ import annotations

from unhorse.tasks.ask import ask


def test_rows_that_were_heard_are_not_asked_again(scripted):
    asked = []

    def script(ids):
        asked.append(tuple(ids))
        return [float(sum(ids)), 0.0]

    loaded = scripted("wordpiece", script).loaded
    heard = {}

    def said(rows, types=None, memory=heard):
        return ask(loaded, rows, lambda out, i, _: out.logits[i, 0].item(), types, memory)

    assert said([[5, 6], [7, 8]]) == [11.0, 15.0]
    assert said([[7, 8], [9, 9], [5, 6]]) == [15.0, 18.0, 11.0]
    assert sorted(asked) == [(5, 6), (7, 8), (9, 9)]
    # Other segments are another row, and without a memory everything is asked.
    assert said([[5, 6]], [[0, 1]]) == [11.0]
    assert said([[5, 6]], memory=None) == [11.0]
    assert asked.count((5, 6)) == 3


def test_an_empty_memory_is_filled(scripted):
    loaded = scripted("wordpiece", lambda ids: [1.0, 0.0]).loaded
    heard = {}
    ask(loaded, [[4, 5]], lambda out, i, _: out.logits[i, 0].item(), heard=heard)
    assert list(heard.values()) == [1.0]
