"""The world model of DreamerV3 in small: a block-GRU with resets within the step loop of an RSSM, trained, and then dreaming.

    python dreamer_gru.py                     # all steps of the sequences in one launch
    python dreamer_gru.py --posterior state   # as published, which walks step by step

Hafner et al. 2023, "Mastering diverse domains through world models", arXiv 2301.04104, equations 3 to 5. A recurrent state
space model (RSSM) has a state h of a recurrence and a sample z of what is seen at each step:

    h[t] = blockgru(h[t-1], z[t-1], a[t-1])    z[t] ~ q(. | h[t], x[t])    prior of z[t] ~ p(. | h[t])

Published, what is seen depends on h: no step can begin before the one before it has ended, and each is a launch of its own.
Where it depends on the observation alone (Samsami et al. 2024, "Mastering memory tasks with world models", arXiv 2403.04253)
all samples are there first, and the whole sequence is one launch. Rows hold several episodes, and `resets` say where each
begins. For imagination nothing is differentiated: `cell.step` keeps the states in their memory.

The environment is a corridor with a reward at one end and a penalty at the other. A light that is seen at an episode's first
step alone says which is where, so the reward can be foretold only by a state that remembers, and that forgets at a reset.
"""

import argparse

import rondo
import torch
import torch.nn.functional as F

PLACES = 7
SEEN = PLACES + 2  # a place, and two lights
ACTIONS = 2  # left and right


class Corridor:
    """Many corridors side by side. An episode ends at either end, and the next begins in the middle by itself."""

    def __init__(self, rows, seed):
        self.random = torch.Generator().manual_seed(seed)
        self.rows, self.first = rows, torch.ones(rows, dtype=torch.bool)
        self.place, self.light, self.going = (torch.zeros(rows, dtype=torch.long) for _ in range(3))

    def look(self):
        """What is seen `[B, SEEN]`, the reward `[B]` for having come there, and whether the episode goes on."""
        self.place[self.first] = PLACES // 2
        drawn = torch.randint(0, 2, (self.rows,), generator=self.random)
        self.light = torch.where(self.first, drawn, self.light)
        seen = torch.cat([F.one_hot(self.place, PLACES), F.one_hot(self.light, 2) * self.first[:, None]], -1).float()
        left, right = self.place == 0, self.place == PLACES - 1
        reward = torch.where(self.light == 1, 1.0, -1.0) * (right.float() - left.float())
        return seen, reward, ~(left | right)

    def act(self, action, goes_on):
        self.place = (self.place + 2 * action - 1).clamp(0, PLACES - 1)
        self.first = ~goes_on

    def policy(self):
        """Goes on as before, three times of four."""
        turns = torch.rand(self.rows, generator=self.random) < 0.25
        self.going = torch.where(turns, 1 - self.going, self.going)
        return self.going

    def record(self, steps):
        """`steps` of all rows: a dict of `[B, T, ...]`. An action is what follows the sight beside it."""
        kept = []
        for _ in range(steps):
            first = self.first.clone()
            seen, reward, goes_on = self.look()
            action = self.policy().clone()
            kept.append({"seen": seen, "action": F.one_hot(action, ACTIONS).float(), "reward": reward})
            kept[-1].update(first=first, goes_on=goes_on.float())
            self.act(action, goes_on)
        return {name: torch.stack([one[name] for one in kept], 1) for name in kept[0]}


def network(inputs, outputs, size):
    return torch.nn.Sequential(
        torch.nn.Linear(inputs, size), torch.nn.RMSNorm(size), torch.nn.SiLU(), torch.nn.Linear(size, outputs)
    )


class WorldModel(torch.nn.Module):
    """`posterior`: "observation", by which a sequence is one launch, or "state", by which each step is one."""

    def __init__(self, size=64, blocks=4, variables=8, classes=8, posterior="observation"):
        super().__init__()
        self.variables, self.classes, self.posterior = variables, classes, posterior
        latent = variables * classes
        self.recurrence = rondo.nn.BlockGRU(latent + ACTIONS, size, heads=blocks)
        self.encoder = network(SEEN + (size if posterior == "state" else 0), latent, size)
        self.prior = network(size, latent, size)
        self.decoder = network(size + latent, SEEN + 2, size)  # the sight, the reward, and whether it goes on

    def probabilities(self, logits):
        """Of all variables `[..., variables, classes]`, mixed with 1% of a uniform distribution."""
        return 0.99 * logits.unflatten(-1, (self.variables, self.classes)).softmax(-1) + 0.01 / self.classes

    def sample(self, chances):
        """One class of each variable, as `[..., variables * classes]`; its gradient is that of the probabilities."""
        drawn = torch.multinomial(chances.detach().flatten(0, -2), 1).squeeze(-1).view(chances.shape[:-1])
        hard = F.one_hot(drawn, self.classes).to(chances.dtype)
        return (hard + chances - chances.detach()).flatten(-2)

    @staticmethod
    def driven(z, action, first):
        """The recurrence's input of each step: sample and action of the step before; an episode's first has none."""
        before = F.pad(torch.cat([z, action], -1), (0, 0, 1, 0))[:, :-1]
        return before * ~first[..., None]

    def observe(self, batch):
        """States h `[B, T, size]`, samples z, and the probabilities of z by the posterior."""
        if self.posterior == "observation":
            chances = self.probabilities(self.encoder(batch["seen"]))
            z = self.sample(chances)
            h, _ = self.recurrence(self.driven(z, batch["action"], batch["first"]), resets=batch["first"])
            return h, z, chances
        state, z, kept = None, torch.zeros(len(batch["seen"]), self.variables * self.classes, device=batch["seen"].device), []
        action = torch.zeros_like(batch["action"][:, 0])
        for t in range(batch["seen"].shape[1]):
            first = batch["first"][:, t]
            driven = torch.cat([z, action], -1) * ~first[:, None]
            h, state = self.recurrence(driven[:, None], state, resets=first[:, None])
            chances = self.probabilities(self.encoder(torch.cat([batch["seen"][:, t], h[:, 0]], -1)))
            z, action = self.sample(chances), batch["action"][:, t]
            kept.append((h[:, 0], z, chances))
        return tuple(torch.stack(parts, 1) for parts in zip(*kept, strict=True))

    def loss(self, batch):
        """Equations 3 to 5: what is foretold, and both divergences of at least one nat."""
        h, z, posterior = self.observe(batch)
        prior = self.probabilities(self.prior(h))
        seen, reward, goes_on = self.decoder(torch.cat([h, z], -1)).split([SEEN, 1, 1], -1)
        told = F.binary_cross_entropy_with_logits(seen, batch["seen"], reduction="none").sum(-1)
        told = told + (reward.squeeze(-1) - batch["reward"]).square()
        told = told + F.binary_cross_entropy_with_logits(goes_on.squeeze(-1), batch["goes_on"], reduction="none")

        def divergence(p, q):
            return (p * (p.log() - q.log())).sum((-2, -1)).clamp(min=1.0)

        dynamics, representation = divergence(posterior.detach(), prior), divergence(posterior, prior.detach())
        return (told + dynamics + 0.1 * representation).mean()

    @torch.no_grad()
    def imagine(self, batch, actions):
        """From the last step of `batch`: places `[B, K]` and rewards `[B, K]` that follow `actions`, `[B, K, ACTIONS]`."""
        h, z, _ = self.observe(batch)
        z, heads = z[:, -1], self.recurrence.heads
        state = {"h": h[:, -1].unflatten(-1, (heads, -1)).float().contiguous()}
        places, rewards = [], []
        for t in range(actions.shape[1]):
            x = self.recurrence.project(torch.cat([z, actions[:, t]], -1))
            y, state = self.recurrence.cell.step(x, state, params=self.recurrence.params())
            h = y.flatten(1)
            z = self.sample(self.probabilities(self.prior(h)))
            told = self.decoder(torch.cat([h, z], -1))
            places.append(told[:, :PLACES].argmax(-1))
            rewards.append(told[:, SEEN])
        return torch.stack(places, 1), torch.stack(rewards, 1)


def to(device, batch):
    return {name: value.to(device) for name, value in batch.items()}


def train(*, posterior="observation", size=64, batch=16, length=32, steps=400, device="cpu", rate=3e-3, seed=5):
    """The trained model and its losses."""
    torch.manual_seed(seed)
    model, corridor = WorldModel(size, posterior=posterior).to(device), Corridor(batch, seed)
    optimiser = torch.optim.Adam(model.parameters(), rate)
    losses = []
    for _ in range(steps):
        optimiser.zero_grad()
        loss = model.loss(to(device, corridor.record(length)))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 10.0)
        optimiser.step()
        losses.append(loss.detach())
    return model, torch.stack(losses).tolist()


def dream(model, *, rows=256, device="cpu", seed=77):
    """Sees the first step of an episode, and imagines the way to the right end: shares of places and of rewards foretold."""
    corridor = Corridor(rows, seed)
    seen = corridor.record(1)
    ahead = PLACES // 2
    right = F.one_hot(torch.ones(rows, ahead, dtype=torch.long), ACTIONS).float()
    seen["action"] = right[:, :1]
    places, rewards = model.imagine(to(device, seen), right.to(device))
    wanted = PLACES // 2 + 1 + torch.arange(ahead)
    reward = torch.where(corridor.light == 1, 1.0, -1.0)
    return {
        "places": float((places.cpu() == wanted).float().mean()),
        "rewards": float(((rewards[:, -1].cpu() - reward).abs() < 0.5).float().mean()),
    }


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--posterior", default="observation", choices=("observation", "state"))
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--size", type=int, default=64)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    options = parser.parse_args(arguments)
    model, losses = train(posterior=options.posterior, size=options.size, steps=options.steps, device=options.device)
    for step in range(0, len(losses), max(1, len(losses) // 10)):
        print(f"step {step:4}: loss {losses[step]:.3f}")
    found = dream(model, device=options.device)
    print(
        f"loss {losses[-1]:.3f} in the end; of what comes after the first step it imagines {found['places']:.0%} of the places"
        f" and {found['rewards']:.0%} of the rewards at the end"
    )


if __name__ == "__main__":
    main()
