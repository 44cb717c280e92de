#!/usr/bin/env python3
"""onnx_package.py PROGRAM WORK - 36 random networks and 6 recurrent ones whose state is carried from window to window, as ONNX Runtime
of PyPI computes them: the step `network` on windows of a record, ONNX Runtime on the same samples, for the carried ones on all at once.
Differences are relative to the largest result of a network."""
import csv
import os
import subprocess
import sys

program, work = sys.argv[1:3]
try:
    import numpy as np
    import onnx
    import onnxruntime
    from onnx import helper, numpy_helper
except ImportError as missing:
    print(f"skipped: {missing} (onnx, onnxruntime: PyPI)")
    sys.exit(77)

os.chdir(work)
RATE, SAMPLES, SIGNALS, MOST = 100, 480, 2, 1e-6
rng = np.random.default_rng(71)


class Network:
    """Nodes with the weights that they take; `shape` is that of the value `at`, without the batch."""

    def __init__(self, length):
        self.nodes, self.weights, self.at, self.shape, self.count = [], [], "x", [SIGNALS, length], 0

    def weight(self, *shape, low=None):
        values = rng.normal(0, 1 / np.sqrt(np.prod(shape[1:]) if len(shape) > 1 else 4), shape) if low is None else rng.uniform(low, 2, shape)
        return self.constant(values.astype(np.float32))

    def constant(self, values):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(values, name))
        return name

    def add(self, op, *inputs, shape=None, outputs=1, use=0, **attributes):
        names = [f"v{self.count + k}" for k in range(outputs)]
        self.count += outputs
        self.nodes.append(helper.make_node(op, [self.at, *inputs], names, **attributes))
        self.at, self.shape = names[use], list(shape or self.shape)

    def save(self, path):
        self.nodes.append(helper.make_node("Identity", [self.at], ["y"]))
        ends = [[helper.make_tensor_value_info(name, 1, [1, *shape])] for name, shape in (("x", self.begin), ("y", self.shape))]
        graph = helper.make_graph(self.nodes, "random", *ends, self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
        onnx.checker.check_model(model)
        onnx.save(model, path)


def convolution(n):
    """One of the layers over samples."""
    channels, length = n.shape
    kind = rng.choice(["conv", "norm", "activation", "pool", "residual"])
    if kind == "conv":
        filters, taps, stride, dilation = rng.integers(2, 7), rng.integers(1, 6), rng.integers(1, 3), rng.integers(1, 3)
        groups = channels if rng.random() < 0.3 else 1
        filters = int(filters) * (channels if groups > 1 else 1)
        reach = int(dilation * (taps - 1))
        pads = [reach // 2, reach - reach // 2]
        n.add("Conv", n.weight(filters, channels // groups, taps), n.weight(filters), shape=[filters, (length - 1) // int(stride) + 1],
              strides=[int(stride)], dilations=[int(dilation)], pads=pads, group=int(groups), kernel_shape=[int(taps)])
    elif kind == "norm":
        n.add("BatchNormalization", n.weight(channels, low=0.5), n.weight(channels), n.weight(channels), n.weight(channels, low=0.5))
    elif kind == "activation":
        n.add(str(rng.choice(["Relu", "LeakyRelu", "Elu", "Sigmoid", "Tanh", "Softplus", "Gelu"])))
    elif kind == "pool" and length >= 8:
        op = str(rng.choice(["MaxPool", "AveragePool"]))
        n.add(op, shape=[channels, (length - 2) // 2 + 1], kernel_shape=[2], strides=[2])
    elif kind == "residual":
        before = n.at
        n.add("Conv", n.weight(channels, channels, 3), shape=n.shape, pads=[1, 1], kernel_shape=[3])
        n.add("Add", before)


def recurrent(n, kind, hidden, carried):
    """A layer over the steps, from one direction where its state is carried; its last state or, carried, the output of each step."""
    channels, length = n.shape
    gates = {"LSTM": 4, "GRU": 3, "RNN": 1}[kind]
    both = not carried and rng.random() < 0.5
    directions = 2 if both else 1
    more = {"direction": "bidirectional"} if both else {}
    if kind == "GRU":
        more["linear_before_reset"] = int(rng.integers(0, 2))
    n.add("Transpose", perm=[2, 0, 1])
    n.add(kind, n.weight(directions, gates * hidden, channels), n.weight(directions, gates * hidden, hidden),
          n.weight(directions, 2 * gates * hidden), outputs=2, use=0 if carried else 1, hidden_size=hidden, **more)
    if carried:
        n.add("Squeeze", n.constant(np.array([1], np.int64)))
        n.add("Transpose", perm=[1, 2, 0], shape=[hidden, length])
    else:
        n.add("Transpose", perm=[1, 0, 2])
        n.add("Flatten", axis=1, shape=[directions * hidden])


def make(k, path):
    n = Network(int(rng.integers(24, 49)))
    n.begin = list(n.shape)
    for _ in range(rng.integers(3, 8)):
        convolution(n)
    if k % 3 == 2:
        recurrent(n, ("LSTM", "GRU", "RNN")[k // 3 % 3], int(rng.integers(2, 6)), False)
    elif k % 3 == 1:
        n.add("GlobalAveragePool", shape=[n.shape[0], 1])
        n.add("Flatten", axis=1, shape=[n.shape[0]])
    else:
        n.add("Flatten", axis=1, shape=[n.shape[0] * n.shape[1]])
    results = int(rng.integers(2, 5))
    n.add("Gemm", n.weight(results, n.shape[0]), n.weight(results), transB=1, shape=[results])
    if rng.random() < 0.3:
        n.add("Softmax", axis=1)
    n.save(path)
    return n.begin[1], results


def make_carried(k, path, length):
    """The same weights for any length: two layers."""
    global rng
    rng = np.random.default_rng(1000 + k)
    n = Network(length)
    n.begin = list(n.shape)
    for _ in range(2):
        recurrent(n, ("LSTM", "GRU", "RNN")[k % 3], 4, True)
    n.save(path)
    return n.shape[0]


def run(steps, outputs, out):
    """A query of these steps: the table of each output by its stream."""
    lines = ["input: {record: record}", "query:", "  streams: [{name: a, signal: a}, {name: b, signal: b}]", "  steps:"]
    lines += [f"    - {{name: {name}, from: [a, b], do: {{network: {{fs: {RATE}, {text}}}}}}}" for name, text in steps]
    lines += ["  outputs:"] + [f"    - {{stream: {stream}, format: csv}}" for stream in outputs]
    with open("query.yaml", "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    subprocess.run([program, "run", "--config", "query.yaml", "--out", out, "--threads", "1"], check=True, stdout=subprocess.DEVNULL)
    tables = {}
    for stream in outputs:
        with open(f"{out}/{stream.replace('.', '_')}.csv", encoding="utf-8") as file:
            tables[stream] = [(round(float(row["time_s"]) * RATE), float(row["value"])) for row in csv.DictReader(file)]
    return tables


def session(path):
    return onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])


samples = rng.integers(-1500, 1500, (SAMPLES, SIGNALS)).astype("<i2")
samples.tofile("record.dat")
with open("record.hea", "w", encoding="utf-8") as header:
    header.write(f"record {SIGNALS} {RATE} {SAMPLES}\n" + "".join(
        f"record.dat 16 1000/mV 16 0 {x[0]} {int(x.sum(dtype=np.int64)) % 65536} 0 {name}\n" for name, x in zip("ab", samples.T)))
signal = (samples.T / 1000).astype(np.float32)
worst = {"random": 0.0, "carried": 0.0}

for part in range(6):
    made, steps, outputs = {}, [], []
    for k in range(6 * part, 6 * part + 6):
        made[k] = make(k, f"n{k}.onnx")
        steps.append((f"n{k}", f"file: n{k}.onnx, outputs: [{', '.join(f'p{i}' for i in range(made[k][1]))}]"))
        outputs += [f"n{k}.p{i}" for i in range(made[k][1])]
    tables = run(steps, outputs, f"random{part}")
    for k, (size, results) in made.items():
        ours, theirs, network = [], [], session(f"n{k}.onnx")
        for i in range(results):
            table = tables[f"n{k}.p{i}"]
            assert [slot for slot, _ in table] == list(range(0, size * (SAMPLES // size), size)), (k, table)
            ours.append([value for _, value in table])
        for window in range(SAMPLES // size):
            theirs.append(network.run(None, {"x": signal[None, :, window * size : (window + 1) * size]})[0][0])
        theirs = np.array(theirs).T
        worst["random"] = max(worst["random"], np.abs(np.array(ours) - theirs).max() / np.abs(theirs).max())

steps, outputs, sizes = [], [], {}
for k in range(6):
    sizes[k] = make_carried(k, f"c{k}.onnx", 24)
    make_carried(k, f"whole{k}.onnx", SAMPLES)
    steps.append((f"c{k}", f"file: c{k}.onnx, state: carry, results: samples, outputs: [{', '.join(f'p{i}' for i in range(sizes[k]))}]"))
    outputs += [f"c{k}.p{i}" for i in range(sizes[k])]
tables = run(steps, outputs, "carried")
for k, results in sizes.items():
    theirs = session(f"whole{k}.onnx").run(None, {"x": signal[None]})[0][0]
    ours = np.array([[value for _, value in tables[f"c{k}.p{i}"]] for i in range(results)])
    assert ours.shape == theirs.shape == (results, SAMPLES)
    worst["carried"] = max(worst["carried"], np.abs(ours - theirs).max() / np.abs(theirs).max())

print(f"36 random networks: {worst['random']:.2g} of the largest result from ONNX Runtime {onnxruntime.__version__}; "
      f"6 carried from window to window, from the whole sequence: {worst['carried']:.2g}")
for name, value in worst.items():
    if not value <= MOST:
        sys.exit(f"{name}: {value:.3g} is above {MOST}")
