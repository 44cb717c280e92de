"""weather_steps.py - the rows of weather_comparison.py on networks: loss, gradient and steps of gradient descent with PyTorch."""

import netCDF4
import numpy as np
import weir
from comparison_table import compare, optional
from weather_fields import UNIT, Fields, run
from weather_theirs import shift_of

torch = optional("torch")

SINGLE, FIRST = 1e-5, 1e-6  # goals: a network in f32; loss and gradient of members
STEPS, RATE = 10, 0.05  # of gradient descent
FEW_DAYS = "data.split.train.to=2000-01-21"  # of --tiny, and of networks of members: samples of 20 days
TINY = [FEW_DAYS, "exec.tier=vector"]  # without compiling for longer than all else takes
KINK, SEEDS = 5e-7, 8  # least distance from 0 of what a derivative jumps at; seeds that are tried
COVER = 1.0  # upper bound of distributions between bounds that a network makes: of cloud cover
MEMBERS = 3
FILES = ["data.forecast=[data/forecast.nc]", "data.truth=[data/truth.nc]"]
ALONE = ["model.coupling=none", "data.mean=false", "data.spread=false", "data.position=true"]
TRANSFORMER = ["model.net=transformer", "model.transformer={preset: tiny, patch: {y: 2, x: 2}, border: {x: wrap}, dropout: 0}"]
UNET_KINKS = "U-Net of members alone, fair CRPS"
OF_MEMBERS = (("members, kernel CRPS", [], 0.0), ("members alone, almost fair CRPS", ALONE, 0.95), ("members alone, fair CRPS", ALONE, 1.0))


def lacks_torch(table, what, data):
    if torch is None:
        table.leave(what, data, "PyTorch", "not to be had here: this Python has no PyTorch")
    return torch is None


def reference():
    return f"PyTorch {torch.__version__.split('+')[0]}, f64"


def parameters(arrays):
    return {n: a for n, a in arrays.items() if not n.startswith("standard.")}


def first_step(table, what, data, sets, rate, goals, theirs_of):
    """Weights before and after one step of gradient descent differ by the rate times the gradient. Where an activation is so close to 0
    that single precision may see its other side, the gradients differ by what this one passes on: then another seed is trained.
    theirs_of: loss, gradient and the least such distance, of weights and dates."""
    for seed in range(SEEDS):
        run("run", "before", *sets, f"seed={seed}", "train.epochs=1")
        before = weir.load_weights("before/weights.nc")
        dates = training_dates("before/weights.nc", Fields("z500"))
        theirs, gradient, nearest = theirs_of(before, dates)
        if nearest > KINK:
            break
    run("run", "after", *sets, "train.epochs=1", "train.initial_weights=before/weights.nc", f"train.batch={len(dates)}",
        "train.optim.rule={sgd: {}}", f"train.optim.schedule={{lr: {rate}, shape: constant}}")
    after = weir.load_weights("after/weights.nc")
    ours = weir.open_run("after").events("epoch_end")["loss"].item()
    compare(table, "loss " + what, data, reference(), theirs, ours, goals[0])
    ours = np.concatenate([(before[n].astype("f8") - after[n].astype("f8")).ravel() for n in gradient]) / rate
    want = np.concatenate([g.ravel() for g in gradient.values()])
    size = np.linalg.norm(want)
    difference = np.linalg.norm(ours - want) / size
    table.add(f"gradient of it by {len(want)} parameters: norm", data, reference(), size, np.linalg.norm(ours), difference, goals[1])


def network(table, tiny, quantities, families):
    """First step of a U-Net of distributions."""
    what, data = f"of a network, {', '.join(f.replace('_', ' ') for f in families)}", ", ".join(quantities)
    if lacks_torch(table, "loss and gradient " + what, data):
        return
    import weather_network

    between = ["between" in f for f in families]
    extra = [COVER if b else shift_of(f) / UNIT[q] for q, f, b in zip(quantities, families, between)]
    rows = ", ".join(f"{{quantity: {q}, family: {f.split()[0]}, {'upper' if b else 'shift'}: {e!r}}}"
                     for q, f, e, b in zip(quantities, families, extra, between))
    listed = "[" + ",".join(quantities) + "]"
    sets = [*FILES, f"data.target={listed}", f"data.inputs={listed}", f"model.distributions=[{rows}]", *(TINY if tiny else [])]
    fields = [Fields(q) for q in quantities]

    def theirs_of(weights, dates):
        inputs = network_inputs(weights, fields, dates, MEMBERS, extra)
        return weather_network.loss_and_gradient(parameters(weights), weather_network.loss_of_distributions, *inputs, families)

    first_step(table, what, data, sets, 1, (SINGLE, 10 * SINGLE), theirs_of)


def members(table, tiny):
    """First step of a U-Net of members."""
    for what, sets, alpha in OF_MEMBERS[1:2] if tiny else OF_MEMBERS:
        what = f"of a network of {what}"
        if lacks_torch(table, "loss and gradient " + what, "z500"):
            continue
        import weather_network

        fields = Fields("z500")

        def theirs_of(weights, dates):
            inputs = inputs_of_members(weights, fields, dates, alpha)
            return weather_network.loss_and_gradient(parameters(weights), weather_network.loss_of_members, *inputs)

        few = TINY if tiny else [FEW_DAYS]
        sets = [*FILES, "data.target=[z500]", "data.inputs=[z500]", *few, "model.head=members", f"model.alpha={alpha}", *sets]
        first_step(table, what, "z500", sets, 64, (FIRST, FIRST), theirs_of)


def descents(table, tiny):
    """Losses of steps of gradient descent on training samples, all in a batch, from the weights of a run of one epoch."""
    kinds = [("fully connected with embeddings", "dense", ["model.net=dense", "model.dense={units: [16], embedding: 2}"], None),
             ("transformer of patches", "transformer", TRANSFORMER, None)]
    of_members = OF_MEMBERS[:1] if tiny else OF_MEMBERS
    kinds += [(f"transformer of {what}", "transformer", [*TRANSFORMER, *sets], alpha) for what, sets, alpha in of_members]
    kinds += [] if tiny else [(UNET_KINKS, "unet", ALONE, 1.0)]
    for what, kind, sets, alpha in kinds:
        what = f"losses of {STEPS} steps, {what}"
        if lacks_torch(table, what, "z500"):
            continue
        import weather_network

        sets = [*FILES, "data.target=[z500]", "data.inputs=[z500]", *sets]
        sets += TINY if tiny else [] if alpha is None else [FEW_DAYS]
        sets += [] if alpha is None else ["model.head=members", f"model.alpha={alpha}"]
        run("run", "first", *sets, "train.epochs=1")
        arrays, fields = weir.load_weights("first/weights.nc"), Fields("z500")
        dates = training_dates("first/weights.nc", fields)
        run("run", "descent", *sets, "train.initial_weights=first/weights.nc", f"train.batch={len(dates)}", f"train.epochs={STEPS}",
            "train.optim.rule={sgd: {}}", f"train.optim.schedule={{lr: {RATE}, shape: constant}}")
        ours = np.array(weir.open_run("descent").events("epoch_end")["loss"], "f8")
        if alpha is None:
            inputs, loss_of = (*network_inputs(arrays, [fields], dates, MEMBERS, [0.0]), ["normal"]), weather_network.loss_of_distributions
        else:
            inputs, loss_of = inputs_of_members(arrays, fields, dates, alpha), weather_network.loss_of_members
        theirs = weather_network.descend(kind, parameters(arrays), loss_of, inputs, STEPS, RATE)
        if kind != "unet":
            compare(table, what, "z500", reference(), theirs, ours, SINGLE)
        if alpha is not None and not tiny:
            separate(table, what, kind, parameters(arrays), loss_of, inputs, np.array(theirs), ours)


def separate(table, what, kind, arrays, loss_of, inputs, theirs, ours):
    """How far losses of PyTorch go from its own when each weight is changed by at most 1e-7 of it, about a rounding in f32."""
    import weather_network

    noise = np.random.default_rng(1)
    near = {n: a.astype("f8") * (1 + 1e-7 * noise.uniform(-1, 1, a.shape)) for n, a in arrays.items()}
    again = np.array(weather_network.descend(kind, near, loss_of, inputs, STEPS, RATE))
    apart, far = (np.abs(a - theirs).max() / theirs.mean() for a in (again, ours))
    reason = f"{apart:.1e} of PyTorch from PyTorch" + (f", {far:.1e} of Weir" if kind == "unet" else "")
    table.state(f"{what}: from weights 1e-7 away", "z500", reference(), f"{again.mean():.10g}", f"{ours.mean():.10g}", reason)


def inputs_of_members(weights, fields, dates, alpha):
    """x, y, members d and w [dates, lat, lon, channels], of d [dates, member, lat, lon, channels], f32; and alpha. With alpha 0 a network
    knows mean and spread, and d and y are less the mean; otherwise each member is corrected from itself alone: x is its position, as it is,
    and y and d are less their means over training."""
    unit, each = weights["standard.unit"].item(), fields.members[dates, :MEMBERS].astype("f8")
    if alpha == 0:
        x, y, _, w, _, _ = network_inputs(weights, [fields], dates, MEMBERS, [0.0])
        d = (each - each.mean(1, keepdims=True).astype("f4")) / unit
        return x, y, d[..., None].astype("f4"), w, alpha
    with netCDF4.Dataset("data/forecast.nc") as file:
        lat, lon = np.meshgrid(*(np.radians(np.asarray(file[n][:], "f8")) for n in ("latitude", "longitude")), indexing="ij")
    x = np.stack([np.sin(lat), np.cos(lat) * np.sin(lon), np.cos(lat) * np.cos(lon)], -1)
    y, d = ((a - weights[f"standard.{n}"].reshape(lat.shape)) / unit
            for a, n in ((fields.truth[dates].astype("f8"), "bias"), (each, "members")))
    w = np.broadcast_to(fields.area / fields.area.mean(), y.shape)
    return *(np.asarray(a, "f4") for a in (np.broadcast_to(x, (len(dates), *x.shape)), y[..., None], d[..., None], w[..., None])), alpha


def training_dates(weights, fields):
    """Numbers of the dates that the file says it was trained on: from the first initialisation to the last valid time."""
    with netCDF4.Dataset(weights) as file:
        text = file.dates.split(";")[0].split(": ")[1]
    first, last = (netCDF4.date2num(netCDF4.num2date(0, f"seconds since {t}"), fields.units) for t in text.split(" to "))
    return [k for k, t in enumerate(fields.start) if first <= t and t + fields.lead <= last]


def network_inputs(weights, fields, dates, members, extra):
    """x, y, s, w, bound and shift or width between bounds [dates, lat, lon, channels], of the archives and the weights' statistics, f32 as
    networks take them."""
    mean = np.stack([f.members[dates, :members].astype("f8").mean(1) for f in fields], -1)
    sd = np.stack([f.members[dates, :members].astype("f8").std(1, ddof=1) for f in fields], -1)
    mean, sd = mean.astype("f4").astype("f8"), sd.astype("f4").astype("f8")
    truth = np.stack([f.truth[dates].astype("f8") for f in fields], -1)
    unit, bias = weights["standard.unit"].ravel(), weights["standard.bias"].reshape(len(fields), *truth.shape[1:3])
    bias = np.moveaxis(bias, 0, -1)
    x = (np.concatenate([mean, sd], -1) - weights["standard.x_mean"].ravel()) / weights["standard.x_sd"].ravel()
    area = np.broadcast_to(fields[0].area[..., None], truth.shape)
    extra = np.broadcast_to(np.array(extra) / unit, truth.shape)
    all_of = (x, (truth - mean - bias) / unit, sd / unit, area / area.mean(), (0 - mean - bias) / unit, extra)
    return tuple(a.astype("f4") for a in all_of)
