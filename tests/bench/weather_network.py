"""Reference of weather_comparison.py: the network of configs/weather_ensemble/tiny.yaml and its losses in PyTorch, in double precision.
Arrays are channels last as Weir has them; here they become channels first."""

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
    """A U-Net of one level: two convolutions a block, group normalisation, linear upsampling, longitudes that wrap."""

    def __init__(self, arrays):
        self.leaf = {name: torch.tensor(np.asarray(a, "f8"), requires_grad=True) for name, a in arrays.items()}
        self.nearest = math.inf  # the smallest distance of an activation from 0, where its derivative jumps

    def convolve(self, name, x):
        w = self.leaf[name + ".weight"].permute(3, 2, 0, 1)
        n = w.shape[-1] // 2
        x = F.pad(F.pad(x, (n, n, 0, 0), mode="circular"), (0, 0, n, n)) if n else x
        return F.conv2d(x, w, self.leaf[name + ".bias"])

    def block(self, name, x):
        for k in "12":
            x = self.convolve(f"{name}.conv{k}", x)
            groups = next(g for g in range(min(8, x.shape[1]), 0, -1) if x.shape[1] % g == 0)
            x = F.group_norm(x, groups, self.leaf[f"{name}.norm{k}.scale"], self.leaf[f"{name}.norm{k}.offset"], 1e-5)
            self.nearest = min(self.nearest, x.detach().abs().min().item())
            x = F.relu(x)
        return x

    def forward(self, x):
        skip = self.block("enc0", x)
        x = self.block("bottom", F.max_pool2d(skip, 2))
        x = F.interpolate(F.pad(x, (1, 1, 0, 0), mode="circular"), size=[skip.shape[2], skip.shape[3] + 4], mode="bilinear", align_corners=False)
        x = self.convolve("dec0.up", x[..., 2:-2])
        return self.convolve("head", self.block("dec0", torch.cat([skip, x], 1)))


def loss_and_gradient(arrays, x, y, s, w, lower, extra, families, floor, min_spread):
    """Mean CRPS, its gradient by array, and how far the nearest activation is from 0; x to extra: [samples, lat, lon, channels]. extra: the
    shift of a gamma distribution, the width between two bounds."""
    network = Network(arrays)
    x, y, s, w, lower, extra = (torch.tensor(np.moveaxis(np.asarray(a, "f8"), -1, 1)) for a in (x, y, s, w, lower, extra))
    out, n = network.forward(x), len(families)
    sd = torch.clamp(s, min=min_spread) * F.softplus(out[:, n:] + math.log(math.e - 1)) + floor
    each = [CRPS[family](out[:, c], sd[:, c], y[:, c], lower[:, c], extra[:, c]) for c, family in enumerate(families)]
    loss = (w * torch.stack(each, 1)).sum() / w.sum()
    loss.backward()
    return loss.item(), {name: leaf.grad.numpy() for name, leaf in network.leaf.items()}, network.nearest
