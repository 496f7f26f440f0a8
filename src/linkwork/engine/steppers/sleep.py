"""Sleep: islands that have been at rest for long are left alone until something touches them."""

import numpy as np

from ..kernels.jit import inlined, kernel

_SLOW = 1e-3  # slower than this is at rest [m/s or rad/s]


@inlined
def asleep(reach, island, sleep):
    """Whether an island sleeps: it has been at rest for `sleep` [s]; 0 if nothing ever does."""
    return sleep > 0.0 and reach.islands[island].rest >= sleep


@kernel
def wake(reach, islands, sleep):
    """An island sleeps if all of its mechanisms do; one that is touched by what is awake wakes."""
    clusters = reach.clusters
    for i in range(islands):
        reach.islands[i].rest = np.inf
    for c in range(clusters.shape[0]):
        island = reach.islands[clusters[c].island]
        island.rest = min(island.rest, clusters[c].still)
    for c in range(clusters.shape[0]):
        if reach.islands[clusters[c].island].rest < sleep <= clusters[c].still:
            clusters[c].still = 0.0  # its weight is felt again from the next step on


@kernel
def doze(work, reach, v, h):
    """Count how long mechanisms have been at rest; those with loads or drives never are."""
    for c in range(reach.clusters.shape[0]):
        cluster, fastest = reach.clusters[c], 0.0
        for k in range(cluster.begin, cluster.end):
            rate = work.link[reach.cluster_dofs[k]].rate
            if rate >= 0:  # no embedded row
                fastest = max(fastest, abs(v[rate]))
        cluster.still = cluster.still + h if fastest <= _SLOW and cluster.restless == 0 else 0.0
