"""Models as people write them, each with one fault: where it comes from, and what would have fitted."""

from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from tests.analyse.origin_rows import Table

MODELS = Table()
Net = Any  # each model has its own parts


@MODELS.row(
    (2, 3, 384, 384),
    why="577 = 1 + 576; 197 = 1 + 196 is what 224×224 for args[0] gives",
    by="cat",
    at="torch.cat",
    patch=lambda: nn.Conv2d(3, 32, 16, 16),
    first=lambda: nn.Parameter(torch.zeros(1, 1, 32)),
    places=lambda: nn.Parameter(torch.zeros(1, 197, 32)),
)
def vision_transformer(self: Net, x: torch.Tensor) -> Any:
    """x 384 ─ 576 tokens and a first one + 197 places ✕."""
    tokens = self.patch(x).flatten(2).transpose(1, 2)
    tokens = torch.cat([self.first.expand(x.size(0), -1, -1), tokens], 1)
    return tokens + self.places


@MODELS.row(
    (2, 3, 64, 64),
    why="8192 = 128·8·8; 2048 = 128·4·4 is what 32×32 for args[0] gives",
    by="view",
    at="h.view(h.size(0), -1)",
    encoder=lambda: nn.Sequential(nn.Conv2d(3, 32, 4, 2, 1), nn.Conv2d(32, 64, 4, 2, 1), nn.Conv2d(64, 128, 4, 2, 1)),
    mean=lambda: nn.Linear(2048, 20),
)
def variational_encoder(self: Net, x: torch.Tensor) -> Any:
    """x 64 ─ three halvings ─ 128·8·8 ─ mean 128·4·4 ✕."""
    h = self.encoder(x)
    h = h.view(h.size(0), -1)
    return self.mean(h)


@MODELS.row(
    (2, 20),
    why="2048 = batch 2 × 1024; 4096 = 4 × 1024 would put 4 samples into one row",
    by="linear",
    at="self.fc(z)",
    fc=lambda: nn.Linear(20, 1024),
)
def decoder_with_too_small_a_seed(self: Net, z: torch.Tensor) -> Any:
    """z ─ fc 1024 ─ view(-1, 256, 4, 4) ✕."""
    h = self.fc(z)
    return h.view(-1, 256, 4, 4)


@MODELS.row(
    (2, 1, 29, 29),
    why="32 = 2·16, 16 = 2·8, 8 = ⌈15/2⌉, 15 = ⌈29/2⌉; the sides of args[0] should be a multiple of 4, they are 29×29",
    by="conv2d",
    at="self.encoder(x)",
    encoder=lambda: nn.Sequential(nn.Conv2d(1, 8, 3, 2, 1), nn.Conv2d(8, 16, 3, 2, 1)),
    decoder=lambda: nn.Sequential(
        nn.ConvTranspose2d(16, 8, 3, 2, 1, output_padding=1), nn.ConvTranspose2d(8, 1, 3, 2, 1, output_padding=1)
    ),
)
def autoencoder_of_an_odd_picture(self: Net, x: torch.Tensor) -> Any:
    """x 29 ─ 15 ─ 8 ─ 16 ─ 32 against 29 ✕."""
    h = self.encoder(x)
    return F.l1_loss(self.decoder(h), x)


@MODELS.row(
    (2, 3, 65, 65),
    why="34 = 2·17, 17 = ⌈33/2⌉, 33 = ⌈65/2⌉; the sides of args[0] should be a multiple of 4, they are 65×65",
    by="conv2d",
    at="fine = ",
    first=lambda: nn.Conv2d(3, 8, 3, 2, 1),
    second=lambda: nn.Conv2d(8, 8, 3, 2, 1),
)
def feature_pyramid(self: Net, x: torch.Tensor) -> Any:
    """x 65 ─ 33 ─ 17 ─ enlarged to 34, added to 33 ✕."""
    fine = self.first(x)
    coarse = self.second(fine)
    return F.interpolate(coarse, scale_factor=2) + fine


@MODELS.row(
    (2, 64, 8, 8),
    (2, 32),
    why="64 is p's out_features; f32[2,64] would fit as f32[2,64,1,1]",
    by="linear",
    at="self.p",
    p=lambda: nn.Linear(32, 64),
)
def time_embedding(self: Net, x: torch.Tensor, t: torch.Tensor) -> Any:
    """A map [2,64,8,8] + an embedding [2,64] ✕."""
    return x + self.p(t)


@MODELS.row(
    (2, 64, 8, 8),
    why="mean drops dims 2, 3; as f32[2,64,1,1] it would fit",
    by="mean",
    at="x.mean((2, 3))",
    down=lambda: nn.Linear(64, 4),
    up=lambda: nn.Linear(4, 64),
)
def squeeze_and_excite(self: Net, x: torch.Tensor) -> Any:
    """x · a weight a channel, without the map's axes ✕."""
    weight = x.mean((2, 3))
    return x * self.up(self.down(weight).relu()).sigmoid()


@MODELS.row(
    (4, 8),
    why="squeeze drops dim 1; as f32[4,1] it would fit",
    by="squeeze",
    at="squeeze()",
    policy=lambda: nn.Linear(8, 2),
    value=lambda: nn.Linear(8, 1),
)
def actor_and_critic(self: Net, x: torch.Tensor) -> Any:
    """Two actions' chances [4,2] · a value [4] ✕."""
    advantage = self.value(x).squeeze()
    return self.policy(x).log_softmax(1) * advantage


@MODELS.row(
    (4, 7, 12),
    lambda: torch.zeros(4, 7, dtype=torch.long),
    why="9 is fc's out_features; with its classes at dim 1 the prediction, f32[4,9,7], would fit",
    by="linear",
    at="self.fc",
    fc=lambda: nn.Linear(12, 9),
)
def classes_behind_time(self: Net, x: torch.Tensor, y: torch.Tensor) -> Any:
    """A prediction [4,7,9] for labels [4,7] ✕."""
    return F.cross_entropy(self.fc(x), y)


@MODELS.row(
    (2, 5, 8), why="4 = 20 − 16 (what split leaves), 20 is w's out_features", by="split", at="split(8, -1)", w=lambda: nn.Linear(8, 20)
)
def last_piece_of_a_split(self: Net, x: torch.Tensor) -> Any:
    """20 in pieces of 8: the values get 4 ✕."""
    q, k, v = self.w(x).split(8, -1)
    return q @ k.transpose(1, 2) + v


@MODELS.row(
    (2, 50, 64),
    why="8 = 64/8, 64 is q's out_features; f32[2,8,50,8] would fit transposed, as f32[2,8,8,50]",
    by="view",
    at="self.q(x)",
    q=lambda: nn.Linear(64, 64),
    heads=lambda: 8,
)
def keys_not_transposed(self: Net, x: torch.Tensor) -> Any:
    """Queries · keys of 8 heads, both [50,8] ✕."""
    q = self.q(x).view(2, 50, self.heads, -1).transpose(1, 2)
    return q @ q.clone()


@MODELS.row((3, 12), (3, 20, 16), why="10 is stated in repeat", by="repeat", at="s.unsqueeze(1).repeat", w=lambda: nn.Linear(28, 8))
def attention_over_a_fixed_length(self: Net, s: torch.Tensor, e: torch.Tensor) -> Any:
    """A state repeated 10 times beside 20 steps ✕."""
    h = s.unsqueeze(1).repeat(1, 10, 1)
    return self.w(torch.cat([h, e], 2))


@MODELS.row(
    (3, 9, 12),
    why="32 = 16 + 16",
    by="cat",
    at="torch.cat",
    rnn=lambda: nn.LSTM(12, 16, 2, batch_first=True),
    fc=lambda: nn.Linear(16, 4),
)
def packed_sequences(self: Net, x: torch.Tensor) -> Any:
    """The last states of both layers side by side ─ fc of one ✕."""
    packed = nn.utils.rnn.pack_padded_sequence(x, torch.tensor([9, 7, 5]), batch_first=True)
    _, (h, _) = self.rnn(packed)
    return self.fc(torch.cat([h[0], h[1]], 1))


@MODELS.row(
    (2, 16000),
    why="input args[0] has 2 at dim 0; args[0] has no channel axis: 2×1×16000 runs",
    by="input args[0]",
    conv=lambda: nn.Conv1d(1, 8, 80, stride=4),
)
def waveform_without_channels(self: Net, x: torch.Tensor) -> Any:
    """x[2,16000] ─ conv1d 1 ✕: two waves look like two channels."""
    return self.conv(x)


@MODELS.row((2, 6, 5), why="lstm gives 3 tensors, not one", by="lstm", at="self.rnn", rnn=lambda: nn.LSTM(5, 8), fc=lambda: nn.Linear(8, 2))
def state_handed_on(self: Net, x: torch.Tensor) -> Any:
    """What an LSTM gives, its states too ─ fc ✕."""
    h = self.rnn(x)
    return self.fc(h)


@MODELS.row(
    (8, 1, 16, 16),
    why="12 = (batch 8 × 6)/4",
    by="view",
    at="view(-1, 2, 2)",
    place=lambda: nn.Linear(256, 6),
)
def spatial_transformer(self: Net, x: torch.Tensor) -> Any:
    """Six numbers a picture as matrices of 2·2: 12 of them for 8 pictures ✕."""
    theta = self.place(x.flatten(1)).view(-1, 2, 2)
    return x.flatten(1).sum(1) + theta.sum((1, 2))


@MODELS.row(
    (28, 28),
    why="input args[0] has 28 at dim 1; args[0] has no batch axis: 1×28×28 runs",
    by="input args[0]",
    fc=lambda: nn.Linear(784, 10),
)
def one_digit(self: Net, x: torch.Tensor) -> Any:
    """x[28,28] ─ flatten(1) changes nothing ─ fc 784 ✕."""
    return self.fc(x.flatten(1))


@MODELS.row(
    (4, 1, 28, 28),
    why="338 = (batch 4 × 4·26·26)/32; it works for a batch of 32, args[0] holds 4",
    by="view",
    at="self.batch",
    conv=lambda: nn.Conv2d(1, 4, 3),
    fc=lambda: nn.Linear(2704, 10),
    batch=lambda: 32,
)
def batch_written_down(self: Net, x: torch.Tensor) -> Any:
    """x[4,…] ─ conv ─ view(32, -1) ─ fc ✕."""
    h = self.conv(x).view(self.batch, -1)
    return self.fc(h)


@MODELS.row(
    (2, 3, 30, 30),
    why="input args[0] has 30 at dim 2; the sides of args[0] should be a multiple of 4, they are 30×30",
    by="input args[0]",
)
def patches_of_four(self: Net, x: torch.Tensor) -> Any:
    """x 30 in patches of 4 ✕."""
    b, c, h, w = x.shape
    return x.reshape(b, c, h // 4, 4, w // 4, 4)


@MODELS.row(
    (2, 10, 3),
    why="input args[0] has 10 at dim 1; args[0] has its channels last: 2×3×10 runs",
    by="input args[0]",
    conv=lambda: nn.Conv1d(3, 8, 3),
)
def short_sequence_with_channels_last(self: Net, x: torch.Tensor) -> Any:
    """x[2,10,3] ─ conv1d 3 ✕: not one picture of 3 colours."""
    return self.conv(x)


@MODELS.row(
    (4, 12),
    why="16 is a's out_features",
    by="linear",
    at="self.a",
    a=lambda: nn.utils.parametrizations.weight_norm(nn.Linear(12, 16)),
    b=lambda: nn.Linear(12, 3),
)
def weight_that_is_computed(self: Net, x: torch.Tensor) -> Any:
    """x ─ a weight-normed 16 ─ b 12 ✕."""
    return self.b(self.a(x))


@MODELS.row(
    (4, 12), why="16 is self.hidden; f32[16,12] would fit transposed, as f32[12,16]", by="zeros", at="torch.zeros", hidden=lambda: 16
)
def weight_from_an_attribute(self: Net, x: torch.Tensor) -> Any:
    """x[4,12] · w[16,12] ✕."""
    w = torch.zeros(self.hidden, 12)
    return x @ w
