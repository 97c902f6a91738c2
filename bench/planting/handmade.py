"""Small models written as people write them: every way of moving axes, in training and in evaluation mode."""

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import torch
from torch import nn
from torch.nn import functional

Built: TypeAlias = tuple[nn.Module, tuple[Any, ...], dict[str, Any]]


class HandAttention(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        b, t, d = x.shape
        q, k, v = self.qkv(x).split(d, dim=2)
        q = q.view(b, t, self.heads, self.size).transpose(1, 2)
        k = k.view(b, t, self.heads, self.size).transpose(1, 2)
        v = v.view(b, t, self.heads, self.size).transpose(1, 2)
        weights = (q @ k.transpose(-2, -1)) / math.sqrt(self.size)
        weights = weights.softmax(dim=-1)
        y = weights @ v
        return self.out(y.transpose(1, 2).reshape(b, t, d))


class Block(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.norm1, self.attention = nn.LayerNorm(width), HandAttention(width, heads)
        self.norm2 = nn.LayerNorm(width)
        self.feed = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.norm1(x))
        return x + self.feed(self.norm2(x))


class LanguageModel(nn.Module):
    """Tokens and positions → blocks of attention by hand → logits."""

    def __init__(self, words: int = 50, width: int = 24, length: int = 12, layers: int = 3) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Parameter(torch.randn(1, length, width))
        self.blocks = nn.ModuleList(Block(width, 4) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.words(tokens) + self.places[:, : tokens.shape[1]]
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


class Mixer(nn.Module):
    """Patches mixed along their places, then along their channels."""

    def __init__(self, size: int = 16, patch: int = 4, width: int = 20, classes: int = 7) -> None:
        super().__init__()
        places = (size // patch) ** 2
        self.patches = nn.Conv2d(3, width, patch, patch)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.along = nn.Sequential(nn.Linear(places, 2 * places), nn.GELU(), nn.Linear(2 * places, places))
        self.across = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))
        self.head = nn.Linear(width, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.patches(x).flatten(2).permute(0, 2, 1)
        y = y + self.along(self.norm1(y).transpose(1, 2)).transpose(1, 2)
        y = y + self.across(self.norm2(y))
        return self.head(y.mean(1))


class PointNet(nn.Module):
    """Points turned by a learned matrix, shared layers as 1×1 convolutions, the maximum over all points."""

    def __init__(self, classes: int = 6) -> None:
        super().__init__()
        self.turn = nn.Sequential(nn.Conv1d(3, 16, 1), nn.ReLU(), nn.AdaptiveMaxPool1d(1), nn.Flatten(), nn.Linear(16, 9))
        self.conv1, self.bn1 = nn.Conv1d(3, 24, 1), nn.BatchNorm1d(24)
        self.conv2, self.bn2 = nn.Conv1d(24, 48, 1), nn.BatchNorm1d(48)
        self.head = nn.Sequential(nn.Linear(48 + 24, 32), nn.ReLU(), nn.Dropout(0.3), nn.Linear(32, classes))

    def forward(self, points: torch.Tensor) -> torch.Tensor:
        matrix = self.turn(points).view(-1, 3, 3)
        turned = torch.bmm(points.transpose(1, 2), matrix).transpose(1, 2)
        near = functional.relu(self.bn1(self.conv1(turned)))
        far = functional.relu(self.bn2(self.conv2(near)))
        both = torch.cat([far.max(dim=2)[0], near.mean(dim=2)], dim=1)
        return self.head(both)


class Waves(nn.Module):
    """Sounds: strided convolutions, gated, then a recurrent layer over time."""

    def __init__(self, classes: int = 5) -> None:
        super().__init__()
        self.front = nn.Sequential(nn.Conv1d(1, 16, 9, 4, 4), nn.GroupNorm(4, 16), nn.GELU())
        self.gated = nn.Conv1d(16, 32, 5, padding=2)
        self.skip = nn.Conv1d(16, 16, 1)
        self.over_time = nn.GRU(16, 12, batch_first=True, bidirectional=True)
        self.head = nn.Linear(24, classes)

    def forward(self, wave: torch.Tensor) -> torch.Tensor:
        x = self.front(wave.unsqueeze(1))
        value, gate = self.gated(x).chunk(2, dim=1)
        x = self.skip(x) + value.tanh() * gate.sigmoid()
        states, last = self.over_time(x.permute(0, 2, 1))
        return self.head(states[:, -1] + torch.cat([last[0], last[1]], dim=-1))


class Film(nn.Module):
    """Short films: convolutions over time and space, then over time alone."""

    def __init__(self, classes: int = 4) -> None:
        super().__init__()
        self.conv1, self.bn1 = nn.Conv3d(3, 8, 3, padding=1), nn.BatchNorm3d(8)
        self.conv2, self.bn2 = nn.Conv3d(8, 16, (1, 3, 3), stride=(1, 2, 2), padding=(0, 1, 1)), nn.BatchNorm3d(16)
        self.pool = nn.AvgPool3d((1, 4, 4))
        self.time = nn.Conv1d(16, 16, 3, padding=1)
        self.head = nn.Linear(16 * 6, classes)

    def forward(self, film: torch.Tensor) -> torch.Tensor:
        x = functional.relu(self.bn1(self.conv1(film)))
        x = functional.relu(self.bn2(self.conv2(x)))
        x = self.pool(x).squeeze(-1).squeeze(-1)
        x = x + self.time(x)
        return self.head(x.reshape(x.shape[0], -1))


class Inverted(nn.Module):
    def __init__(self, channels: int, width: int, stride: int) -> None:
        super().__init__()
        inner = 4 * channels
        self.same = stride == 1 and channels == width
        self.widen = nn.Sequential(nn.Conv2d(channels, inner, 1, bias=False), nn.BatchNorm2d(inner), nn.ReLU6())
        self.depth = nn.Sequential(nn.Conv2d(inner, inner, 3, stride, 1, groups=inner, bias=False), nn.BatchNorm2d(inner), nn.ReLU6())
        self.weigh = nn.Sequential(
            nn.AdaptiveAvgPool2d(1), nn.Conv2d(inner, channels, 1), nn.ReLU(), nn.Conv2d(channels, inner, 1), nn.Sigmoid()
        )
        self.narrow = nn.Sequential(nn.Conv2d(inner, width, 1, bias=False), nn.BatchNorm2d(width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.depth(self.widen(x))
        y = self.narrow(y * self.weigh(y))
        return x + y if self.same else y


def mobile() -> nn.Module:
    """Inverted residuals with squeeze-and-excitation."""
    blocks = [Inverted(8, 8, 1), Inverted(8, 12, 2), Inverted(12, 12, 1), Inverted(12, 16, 2)]
    stem = [nn.Conv2d(3, 8, 3, 2, 1, bias=False), nn.BatchNorm2d(8), nn.ReLU6()]
    return nn.Sequential(*stem, *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10))


class Tagger(nn.Module):
    """A tag for every word: letters by a convolution, words by a table, both through an LSTM."""

    def __init__(self, words: int = 40, letters: int = 20, tags: int = 6) -> None:
        super().__init__()
        self.words, self.letters = nn.Embedding(words, 16), nn.Embedding(letters, 8)
        self.spelling = nn.Conv1d(8, 12, 3, padding=1)
        self.lstm = nn.LSTM(16 + 12, 20, num_layers=2, batch_first=True, bidirectional=True)
        self.norm, self.head = nn.LayerNorm(40), nn.Linear(40, tags)

    def forward(self, words: torch.Tensor, letters: torch.Tensor) -> torch.Tensor:
        b, t, n = letters.shape
        spelled = self.letters(letters.view(b * t, n)).transpose(1, 2)
        spelled = self.spelling(spelled).max(dim=-1).values.view(b, t, -1)
        states, _ = self.lstm(torch.cat([self.words(words), spelled], dim=-1))
        return self.head(self.norm(states))


class Translator(nn.Module):
    """An encoder, and a decoder that looks back at it word by word."""

    def __init__(self, words: int = 30, width: int = 16) -> None:
        super().__init__()
        self.width = width
        self.source, self.target = nn.Embedding(words, width), nn.Embedding(words, width)
        self.encoder = nn.GRU(width, width, batch_first=True)
        self.score = nn.Linear(width, width, bias=False)
        self.cell = nn.GRUCell(2 * width, width)
        self.head = nn.Linear(2 * width, words)

    def forward(self, source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        memory, last = self.encoder(self.source(source))
        state, given = last[0], self.target(target)
        logits = []
        for step in range(target.size(1)):
            weights = torch.matmul(self.score(memory), state.unsqueeze(2)).squeeze(2).softmax(dim=1)
            seen = torch.matmul(weights.unsqueeze(1), memory).squeeze(1)
            state = self.cell(torch.cat((given[:, step], seen), dim=1), state)
            logits.append(self.head(torch.cat((state, seen), dim=1)))
        return torch.stack(logits, dim=1)


def critic() -> nn.Module:
    """Judges pictures: strided convolutions with instance norms."""
    layers: list[nn.Module] = [nn.Conv2d(3, 8, 4, 2, 1), nn.LeakyReLU(0.2)]
    for channels in (8, 16):
        layers += [nn.Conv2d(channels, 2 * channels, 4, 2, 1), nn.InstanceNorm2d(2 * channels, affine=True), nn.LeakyReLU(0.2)]
    return nn.Sequential(*layers, nn.Conv2d(32, 1, 4), nn.Flatten())


class Detector(nn.Module):
    """A pyramid of two levels; boxes and classes of each, joined along the places."""

    def __init__(self, classes: int = 3, anchors: int = 2, width: int = 12) -> None:
        super().__init__()
        self.classes, self.anchors = classes, anchors
        self.stem = nn.Sequential(nn.Conv2d(3, width, 3, 2, 1), nn.BatchNorm2d(width), nn.ReLU())
        self.low = nn.Sequential(nn.Conv2d(width, 2 * width, 3, 2, 1), nn.BatchNorm2d(2 * width), nn.ReLU())
        self.side1, self.side2 = nn.Conv2d(width, 16, 1), nn.Conv2d(2 * width, 16, 1)
        self.smooth = nn.Conv2d(16, 16, 3, padding=1)
        self.classify, self.box = nn.Conv2d(16, anchors * classes, 3, padding=1), nn.Conv2d(16, anchors * 4, 3, padding=1)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        high = self.stem(x)
        low = self.low(high)
        top = self.side2(low)
        bottom = self.smooth(self.side1(high) + functional.interpolate(top, scale_factor=2, mode="nearest"))
        scores, boxes = [], []
        for level in (bottom, top):
            n, _, h, w = level.shape
            said = self.classify(level).view(n, self.anchors, self.classes, h, w).permute(0, 3, 4, 1, 2)
            scores.append(said.reshape(n, -1, self.classes))
            boxes.append(self.box(level).permute(0, 2, 3, 1).reshape(n, h * w * self.anchors, 4))
        return torch.cat(scores, dim=1), torch.cat(boxes, dim=1)


class Einsums(nn.Module):
    """Attention written with einsum, with a learned bias for every pair of places."""

    def __init__(self, width: int = 18, heads: int = 3, places: int = 9) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value = nn.Linear(width, width), nn.Linear(width, width), nn.Linear(width, width)
        self.bias = nn.Parameter(torch.zeros(heads, places, places))
        self.out = nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        b, t, _ = x.shape
        q, k, v = (layer(x).reshape(b, t, self.heads, -1) for layer in (self.query, self.key, self.value))
        scores = torch.einsum("bihd,bjhd->bhij", q, k) + self.bias
        y = torch.einsum("bhij,bjhd->bihd", scores.softmax(-1), v)
        return x + self.out(y.reshape(b, t, -1))


class Windows(nn.Module):
    """Attention within windows of a picture, which is cut up and put together again."""

    def __init__(self, width: int = 16, side: int = 8, window: int = 4) -> None:
        super().__init__()
        self.window = window
        self.embed, self.norm = nn.Conv2d(3, width, 2, 2), nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, 4, batch_first=True)
        self.merge = nn.Linear(4 * width, 2 * width, bias=False)
        self.head = nn.Linear(2 * width, 5)

    def cut(self, x: torch.Tensor) -> torch.Tensor:
        b, h, w, c = x.shape
        x = x.view(b, h // self.window, self.window, w // self.window, self.window, c)
        return x.permute(0, 1, 3, 2, 4, 5).reshape(-1, self.window * self.window, c)

    def joined(self, windows: torch.Tensor, h: int, w: int) -> torch.Tensor:
        x = windows.view(-1, h // self.window, w // self.window, self.window, self.window, windows.shape[-1])
        return x.permute(0, 1, 3, 2, 4, 5).reshape(-1, h, w, windows.shape[-1])

    def forward(self, picture: torch.Tensor) -> torch.Tensor:
        x = self.embed(picture).permute(0, 2, 3, 1)
        _, h, w, _ = x.shape
        windows = self.cut(self.norm(x))
        seen, _ = self.attention(windows, windows, windows)
        x = x + self.joined(seen, h, w)
        x = torch.cat([x[:, 0::2, 0::2], x[:, 1::2, 0::2], x[:, 0::2, 1::2], x[:, 1::2, 1::2]], dim=-1)
        return self.head(self.merge(x).mean(dim=(1, 2)))


class Twins(nn.Module):
    """Two pictures through one net, compared; two kinds of facts joined to them."""

    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(1, 6, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 10, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(2))
        self.project = nn.Linear(40, 16)
        self.facts = nn.Sequential(nn.Linear(9, 16), nn.LayerNorm(16), nn.ReLU())
        self.judge = nn.Bilinear(16, 16, 8)
        self.head = nn.Linear(8 + 16, 1)

    def forward(self, left: torch.Tensor, right: torch.Tensor, facts: torch.Tensor) -> torch.Tensor:
        a = self.project(torch.flatten(self.net(left), 1))
        b = self.project(torch.flatten(self.net(right), 1))
        known = self.facts(facts)
        return self.head(torch.cat([self.judge(a * known, b), (a - b).abs()], dim=1)).squeeze(1)


class Patches(nn.Module):
    """A picture cut by views, a class token expanded before it, torch's own encoder behind."""

    def __init__(self, size: int = 12, patch: int = 4, width: int = 16) -> None:
        super().__init__()
        self.patch, self.side = patch, size // patch
        self.embed = nn.Linear(3 * patch * patch, width)
        self.token = nn.Parameter(torch.zeros(1, 1, width))
        self.places = nn.Parameter(torch.zeros(1, self.side**2 + 1, width))
        layer = nn.TransformerEncoderLayer(width, 4, 32, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(width, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        n, c, _, _ = x.shape
        x = x.view(n, c, self.side, self.patch, self.side, self.patch)
        x = x.permute(0, 2, 4, 1, 3, 5).reshape(n, self.side**2, -1)
        x = torch.cat((self.token.expand(n, -1, -1), self.embed(x)), dim=1)
        x = x + self.places
        return self.head(self.encoder(x)[:, 0])


class Deep(nn.Module):
    """Residual layers, as many as asked for."""

    def __init__(self, layers: int, width: int = 16) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width), nn.ReLU()) for _ in range(layers))
        self.head = nn.Linear(width, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = x + layer(x)
        return self.head(x)


HANDMADE: dict[str, Callable[[], Built]] = {
    "language-model": lambda: (LanguageModel(), (torch.randint(0, 50, (2, 10)),), {}),
    "mixer": lambda: (Mixer(), (torch.randn(2, 3, 16, 16),), {}),
    "point-net": lambda: (PointNet(), (torch.randn(4, 3, 30),), {}),
    "waves": lambda: (Waves(), (torch.randn(3, 64),), {}),
    "film": lambda: (Film(), (torch.randn(2, 3, 6, 8, 8),), {}),
    "mobile": lambda: (mobile(), (torch.randn(2, 3, 24, 24),), {}),
    "tagger": lambda: (Tagger(), (torch.randint(0, 40, (3, 7)), torch.randint(0, 20, (3, 7, 5))), {}),
    "translator": lambda: (Translator(), (torch.randint(0, 30, (3, 6)), torch.randint(0, 30, (3, 4))), {}),
    "critic": lambda: (critic(), (torch.randn(2, 3, 32, 32),), {}),
    "detector": lambda: (Detector(), (torch.randn(2, 3, 32, 32),), {}),
    "einsums": lambda: (Einsums(), (torch.randn(2, 9, 18),), {}),
    "windows": lambda: (Windows(), (torch.randn(2, 3, 16, 16),), {}),
    "twins": lambda: (Twins(), (torch.randn(3, 1, 20, 20), torch.randn(3, 1, 20, 20), torch.randn(3, 9)), {}),
    "patches": lambda: (Patches(), (torch.randn(2, 3, 12, 12),), {}),
    "deep": lambda: (Deep(12), (torch.randn(4, 16),), {}),
}
