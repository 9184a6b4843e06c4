"""What is particular to single methods."""

from types import SimpleNamespace

import pytest
import torch

from unhorse.errors import UsageError
from unhorse.learn.imitate import Imitation, decisions, imitated
from unhorse.remove.methods.fine_mix import mix
from unhorse.remove.methods.fine_prune import idle_first, outward_layers, silence
from unhorse.tasks.base import EncodedRow
from unhorse.testing import TINY_ARCHITECTURES, TINY_HEADS, TINY_PAD_ID, planted_case, tiny_model
from unhorse.types import LoadedModel, Origin


def loaded(architecture, head="sequence-classification"):
    return LoadedModel(
        model=tiny_model(architecture, head).requires_grad_(False),
        tokenizer=SimpleNamespace(pad_token_id=TINY_PAD_ID),
        task=head,
        labels=("a", "b", "c"),
        architecture=architecture,
        max_length=64,
        origin=Origin("tiny"),
    )


def rows(count=12):
    draw = torch.Generator().manual_seed(0)
    return [
        EncodedRow(
            tuple(torch.randint(5, 99, (5 + number % 4,), generator=draw).tolist()), (), (), 0
        )
        for number in range(count)
    ]


@pytest.mark.parametrize("architecture", TINY_ARCHITECTURES)
def test_neurons_are_found_in_every_architecture(architecture):
    subject = loaded(architecture)
    idle = idle_first(subject, rows())
    assert idle and len(idle) == len(outward_layers(subject.model))
    silence(idle, 0.5)
    for layer, neurons in idle:
        read = layer.weight if layer.weight.shape[0] == len(neurons) else layer.weight.T
        gone = neurons[: len(neurons) // 2]
        assert not read[gone].any() and read[neurons[len(neurons) // 2 :]].any()


def test_the_least_active_come_first_and_padding_does_not_count():
    subject = loaded("bert")
    seen = []
    layer = outward_layers(subject.model)[0]
    for row in rows():
        handle = layer.register_forward_pre_hook(lambda _, given: seen.append(given[0][0].abs()))
        with torch.inference_mode():
            subject.model(torch.tensor([row.ids]))
        handle.remove()
    activity = torch.cat(seen).sum(0)
    (_, order), *_ = idle_first(subject, rows())
    ranked = activity[order]
    assert bool((ranked[1:] >= ranked[:-1] - 1e-4).all())


@pytest.mark.parametrize("head", TINY_HEADS)
def test_a_student_that_says_the_same_has_no_loss(head):
    teacher = loaded("bert", head)
    taught = imitated(teacher, rows())
    goals = Imitation().collate([row.goal for row in taught[:1]], "cpu")
    outputs = teacher.model(torch.tensor([taught[0].ids]))
    losses, agreed = Imitation().losses(outputs, goals)
    assert losses.abs().max() < 1e-6 and agreed.tolist() == [1.0]
    other = tiny_model("bert", head, seed=1)
    losses, _ = Imitation().losses(other(torch.tensor([taught[0].ids])), goals)
    assert losses.min() > 1e-5


@pytest.mark.parametrize("head", TINY_HEADS)
def test_padding_takes_no_part_in_imitation(head):
    model = tiny_model("bert", head)
    ids = torch.tensor([[7, 8, 9, TINY_PAD_ID, TINY_PAD_ID]])
    with torch.inference_mode():
        padded = model(ids, attention_mask=(ids != TINY_PAD_ID).long())
        alone = model(ids[:, :3])
    for outputs in (padded, alone):
        assert decisions(outputs, 0, (3, 3)).shape[0] in (1, 2, 3)
    assert torch.allclose(decisions(padded, 0, (3, 3)), decisions(alone, 0, (3, 3)), atol=1e-4)


def test_text_with_a_known_trigger_is_not_imitated():
    from dataclasses import replace

    from unhorse.remove.methods.distill import DistillConfig, _texts

    case = planted_case()
    first = case.rows.train[0]
    marked = replace(first, text=f"{first.text} {case.triggers[0].text}")
    train = (marked, *case.rows.train[1:])
    given = replace(case, rows=replace(case.rows, train=train))
    assert len(_texts(given, case.subject, DistillConfig())) == len(train) - 1


def test_a_mixed_model_has_weights_of_both_and_the_head_of_its_own():
    case = planted_case()
    pupil, base = case.pupil(), case.fresh()
    mix(pupil, base, 0.7, case)
    own, mixed, old = (dict(each.model.named_parameters()) for each in (case.subject, pupil, base))
    name = next(n for n in own if n.endswith("word_embeddings.weight"))
    differ = own[name] != old[name]
    stayed = (mixed[name] == own[name])[differ].float().mean()
    assert torch.where(mixed[name] == own[name], True, mixed[name] == old[name]).all()
    assert 0.65 < stayed < 0.75
    assert torch.equal(mixed["classifier.weight"], own["classifier.weight"])
    again = case.pupil()
    mix(again, base, 0.7, case)
    assert torch.equal(dict(again.model.named_parameters())[name], mixed[name])


def test_a_base_of_another_shape_is_not_mixed_in():
    case = planted_case()
    with pytest.raises(UsageError, match="another shape"):
        mix(case.pupil(), loaded("bert"), 0.5, case)
