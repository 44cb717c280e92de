"""References of train_step.c, train_memory.c and of tests/integration/networks/parity_slow.c: a U-Net, a transformer and CosmoFlow's
networks in PyTorch, trained from Weir's bank of parameters on Weir's data. Arrays are channels last as Weir has
them; here they become channels first, PyTorch's own order, or PyTorch's channels last. What a call leaves behind is kept,
so that the next call is the next step. With best=1 the first call finds the fastest of PyTorch's forms."""

import ctypes
import gc
import itertools
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

KEPT = {}
LAYOUTS = ("channels_first", "channels_last")
FIELDS = ("unet", "transformer")  # whose targets are fields
TRIAL = 3  # timed steps of a form, after as many that are not
ATTEMPTS = 4  # at steps whose loss becomes NaN


def version():
    """Of PyTorch, and the form that ran."""
    return torch.__version__.split("+")[0] + " " + KEPT["form"]


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


def placed(x, layout):
    """x [n, channels, 1 to 3 dimensions], or a filter, in memory as `layout` says."""
    if layout == "channels_last" and x.dim() in (4, 5):
        return x.contiguous(memory_format=torch.channels_last if x.dim() == 4 else torch.channels_last_3d)
    return x.contiguous()


class Bank:
    """Cuts the bank in the order in which Weir declares parameters."""

    def __init__(self, values, layout):
        self.values, self.layout, self.at, self.kept = values, layout, 0, []

    def take(self, shape, order):
        """The next parameter, of Weir's `shape`, with its dimensions in `order`; a leaf."""
        n = int(np.prod(shape))
        cut = self.values[self.at : self.at + n].reshape(shape)
        leaf = placed(torch.from_numpy(np.ascontiguousarray(cut.transpose(order))).clone(), self.layout)
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


def again(o, how, f, *x):
    """f(*x), whose results are computed again for the gradient if o["checkpoint"] is `how`: 1, every layer by itself;
    2, every level or pair of layers."""
    return checkpoint(f, *x, use_reentrant=False) if o.get("checkpoint") == how else f(*x)


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
        return again(
            o, 1, lambda x: F.relu(F.group_norm(same(x, w, b, o["border"]), groups, scale, shift, 1e-5)), x
        )

    def pair(name, x):
        return run(name + "/2", run(name + "/1", x))

    def up(i, skip, x):
        x = enlarge(x, skip.shape[2:], o["border"][2] == 1)
        return pair("dec%d" % i, torch.cat([skip, same(x, *layers["up%d" % i], o["border"])], 1))

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
            x = again(o, 2, lambda x, i=i: pair("enc%d" % i, x if i == 0 else F.max_pool3d(x, 2)), x)
            skips.append(x)
        for i in reversed(range(o["levels"])):
            x = again(o, 2, lambda skip, x, i=i: up(i, skip, x), skips[i], x)
        return same(x, *layers["head"], o["border"])

    return forward


def attend(q, k, v):
    """softmax(q k / sqrt(d)) v of [n, heads, positions, d]."""
    if hasattr(F, "scaled_dot_product_attention"):
        return F.scaled_dot_product_attention(q, k, v)
    return torch.softmax(q @ k.transpose(2, 3) / q.shape[3] ** 0.5, 3) @ v


def make_transformer(bank, o):
    """The layers of nn/transformer.c in two dimensions, without dropout; features 0: no skip. The layers of the encoder are
    those of torch.nn.TransformerEncoderLayer, on the kernels for attention that PyTorch has. members: so many inputs are a set."""
    patch, d, side = (o["patch_y"], o["patch_x"]), o["tokens"], (o["height"], o["width"])
    eps = 1e-5

    def norm():
        return bank.take([d], [0]), bank.take([d], [0])

    embed = bank.conv(patch, o["channels"], d)
    position = bank.take([side[0] * side[1] // (patch[0] * patch[1]), d], [0, 1])
    layers = []
    members = o.get("members", 0)
    for _ in range(o["layers"] * (2 if members else 1)):
        norms, parts = [], []
        for part in (((d, 3 * d), (d, d)), ((d, o["hidden"]), (o["hidden"], d))):
            if o["first"]:
                norms.append(norm())
            parts += [bank.dense(*shape) for shape in part]
            if not o["first"]:
                norms.append(norm())
        layers.append((norms, parts))
    last = norm() if o["first"] else None
    wide = o["features"] or o["outputs"]
    grown = bank.take([*patch, d, wide], [2, 3, 0, 1]), bank.take([wide], [0])
    head = bank.conv((o["kernel"],) * 2, wide + o["channels"], o["outputs"]) if o["features"] else None

    def attention(x, qkv, out):
        n, p, _ = x.shape
        q, k, v = F.linear(x, *qkv).view(n, p, 3, o["heads"], d // o["heads"]).permute(2, 0, 3, 1, 4)
        return F.linear(attend(q, k, v).transpose(1, 2).reshape(n, p, d), *out)

    def layer(x, norms, parts):
        def before(k, x):
            return F.layer_norm(x, (d,), *norms[k], eps) if o["first"] else x

        def after(k, x):
            return x if o["first"] else F.layer_norm(x, (d,), *norms[k], eps)

        x = after(0, x + attention(before(0, x), *parts[:2]))
        return after(1, x + F.linear(F.gelu(F.linear(before(1, x), *parts[2])), *parts[3]))

    def forward(x):
        v = F.conv2d(x, *embed, stride=patch)
        grid = v.shape[2:]
        v = v.flatten(2).transpose(1, 2) + position
        for i, (norms, parts) in enumerate(layers):
            over_members = members and i % 2 == 1
            v = v.unflatten(0, (-1, members)).transpose(1, 2).flatten(0, 1) if over_members else v
            v = again(o, 1, layer, v, norms, parts)
            v = v.unflatten(0, (-1, position.shape[0])).transpose(1, 2).flatten(0, 1) if over_members else v
        v = F.layer_norm(v, (d,), *last, eps) if last else v
        v = F.conv_transpose2d(v.transpose(1, 2).unflatten(2, grid), *grown, stride=patch)
        return same(torch.cat([v, x], 1), *head, (o["border_y"], o["border_x"])) if head else v

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

    def stage(x, w, b):
        return F.max_pool3d(F.leaky_relu(same(x, w, b, (0, 0, 0)), 0.3), 2)

    def stages(x, some):
        for w, b in some:
            x = again(o, 1, stage, x, w, b)
        return x

    def forward(x):
        for i in range(0, len(convs), 2):
            x = again(o, 2, lambda x, i=i: stages(x, convs[i : i + 2]), x)
        x = x.permute(0, 2, 3, 4, 1).flatten(1)
        for w, b in dense[:-1]:
            x = F.leaky_relu(F.linear(x, w, b), 0.3)
        return 1.2 * torch.tanh(F.linear(x, *dense[-1]))

    return forward


def make_unet3d(bank, o):
    """apps/cosmoflow/model/net/unet.c: batch norm, no bias, transposed convolutions of 2 x 2 x 2."""
    layers, n = {}, o["base"]

    def block(name, *wide):
        layers[name] = [
            (bank.conv((3,) * 3, ci, co, False)[0], bank.take([co], [0]), bank.take([co], [0]))
            for ci, co in zip(wide, wide[1:])
        ]

    def run(name, x):
        for w, scale, shift in layers[name]:
            x = F.relu(F.batch_norm(F.conv3d(x, w, padding=1), None, None, scale, shift, training=True))
        return x

    width = [2 * n * 2**i for i in range(o["levels"] + 1)]
    wide = o["channels"]
    for i, s in enumerate(width):
        block("enc%d" % i, wide, s // 2, s)
        wide = s
    for i in reversed(range(o["levels"])):
        layers["up%d" % i] = bank.take([2, 2, 2, wide, wide], [3, 4, 0, 1, 2])
        block("dec%d" % i, wide + width[i], width[i], width[i])
        wide = width[i]
    layers["head"] = bank.conv((1, 1, 1), wide, o["outputs"], False)[0]

    def forward(x):
        skips = []
        for i in range(o["levels"] + 1):
            x = run("enc%d" % i, x if i == 0 else F.max_pool3d(x, 2))
            skips.append(x)
        for i in reversed(range(o["levels"])):
            x = F.conv_transpose3d(x, layers["up%d" % i], stride=2)
            x = run("dec%d" % i, torch.cat([skips[i], x], 1))
        return F.conv3d(x, layers["head"])

    return forward


def make_tower(bank, o, stages, hidden, slope, valid=False, scale=0.0):
    """apps/cosmoflow/model/cnn.c without dropout. A stage: filters, taps, stride, pooling ("mean2", "mean3", None);
    zeros on both sides keep the size at stride 1 unless `valid`; o: norm, epsilon, bias."""
    wide, side, layers, dense = o["channels"], o["size"], [], []
    for co, taps, stride, pool in stages:
        conv = bank.conv((taps,) * 3, wide, co, bool(o["bias"]))
        norm = (bank.take([co], [0]), bank.take([co], [0])) if o["norm"] else None
        layers.append((conv, norm, stride, 0 if valid else taps // 2, pool))
        wide = co
        side = (side + (0 if valid else 2 * (taps // 2)) - taps) // stride + 1
        side = side if pool is None else side // 2 if pool == "mean2" else (side - 1) // 2 + 1
    features = wide * side**3
    for n in (*hidden, o["outputs"]):
        dense.append(bank.dense(features, n))
        features = n

    def forward(x):
        for (w, b), norm, stride, pad, pool in layers:
            x = F.conv3d(x, w, b, stride=stride, padding=pad)
            if norm:
                x = F.batch_norm(x, None, None, *norm, training=True, eps=o["epsilon"])
            x = F.leaky_relu(x, slope)
            if pool:
                x = F.avg_pool3d(x, 2) if pool == "mean2" else F.avg_pool3d(x, 3, 2, 1)
        x = x.permute(0, 2, 3, 4, 1).flatten(1)
        for w, b in dense[:-1]:
            x = F.leaky_relu(F.linear(x, w, b), slope)
        x = F.linear(x, *dense[-1])
        return scale * torch.tanh(x) if scale else x

    return forward


def make_oyama(bank, o):
    """The seven convolutions of LBANN's revision of 2023-01, the first of them pooled."""
    times = (1, 2, 4, 8, 16, 16, 16)
    stages = [
        (o["base"] * t, 3, 2 if i == 3 else 1, "mean3" if i < o["pools"] else None) for i, t in enumerate(times)
    ]
    return make_tower(bank, o, stages, (o["hidden1"], o["hidden2"]), 0.01)


def make_lbann(bank, o):
    stages = [(min(o["base"] << i, o["most"]), 3, 1, "mean3") for i in range(o["blocks"])]
    return make_tower(bank, o, stages, (o["hidden1"], o["hidden2"]), 0.3, scale=1.2)


def make_sc18(bank, o):
    """side: of the layout, 64 or 128."""
    n = o["base"]
    stages = {
        64: [(n, 3, 1), (2 * n, 4, 1), (4 * n, 4, 2), (4 * n, 3, 1), (8 * n, 2, 1), (8 * n, 2, 1)],
        128: [(n, 3, 1), (2 * n, 4, 1), (4 * n, 4, 1), (8 * n, 3, 2), (16 * n, 3, 1), (16 * n, 2, 1), (16 * n, 2, 1)],
    }[o["layout"]]
    pools = {64: 2, 128: 3}[o["layout"]]
    stages = [(*s, "mean2" if i < pools else None) for i, s in enumerate(stages)]
    return make_tower(bank, o, stages, [o["hidden1"], o["hidden2"]], 0.01, valid=True)


def make_gap(bank, o):
    """apps/cosmoflow/model/net/gap.c."""
    wide, convs, dense = o["channels"], [], []
    for i in range(o["blocks"]):
        convs.append(bank.conv((3,) * 3, wide, o["base"] << i))
        wide = o["base"] << i
    features = sum(w.shape[0] for w, _ in convs)
    for n in (o["hidden1"], o["hidden2"], o["outputs"]):
        dense.append(bank.dense(features, n))
        features = n

    def forward(x):
        means = []
        for i, (w, b) in enumerate(convs):
            x = F.leaky_relu(same(F.avg_pool3d(x, 2) if i else x, w, b, (o["border"],) * 3), 0.3)
            means.append(x.mean((2, 3, 4)))
        x = torch.cat(means, 1)
        for w, b in dense[:-1]:
            x = F.leaky_relu(F.linear(x, w, b), 0.3)
        return 1.2 * torch.tanh(F.linear(x, *dense[-1]))

    return forward


class Training:
    """Steps of momentum in one form: "LAYOUT eager" or "LAYOUT compiled"; half: products in bf16 (autocast)."""

    def __init__(self, name, make, bank, x, y, o, form):
        layout, how = form.split()
        forget_peak()
        self.before = memory("VmRSS")
        x = to_first(x.reshape(o["batch"], *o["shape"], o["channels"]))
        self.x = placed(x, layout)
        if name == "unet3d":  # numbers in [-1, 1] stand for classes
            self.y = torch.from_numpy((1.5 * (y + 1)).astype(np.int64).reshape(o["batch"], *o["shape"]))
        else:
            y = y.reshape(o["batch"], *(o["shape"] if name in FIELDS else ()), o["outputs"])
            self.y = to_first(y) if name in FIELDS else torch.from_numpy(y)
        self.cut = Bank(bank, layout)
        forward = make(self.cut, o)
        assert self.cut.at == len(bank), "%d parameters, not %d" % (self.cut.at, len(bank))
        leaves = [leaf for leaf, _ in self.cut.kept]
        self.rule = torch.optim.SGD(leaves, lr=o["rate"], momentum=o["momentum"])
        measure = F.cross_entropy if name == "unet3d" else F.mse_loss
        half = bool(o.get("half"))

        def loss_of(x, y):
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=half):
                out = forward(x)
            return measure(out.float() if half else out, y)

        self.loss_of = torch.compile(loss_of) if how == "compiled" else loss_of
        self.losses = []

    def step(self):
        self.rule.zero_grad(set_to_none=True)
        loss = self.loss_of(self.x, self.y)
        loss.backward()
        self.rule.step()
        self.losses.append(loss.item())

    def growth(self):
        return float(memory("VmHWM") - self.before)


def run_steps(n, form, *arguments):
    """A training after its first n steps, and their times. PyTorch 2.15 in bf16 on Zen 4 now and then computes gradients by
    weights of which elements are NaN: the steps are then made again."""
    for _ in range(ATTEMPTS):
        training = Training(*arguments, form)
        times = []
        for _ in range(n):
            start = time.perf_counter()
            training.step()
            times.append(time.perf_counter() - start)
        if np.isfinite(training.losses).all():
            return training, times
        print("train_step.py: PyTorch %s: its loss is NaN, it starts again" % form, file=sys.stderr)
        del training
        torch.compiler.reset()
        gc.collect()
    raise ArithmeticError("its loss is NaN in %d runs" % ATTEMPTS)


def find_fastest(*arguments):
    """The fastest form, and the least growth of memory of a form without a compiler (0: none ran)."""
    best, least, form = float("inf"), 0, "channels_first eager"
    for how, layout in itertools.product(("eager", "compiled"), LAYOUTS):
        try:
            trial, times = run_steps(2 * TRIAL, layout + " " + how, *arguments)
        except Exception as error:  # no compiler, or NaN
            print("train_step.py: PyTorch %s %s fails: %s" % (layout, how, error), file=sys.stderr)
            continue
        seconds = min(times[TRIAL:])
        print("train_step.py: PyTorch %s %s takes %.4g s" % (layout, how, seconds), file=sys.stderr)
        if how == "eager":
            least = min(least or trial.growth(), trial.growth())
        if seconds < best:
            best, form = seconds, layout + " " + how
        del trial
        torch.compiler.reset()
        gc.collect()
    return form, least


def in_double(training, name, make, bank, x, y, o):
    """The same steps in double precision. The fastest form's own losses may be off by more than another program's: how far
    is printed."""
    exact = Training(name, make, *(a.astype(np.float64) for a in (bank, x, y)), o, "channels_first eager")
    for _ in training.losses:
        exact.step()
    off = np.max(np.abs(np.array(training.losses) / np.array(exact.losses) - 1))
    print("train_step.py: losses of PyTorch %s are within %.2g of double precision" % (KEPT["form"], off), file=sys.stderr)
    if not off <= 1e-2:
        raise ArithmeticError("%s in f32: its losses differ from double precision by %g" % (name, off))
    return exact


def train(name, make, bank, x, y, o):
    """A call is o["steps"] steps; afterwards all losses, the bank, growth of memory. With best=1 and without half, losses and
    bank are those of the same steps in double precision."""
    arguments = name, make, bank, x, y, o
    if name not in KEPT:
        torch.set_num_threads(o["threads"])
        form = ("channels_last" if o.get("last") else "channels_first") + " eager"
        KEPT["form"], KEPT["least"] = find_fastest(*arguments) if o.get("best") else (form, 0)
        KEPT[name] = Training(*arguments, KEPT["form"])
    for _ in range(o["steps"]):
        KEPT[name].step()
    if not np.isfinite(KEPT[name].losses).all():
        KEPT[name], _ = run_steps(len(KEPT[name].losses), KEPT["form"], *arguments)
    training = KEPT[name]
    growth = KEPT["least"] or training.growth()

    def results():
        exact = in_double(training, *arguments) if o.get("best") and not o.get("half") else training
        return np.array(exact.losses), exact.cut.back().astype(np.float32), np.array([growth])

    return results


def unet(bank, x, y, depth, height, width, **o):
    o["shape"] = (depth, height, width)
    o["border"] = [o["border_z"], o["border_y"], o["border_x"]]
    return train("unet", make_unet, bank, x, y, o)


def transformer(bank, x, y, height, width, **o):
    o["shape"] = (height, width)
    o["height"], o["width"] = height, width
    return train("transformer", make_transformer, bank, x, y, o)


def unet3d(bank, x, y, depth, height, width, **o):
    o["shape"] = (depth, height, width)
    return train("unet3d", make_unet3d, bank, x, y, o)


def of_cubes(name, make, bank, x, y, size, o):
    o["size"], o["shape"] = size, (size,) * 3
    return train(name, make, bank, x, y, o)


def cosmoflow(bank, x, y, size, **o):
    return of_cubes("cosmoflow", make_cosmoflow, bank, x, y, size, o)


def oyama(bank, x, y, size, **o):
    return of_cubes("oyama", make_oyama, bank, x, y, size, o)


def lbann(bank, x, y, size, **o):
    return of_cubes("lbann", make_lbann, bank, x, y, size, o)


def gap(bank, x, y, size, **o):
    return of_cubes("gap", make_gap, bank, x, y, size, o)


def sc18(bank, x, y, size, **o):
    return of_cubes("sc18", make_sc18, bank, x, y, size, o)
