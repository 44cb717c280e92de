# results.py FOLDER - the results in a folder, a line each with a digest, without what tells of the run: its times, its command line, its
# pages and its checkpoints; of a flow, also without what is known of its steps. Of NetCDF the arrays and the attributes but for
# digests of configuration and weights, which name folders and times. Exit status 77 where netCDF4 is missing.
import hashlib, os, re, sys

try:
    import netCDF4, numpy
except ImportError:
    print("skipped: /usr/bin/python3 has no netCDF4")
    sys.exit(77)

root = sys.argv[1].rstrip("/")
skipped = re.compile(r"(^|/)(run[^/]*\.jsonl|[^/]*\.html|provenance\.json|resolved\.yaml|checkpoint-[^/]*|mllog\.txt|"
                     r"trace\.json|ranks\.(csv|svg)|\.weir\.lock)$|^(flow|old)/")


def undated(text):
    for name in (os.path.realpath(root), root):
        text = text.replace(name + "/", "OUT/")
    return re.sub(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ", "TIME", text)


def digest(data):
    return hashlib.sha256(data).hexdigest()


def arrays(path, name):
    with netCDF4.Dataset(path) as file:
        file.set_auto_maskandscale(False)
        for note in file.ncattrs():
            if note in ("config_sha256", "weights_sha256"):
                continue
            print(name, note, undated(str(file.getncattr(note))))
        for key, v in file.variables.items():
            data = repr(v[...]).encode() if v.dtype is str else numpy.asarray(v[...]).tobytes()
            print(name, key, v.dimensions, v.dtype, digest(data))
            for note in v.ncattrs():
                print(name, key, note, undated(str(v.getncattr(note))))


for path in sorted(os.path.join(top, name) for top, _, names in os.walk(root) for name in names):
    name = os.path.relpath(path, root)
    if skipped.search(name):
        continue
    if path.endswith(".nc"):
        arrays(path, name)
    elif os.path.basename(path) == "bench.csv":  # times
        print(name)
    else:
        with open(path, "rb") as file:
            print(name, digest(undated(file.read().decode("latin-1")).encode("latin-1")))
