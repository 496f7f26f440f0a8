"""Partition: subsystems in between that make elimination cheap, and what is told about them."""

import json
import os
import sys
from functools import cache
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from helpers.graphs import (
    chain,
    four_bars,
    graph,
    graphs,
    grid,
    hierarchies,
    outside,
    row_of_components,
    tree,
)
from helpers.processes import python
from helpers.suspended import car
from linkwork.analysis.partition import grouped, partition
from linkwork.analysis.partition_plot import plot_partition
from linkwork.cli import app
from linkwork.compile.bisection import halves
from linkwork.compile.contraction import work
from linkwork.compile.partition import cost, refine
from linkwork.compile.subsystems import hierarchy, monolith, ties
from linkwork.scenes import scene


@given(hierarchies(), st.data())
def test_bodies_and_components_are_kept_and_nothing_gets_dearer(drawn, data):
    top, tied = drawn
    ports, remote = outside(top, data)
    made = refine(top, tied, ports, remote)
    assert {part for part in top.walk() if part.name in remote} <= set(made.walk())
    assert sorted(made.everybody()) == sorted(top.everybody())
    inside = {part.name: set(part.everybody()) for part in made.walk()}
    assert len(inside) == len(list(made.walk()))
    assert inside.items() >= {part.name: set(part.everybody()) for part in top.walk()}.items()
    assert all(("/" in name) == (name not in {part.name for part in top.walk()}) for name in inside)
    assert cost(made, tied, ports, remote) <= cost(top, tied, ports, remote) * (1.0 + 1e-12)


@given(hierarchies())
def test_components_stay_inside_each_other(drawn):
    top, tied = drawn

    def above(whole):
        return {
            child.name: {part.name for part in whole.walk() if child in part.walk()} for child in whole.walk()
        }

    written, refined = above(top), above(refine(top, tied))
    for name, holders in written.items():
        assert {holder for holder in refined[name] if "/" not in holder} == holders


def test_every_run_divides_alike():
    """Sets of strings are ordered anew in every process."""
    code = (
        "from helpers.graphs import grid, four_bars; from linkwork.compile.partition import refine\n"
        "print([(p.name, p.bodies) for g in (grid(7), four_bars(9)) for p in refine(*g).walk()])"
    )
    told = []
    for seed in ("1", "2"):
        environment = {"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)}
        told.append(python("-c", code, environment=environment))
    assert told[0] == told[1]
    assert "b48" in told[0]


def best_of_all(top, tied):
    """The least cost of any hierarchy, by trying them all."""
    count = len(top.bodies)
    number = {name: i for i, name in enumerate(top.bodies)}
    links = [(sum(1 << number[body] for body in tie.bodies), tie.rows) for tie in tied]

    def ports(some):
        out = 0
        for bodies, _ in links:
            if bodies & ~some:
                out |= bodies & some
        return out.bit_count()

    def splits(some):
        """Ways to split a set, as tuples of sets."""
        if not some:
            yield ()
            return
        first = some & -some
        rest = some ^ first
        taken = rest
        while True:
            for others in splits(rest ^ taken):
                yield (first | taken, *others)
            if not taken:
                return
            taken = (taken - 1) & rest

    @cache
    def least(some):
        found = []
        for blocks in splits(some):
            if len(blocks) == 1 and some.bit_count() > 1:
                continue  # a subsystem that only holds another costs its overhead
            ways = [
                (True, False) if block.bit_count() == 1 and block != some else (block == some,)
                for block in blocks
            ]
            for bare in product(*ways):
                parts = [block for block, alone in zip(blocks, bare, strict=True) if not alone]
                columns = 6 * (sum(bare) + sum(ports(block) for block in parts))
                rows = sum(r for b, r in links if not b & ~some and all(b & ~block for block in parts))
                border = 6 * ports(some)
                found.append(work(columns, rows, border) + sum(least(block) for block in parts))
        return min(found)

    return least((1 << count) - 1)


@settings(max_examples=60, deadline=None)
@given(graphs(most=5))
def test_small_graphs_are_divided_nearly_as_well_as_possible(drawn):
    top, tied = drawn
    least = best_of_all(top, tied)
    # Of all trees of pairs the best is taken; undoing pairs one by one may miss the best way of joining more at once.
    assert least * (1.0 - 1e-12) <= cost(refine(top, tied), tied) <= 1.25 * least


def test_the_best_of_all_hierarchies_is_found_for_short_chains_and_loops():
    for drawn in (chain(6), four_bars(2), graph(5, [((i, (i + 1) % 5), 5) for i in range(5)]), tree(2)):
        assert cost(refine(*drawn), drawn[1]) == pytest.approx(best_of_all(*drawn), rel=1e-12)


def refined_cost(drawn):
    top, tied = drawn
    return cost(refine(top, tied), tied)


@pytest.mark.parametrize(
    "build", [chain, four_bars, lambda size: tree(size.bit_length()), row_of_components],
    ids=["chain", "four-bars", "tree", "components"],
)  # fmt: skip
def test_cost_grows_with_the_number_of_bodies(build):
    """Doubling adds what doubling before added, twice: a straight line, whatever its ends cost."""
    costs = [refined_cost(build(size)) for size in (64, 128, 256)]
    assert costs[2] - costs[1] == pytest.approx(2.0 * (costs[1] - costs[0]), rel=0.02)


def test_a_long_chain_costs_what_its_ends_cost():
    """An end that grows by a body has one port: six columns and six of the body, five equations."""
    count = 1000
    end = work(12, 5, 6)
    assert refined_cost(chain(count)) == pytest.approx((count - 2) * end + work(12, 5, 0), rel=1e-12)


def test_grids_grow_like_nested_dissection():
    """N^1.5 (George, 1973), and by a little more while borders are still small; N^3 without subsystems."""
    small, large = refined_cost(grid(12)), refined_cost(grid(24))
    assert 4.0**1.4 < large / small < 4.0**1.75


def test_a_cut_through_a_grid_is_its_short_side():
    short, long = 5, 12
    near = {
        (x, y): [(x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)] for x in range(long) for y in range(short)
    }
    number = {place: i for i, place in enumerate(near)}
    weights = {number[a]: {number[b]: 1 for b in others if b in number} for a, others in near.items()}
    one, other = halves(weights)
    assert sorted(one + other) == list(range(short * long))
    assert sum(b in other for a in one for b in weights[a]) == short


def test_five_thousand_bodies():
    for drawn in (chain(5000), graph(5000, []), graph(5001, [((0, i), 5) for i in range(1, 300)])):
        assert sorted(refine(*drawn).everybody()) == sorted(drawn[0].bodies)


def test_a_model_is_told_with_what_was_written_and_made():
    model = car()
    found = partition(model)
    tied = ties(model.flatten())
    assert found.cost == cost(refine(hierarchy(model), tied), tied)
    assert (found.written, found.monolithic) == (cost(hierarchy(model), tied), cost(monolith(model), tied))
    shares = found.shares()
    assert {share.name for share in shares if not share.made} == {
        "car",
        "left",
        "left.wheel",
        "right",
        "right.wheel",
    }
    assert sum(share.share for share in shares) == pytest.approx(1.0)
    assert sum(share.equations for share in shares) == sum(tie.rows for tie in tied)
    assert (shares[0].bodies, shares[0].level, shares[0].size) == (9, 0, 0)


def test_groups_lose_nothing():
    found = partition(scene("n_four_bar", n=20))
    top, shown = grouped(found.top), []
    rest = [top]
    while rest:
        group = rest.pop()
        shown += [share.name for share in group.shares]
        rest += group.inside
    assert sorted(shown) == sorted(share.name for share in found.shares())
    assert len(top.inside) <= 4


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_pictures(ending, tmp_path):
    for model in (car(), scene("n_four_bar", n=40)):
        plot_partition(partition(model), tmp_path / f"{model.name}.{ending}")
        assert (tmp_path / f"{model.name}.{ending}").stat().st_size > 2000


def test_the_command_line_shows_the_partition(tmp_path):
    runner = CliRunner()
    picture = tmp_path / "subsystems.png"
    call = ["check", "n_four_bar", "--set", "n=8", "--no-run", "--partition"]
    shown = runner.invoke(app, [*call, "--partition-picture", str(picture)])
    assert shown.exit_code == 0, shown.output
    assert "times fewer than monolithic" in shown.output
    assert picture.exists()
    told = json.loads(runner.invoke(app, [*call, "--json"]).stdout)["partition"]
    assert told["cost"] < told["monolithic"]
    assert {row["name"] for row in told["subsystems"]} >= {"n_four_bar8"}
    assert "partition" not in json.loads(runner.invoke(app, [*call[:-1], "--json"]).stdout)
    lost = runner.invoke(app, [*call, "--partition-picture", str(tmp_path / "no" / "folder.png")])
    assert lost.exit_code == 1
