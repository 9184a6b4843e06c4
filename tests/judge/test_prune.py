"""Pruning to the fewest tokens that keep the effect."""

from dataclasses import replace

from unhorse.judge.prune import prune
from unhorse.types import Effect


def effect(asr):
    return Effect(1 - asr, asr, 20, asr, 20, (0.0, 1.0), asr)


def pruned(ids, works):
    """Prunes a trigger that works exactly when `works(set of ids)` does."""
    asked = []

    def effects_of(many):
        asked.append(len(many))
        return [effect(1.0 if works(set(one)) else 0.2) for one in many]

    return prune(ids, effect(1.0), effects_of), asked


def test_one_planted_token_is_found_in_one_look():
    assert pruned((5, 6, 7, 8), lambda ids: 7 in ids) == ((7,), [4])


def test_a_conjunction_keeps_its_tokens_in_order():
    found, _ = pruned(tuple(range(10)), lambda ids: {2, 5, 9} <= ids)
    assert found == (2, 5, 9)


def test_two_tokens_are_not_split_further():
    found, _ = pruned((1, 2, 3), lambda ids: {1, 2} <= ids)
    assert found == (1, 2)


def test_a_trigger_that_needs_everything_stays():
    found, _ = pruned((1, 2, 3, 4), lambda ids: len(ids) == 4)
    assert found == (1, 2, 3, 4)


def test_a_weaker_but_sufficient_effect_is_kept():
    def effects_of(many):
        return [replace(effect(0.91 if one == (3,) else 0.5), loss=0.04) for one in many]

    assert prune((1, 2, 3), effect(1.0), effects_of) == (3,)


def test_a_token_that_flips_as_many_but_less_surely_is_not_all_that_is_left():
    def effects_of(many):
        return [replace(effect(0.95), loss=0.4) for _ in many]

    assert prune((1, 2), replace(effect(1.0), loss=0.01), effects_of) == (1, 2)
