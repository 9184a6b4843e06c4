"""All results -> all tables that have something to show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from unhorse.bench.audits import audited
from unhorse.bench.clean import clean_models
from unhorse.bench.cure import Cure
from unhorse.bench.group import newest, of_today
from unhorse.bench.misses import misses
from unhorse.bench.pairs import pairs
from unhorse.bench.repeats import repeats
from unhorse.bench.result import Result
from unhorse.bench.sheet import Sheet
from unhorse.bench.table1 import Context, table1
from unhorse.bench.table2 import table2
from unhorse.bench.table3 import table3
from unhorse.bench.table4 import table4

BEYOND = "beyond"


def all_tables(
    results: Sequence[Result],
    splits: Sequence[str],
    audits: Mapping[tuple[str, bool], float],
    suites: Path | None,
    against: str,
    cures: Sequence[Cure] = (),
    timings: Sequence[Result] = (),
) -> list[Sheet]:
    """Every table that has at least one row.

    Args:
        results: all of them; thresholds are learnt on those of the calibration split. Only the
            newest version of a method counts, and only models as their suite asks for them today.
        splits: what tables are about.
        audits: the area of the shortcut audit by suite and whether heads are meant.
        suites: a folder with suite files that are not built in.
        against: the label of the method that is tested against all others, and whose errors
            are told.
        cures: what removals made of models; likewise.
        timings: scans that were made to take their time.
    """
    results, cures = newest(of_today(results, suites)), of_today(cures, suites)
    context = Context(results, splits, audits, suites, newest(timings))
    # Models beyond the paper's attacks are a split of their own, tested like the test split.
    widely = [*splits, BEYOND] if "test" in splits else list(splits)
    made = [
        table1(context),
        table1(context, "advanced", by_attack=True),
        table1(replace(context, splits=widely), "beyond", by_attack=True),
        table2(cures, splits),
        table3(results, splits, suites),
        table4(results, splits, suites),
        pairs(results, splits, against),
        repeats(results, splits),
        clean_models(results, widely),
        misses(results, widely, against),
    ]
    note = audited(audits, sorted({result.model.suite for result in results}))
    return [
        # Table 1 has it in a column.
        sheet if sheet.name.startswith("table1") else replace(sheet, notes=(*sheet.notes, note))
        for sheet in made
        if sheet.rows
    ]
