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


def export(net, channels, length, name, **how):
    x = torch.from_numpy(signal(channels, length))[None]
    torch.onnx.export(net, (x,), name, input_names=["x"], output_names=["y"], **how)
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
    print("\n#endif")


main(sys.argv[1])
