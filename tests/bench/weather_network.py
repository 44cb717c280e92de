"""Reference of weather_comparison.py: the networks of configs/weather_ensemble/{tiny,transformer,stations}.yaml and their losses in
PyTorch, in double precision. Arrays are channels last as Weir has them; here they become channels first."""

import math

import numpy as np
import scipy.special
import torch
import torch.nn.functional as F

SQRT_2, INV_SQRT_PI = math.sqrt(2), 1 / math.sqrt(math.pi)


def upper(z):
    """P(Z > z) of a standard normal distribution."""
    return 0.5 * torch.erfc(z / SQRT_2)


def normal_tail(z):
    """Integrals above z of P(Z > x) and of its square."""
    s, density = upper(z), torch.exp(-0.5 * z * z) / math.sqrt(2 * math.pi)
    return density - z * s, 2 * density * s - z * s * s - upper(z * SQRT_2) * INV_SQRT_PI


def logistic_tail(z):
    return F.softplus(-z), F.softplus(-z) - torch.sigmoid(-z)


def crps_normal(mean, sd, truth, lower, extra):
    z = (truth - mean) / sd
    density = torch.exp(-0.5 * z * z) / math.sqrt(2 * math.pi)
    return sd * (z * torch.erf(z / SQRT_2) + 2 * density - INV_SQRT_PI)


def crps_truncated_normal(location, scale, truth, lower, extra):
    z, a = (truth - location) / scale, (lower - location) / scale
    (one, _), (from_bound, squared) = normal_tail(z), normal_tail(a)
    s = upper(a)
    return scale * (z - a - 2 * (from_bound - one) / s + squared / s**2)


def crps_censored_logistic(location, sd, truth, lower, extra):
    scale = sd * math.sqrt(3) / math.pi
    z, a = (truth - location) / scale, (lower - location) / scale
    return scale * (logistic_tail(-z)[1] - logistic_tail(-a)[1] + logistic_tail(z)[1])


def crps_between(tail, location, scale, truth, lower, width):
    """The integral of (F - 1)^2 above the truth and of F^2 below it, from the lower to the upper bound; F: without bounds."""
    z, a, b = ((x - location) / scale for x in (truth, lower, lower + width))
    return scale * (tail(-z)[1] - tail(-a)[1] + tail(z)[1] - tail(b)[1])


def crps_normal_between(location, sd, truth, lower, width):
    return crps_between(normal_tail, location, sd, truth, lower, width)


def crps_logistic_between(location, sd, truth, lower, width):
    return crps_between(logistic_tail, location, sd * math.sqrt(3) / math.pi, truth, lower, width)


class GammaBelow(torch.autograd.Function):
    """Regularised lower incomplete gamma function of SciPy; its derivative by the shape from differences of fourth order (PyTorch has none)."""

    @staticmethod
    def forward(ctx, k, x):
        ctx.save_for_backward(k, x)
        return torch.tensor(scipy.special.gammainc(k.numpy(), x.numpy()))

    @staticmethod
    def backward(ctx, grad):
        k, x = (a.detach().numpy() for a in ctx.saved_tensors)
        h = 1e-3 * k
        near, wide = (scipy.special.gammainc(k + n * h, x) - scipy.special.gammainc(k - n * h, x) for n in (1, 2))
        density = np.exp((k - 1) * np.log(x) - x - scipy.special.gammaln(k))
        return grad * torch.tensor((8 * near - wide) / (12 * h)), grad * torch.tensor(density)


def crps_censored_shifted_gamma(location, sd, truth, lower, shift):
    """Scheuerer and Hamill (2015), eq. 10; the shift is above 0, so that no value is at the beginning of the gamma distribution."""
    d = location - lower + shift
    m = (d + torch.sqrt(d**2 + (sd / 5) ** 2)) / 2
    k, unit, below = (m / sd) ** 2, sd**2 / m, GammaBelow.apply
    z, c = (truth - lower + shift) / unit, shift / unit

    def rate(x):
        return torch.exp(k * torch.log(x) - x - torch.lgamma(k))

    half = torch.exp(torch.lgamma(k + 0.5) - torch.lgamma(k)) * INV_SQRT_PI
    at = below(k, c)
    return unit * ((z - k) * (2 * below(k, z) - 1) + 2 * rate(z) + (k - c) * at**2 - 2 * at * rate(c) - half * (1 - below(2 * k, 2 * c)))


CRPS = {"normal": crps_normal, "truncated_normal": crps_truncated_normal, "censored_logistic": crps_censored_logistic}
CRPS["censored_shifted_gamma"] = crps_censored_shifted_gamma
CRPS["censored_normal between bounds"] = crps_normal_between
CRPS["censored_logistic between bounds"] = crps_logistic_between


class Network:
    """A network by the names and arrays of weights.nc."""

    def __init__(self, arrays):
        self.leaf = {name: torch.tensor(np.asarray(a, "f8"), requires_grad=True) for name, a in arrays.items()}
        self.nearest = math.inf  # the smallest distance of an activation from 0, where its derivative jumps

    def convolve(self, name, x):
        w = self.leaf[name + ".weight"].permute(3, 2, 0, 1)
        n = w.shape[-1] // 2
        x = F.pad(F.pad(x, (n, n, 0, 0), mode="circular"), (0, 0, n, n)) if n else x
        return F.conv2d(x, w, self.leaf[name + ".bias"])

    def dense(self, name, x):
        """Of the last dimension."""
        y = x @ self.leaf[name + ".weight"]
        return y + self.leaf[name + ".bias"] if name + ".bias" in self.leaf else y

    def relu(self, x):
        self.nearest = min(self.nearest, x.detach().abs().min().item())
        return F.relu(x)


class Unet(Network):
    """One level: two convolutions a block, group normalisation, linear upsampling, longitudes that wrap."""

    def block(self, name, x):
        for k in "12":
            x = self.convolve(f"{name}.conv{k}", x)
            groups = next(g for g in range(min(8, x.shape[1]), 0, -1) if x.shape[1] % g == 0)
            x = F.group_norm(x, groups, self.leaf[f"{name}.norm{k}.scale"], self.leaf[f"{name}.norm{k}.offset"], 1e-5)
            x = self.relu(x)
        return x

    def forward(self, x):
        skip = self.block("enc0", x)
        x = self.block("bottom", F.max_pool2d(skip, 2))
        x = F.interpolate(F.pad(x, (1, 1, 0, 0), mode="circular"), size=[skip.shape[2], skip.shape[3] + 4], mode="bilinear", align_corners=False)
        x = self.convolve("dec0.up", x[..., 2:-2])
        return self.convolve("head", self.block("dec0", torch.cat([skip, x], 1)))


class Dense(Network):
    """At every position by itself, with an embedding of each (Rasp and Lerch 2018)."""

    def forward(self, x):
        h = self.dense("hidden1", x.movedim(1, -1)) + self.dense("embedded", self.leaf["embedding"])
        return self.dense("output", self.relu(h)).movedim(-1, 1)


class Transformer(Network):
    """An encoder over patches of 2 x 2 points, layers of two heads that normalise first; a convolution of its patches and x."""

    def norm(self, name, x):
        return F.layer_norm(x, x.shape[-1:], self.leaf[name + ".scale"], self.leaf[name + ".offset"], 1e-5)

    def layer(self, name, x):
        q, k, v = self.dense(name + ".attention.qkv", self.norm(name + ".norm1", x)).unflatten(-1, (3, 2, -1)).permute(2, 0, 3, 1, 4)
        attended = torch.softmax(q @ k.transpose(2, 3) / math.sqrt(q.shape[-1]), -1) @ v
        x = x + self.dense(name + ".attention.out", attended.transpose(1, 2).flatten(2))
        return x + self.dense(name + ".linear2", F.gelu(self.dense(name + ".linear1", self.norm(name + ".norm2", x))))

    def forward(self, x):
        patch, unpatch = (self.leaf[n + ".weight"] for n in ("patch", "unpatch"))
        v = F.conv2d(x, patch.permute(3, 2, 0, 1), self.leaf["patch.bias"], stride=2)
        grid = v.shape[2:]
        v = v.flatten(2).transpose(1, 2) + self.leaf["position.weight"]
        for name in ("layer1", "layer2"):
            v = self.layer(name, v)
        v = self.norm("norm", v).transpose(1, 2).unflatten(2, grid)
        v = F.conv_transpose2d(v, unpatch.permute(2, 3, 0, 1), self.leaf["unpatch.bias"], stride=2)
        return self.convolve("head", torch.cat([v, x], 1))


NETWORKS = {"unet": Unet, "dense": Dense, "transformer": Transformer}
FLOOR, MIN_SPREAD, SOFTPLUS_IS_ONE = 1e-3, 0.01, math.log(math.e - 1)


def first(a):
    """Channels of [.., lat, lon, channels] first: [.., channels, lat, lon]."""
    return torch.tensor(np.moveaxis(np.asarray(a, "f8"), -1, -3))


def loss_of_distributions(network, x, y, s, w, lower, extra, families):
    """Mean CRPS. extra: the shift of a gamma distribution, the width between two bounds."""
    x, y, s, w, lower, extra = (first(a) for a in (x, y, s, w, lower, extra))
    out, n = network.forward(x), len(families)
    sd = torch.clamp(s, min=MIN_SPREAD) * F.softplus(out[:, n:] + SOFTPLUS_IS_ONE) + FLOOR
    each = [CRPS[family](out[:, c], sd[:, c], y[:, c], lower[:, c], extra[:, c]) for c, family in enumerate(families)]
    return (w * torch.stack(each, 1)).sum() / w.sum()


def loss_of_members(network, x, y, d, w, alpha):
    """Mean of alpha times the fair CRPS and 1 - alpha times the kernel CRPS, of members a + softplus(b) d [samples, members, .., channels]:
    the double sum over members (Lang et al., arXiv:2412.15832, eq. 3)."""
    x, y, d, w = (first(a) for a in (x, y, d, w))
    n, m, k = d.shape[:3]
    out = network.forward(torch.cat([x[:, None].expand(-1, m, -1, -1, -1), d], 2).flatten(0, 1)).unflatten(0, (n, m))
    e = out[:, :, :k] + F.softplus(out[:, :, k:] + SOFTPLUS_IS_ONE) * d
    error, apart = e - y[:, None], torch.stack([e[:, i] - e[:, j] for i in range(m) for j in range(i)])
    for jump in (error, apart):
        network.nearest = min(network.nearest, jump.detach().abs().min().item())
    crps = error.abs().mean(1) - apart.abs().sum(0) * (alpha / (m * (m - 1)) + (1 - alpha) / m**2)
    return (w * crps).sum() / w.sum()


def loss_and_gradient(arrays, loss_of, *inputs):
    """Loss of the U-Net, its gradient by array, and the distance from 0 of the nearest activation or other number at which a derivative
    jumps; inputs: [samples, lat, lon, ..]."""
    network = Unet(arrays)
    loss = loss_of(network, *inputs)
    loss.backward()
    return loss.item(), {name: leaf.grad.numpy() for name, leaf in network.leaf.items()}, network.nearest


def descend(kind, arrays, loss_of, inputs, steps, rate):
    """The losses before each of some steps of gradient descent."""
    network, losses = NETWORKS[kind](arrays), []
    descent = torch.optim.SGD(network.leaf.values(), lr=rate)
    for _ in range(steps):
        descent.zero_grad()
        loss = loss_of(network, *inputs)
        loss.backward()
        descent.step()
        losses.append(loss.item())
    return losses
