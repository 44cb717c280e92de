"""Products of stacks of complex matrices that contract_cblas.c is compared with: NumPy's, by OpenBLAS, and PyTorch's, by MKL. Imported
when it is used: each brings its own threads."""

import os

import numpy as np

kept = {}


def version():
    return kept["version"]


def split(c):
    """Real and imaginary parts in turn, f32."""
    return lambda: np.ascontiguousarray(c).view(np.float64).astype(np.float32)


def numpy_product(a, b, n):
    if not kept:
        shape = (-1, n, n)
        kept.update(version=np.__version__, a=a.view(np.complex128).reshape(shape), b=b.view(np.complex128).reshape(shape))
        kept["c"] = np.empty_like(kept["a"])
    np.matmul(kept["a"], kept["b"], out=kept["c"])
    return split(kept["c"])


def torch_product(a, b, n):
    import torch

    if not kept:
        torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
        a, b = (torch.from_numpy(x.view(np.complex128).reshape(-1, n, n)) for x in (a, b))
        a, b = (a[0], b[0]) if len(a) == 1 else (a, b)
        kept.update(version=torch.__version__.split("+")[0], a=a, b=b, c=torch.empty_like(a))
    torch.matmul(kept["a"], kept["b"], out=kept["c"])
    return split(kept["c"].numpy())
