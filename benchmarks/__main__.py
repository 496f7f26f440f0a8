"""`python -m benchmarks SUITE`: measure speed as ratios against other engines, interleaved in this process."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from linkwork.cli.common import AsJson, console, errors, print_json, progress_bar
from linkwork.model.errors import LinkworkError

from . import SUITES

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


@app.command()
def bench(
    suite: Annotated[
        str,
        typer.Argument(
            help="What to measure: tree, loops, contact, dynamics, control, implicit, view, links, start or vehicle."
        ),
    ] = "tree",
    quick: Annotated[bool, typer.Option("--quick", help="Fewer sizes and repetitions.")] = False,
    against: Annotated[
        Path | None, typer.Option(help="Of start: the checkout of another version, to stand beside this one.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure speed as ratios against other engines, interleaved in this process."""
    if suite not in SUITES:
        raise LinkworkError(f"there is no benchmark '{suite}' (known: {', '.join(SUITES)})")
    options: dict[str, Any] = {} if against is None else {"against": against}
    if options and suite != "start":
        raise LinkworkError(f"only 'start' is measured against another version, not '{suite}'")
    with progress_bar(f"benchmark {suite}", quiet=as_json) as advance:
        result = SUITES[suite](quick=quick, progress=advance, **options)
    if as_json:
        print_json(result.to_dict())
    else:
        for grid in result.tables():
            console.print(grid)


def main() -> None:
    """Errors of ours become one readable message and exit code 1."""
    try:
        app(prog_name="python -m benchmarks")
    except LinkworkError as error:
        errors.print(f"[bold red]error:[/] {escape(str(error))}", highlight=False, soft_wrap=True)
        raise SystemExit(1) from None


if __name__ == "__main__":
    main()
