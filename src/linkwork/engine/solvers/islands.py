"""Which mechanisms touch each other: islands, each of which can be solved by itself, or sleep."""

from ..kernels.jit import inlined, kernel
from .reach import iterated


@kernel
def find_islands(work, reach, patches, count, rows):
    """Clusters that touch each other, directly or through others => patches and rows by islands; their number."""
    clusters = reach.clusters
    for c in range(clusters.shape[0]):
        clusters[c].leader = c
    for k in range(count):
        patch = patches[k]
        if patch.a != 0 and patch.b != 0:
            a = _root(clusters, reach.dofs[patch.a - 1].cluster)
            b = _root(clusters, reach.dofs[patch.b - 1].cluster)
            if a != b:
                clusters[max(a, b)].leader = min(a, b)
    found = 0
    for c in range(clusters.shape[0]):
        root = _root(clusters, c)
        if root == c:
            clusters[c].island = found
            found += 1
        else:
            clusters[c].island = clusters[root].island
    _sort(work, reach, patches, count, rows, found)
    return found


@inlined
def _sort(work, reach, patches, count, rows, found):
    """Patches and iterated rows by islands: counted, then put where those before end."""
    clusters, islands = reach.clusters, reach.islands
    for i in range(found + 1):
        islands[i].patch, islands[i].row = 0, 0
    for k in range(count):
        patch = patches[k]
        patch.island = clusters[reach.dofs[max(patch.a, patch.b) - 1].cluster].island
        islands[patch.island + 1].patch += 1
    for r in range(rows.shape[0]):
        if iterated(work, r):
            reach.rows[r].island = clusters[reach.rows[r].cluster].island
            islands[reach.rows[r].island + 1].row += 1
    for i in range(found):
        islands[i + 1].patch += islands[i].patch
        islands[i + 1].row += islands[i].row
    for k in range(count):
        i = patches[k].island
        reach.order[islands[i].patch] = k
        islands[i].patch += 1
    for r in range(rows.shape[0]):
        if iterated(work, r):
            i = reach.rows[r].island
            reach.row_order[islands[i].row] = r
            islands[i].row += 1
    for i in range(found, 0, -1):
        islands[i].patch, islands[i].row = islands[i - 1].patch, islands[i - 1].row
    islands[0].patch, islands[0].row = 0, 0


@inlined
def _root(clusters, c):
    """The cluster that stands for all that touch c."""
    while clusters[c].leader != c:
        clusters[c].leader = clusters[clusters[c].leader].leader
        c = clusters[c].leader
    return c
