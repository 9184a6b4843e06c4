"""Figures: data from results and from a model, and pictures from the data alone."""

from __future__ import annotations

import pytest
from tests.bench.figures.made import ALL
from tests.bench.figures.made import figure2 as walked
from tests.bench.made import result, trigger
from tests.zoo.conftest import built_zoo, suite_file  # noqa: F401

from unhorse.bench.figures import figure3, figure4, figure5
from unhorse.bench.figures.draw import FIGURES, draw_all
from unhorse.bench.figures.figure1 import Figure1
from unhorse.bench.figures.landscape import Walk
from unhorse.errors import UsageError
from unhorse.report.schema import CurveRecord


def curves(*losses):
    return tuple(
        CurveRecord(arm=arm, preset="paper", loss=loss, temperature=(1.0,) * len(loss))
        for arm, loss in losses
    )


def scan(name, method="dbs", preset="paper", low=0.1, **changes):
    arms = (
        trigger(inversion_loss=low, true_arm=False, victim="b", target="a"),
        trigger(inversion_loss=0.5, true_arm=changes.get("poisoned", True)),
    )
    made = curves(("b->a@start", (2.0, low)), ("a->b@start", (2.0, None, 0.5)))
    return result(name, method=method, preset=preset, triggers=arms, curves=made, **changes)


@pytest.mark.parametrize("make", ALL)
def test_a_picture_is_drawn_from_its_data_file_alone(make, tmp_path):
    data = make()
    data.write(tmp_path / "data")
    assert type(data).read(tmp_path / "data") == data
    made = draw_all(tmp_path / "data", tmp_path / "out")
    assert [path.name for path in made] == [f"{data.name}.svg", f"{data.name}.png"]
    svg, png = (path.read_bytes() for path in made)
    assert b"<svg" in svg and png.startswith(b"\x89PNG") and len(png) > 10_000
    draw_all(tmp_path / "data", tmp_path / "again")
    assert (tmp_path / "again" / f"{data.name}.svg").read_bytes() == svg


def test_every_figure_is_made_by_hand_somewhere():
    assert {type(make()) for make in ALL} == set(FIGURES)


def test_data_that_are_none_are_refused(tmp_path):
    with pytest.raises(UsageError, match="cannot be read"):
        Figure1.read(tmp_path)
    (tmp_path / "figure1.json").write_text('{"model": 1}')
    with pytest.raises(UsageError, match="not the data of a figure"):
        Figure1.read(tmp_path)


def test_a_walk_knows_where_it_was_rolled_back_and_warmed():
    assert [step.epoch for step in walked().rollbacks] == [30]
    made = Walk([], [], [2.0, 2.0, 0.5, 2.0], [True, False, True, False])
    assert made.warmed == 2 and Walk([], [], [2.0, 0.5], [True, False]).warmed is None


def test_figure_3_takes_the_true_arm_of_the_model_that_most_methods_have_scanned():
    task = {"task": "question-answering"}
    results = [
        scan("a", **task),
        scan("b", **task),
        scan("b", "uat", None, **task),
        scan("b", "ascc", None, poisoned=False, **task),
        scan("c"),
    ]
    data = figure3.collect(results)
    assert data.model == "b" and [c.method for c in data.curves] == ["uat", "dbs:paper"]
    assert data.curves[0].loss == (2.0, None, 0.5), "of the true arm"
    assert figure3.collect(results, "a").model == "a"
    with pytest.raises(UsageError, match="No result"):
        figure3.collect(results[-1:])


def test_figure_4_takes_a_model_and_its_twin():
    twin = {"poisoned": False, "twin_of": "a"}
    results = [
        scan("a"),
        scan("a-twin", low=0.4, **twin),
        scan("a", "uat", None),
        scan("b", "continuous", None),
    ]
    data = figure4.collect(results)
    (panel,) = data.panels
    assert (data.model, data.twin, panel.method) == ("a", "a-twin", "dbs:paper")
    assert (panel.trojaned.loss[-1], panel.clean.loss[-1]) == (0.1, 0.4), "of the least loss"
    with pytest.raises(UsageError, match="No results"):
        figure4.collect(results, "b")


def test_figure_5_takes_the_least_loss_of_advanced_attacks():
    field = {"standing": "advanced"}
    results = [
        scan("a", attack="lws", low=0.01, **field),
        scan("b", attack="lws", low=0.02, **field),
        scan("c", attack="hidden_killer", poisoned=False, low=0.5, **field),
        scan("d", attack="sos", low=0.3, **field),
        scan("e"),
    ]
    data = figure5.collect(results, "dbs:paper", ["test"])
    lws, sos = data.panels
    assert [p.loss for p in lws.trojaned] == [0.01, 0.02] and [p.model for p in lws.clean] == ["c"]
    assert lws.beta == pytest.approx(0.26) and lws.accuracy == 1.0
    assert sos.clean == () and sos.beta is None
    with pytest.raises(UsageError, match="No result"):
        figure5.collect(results, "uat", ["test"])


def test_the_commands_collect_and_draw(cli, tmp_path):
    for number, made in enumerate([scan("a"), scan("a-twin", poisoned=False, twin_of="a")]):
        (tmp_path / f"{number}.json").write_text(made.to_json())
    code, _, err = cli("figures", "collect", tmp_path, "-o", tmp_path / "data")
    assert code == 0 and "figure4.json" in err and "No result" in err
    code, _, err = cli("figures", "draw", tmp_path / "data", "-o", tmp_path / "out")
    assert code == 0 and "figure4.svg" in err
    assert cli("figures", "draw", tmp_path, "-o", tmp_path / "out")[0] == 2


def test_the_landscape_of_a_built_model(cli, built_zoo, suite_file, tmp_path):  # noqa: F811
    given = ["figures", "landscape", suite_file, "--zoo", built_zoo.zoo, "-o", tmp_path / "data"]
    code, _, err = cli(
        *given[:3], "cal-word-01", *given[3:], "--points", 3, "--epochs", 12, "--tries", 2
    )
    assert code == 0, err
    first = Figure1.read(tmp_path / "data")
    middle = first.loss[1][1]
    assert len(first.loss) == 3 and middle == min(min(row) for row in first.loss)
    made = draw_all(tmp_path / "data", tmp_path / "out")
    assert [path.name for path in made if path.suffix == ".png"] == ["figure1.png", "figure2.png"]
    assert cli(*given[:3], "cal-word-01-twin", *given[3:])[0] == 2
    assert cli(*given[:3], "nobody", *given[3:])[0] == 2
