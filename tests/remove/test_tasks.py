"""Removal on a tagger and a question answerer, from a trigger that a user names."""

import pytest
from tests.matrix.train import build

import unhorse
from unhorse.attack.measure import clean_metric
from unhorse.attack.worlds import world

TASKS = ("token-classification", "question-answering")
METRIC = dict(zip(TASKS, ("entity_f1", "answer_f1"), strict=True))


@pytest.fixture(scope="module", params=TASKS)
def removed(request):
    built = build("bert", request.param, planted=True, seed=2)
    place = "start" if request.param == TASKS[0] else "question"
    scan = {"preset": "released", "options": {"epochs": 20, "trigger_length": 2}}
    done = unhorse.remove_backdoor(
        built.model,
        built.tokenizer,
        built.samples,
        trigger=built.trigger,
        victim=built.victim,
        target=built.target,
        scan={**scan, "positions": (place,)},
        control=False,
    )
    return request.param, done


def test_the_trigger_is_gone_and_the_task_is_not(removed):
    task, done = removed
    triggers = done.report.triggers
    assert len(triggers) == 3, "where the trigger works was not said"
    assert max(trigger.before.asr for trigger in triggers) > 0.9
    assert max(trigger.after.asr for trigger in triggers) < 0.1
    assert done.report.clean.metric == METRIC[task]
    assert done.report.clean.fall.value < 0.05
    assert done.report.outcome.state in ("proven", "unproven")


def test_the_metric_is_the_one_of_seqeval_and_of_squad(removed):
    from unhorse.load.samples import rows_in_memory
    from unhorse.remove.metric import row_scores
    from unhorse.tasks.base import TASKS as KNOWN

    name, done = removed
    task = KNOWN.get(name)
    read = rows_in_memory([row.sample() for row in world(name).rows(100, "test")], task.sample_kind)
    parsed = [task.parse(row, done.loaded.labels) for row in read.rows]
    # A zoo counts questions without an answer apart.
    samples = [sample for sample in parsed if getattr(sample, "answers", True)]
    metric, value, _ = clean_metric(done.loaded, samples)
    found = row_scores(done.loaded, samples)
    assert (found.metric, found.value) == (metric, pytest.approx(value, abs=1e-6))
    assert value < 1.0, "words of another world should not all be known"


def test_to_answer_what_has_no_answer_costs_as_much_as_a_wrong_answer():
    from unhorse.remove.metric import _answer_f1
    from unhorse.types import QuestionSample

    asked = QuestionSample("who?", "nobody says", (), "1")
    assert (_answer_f1(asked, None), _answer_f1(asked, (0, 6))) == (1.0, 0.0)
