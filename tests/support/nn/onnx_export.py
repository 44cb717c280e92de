"""onnx_export.py OUT - exports the networks of the tests of ONNX files, and prints what PyTorch computes.

The files in tests/fuzz/seeds/onnx/ and tests/support/nn/onnx_expected.h come from it, with PyTorch 2.15.0 and onnx 1.23.2:
    python tests/support/nn/onnx_export.py tests/fuzz/seeds/onnx >tests/support/nn/onnx_expected.h
Inputs are x[c][t] = sin(0.7 t + 1.3 c) + 0.25 cos(2.9 t), so that no input has to be stored.
"""
import sys
import warnings

import numpy as np
import onnx
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


def main(out):
    torch.manual_seed(3)
    nets = {"rhythm": (Rhythm(), 1, 48), "blocks": (Blocks(), 2, 28), "samples": (Samples(), 1, 40)}
    print("/* onnx_expected.h - results of PyTorch " + torch.__version__.split("+")[0] + ", made by onnx_export.py. Tests only. */")
    print("#ifndef ONNX_EXPECTED_H\n#define ONNX_EXPECTED_H\n")
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
        if name != "samples":
            export(net, channels, length, f"{out}/{name}20.onnx", opset_version=20, dynamo=True, external_data=False, verbose=False)
        print(f"/* {name}: x [1, {channels}, {length}] */")
        print(f"static const double onnx_{name}[] = {{" + ", ".join(f"{v:.9g}" for v in y) + "};")
    print("\n#endif")


main(sys.argv[1])
