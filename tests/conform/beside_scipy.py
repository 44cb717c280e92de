"""beside_scipy.py PROGRAM SCRATCH - matrices that SciPy writes as Matrix Market, and sisl, where there is one, as .TSHS, are
read as they were: PROGRAM is matrix_files.

SciPy's numbers come back to the last digit; the Rydberg of some versions of sisl differs in the sixth.

Exit 77: this Python has no SciPy."""
import os
import subprocess
import sys

try:
    import numpy as np
    import scipy.io
    import scipy.sparse as sparse
except ImportError:
    print("skipped: this Python has no SciPy")
    sys.exit(77)

program, scratch = sys.argv[1:3]
rng = np.random.default_rng(5)


def read(path, *spin):
    """Dense matrices by name and image."""
    out, shape = {}, {}
    text = subprocess.run([program, path, *spin], check=True, stdout=subprocess.PIPE, text=True).stdout
    for words in map(str.split, text.splitlines()):
        if len(words) == 3:
            shape[words[0]] = (int(words[1]), int(words[2]))
            continue
        key = (words[0], *map(int, words[1:4]))
        matrix = out.setdefault(key, np.zeros(shape[words[0]], complex))
        matrix[int(words[4]), int(words[5])] += float(words[6]) + 1j * float(words[7])
    return out


def draw(rows, columns, kind):
    a = sparse.random(rows, columns, 0.3, random_state=rng, data_rvs=rng.standard_normal).toarray()
    if kind == "integer":
        return np.rint(9 * a).astype(int)
    return a if kind == "real" else a + 1j * sparse.random(rows, columns, 0.2, random_state=rng).toarray()


def matrix_market():
    path, count = os.path.join(scratch, "a.mtx"), 0
    for kind in ("real", "integer", "complex"):
        for symmetry in ("general", "symmetric", "skew-symmetric", "hermitian"):
            if symmetry == "hermitian" and kind != "complex":
                continue
            a = draw(7, 9 if symmetry == "general" else 7, kind)
            if symmetry != "general":
                a = {"s": a + a.T, "k": a - a.T, "h": a + a.conj().T}["k" if symmetry[1] == "k" else symmetry[0]]
            odd = kind == "complex" and symmetry == "skew-symmetric"  # SciPy 1.10 writes the diagonal of dense ones
            for form in (sparse.coo_matrix(a),) if odd else (sparse.coo_matrix(a), a):
                scipy.io.mmwrite(path, form, symmetry=symmetry, precision=17, comment="of a test")
                b = read(path).get(("m", 0, 0, 0), np.zeros(a.shape))
                assert (a == b).all(), (kind, symmetry, type(form), abs(a - b).max())
                count += 1
    print(count, "Matrix Market files are read as SciPy wrote them")


def tshs():
    try:
        import sisl
    except Exception as why:
        print("no .TSHS is written: there is no sisl:", why)
        return
    path = os.path.join(scratch, "a.TSHS")
    atoms = [sisl.Atom(6, [1.5, 1.5]), sisl.Atom(1, [1.2])]
    cell = sisl.Geometry([[0, 0, 0], [0, 1, 0.2]], atoms, sisl.Lattice([2, 3, 4], nsc=[3, 1, 3]))
    for spin in (1, 2):
        h = sisl.Hamiltonian(cell, orthogonal=False, spin=sisl.Spin("unpolarized" if spin == 1 else "polarized"))
        for i in range(3):
            for j in range(cell.no_s):
                if rng.random() < 0.6:
                    h[i, j] = rng.standard_normal(spin + 1)
        h.write(path)
        for which in range(spin):
            got = read(path, str(which))
            for image in cell.lattice.sc_off:
                image = tuple(int(x) for x in image)
                at = cell.sc_index(image) * 3
                wanted_h = h.tocsr(which)[:, at:at + 3].toarray()
                wanted_s = h.tocsr(spin)[:, at:at + 3].toarray()
                zero = np.zeros((3, 3))
                assert np.allclose(got.get(("h", *image), zero), wanted_h, 1e-5, 0)
                assert np.allclose(got.get(("s", *image), zero), wanted_s, 1e-15, 1e-15)
        print(".TSHS of", spin, "spin(s) is read as sisl wrote it")


matrix_market()
tshs()
