"""BERT of full size from its configuration, captured at the shape level: no download, nothing multiplied."""

import argparse
from pathlib import Path

import torch
from transformers import BertConfig, BertForSequenceClassification

import tb_shapeplugin as shapes


def main() -> None:
    """Captures twelve layers in about the time of one forward, and leaves the model as it was."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--logdir", type=Path, default=Path("runs"))
    options = parser.parse_args()

    config = BertConfig(num_labels=3)
    model = BertForSequenceClassification(config).eval()
    tokens = torch.randint(config.vocab_size, (8, 128))

    with shapes.ShapeWriter(options.logdir / "transformer") as writer:
        captured = writer.add_shapes(model, kwargs={"input_ids": tokens}, name="BERT")
    print(captured)
    print(f"\n{len(captured.ops)} ops of {len(captured.modules)} module calls; {captured.totals.params:,} parameters")


if __name__ == "__main__":
    main()
