"""Models that people write themselves, of the kinds that courses and papers teach."""

import torch
from models import UNet, dcgan_generator, resnet
from torch import nn
from torch.nn import functional

from architectures.building import Builder
from tests.zoo.classics import GNN, VAE


class DenseBlock(nn.Module):
    """Every layer reads what all layers before it gave."""

    def __init__(self, channels: int, growth: int, layers: int) -> None:
        super().__init__()
        widths = range(channels, channels + growth * layers, growth)
        self.layers = nn.ModuleList(
            nn.Sequential(nn.BatchNorm2d(width), nn.ReLU(), nn.Conv2d(width, growth, 3, padding=1, bias=False)) for width in widths
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        features = [x]
        for layer in self.layers:
            features.append(layer(torch.cat(features, 1)))
        return torch.cat(features, 1)


def densenet(growth: int = 12, blocks: tuple[int, ...] = (6, 12, 8)) -> nn.Module:
    """Dense blocks with a convolution and a pooling between them that halve channels and sizes."""
    channels = 2 * growth
    layers: list[nn.Module] = [nn.Conv2d(3, channels, 7, 2, 3, bias=False), nn.BatchNorm2d(channels), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    for count in blocks:
        layers.append(DenseBlock(channels, growth, count))
        channels += growth * count
        layers += [nn.BatchNorm2d(channels), nn.ReLU(), nn.Conv2d(channels, channels // 2, 1, bias=False), nn.AvgPool2d(2)]
        channels //= 2
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 10))


class GAN(nn.Module):
    """A generator's images beside real ones, both judged by one discriminator."""

    def __init__(self, latent: int = 100, width: int = 16) -> None:
        super().__init__()
        self.generator = dcgan_generator(latent, width)
        layers: list[nn.Module] = []
        for channels, wider in ((3, width), (width, 2 * width), (2 * width, 4 * width), (4 * width, 8 * width)):
            layers += [nn.Conv2d(channels, wider, 4, 2, 1, bias=False), nn.LeakyReLU(0.2, inplace=True)]
        self.discriminator = nn.Sequential(*layers, nn.Conv2d(8 * width, 1, 4), nn.Flatten(0))

    def forward(self, latent: torch.Tensor, real: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        made = self.generator(latent)
        on_real, on_made = self.discriminator(real), self.discriminator(made.detach())
        judged = functional.binary_cross_entropy_with_logits(on_real, torch.ones_like(on_real))
        judged = judged + functional.binary_cross_entropy_with_logits(on_made, torch.zeros_like(on_made))
        fooled = self.discriminator(made)
        return judged, functional.binary_cross_entropy_with_logits(fooled, torch.ones_like(fooled))


class NeRF(nn.Module):
    """Colours of rays: points along each ray, encoded by sines, through an MLP, summed by their densities."""

    def __init__(self, width: int = 64, frequencies: int = 6, samples: int = 16) -> None:
        super().__init__()
        self.samples = samples
        self.register_buffer("scales", 2.0 ** torch.arange(frequencies))
        encoded = 3 + 6 * frequencies
        self.trunk = nn.ModuleList(nn.Linear(encoded if not layer else width + encoded * (layer == 2), width) for layer in range(4))
        self.density = nn.Linear(width, 1)
        self.colour = nn.Sequential(nn.Linear(width + encoded, width // 2), nn.ReLU(), nn.Linear(width // 2, 3), nn.Sigmoid())

    def encode(self, x: torch.Tensor) -> torch.Tensor:
        angles = (x[..., None] * self.scales).flatten(-2)
        return torch.cat([x, angles.sin(), angles.cos()], -1)

    def forward(self, origins: torch.Tensor, directions: torch.Tensor) -> torch.Tensor:
        depths = torch.linspace(2, 6, self.samples).expand(len(origins), -1)
        depths = depths + torch.rand_like(depths) * 4 / self.samples
        points = self.encode(origins[:, None] + directions[:, None] * depths[..., None])
        hidden = points
        for number, layer in enumerate(self.trunk):
            hidden = layer(torch.cat([hidden, points], -1) if number == 2 else hidden).relu()
        density = self.density(hidden).squeeze(-1).relu()
        views = self.encode(functional.normalize(directions, dim=-1))[:, None].expand(-1, self.samples, -1)
        colours = self.colour(torch.cat([hidden, views], -1))
        steps = torch.cat([depths.diff(dim=-1), torch.full_like(depths[:, :1], 1e10)], -1)
        opaque = 1 - torch.exp(-density * steps)
        seen = torch.cumprod(torch.cat([torch.ones_like(opaque[:, :1]), 1 - opaque + 1e-10], -1), -1)[:, :-1]
        return (seen * opaque)[..., None].mul(colours).sum(1)


class TimedBlock(nn.Module):
    """Two convolutions around a shortcut, shifted by the time's embedding."""

    def __init__(self, channels: int, width: int, timed: int) -> None:
        super().__init__()
        self.norm1, self.conv1 = nn.GroupNorm(4, channels), nn.Conv2d(channels, width, 3, padding=1)
        self.time = nn.Linear(timed, width)
        self.norm2, self.conv2 = nn.GroupNorm(4, width), nn.Conv2d(width, width, 3, padding=1)
        self.short = nn.Conv2d(channels, width, 1) if channels != width else nn.Identity()

    def forward(self, x: torch.Tensor, time: torch.Tensor) -> torch.Tensor:
        y = self.conv1(functional.silu(self.norm1(x))) + self.time(functional.silu(time))[:, :, None, None]
        return self.conv2(functional.silu(self.norm2(y))) + self.short(x)


class PixelAttention(nn.Module):
    """Every pixel looks at every other one."""

    def __init__(self, channels: int, heads: int = 4) -> None:
        super().__init__()
        self.heads = heads
        self.norm, self.qkv, self.out = nn.GroupNorm(4, channels), nn.Conv2d(channels, 3 * channels, 1), nn.Conv2d(channels, channels, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows, channels, height, width = x.shape
        q, k, v = self.qkv(self.norm(x)).view(rows, 3, self.heads, channels // self.heads, height * width).transpose(-1, -2).unbind(1)
        y = functional.scaled_dot_product_attention(q, k, v).transpose(-1, -2).reshape(rows, channels, height, width)
        return x + self.out(y)


class DiffusionUNet(nn.Module):
    """Tells the noise in an image at a time of the diffusion."""

    def __init__(self, width: int = 16, timed: int = 64) -> None:
        super().__init__()
        self.width = width
        self.time = nn.Sequential(nn.Linear(width, timed), nn.SiLU(), nn.Linear(timed, timed))
        self.first = nn.Conv2d(3, width, 3, padding=1)
        widths = (width, 2 * width, 4 * width)
        self.downs = nn.ModuleList(TimedBlock(a, b, timed) for a, b in zip((width, *widths), widths, strict=False))
        self.middle = nn.ModuleList([TimedBlock(widths[-1], widths[-1], timed), PixelAttention(widths[-1])])
        self.ups = nn.ModuleList(
            TimedBlock(below + here, here, timed) for below, here in zip((widths[-1], *widths[:0:-1]), widths[::-1], strict=True)
        )
        self.last = nn.Sequential(nn.GroupNorm(4, width), nn.SiLU(), nn.Conv2d(width, 3, 3, padding=1))

    def forward(self, x: torch.Tensor, step: torch.Tensor) -> torch.Tensor:
        frequencies = torch.exp(-9.2 * torch.arange(self.width // 2) / (self.width // 2))
        angles = step[:, None] * frequencies
        time = self.time(torch.cat([angles.sin(), angles.cos()], -1))
        x, skips = self.first(x), []
        for down in self.downs:
            x = down(x, time)
            skips.append(x)
            x = functional.avg_pool2d(x, 2)
        x = self.middle[1](self.middle[0](x, time))
        for up in self.ups:
            x = functional.interpolate(x, scale_factor=2, mode="nearest")
            x = up(torch.cat([x, skips.pop()], 1), time)
        return self.last(x)


class YOLO(nn.Module):
    """A backbone with a head at each of three strides; what the heads say, decoded into boxes, the likely ones kept."""

    def __init__(self, classes: int = 4, width: int = 8) -> None:
        super().__init__()
        self.classes = classes
        strides = [nn.Sequential(nn.Conv2d(a, 2 * a, 3, 2, 1), nn.BatchNorm2d(2 * a), nn.SiLU()) for a in (8, 16, 32)]
        self.stem = nn.Sequential(nn.Conv2d(3, width, 6, 4, 1), nn.SiLU())
        self.stages = nn.ModuleList(strides)
        self.heads = nn.ModuleList(nn.Conv2d(2 * a, 3 * (5 + classes), 1) for a in (8, 16, 32))
        self.register_buffer("anchors", torch.rand(3, 3, 2) * 32)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        size, found = x.shape[-1], []
        x = self.stem(x)
        for stage, head, anchors in zip(self.stages, self.heads, self.anchors, strict=True):
            x = stage(x)
            rows, _, height, width = x.shape
            said = head(x).view(rows, 3, 5 + self.classes, height, width).permute(0, 1, 3, 4, 2)
            down, right = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
            centres = (said[..., :2].sigmoid() * 2 - 0.5 + torch.stack([right, down], -1)) * (size // width)
            sides = (said[..., 2:4].sigmoid() * 2) ** 2 * anchors[:, None, None]
            found.append(torch.cat([centres, sides, said[..., 4:].sigmoid()], -1).flatten(1, 3))
        boxes = torch.cat(found, 1)
        likely = boxes[boxes[..., 4] > 0.5]
        scores, classes = likely[:, 5:].max(-1)
        kept = scores.topk(min(20, len(scores))).indices
        return likely[kept, :4], classes[kept]


class RNNT(nn.Module):
    """Speech to text by an encoder of sounds, a predictor of words and a joint net over every pair of times."""

    def __init__(self, features: int = 20, words: int = 30, width: int = 32) -> None:
        super().__init__()
        self.encoder = nn.LSTM(features, width, 2, batch_first=True)
        self.embedding, self.predictor = nn.Embedding(words, width), nn.GRU(width, width, batch_first=True)
        self.joint = nn.Sequential(nn.Linear(2 * width, width), nn.Tanh(), nn.Linear(width, words))

    def forward(self, sounds: torch.Tensor, lengths: torch.Tensor, text: torch.Tensor) -> torch.Tensor:
        packed = nn.utils.rnn.pack_padded_sequence(sounds, lengths, batch_first=True, enforce_sorted=False)
        heard, _ = nn.utils.rnn.pad_packed_sequence(self.encoder(packed)[0], batch_first=True)
        predicted, _ = self.predictor(self.embedding(functional.pad(text, (1, 0))))
        times, words = heard.shape[1], predicted.shape[1]
        pairs = torch.cat([heard[:, :, None].expand(-1, -1, words, -1), predicted[:, None].expand(-1, times, -1, -1)], -1)
        return self.joint(pairs).log_softmax(-1)


HANDWRITTEN: dict[str, Builder] = {
    "resnet152": lambda: (resnet((3, 8, 36, 3)).eval(), (torch.randn(1, 3, 64, 64),), {}),
    "unet": lambda: (UNet(width=8), (torch.randn(1, 3, 64, 64),), {}),
    "densenet": lambda: (densenet(), (torch.randn(2, 3, 64, 64),), {}),
    "vae": lambda: (VAE(), (torch.rand(4, 12),), {}),
    "gan": lambda: (GAN(), (torch.randn(2, 100, 1, 1), torch.randn(2, 3, 64, 64)), {}),
    "gnn": lambda: (GNN(), (torch.randn(5, 6), torch.randint(0, 5, (2, 9))), {}),
    "nerf": lambda: (NeRF(), (torch.randn(8, 3), torch.randn(8, 3)), {}),
    "diffusion_unet": lambda: (DiffusionUNet(), (torch.randn(2, 3, 32, 32), torch.tensor([3, 70])), {}),
    "yolo": lambda: (YOLO(), (torch.rand(1, 3, 128, 128),), {}),
    "rnnt": lambda: (RNNT(), (torch.randn(3, 12, 20), torch.tensor([12, 7, 9]), torch.randint(0, 30, (3, 5))), {}),
}
