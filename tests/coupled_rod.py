"""Static rods without shear by shooting: an oracle that knows nothing of the package.

A rod whose sections have a stiffness K (4, 4) on stretch, twist and curvatures about
their y and z axes is clamped at its root.  Dead forces act at points that turn with its
nodes.  The internal force is the sum of those outboard; the moment at the root is what
Newton's method looks for, so that the moment at the tip is that of the force there.
"""

import numpy as np

GRAVITY = 9.807


def _rates(state, force, soft):
    """Rates of place, axes and moment along the rod, many rods at once."""
    R, moment = state[:, 3:12].reshape(-1, 3, 3), state[:, 12:]
    inner = np.concatenate(
        [
            np.einsum("bi,bi->b", R[:, :, 0], force)[:, None],
            np.einsum("bij,bi->bj", R, moment),
        ],
        axis=1,
    )
    strain = inner @ soft
    k = strain[:, 1:]
    along = (1.0 + strain[:, :1]) * R[:, :, 0]
    skew = np.zeros((len(k), 3, 3))
    skew[:, 2, 1], skew[:, 0, 2], skew[:, 1, 0] = k.T
    skew -= skew.transpose(0, 2, 1)
    return np.concatenate(
        [along, (R @ skew).reshape(-1, 9), -np.cross(along, force)], axis=1
    )


def _march(moment, lengths, stiffness, forces, offsets, steps):
    """Places and axes of the nodes, (b, n, ...), and the moment that is left over."""
    count = len(moment)
    state = np.zeros((count, 15))
    state[:, 3:12], state[:, 12:] = np.eye(3).ravel(), moment
    places, axes = [state[:, :3].copy()], [np.tile(np.eye(3), (count, 1, 1))]
    outboard = forces[:, 1:].sum(axis=1)
    for e, (h, K) in enumerate(zip(lengths, stiffness, strict=True)):
        soft, dx = np.linalg.inv(K), h / steps
        for _ in range(steps):
            a = _rates(state, outboard, soft)
            b = _rates(state + 0.5 * dx * a, outboard, soft)
            c = _rates(state + 0.5 * dx * b, outboard, soft)
            d = _rates(state + dx * c, outboard, soft)
            state = state + dx / 6.0 * (a + 2.0 * b + 2.0 * c + d)
        R = state[:, 3:12].reshape(-1, 3, 3)
        force = forces[:, e + 1]
        arm = np.einsum("bij,bj->bi", R, offsets[:, e + 1])
        state[:, 12:] -= np.cross(arm, force)
        outboard = outboard - force
        places.append(state[:, :3].copy())
        axes.append(R.copy())
    return np.stack(places, 1), np.stack(axes, 1), state[:, 12:]


def rods(lengths, stiffness, forces, offsets, steps=8, parts=2):
    """Places (b, n, 3) and axes (b, n, 3, 3) of the nodes of b rods at rest.

    Parameters
    ----------
    lengths, stiffness : (n - 1,), (n - 1, 4, 4)
        Elements, uniform each.
    forces, offsets : (b, n, 3)
        Dead forces in the axes of the root, and points of each node where they act, in
        its own axes.
    """
    moment = np.zeros((len(forces), 3))
    for part in np.arange(1, parts + 1) / parts:
        for _ in range(30):
            # the moment, and three beside it
            tries = moment + 1e-6 * np.vstack([np.zeros(3), np.eye(3)])[:, None]
            load, at = (np.tile(x, (4, 1, 1)) for x in (part * forces, offsets))
            last = _march(tries.reshape(-1, 3), lengths, stiffness, load, at, steps)[2]
            left, *others = last.reshape(4, -1, 3)
            slope = np.stack([(x - left) / 1e-6 for x in others], axis=2)
            step = np.linalg.solve(slope, left[:, :, None])[:, :, 0]
            moment = moment - step
            if np.abs(step).max() < 1e-9:
                break
        else:
            raise AssertionError("the rod does not come to rest")
    places, axes, _ = _march(moment, lengths, stiffness, forces, offsets, steps)
    return places, axes
