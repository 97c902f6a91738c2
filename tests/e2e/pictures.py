"""What a screenshot tells: which colours a part of it holds."""

import io
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image


@dataclass(frozen=True)
class Picture:
    """Red, green and blue of every pixel, rows from the top."""

    pixels: NDArray[np.uint8]

    @staticmethod
    def of(png: bytes) -> "Picture":
        """The picture in a PNG."""
        with Image.open(io.BytesIO(png)) as image:
            return Picture(np.asarray(image.convert("RGB")))

    def part(self, x: float, y: float, width: float, height: float) -> "Picture":
        """A rectangle of it, px from its corner; what lies outside is left out."""
        left, top = max(0, round(x)), max(0, round(y))
        return Picture(self.pixels[top : round(y + height), left : round(x + width)])

    def holds(self, x: float, y: float) -> bool:
        """Does that point lie in it?"""
        return 0 <= x < self.pixels.shape[1] and 0 <= y < self.pixels.shape[0]

    def ground(self) -> tuple[int, int, int]:
        """The commonest colour."""
        colours, counts = np.unique(self.pixels.reshape(-1, 3), axis=0, return_counts=True)
        red, green, blue = colours[int(counts.argmax())]
        return int(red), int(green), int(blue)

    def drawn(self, ground: tuple[int, int, int]) -> float:
        """The share of pixels that differ from the ground."""
        return float((self.pixels != np.array(ground)).any(axis=-1).mean()) if self.pixels.size else 0.0

    def has(self, colour: tuple[int, int, int]) -> bool:
        """Whether any pixel has exactly this colour."""
        return bool((self.pixels == np.array(colour)).all(axis=-1).any())
