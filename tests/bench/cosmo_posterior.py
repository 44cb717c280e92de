"""Reference values of apps/cosmoflow/model/{mixture,flow,moments}_test.c, data/{posterior,flow}_test.c and
eval/posterior/calibration_test.c.

    python3 tests/bench/cosmo_posterior.py     # after pip install sbi==0.27.0, in a copy of build/bench-python

Prints densities and gradients of mixtures of Gaussians by PyTorch and of flows by zuko, the loss of moments, distributions of test
statistics by SciPy, and ranks, coverage and tests by sbi, all in double precision, for numbers of a linear congruential generator that
the tests share. The stored values are of PyTorch 2.15.0, zuko 1.6.0, SciPy 1.17.1 and sbi 0.27.0.
"""

import torch
import zuko
from sbi.diagnostics.sbc import _run_sbc
from sbi.diagnostics.tarp import _run_tarp, check_tarp
from scipy import stats
from torch.distributions import Categorical, MixtureSameFamily, MultivariateNormal
from torch.nn.functional import softplus

torch.set_default_dtype(torch.float64)
STATE = [1]


def uniform():
    STATE[0] = (1103515245 * STATE[0] + 12345) % 2**31
    return STATE[0] / 2**31


def numbers(n, scale):
    return torch.tensor([scale * (2 * uniform() - 1) for _ in range(n)])


def mixture_of(raw, components, labels):
    """The layout of model/mixture.h, without its constants of the means."""
    n, at = raw.shape[0], components
    mean = raw[:, at : at + components * labels].reshape(n, components, labels)
    at += components * labels
    diagonal = softplus(raw[:, at : at + components * labels].reshape(n, components, labels)) + 1e-3
    at += components * labels
    lower = raw[:, at:].reshape(n, components, labels * (labels - 1) // 2)
    inverse = torch.diag_embed(diagonal)
    rows, columns = torch.tril_indices(labels, labels, -1)
    inverse = inverse + torch.zeros_like(inverse).index_put(
        (torch.arange(n)[:, None, None], torch.arange(components)[None, :, None], rows[None, None], columns[None, None]), lower
    )
    factor = torch.linalg.solve_triangular(inverse, torch.eye(labels).expand_as(inverse), upper=False)
    return MixtureSameFamily(Categorical(logits=raw[:, :components]), MultivariateNormal(mean, scale_tril=factor))


def show(name, values):
    print("%s: %s" % (name, ", ".join("%.17g" % x for x in torch.as_tensor(values).flatten().tolist())))


def densities():
    for components, labels in ((1, 1), (1, 4), (3, 3)):
        STATE[0], n = 1, 2
        outputs = components * (1 + 2 * labels + labels * (labels - 1) // 2)
        raw, truth = numbers(n * outputs, 1.5).reshape(n, outputs).requires_grad_(), numbers(n * labels, 1).reshape(n, labels)
        q = mixture_of(raw, components, labels)
        density = q.log_prob(truth)
        (gradient,) = torch.autograd.grad(-density.mean(), raw)
        show("%d components, %d labels: log density" % (components, labels), density.detach())
        show("  mean", q.mean.detach())
        show("  gradient of the loss, sum, sum of squares, last", [gradient.sum(), (gradient**2).sum(), gradient[-1, -1]])


def flow_of(weights, labels, features, transforms, hidden):
    """The layout of data/flow.h in zuko's flow, with the masks of zuko."""
    flow = zuko.flows.MAF(labels, features, transforms=transforms, hidden_features=(hidden,), activation=torch.nn.Tanh)
    sizes = [transforms * n for n in (labels * hidden, features * hidden, hidden, 2 * hidden * labels, 2 * labels)]
    label, feature, bias, out, out_bias = (part.reshape(transforms, -1) for part in torch.split(weights, sizes))
    values = {}
    for t in range(transforms):
        name = "transform.transforms.%d.hyper." % t
        values[name + "0.weight"] = torch.cat([label[t].reshape(labels, hidden).T, feature[t].reshape(features, hidden).T], 1)
        values[name + "0.bias"] = bias[t]
        values[name + "2.weight"] = out[t].reshape(hidden, 2, labels).permute(2, 1, 0).reshape(2 * labels, hidden)
        values[name + "2.bias"] = out_bias[t].reshape(2, labels).T.reshape(-1)
    return flow, values


class Density(torch.nn.Module):
    def __init__(self, flow):
        super().__init__()
        self.flow = flow

    def forward(self, what, x, y):
        at = self.flow(x)
        return at.log_prob(y) if what == "density" else at.transform.inv(y)


def flows():
    for labels, features, transforms, hidden in ((2, 3, 1, 4), (3, 2, 3, 7)):
        STATE[0], n = 1, 2
        count = transforms * (labels * hidden + features * hidden + hidden + 2 * hidden * labels + 2 * labels)
        weights, x = numbers(count, 1).requires_grad_(), numbers(n * features, 1).reshape(n, features).requires_grad_()
        y, z = numbers(n * labels, 1).reshape(n, labels), numbers(n * labels, 2).reshape(n, labels)
        flow, values = flow_of(weights, labels, features, transforms, hidden)
        values = {"flow." + name: value for name, value in values.items()}
        module = Density(flow)
        assert set(values) == {name for name, _ in module.named_parameters()}
        density = torch.func.functional_call(module, values, ("density", x, y))
        by_weights, by_x = torch.autograd.grad(-density.mean(), (weights, x))
        print("flow of %d labels, %d features, %d transforms, %d hidden" % (labels, features, transforms, hidden))
        show("  log density", density.detach())
        show("  inverse", torch.func.functional_call(module, values, ("inverse", x, z)).detach())
        show("  inverse of 0", torch.func.functional_call(module, values, ("inverse", x, 0 * z)).detach())
        show("  gradient by the weights, sum, sum of squares, last", [by_weights.sum(), (by_weights**2).sum(), by_weights[-1]])
        show("  gradient by the features, sum, sum of squares, last", [by_x.sum(), (by_x**2).sum(), by_x[-1, -1]])


def moments():
    """The layout and the loss of model/moments.h."""
    for labels in (1, 3):
        STATE[0], n = 1, 4
        outputs = 2 * labels + labels * (labels - 1) // 2
        raw, truth = numbers(n * outputs, 1.5).reshape(n, outputs).requires_grad_(), numbers(n * labels, 1).reshape(n, labels)
        factor = torch.diag_embed(softplus(raw[:, labels : 2 * labels]) + 1e-4)
        rows, columns = torch.tril_indices(labels, labels, -1)
        factor = factor + torch.zeros_like(factor).index_put((torch.arange(n)[:, None], rows[None], columns[None]), raw[:, 2 * labels :])
        covariance = factor @ factor.transpose(1, 2)
        error, given = truth - raw[:, :labels], truth - raw[:, :labels].detach()
        apart = given[:, :, None] * given[:, None, :] - covariance
        rows, columns = torch.tril_indices(labels, labels)
        loss = 3 * (error**2).mean() + 9 * (apart[:, rows, columns] ** 2).mean()
        (gradient,) = torch.autograd.grad(loss, raw)
        show("moments of %d labels: loss" % labels, loss.detach())
        show("  gradient, sum, sum of squares, last", [gradient.sum(), (gradient**2).sum(), gradient[-1, -1]])
        show("  covariance of the last", covariance[-1].detach())


def distributions():
    for x, freedom in ((0.5, 1), (9.6, 9), (22.4, 9), (3.0, 19), (120.0, 99)):
        print("chi-square %g, %d: %.17g" % (x, freedom, stats.chi2.sf(x, freedom)))
    for d, n in ((0.05, 200), (0.1, 200), (0.2, 50)):
        print("Kolmogorov-Smirnov %g, %d: exact %.6g" % (d, n, stats.kstwo.sf(d, n)))


def calibration():
    """The last parameter's draws are narrower than its truth is scattered: posteriors that are too narrow."""
    cases, draws, labels, bins = 200, 99, 2, 20
    STATE[0] = 1
    truth = numbers(cases * labels, 1).reshape(cases, labels)
    point = numbers(cases * labels, 1).reshape(cases, labels)
    sample = numbers(cases * draws * labels, 1).reshape(cases, draws, labels).transpose(0, 1).contiguous()
    sample[:, :, 1] *= 0.5
    ranks = _run_sbc(truth, truth, sample, show_progress_bar=False)
    show("ranks of the first cases", ranks[:3])
    show("sum of (case + 1) rank", (torch.arange(1, cases + 1)[:, None] * ranks).sum(0))
    for k in range(labels):  # sbi compares rank / draws, which are 0 and 1 in the end bins
        show("Kolmogorov-Smirnov of the ranks", stats.kstest(((ranks[:, k] + 0.5) / (draws + 1)).numpy(), "uniform")[:2])
    show("chi-square of %d bins, and p" % bins, [v for k in range(labels) for v in
         stats.chisquare(torch.histc(ranks[:, k], bins, 0, draws + 1).numpy())])
    ecp, alpha = _run_tarp(sample, truth, point, num_bins=bins)
    show("TARP alpha", alpha)
    show("TARP expected coverage", ecp)
    show("TARP area and p", check_tarp(ecp, alpha))
    nearer = ((sample - point) ** 2).sum(-1) < ((truth - point) ** 2).sum(-1)
    show("Kolmogorov-Smirnov of the ranks of TARP", stats.kstest(((nearer.sum(0) + 0.5) / (draws + 1)).numpy(), "uniform")[:2])


if __name__ == "__main__":
    densities()
    flows()
    moments()
    distributions()
    calibration()
