"""T-Miner's generator: rewrites a sentence of words under a label code.

A GRU reads the sentence; a part of its last state and a code for the wanted label start
another GRU, which writes as many words as it read, looking back at them (Bahdanau's
attention). It is first trained to repeat nonsense sentences whatever the code says; that
depends on the words alone, so it is done once for a vocabulary and kept in the user's cache.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

from unhorse.seeding import stable_seed, torch_generator

_FORMAT = 1
"""Part of a cache entry's name; raised whenever older entries would be wrong."""


@dataclass(frozen=True)
class Sizes:
    """The generator's shape: `code` of the `hidden` numbers say which label is wanted."""

    words: int
    sentence: int
    embed: int
    hidden: int
    code: int
    dropout: float


@dataclass(frozen=True)
class Repeating:
    """How it learns to repeat."""

    sentences: int
    epochs: int
    batch: int
    learning_rate: float


Next = Callable[[Tensor, int], Tensor]
"""From a place's logits and its number to the embedding of the word that stands there."""


class Generator(nn.Module):
    """Encoder, label code, and a decoder with attention; its output layer is its embedder.

    The attention also knows the number of a place: sentences have one length, and so it
    learns to copy within minutes on a CPU.
    """

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.sizes = sizes
        hidden, embed = sizes.hidden, sizes.embed
        self.embed = nn.Embedding(sizes.words, embed)
        self.begin = nn.Parameter(torch.zeros(embed))
        self.encoder = nn.GRU(embed, hidden, batch_first=True)
        self.code = nn.Sequential(nn.Linear(1, sizes.code), nn.Tanh())
        self.decoder = nn.GRUCell(embed + hidden, hidden)
        self.key = nn.Linear(hidden, hidden, bias=False)
        self.query = nn.Linear(hidden, hidden)
        self.place = nn.Embedding(sizes.sentence, hidden)
        self.energy = nn.Linear(hidden, 1, bias=False)
        self.write = nn.Linear(2 * hidden, embed)
        self.dropout = nn.Dropout(sizes.dropout)

    def forward(self, ids: Tensor, wanted: Tensor, follow: Next) -> Tensor:
        """Logits of every place, shaped (sentence, place, word).

        Args:
            ids: sentences.
            wanted: 1.0 for those that shall get the target label, else 0.0.
            follow: what the decoder reads as the word it has just written.
        """
        read, last = self.encoder(self.dropout(self.embed(ids)))
        z = last[0][:, : self.sizes.hidden - self.sizes.code]
        state = torch.cat([z, self.code(wanted[:, None])], -1)
        keys = self.key(read) + self.place.weight
        word = self.begin.expand(len(ids), -1)
        written = []
        for place in range(ids.shape[1]):
            asked = self.query(state) + self.place.weight[place]
            energy = self.energy(torch.tanh(keys + asked[:, None]))
            context = (energy.softmax(1) * read).sum(1)
            state = self.decoder(torch.cat([self.dropout(word), context], -1), state)
            logits = self.write(torch.cat([state, context], -1)) @ self.embed.weight.T
            written.append(logits)
            word = follow(logits, place)
        return torch.stack(written, 1)

    def repeat(self, ids: Tensor, wanted: Tensor) -> Tensor:
        """The cross entropy of repeating sentences, each word after the right one before."""
        logits = self(ids, wanted, lambda _, place: self.embed(ids[:, place]))
        return functional.cross_entropy(logits.flatten(0, 1), ids.flatten())

    def soft(self, ids: Tensor, wanted: Tensor, tau: float) -> tuple[Tensor, Tensor]:
        """Gumbel-softmax samples of every place, and its distribution."""
        drawn: list[Tensor] = []

        def follow(logits: Tensor, _place: int) -> Tensor:
            drawn.append(functional.gumbel_softmax(logits, tau))
            return drawn[-1] @ self.embed.weight

        logits = self(ids, wanted, follow)
        return torch.stack(drawn, 1), logits.softmax(-1)

    def greedy(self, ids: Tensor, wanted: Tensor) -> Tensor:
        """The likeliest word of every place."""
        self.eval()
        with torch.no_grad():
            logits = self(ids, wanted, lambda scores, _: self.embed(scores.argmax(-1)))
        self.train()
        likeliest: Tensor = logits.argmax(-1)
        return likeliest


def nonsense(words: int, count: int, length: int, generator: torch.Generator) -> Tensor:
    """Sentences of words drawn evenly, shaped (sentence, place)."""
    return torch.randint(words, (count, length), generator=generator)


def learn_to_repeat(sizes: Sizes, how: Repeating, check: Callable[[], None]) -> Generator:
    """A generator that repeats nonsense; the same one for the same sizes.

    Args:
        sizes: its shape.
        how: sentences and steps.
        check: called before every step; what it raises ends the work.
    """
    seed = stable_seed(0, "repeat", str(sizes.words))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        made = Generator(sizes)
        adam = torch.optim.Adam(made.parameters(), lr=how.learning_rate)
        source = torch_generator(seed, "sentences")
        sentences = nonsense(sizes.words, how.sentences, sizes.sentence, source)
        for _ in range(how.epochs):
            for rows in torch.split(torch.randperm(how.sentences, generator=source), how.batch):
                check()
                wanted = torch.randint(2, (len(rows),), generator=source).float()
                adam.zero_grad()
                torch.autograd.backward(made.repeat(sentences[rows], wanted))
                nn.utils.clip_grad_norm_(made.parameters(), 5.0)
                adam.step()
    return made


def pretrained(
    texts: Sequence[str], sizes: Sizes, how: Repeating, check: Callable[[], None]
) -> Generator:
    """The generator of a vocabulary, from the cache or newly trained and put there."""
    path = cache_folder() / f"{cache_key(texts, sizes, how)}.safetensors"
    kept = _read(path, sizes)
    if kept is not None:
        return kept
    made = learn_to_repeat(sizes, how, check)
    _write(path, made)
    return made


def cache_folder() -> Path:
    """Where generators are kept."""
    from platformdirs import user_cache_path

    return user_cache_path("unhorse") / "tminer"


def cache_key(texts: Sequence[str], sizes: Sizes, how: Repeating) -> str:
    """A name that changes with the vocabulary and every setting."""
    what = [_FORMAT, list(texts), asdict(sizes), asdict(how)]
    return hashlib.sha256(json.dumps(what).encode()).hexdigest()[:32]


def _read(path: Path, sizes: Sizes) -> Generator | None:
    """A generator from its file; None if there is none or the file is broken."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        state = load_file(path)
        with torch.random.fork_rng(devices=[]):
            made = Generator(sizes)
        made.load_state_dict(state)
    except (OSError, SafetensorError, RuntimeError, ValueError):
        return None
    return made


def _write(path: Path, made: Generator) -> None:
    """Puts a generator into its file at once; one that cannot be kept is trained again."""
    from safetensors.torch import save

    name = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            name = Path(file.name)
            file.write(save(made.state_dict()))
        os.replace(name, path)  # noqa: PTH105
    except OSError:
        if name is not None:
            name.unlink(missing_ok=True)
