"""One model, two inputs: a text or a picture. One graph tells what each of them ran, and which branch neither took."""

import argparse
from pathlib import Path

import torch
from torch import nn

import tb_shapeplugin as shapes


class Reader(nn.Module):
    """Words through an embedding, patches of a picture through a convolution, both through one encoder."""

    def __init__(self, width: int = 64) -> None:
        super().__init__()
        self.words = nn.Embedding(1000, width, padding_idx=0)
        self.patches = nn.Conv2d(3, width, kernel_size=8, stride=8)
        self.norm = nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, num_heads=4, batch_first=True)
        self.feed = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
        self.classes = nn.Linear(width, 10)
        self.smooth = False

    def forward(self, text: torch.Tensor | None = None, picture: torch.Tensor | None = None) -> torch.Tensor:
        padding = None
        if text is not None:
            x = self.words(text)
            if (text == 0).any():  # shorter texts than the longest one
                padding = text == 0
        else:
            x = self.patches(picture).flatten(2).transpose(1, 2)
        x = self.norm(x)
        x = x + self.attention(x, x, x, key_padding_mask=padding, need_weights=False)[0]
        x = x + self.feed(x)
        if self.smooth:
            x = torch.cumsum(x, dim=1)
        return self.classes(x.mean(dim=1))


def main() -> None:
    """Captures both inputs as one record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--logdir", type=Path, default=Path("runs"))
    options = parser.parse_args()

    text = torch.randint(1, 1000, (4, 12))
    text[1, 9:] = 0
    inputs = {"text": {"text": text}, "picture": {"picture": torch.randn(2, 3, 32, 32)}}
    with shapes.ShapeWriter(options.logdir / "two_paths") as writer:
        captured = writer.add_shapes(Reader(), cases=inputs, name="reader")
    for name, case in captured.cases.items():
        print(f"{name}: {len(case.ops)} of {len(captured.ops)} ops")
    for branch in captured.branches or ():
        print(f"never ran: {branch.file}:{branch.line}  {branch.code}")
    print(captured)


if __name__ == "__main__":
    main()
