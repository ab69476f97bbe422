"""The shipped cell viterbi beside Viterbi's algorithm in NumPy: scores, the best path, and how often it takes a transition."""

import numpy as np
import pytest
import rondo

torch = pytest.importorskip("torch", reason="no PyTorch: gradients are its")


def viterbi(x, transitions, first):
    """Rabiner 1989, equations 32 to 35, of one row and head, in logarithms: scores [T, D], and the best path, its state before
    the first step first."""
    scores, came_from = [], []
    score = first
    for observed in x:
        paths = transitions + score[None, :]
        came_from.append(paths.argmax(axis=1))
        score = observed + paths.max(axis=1)
        scores.append(score)
    path = [int(score.argmax())]
    for back in reversed(came_from):
        path.append(int(back[path[-1]]))
    return np.stack(scores), path[::-1]


def draw(batch, steps, heads, dim, dtype):
    random = np.random.default_rng(7)
    x, transitions, first = (np.log(random.random(shape)).astype(dtype)
                             for shape in ((batch, steps, heads, dim), (heads, dim, dim), (batch, heads, dim)))  # fmt: skip
    transitions[:, 0, dim // 2 :] = -np.inf  # forbidden
    return x, transitions, first


@pytest.mark.parametrize("strategy", ["", "reference"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_scores_paths_and_transitions_are_those_of_viterbi(strategy, dtype):
    batch, steps, heads, dim = 3, 9, 2, 19
    x, transitions, first = draw(batch, steps, heads, dim, dtype)
    tensors = [torch.tensor(array, requires_grad=True) for array in (x, transitions, first)]
    y, last = rondo.Cell("viterbi", strategy=strategy)(tensors[0], params={"R": tensors[1]}, initial={"s": tensors[2]})
    last["s"].amax(-1).sum().backward()
    visits, taken, begun = np.zeros_like(x), np.zeros_like(transitions), np.zeros_like(first)
    for b in range(batch):
        for h in range(heads):
            scores, path = viterbi(x[b, :, h], transitions[h], first[b, h])
            np.testing.assert_allclose(y[b, :, h].detach().numpy(), scores, rtol=1e-5 if dtype == "float32" else 1e-13)
            visits[b, np.arange(steps), h, path[1:]] = 1
            np.add.at(taken[h], (path[1:], path[:-1]), 1)
            begun[b, h, path[0]] = 1
    for tensor, wanted in zip(tensors, (visits, taken, begun), strict=True):
        np.testing.assert_array_equal(tensor.grad.numpy(), wanted)


def test_tangents_are_refused():
    x = torch.zeros(1, 2, 1, 4)
    cell = rondo.Cell("viterbi")
    with pytest.raises(rondo.InputError, match="max-plus"):
        torch.func.jvp(lambda at: cell(at, params={"R": torch.zeros(1, 4, 4)})[0], (x,), (x,))
