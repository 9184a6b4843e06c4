"""What a third party needs to test a plug-in of its own against unhorse's contracts.

`check_method` runs the contract of inversion methods; `planted_problem` is the
small problem with a known answer behind it. `check_removal` runs the contract of
removal methods; `planted_case` is the small trojaned model behind it. `tiny_model`
makes randomly initialised models of every supported architecture in milliseconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor, nn

from unhorse.invert.base import METHODS, Method, MethodConfig, Problem
from unhorse.invert.budget import BudgetSpent, Meter
from unhorse.invert.engine import ModelLoss
from unhorse.invert.objective import Objective
from unhorse.remove.contract import check_removal as check_removal
from unhorse.remove.contract import planted_case as planted_case
from unhorse.tasks.base import TASKS, EncodedRow
from unhorse.triggers.place import IN_TEXT
from unhorse.types import Arm, Inversion, LoadedModel, Origin, TextSample

TINY_VOCABULARY = 99
TINY_PAD_ID = 1

_SIZES: dict[str, dict[str, Any]] = {
    "bert": {"intermediate_size": 64},
    "distilbert": {"dim": 32, "hidden_dim": 64, "n_layers": 2, "n_heads": 4},
    "roberta": {"intermediate_size": 64, "max_position_embeddings": 66},
    "gpt2": {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64},
    "mobilebert": {
        "intermediate_size": 64,
        "embedding_size": 16,
        "intra_bottleneck_size": 16,
        "num_feedforward_networks": 2,
    },
    "electra": {"intermediate_size": 64, "embedding_size": 16},
    "albert": {"intermediate_size": 64, "embedding_size": 16},
    "deberta-v2": {
        "intermediate_size": 64,
        "relative_attention": True,
        "position_biased_input": False,
        "pos_att_type": ["c2p", "p2c"],
    },
    "modernbert": {"intermediate_size": 64, "global_attn_every_n_layers": 2, "cls_token_id": 2},
}

TINY_ARCHITECTURES = tuple(_SIZES)

_HEADS = {
    "sequence-classification": "AutoModelForSequenceClassification",
    "token-classification": "AutoModelForTokenClassification",
    "question-answering": "AutoModelForQuestionAnswering",
}

TINY_HEADS = tuple(_HEADS)


def tiny_model(architecture: str, head: str = "sequence-classification", seed: int = 0) -> Any:
    """A small random model in evaluation mode.

    Args:
        architecture: one of `TINY_ARCHITECTURES`.
        head: one of `TINY_HEADS`.
        seed: decides the weights.
    """
    import transformers

    common = {
        "vocab_size": TINY_VOCABULARY,
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "max_position_embeddings": 64,
        "num_labels": 2 if head == "question-answering" else 3,
        "pad_token_id": TINY_PAD_ID,
        "bos_token_id": 2,
        "eos_token_id": 3,
    }
    if architecture in ("distilbert", "gpt2"):
        # These spell their sizes differently and map the common names to their own.
        for name in ("hidden_size", "num_hidden_layers", "num_attention_heads"):
            common.pop(name)
    if architecture == "gpt2":
        common.pop("max_position_embeddings")
    config = transformers.AutoConfig.for_model(architecture, **{**common, **_SIZES[architecture]})
    auto = getattr(transformers, _HEADS[head])
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return auto.from_config(config, attn_implementation="eager").eval()


class PlantedBag(nn.Module):
    """A classifier whose score is a sum over tokens, with one planted token.

    Each token adds its own small evidence; the planted one adds enough to decide
    every text. So the best trigger is known and the gradients can be computed by
    hand.
    """

    def __init__(self, planted: int, strength: float = 12.0, seed: int = 0) -> None:
        super().__init__()
        self.config = SimpleNamespace(vocab_size=PLANTED_VOCABULARY)
        self.embedding = nn.Embedding(PLANTED_VOCABULARY, 8)
        generator = torch.Generator().manual_seed(seed)
        evidence = torch.randn(PLANTED_VOCABULARY, 8, generator=generator) * 0.1
        evidence[planted, 0] = strength
        self.embedding.weight.data = evidence
        self.requires_grad_(False)

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.embedding.weight.device

    def get_input_embeddings(self) -> nn.Embedding:
        """The layer that the engine's hook sits on."""
        return self.embedding

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> SimpleNamespace:
        """Scores of the two labels; a text without the planted token is label 0."""
        kept = self.embedding(input_ids) * attention_mask.unsqueeze(-1)
        evidence = kept[..., 0].sum(-1) - 3.0
        return SimpleNamespace(logits=torch.stack([-evidence, evidence], -1))


PLANTED_VOCABULARY = 60
_SPECIAL_IDS = (0, 1, 2)


def planted_problem(
    planted: int = 17,
    *,
    arms: int = 2,
    samples: int = 6,
    slots: int = 3,
    seed: int = 0,
    barred_in: Sequence[int] = (),
) -> Problem:
    """A small inversion problem whose answer is the token `planted`.

    The arms in `barred_in` may not use that token.
    """
    tokenizer: Any = SimpleNamespace(pad_token_id=0)
    loaded = LoadedModel(
        model=PlantedBag(planted),
        tokenizer=tokenizer,
        task="sequence-classification",
        labels=("no", "yes"),
        architecture="PlantedBag",
        max_length=64,
        origin=Origin("planted"),
    )
    generator = torch.Generator().manual_seed(1)

    def sample(length: int) -> TextSample:
        choices = [i for i in range(3, PLANTED_VOCABULARY) if i != planted]
        picks = torch.randint(len(choices), (length,), generator=generator).tolist()
        text = " ".join(str(choices[i]) for i in picks)
        return TextSample(text, 0, text)

    def row(sample: TextSample, slots: int) -> EncodedRow:
        ids = (1, *[3] * slots, *map(int, sample.text.split()), 2)
        return EncodedRow(ids, tuple(range(1, slots + 1)), tuple(range(slots)), goal=1)

    def pose(arms: Sequence[int], samples: Sequence[Sequence[Any]], slots: int) -> Objective:
        rows = [[row(each, slots) for each in own] for own in samples]
        return Objective(ModelLoss(loaded, TASKS.get(loaded.task), rows, allowed, count=meter))

    victims = tuple(tuple(sample(4 + (arm + n) % 5) for n in range(samples)) for arm in range(arms))
    allowed = torch.tensor([i for i in range(PLANTED_VOCABULARY) if i not in _SPECIAL_IDS])
    meter = Meter()
    named = tuple(Arm((0,), 1, IN_TEXT[i % 4], f"no{i // 4}", "yes") for i in range(arms))
    barred = dict.fromkeys(barred_in, allowed == planted)
    objective = pose(range(arms), victims, slots)
    return Problem(named, objective, allowed, seed, "", barred, victims=victims, pose=pose)


def check_method(name: str, *, finds: bool = True, even: bool = True, **options: Any) -> None:
    """Runs the contract of inversion methods on the method called `name`.

    One Inversion per arm; ids from the allowed tokens only; not longer than asked for;
    a loss and temperature for every epoch; the same seed gives the same result,
    whatever arms are advanced together; a barred token is never used; the planted token
    is found; a budget is respected, and what was found before it was spent is handed
    out; as much work is done in an epoch as the method says.

    Args:
        name: the registered name of the method.
        finds: whether the method can be expected to find the planted token.
        even: whether all epochs cost about the same, whatever the vocabulary.
        **options: constants of the method, such as fewer epochs.
    """
    method = METHODS.get(name)
    assert method.name == name
    assert set(method.passes) <= set(method.presets)
    for preset in method.presets.values():
        config = type(preset)(**{**preset.model_dump(), "trigger_length": 3, **options})
        found = _all_epochs(method, config, [(0, 1)])
        for inversion in found:
            assert inversion.completed and inversion.error is None
            assert 1 <= len(inversion.token_ids) <= config.trigger_length
            assert set(inversion.token_ids) <= set(planted_problem().allowed.tolist())
            assert len(inversion.curve.loss) == inversion.epochs == config.epochs
            assert len(inversion.curve.temperature) == config.epochs
            assert inversion.native is not None and inversion.native.measure
            assert not finds or 17 in inversion.token_ids, "the planted token was not found"
        for groups in ([(0, 1)], [(0,), (1,)]):
            again = _all_epochs(method, config, groups)
            assert [i.token_ids for i in again] == [i.token_ids for i in found]
        kept_out = method.begin(planted_problem(barred_in=[0]), config)
        for _ in range(config.epochs):
            kept_out.advance([0])
        assert 17 not in kept_out.finish([0])[0].token_ids, "a barred token was used"
        stopped = method.begin(planted_problem(), config)
        stopped.advance([1])
        assert [state.epochs for state in stopped.states()] == [0, 1]
        (early,) = stopped.finish([1])
        assert not early.completed and early.epochs == 1
        _check_budget(method, config, even=even)


def _check_budget(method: Method, config: MethodConfig, *, even: bool) -> None:
    """No pass after the budget is spent, and what was found by then is still there."""
    problem = planted_problem()
    tokens = sum(bucket.tokens for bucket in problem.objective.subject.buckets())
    search = method.begin(problem, config)
    search.advance([0, 1])
    said, done = method.units(config) * tokens, problem.meter.tokens
    as_said = 0.4 * said <= done <= 2.5 * said
    assert as_said or not even, f"units say {said:.0f} token-passes, it took {done}"
    more = round((1.5 if even else 0.3) * done)
    problem.meter.allow(more)
    try:
        for _ in range(config.epochs):
            search.advance([0, 1])
    except BudgetSpent:
        pass
    else:
        assert config.epochs <= 2, "the budget was not noticed"
    largest = max(bucket.tokens for bucket in problem.objective.subject.buckets([0, 1] * 32))
    assert problem.meter.tokens <= done + more + 2 * largest, "more work than the budget allows"
    problem.meter.lift()
    states = search.states()
    for arm, inversion in enumerate(search.finish([0, 1])):
        assert inversion.epochs == states[arm].epochs >= 1
        assert set(inversion.token_ids) <= set(problem.allowed.tolist())


def _all_epochs(
    method: Method, config: MethodConfig, groups: Sequence[tuple[int, ...]]
) -> list[Inversion]:
    problem = planted_problem()
    search = method.begin(problem, config)
    for _ in range(config.epochs):
        for group in groups:
            search.advance(group)
    states = search.states()
    assert [state.epochs for state in states] == [config.epochs] * len(problem.arms)
    found = search.finish(range(len(problem.arms)))
    assert [inversion.arm for inversion in found] == list(problem.arms)
    assert all(s.best_loss == min(i.curve.loss) for s, i in zip(states, found, strict=True))
    return found
