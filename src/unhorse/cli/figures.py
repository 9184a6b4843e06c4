"""`unhorse figures`: the paper's figures, first as data files and then as pictures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from unhorse.cli import options
from unhorse.cli.console import make_console
from unhorse.cli.zoo import Data, Opened, Suite, Zoo
from unhorse.errors import UsageError

group = typer.Typer(no_args_is_help=True, help="Make the figures of the benchmark.")

Out = Annotated[Path, typer.Option("--out", "-o", help="The folder that files go to.")]


@group.command("landscape")
def landscape_command(
    suite: Suite,
    model: Annotated[str, typer.Argument(help="A trojaned model of the suite.")],
    zoo: Zoo = None,
    data: Data = Path(),
    out: Out = Path("figures"),
    points: Annotated[int, typer.Option(min=3, help="Points along each side of a square.")] = 31,
    epochs: Annotated[int, typer.Option(min=2, help="Epochs of the path.")] = 200,
    tries: Annotated[
        int, typer.Option(min=1, help="Seeds to try until a path has its temperature raised.")
    ] = 5,
    log: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="The log of test runs; test-runs.jsonl beside OUT if not given."
        ),
    ] = None,
    seed: options.Seed = None,
    samples_per_class: options.SamplesPerClass = None,
    max_tokens: options.MaxTokens = None,
    device: options.Device = None,
    quiet: options.Quiet = False,
) -> None:
    """Measure the loss around the true trigger of MODEL, for Figures 1 and 2."""
    from unhorse.bench.figures.landscape import figure1, figure2, open_scene
    from unhorse.bench.handed import hand_over
    from unhorse.bench.hygiene import Log, log_beside

    config = options.settings(
        None,
        seed=seed,
        samples_per_class=samples_per_class,
        max_tokens=max_tokens,
        device=device,
    )
    opened = Opened(suite, zoo, data)
    members = {member.entry.name: member for member in opened.members()}
    if model not in members or members[model].record is None:
        raise UsageError(f"The suite has no built model called {model!r}.")
    looks = Log(log or log_beside(out), opened.suite.name, "Figures 1 and 2")
    looks.write(members[model].entry.recipe, ["landscape"], config.seed, "its true trigger")
    scene = open_scene(hand_over(opened.place.folder(model), members[model].record), config, epochs)
    console = make_console(quiet)
    for made in (figure1(scene, points, config.seed), figure2(scene, points, config.seed, tries)):
        console.print(str(made.write(out)), markup=False, highlight=False, soft_wrap=True)


@group.command("collect")
def collect_command(
    results: Annotated[Path, typer.Argument(help="A folder with results of `unhorse bench`.")],
    out: Out = Path("figures"),
    question_answerer: Annotated[
        str | None, typer.Option(help="The model of Figure 3; one with most curves if not given.")
    ] = None,
    classifier: Annotated[
        str | None, typer.Option(help="The trojaned model of Figure 4; likewise.")
    ] = None,
    method: Annotated[str, typer.Option(help="The method of Figure 5.")] = "dbs:paper",
    split: Annotated[
        list[str] | None, typer.Option(help="The models of Figure 5; test if not given.")
    ] = None,
    suites: Annotated[
        Path | None, typer.Option(help="A folder with suite files that are not built in.")
    ] = None,
    quiet: options.Quiet = False,
) -> None:
    """Take the data of Figures 3, 4 and 5 from result files; says which have none."""
    from unhorse.bench.figures import figure3, figure4, figure5
    from unhorse.bench.group import of_today
    from unhorse.bench.result import read_results

    found = of_today(read_results(results), suites)
    console = make_console(quiet)
    makers: list[Callable[[], Any]] = [
        lambda: figure3.collect(found, question_answerer),
        lambda: figure4.collect(found, classifier),
        lambda: figure5.collect(found, method, split or ["test"]),
    ]
    made = 0
    for make in makers:
        try:
            said = str(make().write(out))
            made += 1
        except UsageError as error:
            said = str(error)
        console.print(said, markup=False, highlight=False, soft_wrap=True)
    if not made:
        raise UsageError(f"No result in {results} is of a model that a figure shows.")


@group.command("draw")
def draw_command(
    data: Annotated[Path, typer.Argument(help="A folder with data files of figures.")],
    out: Out = Path("figures"),
    quiet: options.Quiet = False,
) -> None:
    """Draw every figure that there are data of, as SVG and PNG, from those files alone."""
    from unhorse.bench.figures.style import check_installed

    check_installed()
    from unhorse.bench.figures.draw import draw_all

    made = draw_all(data, out)
    if not made:
        raise UsageError(f"There are no data of a figure in {data}.")
    console = make_console(quiet)
    for path in made:
        console.print(str(path), markup=False, highlight=False, soft_wrap=True)
