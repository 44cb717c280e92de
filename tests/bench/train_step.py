"""Peers of train_step.c and of tests/integration/networks/parity_slow.c: a U-Net and CosmoFlow's network in
PyTorch, trained from Weir's bank of parameters on Weir's data. Arrays are channels last as Weir has
them; here they become channels first, PyTorch's own order. What a call leaves behind is kept, so that
the next call is the next step."""

import ctypes
import os

import numpy as np
import torch
import torch.nn.functional as F

KEPT = {}


def memory(field):
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith(field + ":"):
                return 1024 * int(line.split()[1])
    return 0


def forget_peak():
    """What is free goes back to the system, and the peak begins at what is left."""
    ctypes.CDLL(None).malloc_trim(0)
    try:
        with open("/proc/self/clear_refs", "w") as refs:
            refs.write("5")
    except OSError:
        pass


class Bank:
    """Cuts the bank in the order in which Weir declares parameters."""

    def __init__(self, values):
        self.values, self.at, self.kept = values, 0, []

    def take(self, shape, order):
        """The next parameter, of Weir's `shape`, with its dimensions in `order`; a leaf."""
        n = int(np.prod(shape))
        cut = self.values[self.at : self.at + n].reshape(shape)
        leaf = torch.from_numpy(np.ascontiguousarray(cut.transpose(order))).clone()
        self.at += n
        self.kept.append((leaf.requires_grad_(), order))
        return leaf

    def conv(self, taps, ci, co, bias=True):
        d = len(taps)
        w = self.take([*taps, ci, co], [d + 1, d, *range(d)])
        return w, self.take([co], [0]) if bias else None

    def dense(self, n_in, n_out):
        return self.take([n_in, n_out], [1, 0]), self.take([n_out], [0])

    def back(self):
        """All parameters as a bank again."""
        cuts = [leaf.detach().numpy().transpose(np.argsort(order)).ravel() for leaf, order in self.kept]
        return np.concatenate(cuts)


def same(x, w, b, border):
    """Convolution with the size kept; border per dimension: 0 zero, 1 wrap, 2 replicate."""
    taps = w.shape[2:]
    pads = [((k - 1) // 2, k // 2) for k in taps]
    plain = [p[0] if p[0] == p[1] and border[i] == 0 else 0 for i, p in enumerate(pads)]
    for i, (lo, hi) in enumerate(pads):
        if plain[i] != lo or plain[i] != hi:
            pad = [0] * (2 * len(taps))
            pad[2 * (len(taps) - 1 - i)], pad[2 * (len(taps) - 1 - i) + 1] = lo, hi
            x = F.pad(x, pad, mode=("constant", "circular", "replicate")[border[i]])
    return (F.conv1d, F.conv2d, F.conv3d)[len(taps) - 1](x, w, b, padding=plain)


def enlarge(x, size, round):
    """Linear between centres; round: the last dimension has no ends, and is twice as long then."""
    if not round:
        return F.interpolate(x, size=size, mode="trilinear", align_corners=False)
    x = F.pad(x, (1, 1, 0, 0, 0, 0), mode="circular")
    x = F.interpolate(x, size=[*size[:-1], 2 * x.shape[-1]], mode="trilinear", align_corners=False)
    return x[..., 2:-2]


def to_first(x):
    return torch.from_numpy(np.ascontiguousarray(np.moveaxis(x, -1, 1)))


def make_unet(bank, o):
    """The layers of nn/unet.c for dims = 3, widen = last, up = linear, join = concat, group norm."""
    taps, n = (o["kernel"],) * 3, o["base"]
    layers = {}

    def block(name, ci, co):
        layers[name] = (bank.conv(taps, ci, co), bank.take([co], [0]), bank.take([co], [0]))

    def run(name, x):
        (w, b), scale, shift = layers[name]
        groups = next(g for g in range(min(o["groups"], w.shape[0]), 0, -1) if w.shape[0] % g == 0)
        return F.relu(F.group_norm(same(x, w, b, o["border"]), groups, scale, shift, 1e-5))

    width = [2 * n * 2**i for i in range(o["levels"] + 1)]
    wide = o["channels"]
    for i, s in enumerate(width):
        block("enc%d/1" % i, wide, s // 2)
        block("enc%d/2" % i, s // 2, s)
        wide = s
    for i in reversed(range(o["levels"])):
        layers["up%d" % i] = bank.conv(taps, wide, wide)
        block("dec%d/1" % i, wide + width[i], width[i])
        block("dec%d/2" % i, width[i], width[i])
        wide = width[i]
    layers["head"] = bank.conv((1, 1, 1), wide, o["outputs"])

    def forward(x):
        skips = []
        for i in range(o["levels"] + 1):
            x = run("enc%d/2" % i, run("enc%d/1" % i, x if i == 0 else F.max_pool3d(x, 2)))
            skips.append(x)
        for i in reversed(range(o["levels"])):
            x = enlarge(x, skips[i].shape[2:], o["border"][2] == 1)
            x = torch.cat([skips[i], same(x, *layers["up%d" % i], o["border"])], 1)
            x = run("dec%d/2" % i, run("dec%d/1" % i, x))
        return same(x, *layers["head"], o["border"])

    return forward


def make_cosmoflow(bank, o):
    """apps/cosmoflow/model: convolutions, LeakyReLU, pooling; flattened in (d, h, w, c) order."""
    taps, wide, convs, dense = (o["kernel"],) * 3, o["channels"], [], []
    for i in range(o["blocks"]):
        co = min(o["base"] << i, o["most"])
        convs.append(bank.conv(taps, wide, co))
        wide = co
    features = wide * (o["size"] >> o["blocks"]) ** 3
    for n in (o["hidden1"], o["hidden2"], o["outputs"]):
        dense.append(bank.dense(features, n))
        features = n

    def forward(x):
        for w, b in convs:
            x = F.max_pool3d(F.leaky_relu(same(x, w, b, (0, 0, 0)), 0.3), 2)
        x = x.permute(0, 2, 3, 4, 1).flatten(1)
        for w, b in dense[:-1]:
            x = F.leaky_relu(F.linear(x, w, b), 0.3)
        return 1.2 * torch.tanh(F.linear(x, *dense[-1]))

    return forward


def train(name, make, bank, x, y, o):
    """A call is o["steps"] steps of momentum; afterwards all losses, the bank, growth of memory."""
    if name not in KEPT:
        torch.set_num_threads(o["threads"])
        forget_peak()
        before = memory("VmRSS")
        x = to_first(x.reshape(o["batch"], *o["shape"], o["channels"]))
        y = y.reshape(o["batch"], *(o["shape"] if name == "unet" else ()), o["outputs"])
        y = to_first(y) if name == "unet" else torch.from_numpy(y)
        cut = Bank(bank)
        forward = make(cut, o)
        assert cut.at == len(bank), "%d parameters, not %d" % (cut.at, len(bank))
        rule = torch.optim.SGD([leaf for leaf, _ in cut.kept], lr=o["rate"], momentum=o["momentum"])
        KEPT[name] = cut, forward, rule, x, y, [], before
    cut, forward, rule, x, y, losses, before = KEPT[name]
    for _ in range(o["steps"]):
        rule.zero_grad(set_to_none=True)
        loss = F.mse_loss(forward(x), y)
        loss.backward()
        rule.step()
        losses.append(loss.item())
    growth = float(memory("VmHWM") - before)
    return lambda: (np.array(losses), cut.back(), np.array([growth]))


def unet(bank, x, y, depth, height, width, **o):
    o["shape"] = (depth, height, width)
    o["border"] = [o["border_z"], o["border_y"], o["border_x"]]
    return train("unet", make_unet, bank, x, y, o)


def cosmoflow(bank, x, y, size, **o):
    o["size"], o["shape"] = size, (size,) * 3
    return train("cosmoflow", make_cosmoflow, bank, x, y, o)
