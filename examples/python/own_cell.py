"""A cell of one's own in ten lines, compiled for this machine and trained.

    python own_cell.py

The cell is a gated unit with a memory of what it has forgotten: no library has it. The task is to say again, at the end, the
sum of those two numbers of a sequence that were marked ("adding problem", Hochreiter and Schmidhuber 1997).
"""

import argparse

import rondo
import torch

CELL = """
cell own(D) {
  input x[2, D]
  param R[2, D, D], keep[D], back[D]
  state h[D], lost[D]

  g = R @ h + x
  z = sigmoid(g[0])
  next lost = sigmoid(keep) * lost + z * h
  next h = (1 - z) * h + z * tanh(g[1] + back * lost)
  output h
}
"""


class Adder(torch.nn.Module):
    def __init__(self, size):
        super().__init__()
        self.layer = rondo.nn.Recurrent(CELL, 2, size, init={"keep": torch.nn.init.ones_})
        self.head = torch.nn.Linear(size, 1)

    def forward(self, u):
        return self.head(self.layer(u)[0][:, -1]).squeeze(-1)


def sums(batch, length, generator):
    """Sequences of a number and a mark `[B, T, 2]`, and the sum of the two that are marked."""
    numbers = torch.rand(batch, length, generator=generator)
    first = torch.randint(0, length // 2, (batch, 1), generator=generator)
    second = torch.randint(length // 2, length, (batch, 1), generator=generator)
    marks = torch.zeros(batch, length).scatter(1, first, 1.0).scatter(1, second, 1.0)
    return torch.stack([numbers, marks], -1), (numbers * marks).sum(1)


def train(*, size=32, length=20, batch=64, steps=600, device="cpu"):
    """The mean squared error over the steps. To say 1 always gives 0.167."""
    torch.manual_seed(5)
    generator = torch.Generator().manual_seed(5)
    model = Adder(size).to(device)
    optimiser = torch.optim.Adam(model.parameters(), 5e-3)
    losses = []
    for _ in range(steps):
        u, wanted = (one.to(device) for one in sums(batch, length, generator))
        optimiser.zero_grad()
        loss = (model(u) - wanted).square().mean()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        losses.append(loss.item())
    return losses


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    options = parser.parse_args(arguments)
    print(rondo.Cell(CELL).structure)
    losses = train(steps=options.steps, device=options.device)
    for step in range(0, len(losses), max(1, len(losses) // 10)):
        print(f"step {step:4}: error {losses[step]:.4f}")
    print(f"in the end {sum(losses[-20:]) / 20:.4f}; to say 1 always gives 0.167")


if __name__ == "__main__":
    main()
