"""onnx_export.py OUT - exports the networks of the tests of ONNX files, and prints what PyTorch computes.

The files in tests/fuzz/seeds/onnx/ and tests/support/nn/onnx_expected.h come from it, with PyTorch 2.15.0, onnx 1.23.2 and, for the
network that PyTorch cannot export (`reset`), ONNX Runtime 1.32:
    python tests/support/nn/onnx_export.py tests/fuzz/seeds/onnx >tests/support/nn/onnx_expected.h
Inputs are x[c][t] = sin(0.7 t + 1.3 c) + 0.25 cos(2.9 t), so that no input has to be stored.
"""
import sys
import warnings

import numpy as np
import onnx
import onnxruntime
import torch
from torch import nn

warnings.filterwarnings("ignore")


class Rhythm(nn.Module):
    """The network of apps/physio_stream/rhythm/classifier.c on one window, with the padding of Weir's layers."""

    def __init__(self, filters=3, hidden=4):
        super().__init__()
        self.conv1 = nn.Conv1d(1, filters, 7, stride=2)
        self.conv2 = nn.Conv1d(filters, 2 * filters, 5, stride=2)
        self.conv3 = nn.Conv1d(2 * filters, 2 * filters, 5, stride=2)
        self.hidden = nn.Linear(2 * filters, hidden)
        self.logit = nn.Linear(hidden, 1)

    def forward(self, x):
        for conv, pads in ((self.conv1, (2, 3)), (self.conv2, (1, 2)), (self.conv3, (1, 2))):  # of even lengths
            x = torch.relu(conv(nn.functional.pad(x, pads)))
        return self.logit(torch.relu(self.hidden(x.mean(2))))


class Standard(nn.Module):
    """Features less their mean, over their standard deviation."""

    def __init__(self, features):
        super().__init__()
        self.register_buffer("mean", torch.linspace(-0.5, 0.8, features))
        self.register_buffer("sd", torch.linspace(0.4, 1.7, features))

    def forward(self, f):
        return (f - self.mean) / self.sd


class BeatNetwork(nn.Module):
    """The network of apps/physio_stream/beats/network.c, with two inputs; it was trained without a beat of the last class."""

    def __init__(self, samples, leads=2, features=3, filters=3, hidden=4):
        super().__init__()
        self.conv1 = nn.Conv1d(leads, filters, 7, padding=3)
        self.conv2 = nn.Conv1d(filters, 2 * filters, 5, padding=2)
        self.conv3 = nn.Conv1d(2 * filters, 2 * filters, 5, padding=2)
        self.features = Standard(features)
        self.hidden = nn.Linear(samples // 8 * 2 * filters + features, hidden)
        self.logits = nn.Linear(hidden, 4)
        self.register_buffer("learnt", torch.tensor([0, 0, 0, -1e9]))

    def forward(self, x, f):
        for conv in (self.conv1, self.conv2, self.conv3):
            x = nn.functional.max_pool1d(torch.relu(conv(x)), 2)
        x = torch.cat([x.transpose(1, 2).flatten(1), self.features(f)], 1)
        return self.logits(torch.relu(self.hidden(x))) + self.learnt


class Blocks(nn.Module):
    """Two branches with groups, dilation, both kinds of pooling and of normalisation; a dense head."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(2, 2, 5, padding=2, bias=False)
        self.norm = nn.BatchNorm1d(2)
        self.depth = nn.Conv1d(2, 2, 3, padding=2, dilation=2, groups=2)
        self.point = nn.Conv1d(2, 3, 1)
        self.skip = nn.Conv1d(2, 3, 1, stride=2)
        self.late = nn.BatchNorm1d(3)
        self.dense = nn.Linear(6 * 4 + 3, 4)
        self.flat = nn.BatchNorm1d(4)
        self.drop = nn.Dropout(0.3)
        self.head = nn.Linear(4, 3)

    def forward(self, x):
        f = nn.functional
        x = f.leaky_relu(self.norm(self.conv(x)), 0.2)
        y = f.max_pool1d(self.point(f.elu(self.depth(x), 0.7)), 3, 2, padding=1)
        y = self.late(f.relu(f.gelu(y + self.skip(x)) - 0.1))
        z = torch.cat([torch.sigmoid(y), torch.tanh(y) * 0.5], 1)
        z = f.avg_pool1d(z, 4, 4, padding=1, count_include_pad=False)
        g = f.adaptive_avg_pool1d(f.softplus(y), 1)
        z = torch.cat([torch.flatten(z, 1), g.squeeze(2)], 1)
        return torch.softmax(self.head(self.drop(self.flat(f.silu(self.dense(z))))), -1)


class Samples(nn.Module):
    """A result for each sample: an encoder without strides."""

    def __init__(self):
        super().__init__()
        self.one = nn.Conv1d(1, 4, 6, padding="same")
        self.two = nn.Conv1d(4, 2, 3, padding=1)

    def forward(self, x):
        return torch.softmax(self.two(torch.relu(self.one(x))), 1)


class Lstm(nn.Module):
    """Two layers of both directions on what a convolution leaves, averaged."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(2, 3, 5, stride=2, padding=2)
        self.rnn = nn.LSTM(3, 3, 2, batch_first=True, bidirectional=True)
        self.head = nn.Linear(6, 2)

    def forward(self, x):
        return self.head(self.rnn(torch.relu(self.conv(x)).transpose(1, 2))[0].mean(1))


class State(nn.Module):
    """One direction from a learnt initial state; the last step."""

    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(2, 3, batch_first=True)
        self.h0 = nn.Parameter(torch.randn(1, 1, 3))
        self.c0 = nn.Parameter(torch.randn(1, 1, 3))
        self.head = nn.Linear(3, 2)

    def forward(self, x):
        return self.head(self.rnn(x.transpose(1, 2), (self.h0, self.c0))[0][:, -1])


class Gru(nn.Module):
    """Two layers; the final state of the second."""

    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(2, 3, 2, batch_first=True)
        self.head = nn.Linear(3, 2)

    def forward(self, x):
        return self.head(self.rnn(x.transpose(1, 2))[1][-1])


class GruSamples(nn.Module):
    """A result for each sample, of both directions."""

    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(2, 3, batch_first=True, bidirectional=True)
        self.head = nn.Linear(6, 2)

    def forward(self, x):
        return torch.sigmoid(self.head(self.rnn(x.transpose(1, 2))[0])).transpose(1, 2)


class Rnn(nn.Module):
    """Steps first, ReLU; the last step. Only the older exporter writes the operator RNN."""

    def __init__(self):
        super().__init__()
        self.rnn = nn.RNN(2, 3, nonlinearity="relu")
        self.head = nn.Linear(3, 2)

    def forward(self, x):
        return self.head(self.rnn(x.permute(2, 0, 1))[0])[-1]


class CarrySamples(nn.Module):
    """Two layers of LSTM, a result for each sample; the state goes on from window to window."""

    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(2, 3, 2, batch_first=True)
        self.head = nn.Linear(3, 2)

    def forward(self, x):
        return self.head(self.rnn(x.transpose(1, 2))[0]).transpose(1, 2)


class CarryWindows(nn.Module):
    """GRU; the result of a window is that of its last step."""

    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(2, 3, batch_first=True)
        self.head = nn.Linear(3, 2)

    def forward(self, x):
        return self.head(self.rnn(x.transpose(1, 2))[0][:, -1])


class CarryInputs(nn.Module):
    """A causal convolution and two layers of LSTM whose states are inputs and outputs of the file."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(2, 3, 5)
        self.rnn = nn.LSTM(3, 3, 2, batch_first=True)
        self.head = nn.Linear(3, 2)

    def forward(self, x, past, h, c):
        x = torch.cat([past, x], 2)
        y, (h, c) = self.rnn(torch.tanh(self.conv(x)).transpose(1, 2), (h, c))
        return self.head(y).transpose(1, 2), x[:, :, -4:], h, c


class Beats(nn.Module):
    """Whether a sample of an ECG of 256 Hz is of a QRS complex, by design, not by training: the second derivative of a Gaussian of 16 ms,
    relative to its largest value in the window."""

    def __init__(self):
        super().__init__()
        self.filter = nn.Conv1d(1, 1, 33, padding=16, bias=False)
        t = torch.arange(-16.0, 17.0) / 4
        kernel = (1 - t**2) * torch.exp(-(t**2) / 2)
        self.filter.weight.data[:] = (kernel - kernel.mean()) / kernel.norm()

    def forward(self, x):
        y = torch.relu(self.filter(x))
        return (20 * (y / (y.amax(2, keepdim=True) + 1e-6) - 0.5)).squeeze(1)


class Clear(nn.Module):
    """Whether 2 s of an ECG of 256 Hz are noisy or clear, by design: energy of second differences relative to that of the signal, which is
    6 for white noise."""

    def __init__(self):
        super().__init__()
        self.difference = nn.Conv1d(1, 1, 3, bias=False)
        self.difference.weight.data[:] = torch.tensor([1.0, -2.0, 1.0])

    def forward(self, x):
        y, x = self.difference(x), x - x.mean(2, keepdim=True)
        ratio = (y * y).mean(2) / ((x * x).mean(2) + 1e-6)
        return 5 * torch.cat([ratio - 1.5, 1.5 - ratio], 1)


def reset(out):
    """GRU whose reset comes before the product, backward, the batch first, and an LSTM without bias: not of PyTorch."""
    rng = np.random.default_rng(5)
    h, part = 3, onnx.helper
    weights = {"wg": (1, 3 * h, 2), "rg": (1, 3 * h, h), "bg": (1, 6 * h), "hg": (1, 1, h), "wl": (1, 4 * h, h), "rl": (1, 4 * h, h)}
    tensors = [onnx.numpy_helper.from_array(rng.normal(0, 0.5, shape).astype(np.float32), name) for name, shape in weights.items()]
    tensors.append(onnx.numpy_helper.from_array(np.array([2], np.int64), "two"))
    nodes = [
        part.make_node("Transpose", ["x"], ["t"], perm=[0, 2, 1]),
        part.make_node("GRU", ["t", "wg", "rg", "bg", "", "hg"], ["g"], hidden_size=h, direction="reverse", layout=1,
                       activations=["Sigmoid", "Tanh"]),
        part.make_node("Squeeze", ["g", "two"], ["s"]),
        part.make_node("LSTM", ["s", "wl", "rl"], ["", "", "c"], hidden_size=h, layout=1),
        part.make_node("Flatten", ["c"], ["y"]),
    ]
    # ONNX Runtime has no layout 1: the same network with the steps first
    plain = [
        part.make_node("Transpose", ["x"], ["t"], perm=[2, 0, 1]),
        part.make_node("GRU", ["t", "wg", "rg", "bg", "", "hg"], ["g"], hidden_size=h, direction="reverse"),
        part.make_node("Squeeze", ["g", "one"], ["s"]),
        part.make_node("LSTM", ["s", "wl", "rl"], ["", "", "c"], hidden_size=h),
        part.make_node("Transpose", ["c"], ["d"], perm=[1, 0, 2]),
        part.make_node("Flatten", ["d"], ["y"]),
    ]
    ends = [part.make_tensor_value_info("x", 1, [1, 2, 12])], [part.make_tensor_value_info("y", 1, [1, h])]
    models = []
    for part_nodes, more in ((nodes, []), (plain, [onnx.numpy_helper.from_array(np.array([1], np.int64), "one")])):
        graph = part.make_graph(part_nodes, "reset", *ends, tensors + more)
        models.append(part.make_model(graph, opset_imports=[part.make_opsetid("", 20)], ir_version=9))
    onnx.checker.check_model(models[0])
    onnx.save(models[0], f"{out}/reset20.onnx")
    run = onnxruntime.InferenceSession(models[1].SerializeToString(), providers=["CPUExecutionProvider"])
    return run.run(None, {"x": signal(2, 12)[None]})[0].ravel()


def signal(channels, length):
    c, t = np.mgrid[0:channels, 0:length]
    return (np.sin(0.7 * t + 1.3 * c) + 0.25 * np.cos(2.9 * t)).astype(np.float32)


def export(net, channels, length, name, more=(), input_names=("x",), output_names=("y",), **how):
    x = torch.from_numpy(signal(channels, length))[None]
    torch.onnx.export(net, (x, *more), name, input_names=input_names, output_names=output_names, **how)
    model = onnx.load(name)
    for part in [*model.graph.node, *model.graph.value_info, *model.graph.input, *model.graph.output, model.graph]:
        del part.metadata_props[:]
    del model.graph.value_info[:]
    onnx.checker.check_model(model)
    onnx.save(model, name)


def export_all(nets, out):
    for name, (net, channels, length) in nets.items():
        for part in net.modules():
            if isinstance(part, nn.BatchNorm1d):
                part.running_mean.normal_(0, 0.3)
                part.running_var.uniform_(0.5, 2)
                part.weight.data.uniform_(0.5, 1.5)
                part.bias.data.normal_()
        net.eval()
        with torch.no_grad():
            y = net.double()(torch.from_numpy(signal(channels, length))[None].double()).numpy().ravel()
        net.float()
        export(net, channels, length, f"{out}/{name}17.onnx", opset_version=17, dynamo=False)
        if name not in ("samples", "rnn"):
            export(net, channels, length, f"{out}/{name}20.onnx", opset_version=20, dynamo=True, external_data=False, verbose=False)
        print(f"/* {name}: x [1, {channels}, {length}] */")
        print(f"static const double onnx_{name}[] = {{" + ", ".join(f"{v:.9g}" for v in y) + "};")


def export_carried(out):
    """Windows of 12 samples, one after the other; expected: the networks on all of 48 samples at once."""
    states = torch.zeros(1, 2, 4), torch.zeros(2, 1, 3), torch.zeros(2, 1, 3)
    nets = {"carry_samples": (CarrySamples(), ()), "carry_windows": (CarryWindows(), ()), "carry_inputs": (CarryInputs(), states)}
    for name, (net, more) in nets.items():
        x = torch.from_numpy(signal(2, 48))[None].double()
        net.eval().double()
        with torch.no_grad():
            if name == "carry_windows":
                y = net.head(net.rnn(x.transpose(1, 2))[0][0, 11::12]).T  # [2, 4]
            else:
                y = net(x, *(part.double() for part in more))
                y = (y[0] if more else y)[0]  # [2, 48]
        net.float()
        names = {"input_names": ["x", "past", "h0", "c0"][: 1 + len(more)], "output_names": ["y", "present", "hn", "cn"][: 1 + len(more)]}
        for opset, how in ((17, {"dynamo": False}), (20, {"dynamo": True, "external_data": False, "verbose": False})):
            export(net, 2, 12, f"{out}/{name}{opset}.onnx", more=more, opset_version=opset, **names, **how)
        print(f"/* {name}: x [1, 2, 48], in windows of 12 */")
        print(f"static const double onnx_{name}[] = {{" + ", ".join(f"{v:.9g}" for v in y.numpy().ravel()) + "};")


BEATS = {"version": 1, "rate_hz": 128, "before": 16, "after": 17, "unit": "mV", "normalization": "zscore", "features": "pre,post,before",
         "classes": "N,S,V,F", "output": "logits"}


def export_beats(out):
    """The network of beats: x as others, and f as x of one channel. The newer file has the metadata of docs/reference/onnx.md."""
    net = BeatNetwork(33).eval()
    x, f = torch.from_numpy(signal(2, 33))[None], torch.from_numpy(signal(1, 3))
    with torch.no_grad():
        y = net.double()(x.double(), f.double()).numpy().ravel()
    net.float()
    for opset, how in ((17, {"dynamo": False}), (20, {"dynamo": True, "external_data": False, "verbose": False})):
        export(net, 2, 33, f"{out}/beat_network{opset}.onnx", more=(f,), input_names=["x", "f"], opset_version=opset, **how)
    model = onnx.load(f"{out}/beat_network20.onnx")
    onnx.helper.set_model_props(model, {f"beat_network.{key}": str(value) for key, value in BEATS.items()})
    onnx.save(model, f"{out}/beat_network20.onnx")
    print("/* beat_network: x [1, 2, 33], f [1, 3] */")
    print("static const double onnx_beat_network[] = {" + ", ".join(f"{v:.9g}" for v in y) + "};")


def main(out):
    torch.manual_seed(3)
    print("/* onnx_expected.h - results of PyTorch " + torch.__version__.split("+")[0] + ", made by onnx_export.py. Tests only. */")
    print("#ifndef ONNX_EXPECTED_H\n#define ONNX_EXPECTED_H\n")
    export_all({"rhythm": (Rhythm(), 1, 48), "blocks": (Blocks(), 2, 28), "samples": (Samples(), 1, 40)}, out)
    torch.manual_seed(4)
    recurrent = {"lstm": Lstm, "state": State, "gru": Gru, "gru_samples": GruSamples, "rnn": Rnn}
    export_all({name: (net(), 2, 12) for name, net in recurrent.items()}, out)
    print("/* reset: x [1, 2, 12], of ONNX Runtime " + onnxruntime.__version__ + " */")
    print("static const double onnx_reset[] = {" + ", ".join(f"{v:.9g}" for v in reset(out)) + "};")
    torch.manual_seed(6)
    export_carried(out)
    for net, length, name in ((Beats(), 384, "beats20"), (Clear(), 512, "clear20")):
        export(net.eval(), 1, length, f"{out}/{name}.onnx", opset_version=20, dynamo=True, external_data=False, verbose=False)
    torch.manual_seed(7)
    export_beats(out)
    print("\n#endif")


main(sys.argv[1])
