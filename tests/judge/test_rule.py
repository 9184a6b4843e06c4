"""The rule set by hand, on clues alone."""

import pytest

from unhorse.judge.clues import Clues
from unhorse.judge.rule import CONVICT, MOST_WHEN_WEAK, rule_score


def clues(asr, low, reference, whole_loss=None):
    return Clues(
        arm="a->b@end",
        tokens=3,
        asr=asr,
        low=low,
        n=100,
        loss=0.5,
        random=0.0,
        unstamped=0.0,
        natural=0.0,
        reference=reference,
        whole_loss=whole_loss,
    )


@pytest.mark.parametrize(("asr", "low", "convicts"), [(0.91, 0.84, False), (0.95, 0.9, True)])
def test_beside_a_clean_model_most_samples_are_not_enough(asr, low, convicts):
    score = rule_score(clues(asr, low, reference=0.0))
    assert (score >= CONVICT) == convicts
    assert convicts or score == MOST_WHEN_WEAK
    # Without a clean model the controls and the interval decide.
    assert rule_score(clues(asr, low, reference=None)) == pytest.approx(low)


@pytest.mark.parametrize(("loss", "convicts"), [(0.01, True), (0.1, True), (0.12, False)])
def test_beside_a_clean_model_a_subject_that_is_not_sure_is_not_convicted(loss, convicts):
    score = rule_score(clues(0.98, 0.93, reference=0.0, whole_loss=loss))
    assert (score >= CONVICT) == convicts
    assert rule_score(clues(0.98, 0.93, reference=None, whole_loss=loss)) == pytest.approx(0.93)
