"""Rows of an element that measures several things at once: a function measures them, called by its address.

A tyre finds one contact with the road and has a load, two slips and a moment there: four rows that one function fills.
It is called by address, so that loops which know nothing of tyres and roads need not be compiled with them. A group of
rows has a block of `tables.numbers`:

    BODY    what the function reads: rotation of the frame on b (9), its origin from the frame on a (3), angular
    velocity
            and velocity of the origin (6), in world axes; then the states of the rows (4)
    OUT     what it writes for each row: torque about the origin and force in world axes for a unit of the row's force
            (6), gap and its slope (2), numbers of its law (6 and 4; see `elements/called.py`)

Behind these stand the element's own numbers.
"""

from ..tables import CALLED
from .callback import call_user
from .jit import kernel
from .math3 import add3, cross3, get3

STATES, OUT = 18, 22
EACH, MOST = 18, 4
"""Numbers that the function writes for a row, and rows of a group at most."""
OWN = OUT + EACH * MOST
"""Where the element's own numbers begin in its block."""


@kernel
def call_functions(tables, constraints):
    """(placed pairs) Have the functions of all groups of rows called, wherever their rows stand in the table."""
    rows, pairs, numbers = constraints.rows, constraints.pairs, tables.numbers
    some = False
    for i in range(rows.shape[0]):
        if rows[i].kind == CALLED:
            numbers[rows[i].alpha + STATES + rows[i].beta] = rows[i].x
            some = True
    if some:
        for i in range(rows.shape[0]):
            if rows[i].kind == CALLED and rows[i].beta == 0:
                _call(tables, pairs[rows[i].pair], rows[i].alpha, rows[i].function)


@kernel
def _call(tables, pair, at, function):
    numbers, V, r = tables.numbers, tables.dofs[pair.b].V, get3(pair.r_B)
    turned = cross3((V[0], V[1], V[2]), r)
    for j in range(9):
        numbers[at + j] = pair.R_B[j]
    for j in range(3):
        numbers[at + 9 + j] = pair.d[j]
        numbers[at + 12 + j] = V[j]
        numbers[at + 15 + j] = V[3 + j] + turned[j]
    call_user(function, 0.0, numbers, at, 0, at + OWN, at + OUT)


@kernel
def measure_called(tables, pair, row):
    """(functions called) => gap, Jacobian and law of a row."""
    numbers, r = tables.numbers, get3(pair.r_B)
    k = row.alpha + OUT + EACH * row.beta
    f = (numbers[k + 3], numbers[k + 4], numbers[k + 5])
    n = add3((numbers[k], numbers[k + 1], numbers[k + 2]), cross3(r, f))
    for j in range(3):
        row.J_B[j] = n[j]
        row.J_B[3 + j] = f[j]
    row.phi = numbers[k + 6]
    for j in range(6):
        row.value[j] = numbers[k + 8 + j]
    for j in range(4):
        row.memory[j] = numbers[k + 14 + j]
