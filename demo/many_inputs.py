"""An image, a mask and an integer label that chooses the head: nested inputs, a value that is read, a dict as output."""

import argparse
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn

import tb_shapeplugin as shapes


class Segmenter(nn.Module):
    """An encoder with a skip, a masked pooling, and one head for each kind of picture."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 16, kernel_size=3, padding=1)
        self.down = nn.Conv2d(16, 32, kernel_size=3, stride=2, padding=1)
        self.up = nn.ConvTranspose2d(32, 16, kernel_size=2, stride=2)
        self.merge = nn.Conv2d(32, 16, kernel_size=3, padding=1)
        self.pixels = nn.Conv2d(16, 2, kernel_size=1)
        self.heads = nn.ModuleList([nn.Linear(16, classes) for classes in (5, 12)])  # 0: microscope, 1: street

    def forward(self, image: torch.Tensor, *, mask: torch.Tensor, kind: torch.Tensor) -> dict[str, torch.Tensor]:
        skip = F.relu(self.stem(image))
        x = F.relu(self.down(skip))
        x = torch.cat([self.up(x), skip], dim=1)
        x = F.relu(self.merge(x))

        weights = mask.to(x.dtype)
        pooled = (x * weights).sum(dim=(2, 3)) / weights.sum(dim=(2, 3)).clamp(min=1)
        head = self.heads[int(kind.item())]  # the value decides which layers run
        return {"pixels": self.pixels(x), "classes": head(pooled)}


def main() -> None:
    """Captures one batch for each kind of picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--logdir", type=Path, default=Path("runs"))
    options = parser.parse_args()

    model = Segmenter()
    image = torch.randn(2, 3, 64, 64)
    mask = torch.rand(2, 1, 64, 64) > 0.5
    with shapes.ShapeWriter(options.logdir / "many_inputs") as writer:
        for kind, name in enumerate(("microscope", "street")):
            captured = writer.add_shapes(model, image, {"mask": mask, "kind": torch.tensor(kind)}, name=name)
            outputs = {end.name: str(captured.tensors[end.tensor]) for end in captured.outputs}
            print(f"{name}: {len(captured.ops)} ops give {outputs}")
    print(captured)


if __name__ == "__main__":
    main()
