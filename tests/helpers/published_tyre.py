"""A published set of coefficients as a .tir file, and the Magic Formula once more, written from the book alone.

Pacejka, "Tire and Vehicle Dynamics", 2nd edition (2006), appendix 3, table A3.1: 205/60R15 91V, 2.2 bar, axes of ISO.
"""

import math

TABLE = {
    "PCX1": 1.685, "PDX1": 1.21, "PDX2": -0.037, "PDX3": 0.0, "PEX1": 0.344, "PEX2": 0.095, "PEX3": -0.02, "PEX4":
    0.0, "PKX1": 21.51, "PKX2": -0.163, "PKX3": 0.245, "PHX1": -0.002, "PHX2": 0.002, "PVX1": 0.0, "PVX2": 0.0,
    "RBX1": 12.35, "RBX2": -10.77, "RBX3": 0.0, "RCX1": 1.092, "REX1": 0.0, "REX2": 0.0, "RHX1": 0.007, "PCY1":
    1.193, "PDY1": -0.99, "PDY2": 0.145, "PDY3": -11.23, "PEY1": -1.003, "PEY2": -0.537, "PEY3": -0.083, "PEY4":
    -4.787, "PEY5": 0.0, "PKY1": -14.95, "PKY2": 2.13, "PKY3": -0.028, "PKY4": 2.0, "PKY5": 0.0, "PKY6": -0.92,
    "PKY7": -0.24, "PHY1": 0.003, "PHY2": -0.001, "PVY1": 0.045, "PVY2": -0.024, "PVY3": -0.532, "PVY4": 0.039,
    "RBY1": 6.461, "RBY2": 4.196, "RBY3": -0.015, "RBY4": 0.0, "RCY1": 1.081, "REY1": 0.0, "REY2": 0.0, "RHY1":
    0.009, "RHY2": 0.0, "RVY1": 0.053, "RVY2": -0.073, "RVY3": 0.517, "RVY4": 35.44, "RVY5": 1.9, "RVY6": -10.71,
    "QBZ1": 8.964, "QBZ2": -1.106, "QBZ3": -0.842, "QBZ4": 0.0, "QBZ5": -0.227, "QBZ9": 18.47, "QBZ10": 0.0,
    "QCZ1": 1.18, "QDZ1": 0.1, "QDZ2": -0.001, "QDZ3": 0.007, "QDZ4": 13.05, "QDZ6": -0.008, "QDZ7": 0.0, "QDZ8":
    -0.296, "QDZ9": -0.009, "QDZ10": 0.0, "QDZ11": 0.0, "QEZ1": -1.609, "QEZ2": -0.359, "QEZ3": 0.0, "QEZ4":
    0.174, "QEZ5": -0.896, "QHZ1": 0.007, "QHZ2": -0.002, "QHZ3": 0.147, "QHZ4": 0.004, "SSZ1": 0.043, "SSZ2":
    0.001, "SSZ3": 0.731, "SSZ4": -0.238, "QSY1": 0.01,
}  # fmt: skip
LOAD, RADIUS, SPEED = 4000.0, 0.313, 16.67

HEAD = """\
[UNITS]
LENGTH = 'meter'
FORCE = 'newton'
ANGLE = 'radians'
MASS = 'kg'
TIME = 'second'
[MODEL]
FITTYP = 61              $ Magic Formula 6.1
LONGVL = 16.67
TYRESIDE = 'LEFT'
[DIMENSION]
UNLOADED_RADIUS = 0.313
WIDTH = 0.205
[VERTICAL]
FNOMIN = 4000
VERTICAL_STIFFNESS = 209651
VERTICAL_DAMPING = 50
FZMIN = 100
FZMAX = 10000
[COEFFICIENTS]
"""


def tir(**changes: object) -> str:
    """The text of a file with these coefficients; keys that are given change or come behind, None goes."""
    lines = [line for line in HEAD.splitlines() if line.split(" ")[0] not in changes]
    keys = {**TABLE, "LONGITUDINAL_STIFFNESS": 358066.0, "LATERAL_STIFFNESS": 102673.0, **changes}
    added = [f"{key} = {value}" for key, value in keys.items() if value is not None]
    return "\n".join([*lines, *added]) + "\n"


def book(load: float, kappa: float, tan_alpha: float, camber: float = 0.0) -> dict[str, float]:
    """Forces and aligning moment by MF 6.1 without turn slip; numbers of equations are those of the 3rd edition."""
    p, g = TABLE, camber
    df = (load - LOAD) / LOAD
    a = tan_alpha

    def sgn(x):
        return (x > 0) - (x < 0)

    def formula(b, c, d, e, x):
        return d * math.sin(c * math.atan(b * x - e * (b * x - math.atan(b * x))))

    def cosine(b, c, e, x):
        return math.cos(c * math.atan(b * x - e * (b * x - math.atan(b * x))))

    # (4.E9) to (4.E18)
    S_Hx = p["PHX1"] + p["PHX2"] * df
    k = kappa + S_Hx
    D_x = (p["PDX1"] + p["PDX2"] * df) * load
    E_x = (p["PEX1"] + p["PEX2"] * df + p["PEX3"] * df**2) * (1 - p["PEX4"] * sgn(k))
    K_x = load * (p["PKX1"] + p["PKX2"] * df) * math.exp(p["PKX3"] * df)
    F_x0 = formula(K_x / (p["PCX1"] * D_x), p["PCX1"], D_x, E_x, k) + load * (p["PVX1"] + p["PVX2"] * df)
    # (4.E19) to (4.E30)
    K_y = (
        p["PKY1"]
        * LOAD
        * (1 - p["PKY3"] * abs(g))
        * math.sin(p["PKY4"] * math.atan(load / LOAD / (p["PKY2"] + p["PKY5"] * g**2)))
    )
    S_Vyg = load * (p["PVY3"] + p["PVY4"] * df) * g
    K_yg = load * (p["PKY6"] + p["PKY7"] * df)
    S_Hy = p["PHY1"] + p["PHY2"] * df + (K_yg * g - S_Vyg) / K_y
    S_Vy = load * (p["PVY1"] + p["PVY2"] * df) + S_Vyg
    ay = a + S_Hy
    mu_y = (p["PDY1"] + p["PDY2"] * df) * (1 - p["PDY3"] * g**2)
    E_y = (p["PEY1"] + p["PEY2"] * df) * (1 + p["PEY5"] * g**2 - (p["PEY3"] + p["PEY4"] * g) * sgn(ay))
    B_y = K_y / (p["PCY1"] * mu_y * load)
    F_y0 = formula(B_y, p["PCY1"], mu_y * load, min(E_y, 1), ay) + S_Vy
    # (4.E50) to (4.E67)
    B = (p["RBX1"] + p["RBX3"] * g**2) * math.cos(math.atan(p["RBX2"] * kappa))
    E = p["REX1"] + p["REX2"] * df
    F_x = F_x0 * cosine(B, p["RCX1"], E, a + p["RHX1"]) / cosine(B, p["RCX1"], E, p["RHX1"])
    B = (p["RBY1"] + p["RBY4"] * g**2) * math.cos(math.atan(p["RBY2"] * (a - p["RBY3"])))
    E, S = p["REY1"] + p["REY2"] * df, p["RHY1"] + p["RHY2"] * df
    D = mu_y * load * (p["RVY1"] + p["RVY2"] * df + p["RVY3"] * g) * math.cos(math.atan(p["RVY4"] * a))
    S_Vyk = D * math.sin(p["RVY5"] * math.atan(p["RVY6"] * kappa))
    F_y = F_y0 * cosine(B, p["RCY1"], E, kappa + S) / cosine(B, p["RCY1"], E, S) + S_Vyk
    # (4.E31) to (4.E49) and (4.E71) to (4.E78)
    cos_a = 1 / math.sqrt(1 + a * a)
    at = a + p["QHZ1"] + p["QHZ2"] * df + (p["QHZ3"] + p["QHZ4"] * df) * g
    ar = a + S_Hy + S_Vy / K_y
    at, ar = (math.sqrt(x * x + (K_x / K_y * kappa) ** 2) * sgn(x) for x in (at, ar))
    B_t = (p["QBZ1"] + p["QBZ2"] * df + p["QBZ3"] * df**2) * (1 + p["QBZ4"] * g + p["QBZ5"] * abs(g))
    D_t = load * RADIUS / LOAD * (p["QDZ1"] + p["QDZ2"] * df) * (1 + p["QDZ3"] * g + p["QDZ4"] * g**2)
    E_t = (p["QEZ1"] + p["QEZ2"] * df + p["QEZ3"] * df**2) * (
        1 + (p["QEZ4"] + p["QEZ5"] * g) * 2 / math.pi * math.atan(B_t * p["QCZ1"] * at)
    )
    t = D_t * cosine(B_t, p["QCZ1"], min(E_t, 1), at) * cos_a
    D_r = (
        load
        * RADIUS
        * (
            p["QDZ6"]
            + p["QDZ7"] * df
            + (p["QDZ8"] + p["QDZ9"] * df + (p["QDZ10"] + p["QDZ11"] * df) * abs(g)) * g
        )
    )
    B_r = p["QBZ9"] + p["QBZ10"] * B_y * p["PCY1"]
    s = RADIUS * (p["SSZ1"] + p["SSZ2"] * F_y / LOAD + (p["SSZ3"] + p["SSZ4"] * df) * g)
    M_z = -t * (F_y - S_Vyk) + D_r * math.cos(math.atan(B_r * ar)) * cos_a + s * F_x
    return {"x": F_x, "y": F_y, "z": M_z}
