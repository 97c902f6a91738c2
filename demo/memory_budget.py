"""Does a training step of ViT-B/16 fit the GPU? Told without one: the peak, the largest batch that fits, and what else would help."""

import argparse
from pathlib import Path

import torch
import torch.nn.functional as F
from torch.utils.tensorboard import SummaryWriter
from transformers import ViTConfig, ViTForImageClassification

import tb_shapeplugin as shapes

GIB = 2**30


def main() -> None:
    """One capture of a training step, and questions to it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--logdir", type=Path, default=Path("runs"))
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--gib", type=int, default=24, help="memory of the GPU")
    options = parser.parse_args()

    model = ViTForImageClassification(ViTConfig(num_labels=1000))
    images = shapes.spec((options.batch, 3, 224, 224))  # nobody has to load them
    labels = torch.zeros(options.batch, dtype=torch.long)
    optimizer = torch.optim.AdamW(model.parameters())

    writer = SummaryWriter(str(options.logdir / "memory_budget"))
    captured = shapes.add_shapes(
        writer,
        model,
        images,
        name="ViT-B16",
        backward=True,
        loss_fn=lambda output: F.cross_entropy(output.logits, labels),
        optimizer=optimizer,
        what_if=True,
        scalars=True,
    )
    writer.close()

    what_if, peak = captured.what_if, captured.totals.peak_bytes
    assert what_if is not None and peak is not None, captured.unchecked
    limit = options.gib * GIB
    fits = "fits" if peak <= limit else "does not fit"
    print(f"A step with batch {options.batch} takes {peak / GIB:.2f} GiB at its peak: it {fits} {options.gib} GiB.")
    print(f"The largest batch that fits is {what_if.largest('batch', limit)}.")
    for way in what_if.variants:
        print(f"  {way}: {what_if.peak_bytes(way) / GIB:.2f} GiB, largest batch {what_if.largest('batch', limit, way)}")


if __name__ == "__main__":
    main()
