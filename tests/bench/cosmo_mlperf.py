"""cosmo_mlperf.py - rows of cosmo_comparison.py: the network of MLPerf HPC's CosmoFlow, its training and its records in Keras and
tf.data, built from the layers that docs/science/cosmoflow.md lists, and the verdict of the official checker on a log.

Keras computes in double precision. Theirs starts from the weights that Weir has drawn; samples are a batch of counts, the same in every
step, so that an epoch is a step. Dropout is 0: its draws differ."""

import importlib.metadata
import os
import re
import subprocess
import sys

import netCDF4
import numpy as np
import weir
from comparison_table import compare, optional

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
tf = optional("tensorflow")
if tf:
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)

BATCH, LABELS = 4, 4
SLOPE, L2, BOUND = 0.3, 0.01, 1.2  # of the reference: leaky ReLU; kernels of the first two dense layers; tanh
BASE, PEAK, WARMUP, AT, FACTORS = 0.0005, 0.002, 4, (8, 10), (0.25, 0.125)  # learning rates of steps
LOSS, OUTPUT, GRADIENT = 1e-6, 1e-5, 1e-5  # goals: Weir computes in single precision
# Of a training: where two maxima of a window are so close that single precision takes the other one, the gradient goes another way.
LOSSES, WEIGHTS, SEED = 1e-3, 5e-3, 2

CONFIG = """
files: {per_file: 1}
data: {scale: log1p, split: {samples_per_universe: 1, order: last, valid: 1, test: 0}}
model: {net: {mlperf: {dropout: 0}}}
train: {seed: %d, batch: %d, keep_best: false, log_every: 1, checkpoint: {resume: false}}
""" % (SEED, BATCH)


def samples(n):
    """Counts [batch + 1, n, n, n, 4], i16, and labels in [-1, 1] that every machine computes alike; the last is to validate on."""
    i = np.arange(1, (BATCH + 1) * n**3 * 4 + 1, dtype="f8")
    u, v = i * i * 0.618033988749895 % 1, i * 0.414213562373095 % 1
    labels = np.arange(1, (BATCH + 1) * LABELS + 1) * 0.732050807568877 % 1
    return np.floor(12 * u**4 * (0.5 + v)).astype("i2").reshape(-1, n, n, n, 4), (2 * labels - 1).astype("f4").reshape(-1, LABELS)


def rate_of(epoch):
    """The reference's: a linear warm-up from BASE to PEAK, then factors from the epoch after each boundary on."""
    if epoch < WARMUP:
        return BASE + epoch * (PEAK - BASE) / WARMUP
    return PEAK * ([1.0] + [f for at, f in zip(AT, FACTORS) if epoch > at])[-1]


# ---- theirs ----


class Pool(tf.keras.layers.Layer if tf else object):
    """The maximum of 2^3: MaxPooling3D, which TensorFlow has in single precision alone."""

    def call(self, x):
        x = tf.maximum(x[:, ::2], x[:, 1::2])
        x = tf.maximum(x[:, :, ::2], x[:, :, 1::2])
        return tf.maximum(x[:, :, :, ::2], x[:, :, :, 1::2])

    def compute_output_shape(self, shape):
        return (shape[0], *(s // 2 for s in shape[1:4]), shape[4])


def network_of(side):
    """The reference's layers, v1.0 and later."""
    k = tf.keras
    k.backend.set_floatx("float64")
    x = at = k.Input((side, side, side, 4))
    filters = 32
    while at.shape[1] > 4:
        at = k.layers.Conv3D(min(filters, 512), 3, padding="same")(at)
        at = Pool()(k.layers.LeakyReLU(negative_slope=SLOPE)(at))
        filters *= 2
    at = k.layers.Flatten()(at)
    for units in (128, 64):
        at = k.layers.LeakyReLU(negative_slope=SLOPE)(k.layers.Dense(units, kernel_regularizer=k.regularizers.L2(L2))(at))
    at = k.layers.Dense(LABELS, activation="tanh")(at)
    return k.Model(x, at)


class Theirs:
    """Outputs, loss and gradient from weights, and a training from there."""

    def __init__(self, weights, x, y):
        self.net = network_of(x.shape[1])
        self.net.set_weights([weights[n].astype("f8") for n in weights])
        self.x, self.y = np.log1p(x.astype("f8")), y.astype("f8")

    def loss(self):
        return tf.reduce_mean(tf.square(BOUND * self.net(self.x) - self.y))

    def outputs(self):
        return BOUND * self.net(self.x).numpy()

    def gradient(self):
        with tf.GradientTape() as tape:
            loss = self.loss()
        return loss.numpy(), flat(g.numpy() for g in tape.gradient(loss, self.net.trainable_variables))

    def train(self, steps):
        """Losses without the penalty, and all weights after the last step."""
        optimizer, losses = tf.keras.optimizers.SGD(BASE, momentum=0.9), []
        for epoch in range(steps):
            optimizer.learning_rate.assign(rate_of(epoch))
            with tf.GradientTape() as tape:
                loss = self.loss()
                whole = loss + tf.add_n(self.net.losses)
            losses.append(loss.numpy())
            optimizer.apply_gradients(zip(tape.gradient(whole, self.net.trainable_variables), self.net.trainable_variables))
        return np.array(losses), flat(self.net.get_weights())


def flat(arrays):
    return np.concatenate([np.asarray(a, "f8").ravel() for a in arrays])


# ---- ours ----


def load(folder):
    w = weir.load_weights(f"{folder}/weights.nc")
    return {name: a for name, a in w.items() if name.endswith((".weight", ".bias"))}


def train(c, out, steps, *sets):
    c.run("run", "source.input=[counts]", f"train.epochs={steps}", *sets, out=out, config="network.yaml")
    return load(out)


def predicted(c):
    c.run("predict", "counts", "predict.weights=before/weights.nc", "predict.part=all", out="predicted", config="network.yaml")
    with netCDF4.Dataset("predicted/predictions.nc") as file:
        file.set_auto_mask(False)
        return file["unitPredicted"][:]


# ---- rows ----


def score_network(c, n, steps):
    x, y = samples(n)
    os.makedirs("counts", exist_ok=True)
    for i in range(len(x)):
        np.save(f"counts/s{i}_data.npy", x[i])
        np.save(f"counts/s{i}_label.npy", y[i])
    with open("network.yaml", "w") as file:
        file.write(CONFIG)
    zero = ("train.optim.rule={sgd: {}}", "train.optim.schedule={lr: 0, shape: constant}")
    before = train(c, "before", 1, *zero)
    data = f"{BATCH} x {n}^3 x 4, {sum(a.size for a in before.values()):,} parameters"
    after = train(c, "gradient", 1, "train.initial_weights=before/weights.nc", zero[0], "train.optim.schedule={lr: 1, shape: constant}")
    schedule = f"{{shape: mlperf, unit: epochs, lr: {BASE}, scale: linear, batch: 1, warmup: {WARMUP}, at: {list(AT)}, "
    schedule += f"factors: {list(FACTORS)}}}"
    last = train(c, "trained", steps, "train.initial_weights=before/weights.nc", f"train.optim.schedule={schedule}",
                 f"train.optim.rule={{momentum: {{mu: 0.9, form: keras, weight_decay: {2 * L2}}}}}")
    events = weir.open_run("trained").events("step")
    assert np.allclose(events["lr"], [rate_of(e) for e in range(steps)], rtol=1e-6), events["lr"]
    theirs = Theirs(before, x[:BATCH], y[:BATCH]) if tf else None
    picked = slice(None, None, 1999 if c.tiny else 1)
    gradient = flat(before.values()) - flat(after.values())
    rows = (("outputs", "outputs", lambda: theirs.outputs(), predicted(c)[:BATCH], OUTPUT),
            ("loss", "loss of the batch", lambda: theirs.gradient()[0], weir.open_run("gradient").events("epoch_end")["loss"], LOSS))
    for key, what, compute, ours, goal in rows:
        c.compare(what, data, "TensorFlow", c.theirs(key, "TensorFlow", tf, compute), ours, goal)
    of = c.theirs("gradient", "TensorFlow", tf, lambda: numbers_of(theirs.gradient()[1], picked))
    vectors(c, "gradient of it: norm", data, of, numbers_of(gradient, picked), GRADIENT)
    of = c.theirs("training", "TensorFlow", tf, lambda: course_of(theirs, before, steps, picked))
    what = f"{steps} steps of SGD, momentum 0.9, L2 penalty, warm-up and decays"
    if of is None:
        c.leave(what, data, "TensorFlow")
        return
    c.compare(f"{what}: losses", data, "TensorFlow", (of[0][:steps], of[1]), events["loss"], LOSSES)
    vectors(c, f"{what}: change of the weights, norm", data, (of[0][steps:], of[1]),
            numbers_of(flat(last.values()) - flat(before.values()), picked), WEIGHTS)


def course_of(theirs, before, steps, picked):
    losses, weights = theirs.train(steps)
    return np.r_[losses, numbers_of(weights - flat(before.values()), picked)]


def numbers_of(vector, picked):
    """The norm, and the elements that are compared."""
    return np.r_[np.linalg.norm(vector), vector[picked]]


def vectors(c, what, data, theirs, ours, goal):
    """The norm of the difference over the norm, of the elements that are compared."""
    if theirs is None:
        c.leave(what, data, "TensorFlow")
        return
    difference = np.linalg.norm(ours[1:] - theirs[0][1:]) / np.linalg.norm(theirs[0][1:])
    c.table.add(what, data, theirs[1], theirs[0][0], ours[0], difference, goal)


def score_size(c):
    shown = c.run("describe", "model.net=mlperf", "describe.side=128", "describe.channels=4", "describe.outputs=4")
    ours = int(re.search(r"(\d+) parameters", shown)[1])
    got = c.theirs("parameters", "TensorFlow", tf, lambda: network_of(128).count_params())
    c.compare("parameters", "128^3 x 4", "TensorFlow", got, ours, 0)


def score_records(c, n):
    """Ours read by tf.data, theirs read by convert."""
    x, y = samples(n)
    data = f"{len(x)} x {n}^3 x 4, i16"
    if tf is None:
        c.leave("TFRecords", data, "TensorFlow")
        return
    reference = f"TensorFlow {tf.__version__}"
    c.run("convert", "counts", "data.split.samples_per_universe=1", out="records")
    keys = {"x": tf.io.FixedLenFeature([], tf.string), "y": tf.io.FixedLenFeature([LABELS], tf.float32)}
    paths = sorted(os.path.join("records", p) for p in os.listdir("records") if p.endswith(".tfrecord"))
    same = len(paths) == len(x)
    for path, a, b in zip(paths, x, y):
        for kind in ("GZIP", ""):  # those of convert are compressed as a whole, unless the level is 0
            try:
                found = [tf.io.parse_single_example(r, keys) for r in tf.data.TFRecordDataset(path, compression_type=kind)]
                break
            except tf.errors.DataLossError:
                continue
        voxels = tf.reshape(tf.io.decode_raw(found[0]["x"], tf.int16), a.shape).numpy()
        same &= len(found) == 1 and (voxels == a).all() and (found[0]["y"].numpy() == b).all()
    said = "the same bits" if same else "other numbers"
    c.table.state("TFRecords of `convert` read by tf.data", data, reference, said, "-", "-", "same bits", same)
    os.makedirs("theirs", exist_ok=True)
    for i, (a, b) in enumerate(zip(x, y)):
        features = {"x": tf.train.Feature(bytes_list=tf.train.BytesList(value=[a.tobytes()])),
                    "y": tf.train.Feature(float_list=tf.train.FloatList(value=b))}
        with tf.io.TFRecordWriter(f"theirs/s{i}.tfrecord", tf.io.TFRecordOptions(compression_type="GZIP" if i % 2 else "")) as writer:
            writer.write(tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString())
    c.run("convert", "theirs", "convert.format=npy", "data.split.samples_per_universe=1", out="read")
    found = sorted(p for p in os.listdir("read") if p.endswith("_data.npy"))
    same = len(found) == len(x)
    for path, a, b in zip(found, x, y):
        same &= (np.load("read/" + path) == a).all() and (np.load("read/" + path.replace("_data", "_label")) == b).all()
    said = "the same bits" if same else "other numbers"
    c.table.state("TFRecords of tf.io read by `convert`", data, reference, "-", said, "-", "same bits", same)


LOG_CONFIG = """
simulate:
  universes: 120
  side: 8
  particles: 16
  box: 64
  redshifts: [0]
  preset: custom
  range: {omega_m: [0.3, 0.3], sigma_8: [0.2, 1.4], n_s: [0.96, 0.96], h: [0.7, 0.7]}
  fixed: true
  counts: cic
  values: f32
data: {scale: log1p, split: {valid: 20, test: 0}}
model: {net: {gap: {blocks: 2, base: 4, border: wrap, hidden1: 8, hidden2: 8}}}
train: {epochs: 100, batch: 4, target: {metric: mae, value: 0.124}, optim: {rule: adam, schedule: {lr: 0.01}}}
mllog: {write: true, division: open}
"""


def score_log(c):
    """The log of a training that reaches the benchmark's target on an easy set: one parameter, no sample variance."""
    with open("log.yaml", "w") as file:
        file.write(LOG_CONFIG)
    c.run("prepare", out="log_universes", config="log.yaml")
    c.run("run", "source.input=[log_universes]", out="log", config="log.yaml")
    c.run("inspect", "log/mllog.txt", config="log.yaml")
    what, data = "log of a training, nothing edited, rules 3.0.0 with --werror", "8^3, one parameter"
    if optional("mlperf_logging") is None:
        c.leave(what, data, "mlperf-logging")
        return
    line = [sys.executable, "-m", "mlperf_logging.compliance_checker", "--usage", "hpc", "--ruleset", "3.0.0", "--werror", "log/mllog.txt"]
    done = subprocess.run(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    verdict = "passes" if done.returncode == 0 and "SUCCESS" in done.stdout else "refuses: " + done.stdout[-300:].replace("\n", " ")
    c.table.state(what, data, f"mlperf-logging {importlib.metadata.version('mlperf-logging')}", verdict, "`inspect` passes", "-", "passes",
                  verdict == "passes")


def score(c):
    n, steps = 16 if c.tiny else 32, 14
    score_size(c)
    score_network(c, n, steps)
    score_records(c, n)
    score_log(c)
