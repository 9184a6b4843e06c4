"""T-Miner: the public contract, and its parts on cases that can be checked by hand."""

import dataclasses
import math
import sys

import pytest
import torch

from unhorse.config import ScanConfig
from unhorse.errors import UsageError
from unhorse.invert.generator import (
    Repeating,
    Sizes,
    cache_folder,
    cache_key,
    learn_to_repeat,
    nonsense,
    pretrained,
)
from unhorse.invert.methods.tminer import (
    SMALL,
    SOURCE,
    TMiner,
    TMinerConfig,
)
from unhorse.invert.outliers import apartness, knee
from unhorse.invert.reader import Reader
from unhorse.invert.rewriting import diversity, new_words
from unhorse.invert.run import check_task
from unhorse.testing import check_method, planted_problem

TINY = {
    "epochs": 4,
    "sentence_words": 4,
    "repeat_sentences": 200,
    "repeat_epochs": 1,
    "embed": 8,
    "hidden": 16,
    "code": 4,
    "passes_per_epoch": 6,
    "decoded": 20,
    "candidates": 6,
    "negatives": 10,
    "auxiliary": 20,
}


@pytest.fixture(autouse=True)
def cache(tmp_path_factory, monkeypatch):
    folder = tmp_path_factory.getbasetemp() / "cache"
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    return folder


def test_contract():
    check_method("tminer", finds=False, **TINY)


def mining(**changes):
    return TMiner().begin(
        planted_problem(), TMinerConfig(**{"trigger_length": 3, **TINY, **changes})
    )


def spread(rows, aim):
    return diversity(torch.tensor([rows]).transpose(0, 1), IDS, aim).item()


IDS = torch.tensor([[0], [0]])
VARIED = [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
ALIKE = [[0.0, 1.0, 0.0], [0.0, 1.0, 0.0]]


def test_the_sign_of_diversity():
    assert spread(VARIED, "raise") == pytest.approx(-math.log(2))
    assert spread(VARIED, "raise") < spread(ALIKE, "raise"), "raising: more diverse is better"
    assert spread(VARIED, "lower") > spread(ALIKE, "lower")
    assert SMALL.diversity_aim == "raise" and SOURCE.diversity_aim == "lower"


def test_words_that_a_sentence_had_are_not_new():
    assert spread([[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]], "raise") == 0
    assert new_words([[5, 6, 7]], [[7, 5, 6]], most=3) == []


def test_eps_is_where_the_curve_bends():
    assert knee([1, 1, 1, 1, 5, 9]) == 1
    assert knee([2, 2, 2]) == 2


def test_a_planted_outlier_is_apart_and_an_ordinary_point_is_not():
    generator = torch.Generator().manual_seed(0)
    ordinary = torch.randn(200, 8, generator=generator)
    far, near = apartness(torch.stack([torch.full((8,), 9.0), torch.zeros(8)]), ordinary)
    assert far > 1 >= near
    assert apartness(torch.ones(2, 8), torch.ones(10, 8)) == [0.0, 0.0]


def test_it_convicts_by_its_outlier_test(monkeypatch):
    made = mining()
    made.advance([0])
    monkeypatch.setattr(made.miners[0], "flip_rates", lambda deltas: {(3,): 0.9, (4,): 0.1})
    asked = []
    monkeypatch.setattr(made.miners[0], "apartness", lambda kept: asked.extend(kept) or [2.5])
    native = made.found(0).native
    assert (native.measure, native.value, native.convicts) == ("outlier", 2.5, True)
    assert asked == [(3,)], "only candidates that flip enough are tested"


def test_without_any_candidate_it_acquits_and_still_hands_out_a_trigger(monkeypatch):
    made = mining()
    made.advance([0])
    monkeypatch.setattr(made.miners[0], "candidates", lambda epochs: ())
    found = made.found(0)
    assert found.native.value == 0 and found.native.convicts is False and len(found.choice) == 3


def test_other_tasks_are_refused():
    problem = planted_problem()
    subject = problem.objective.subject
    subject.loaded = dataclasses.replace(subject.loaded, task="question-answering")
    with pytest.raises(UsageError, match="not for question-answering"):
        TMiner().begin(problem, TMinerConfig())
    with pytest.raises(UsageError, match="tminer is defined for"):
        check_task(ScanConfig(method="tminer"), "token-classification")


def test_it_says_when_scikit_learn_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.cluster", None)
    with pytest.raises(UsageError, match="needs scikit-learn"):
        mining()


def test_arms_that_differ_in_position_share_one_generator_each_at_its_own_pace():
    made = mining()
    made.advance([0])
    made.advance([0])
    assert made.miners[0] is made.miners[1]
    spent = made.problem.meter.tokens
    made.advance([1])
    assert made.problem.meter.tokens == spent, "that epoch had been done"
    assert made.books[1].losses == made.books[0].losses[:1]


def test_the_generator_is_trained_once_and_a_broken_file_is_replaced(cache, monkeypatch):
    sizes, how = Sizes(20, 4, 8, 16, 4, 0.0), Repeating(64, 1, 16, 1e-3)
    steps = []
    first = pretrained(["a"], sizes, how, lambda: steps.append(1))
    again = pretrained(["a"], sizes, how, lambda: steps.append(1))
    assert len(steps) == 4 and torch.equal(first.write.weight, again.write.weight)
    path = cache_folder() / f"{cache_key(['a'], sizes, how)}.safetensors"
    assert path.is_relative_to(cache) and [p.suffix for p in path.parent.iterdir()].count("") == 0
    path.write_bytes(b"broken")
    rebuilt = pretrained(["a"], sizes, how, lambda: steps.append(1))
    assert len(steps) == 8 and torch.equal(first.write.weight, rebuilt.write.weight)
    assert cache_key(["b"], sizes, how) != cache_key(["a"], sizes, how)
    pretrained(["a"], sizes, how, lambda: pytest.fail("the new file was not used"))


def test_the_generator_learns_to_repeat():
    sizes, how = Sizes(20, 4, 16, 32, 8, 0.0), Repeating(1000, 2, 16, 1e-2)
    made = learn_to_repeat(sizes, how, lambda: None)
    ids = nonsense(20, 50, 4, torch.Generator().manual_seed(1))
    assert (made.greedy(ids, torch.ones(50)) == ids).float().mean() > 0.9


def test_a_soft_sentence_of_vertices_is_read_as_the_hard_one():
    problem = planted_problem()
    reader = Reader(problem.objective.subject, torch.arange(57))
    assert (reader.before, reader.behind) == ((1,), (2,))
    ids = torch.tensor([[4, 14, 5], [6, 7, 8]])
    alpha = torch.nn.functional.one_hot(ids, 57).float().requires_grad_()
    soft = reader.soft_scores(alpha)
    assert torch.allclose(soft, reader.scores(ids), atol=1e-6)
    assert reader.scores(ids).argmax(-1).tolist() == [1, 0], "number 14 is the planted token 17"
    meter = problem.meter
    assert (meter.forward_tokens, meter.backward_tokens) == (30, 10)
