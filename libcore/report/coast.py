#!/usr/bin/env python3
"""coast.py SHAPEFILE >coast_data.h - coasts of the world for maps of reports, from the countries of Natural Earth, 1:110 million,
which are in the public domain (naturalearthdata.com, ne_110m_admin_0_countries; the copy taken is naturalearth_lowres.shp of
geopandas 0.14.4). An edge of one country alone is coast. Lines are simplified to 0.25 degrees (Douglas and Peucker, 1973)."""
import collections
import math
import struct
import sys

TOLERANCE, MIN_EXTENT = 0.25, 0.6  # degrees; extent of islands that are kept


def read_rings(path):
    data, at = open(path, "rb").read(), 100
    while at < len(data):
        length = 2 * struct.unpack(">ii", data[at:at + 8])[1]
        record, at = data[at + 8:at + 8 + length], at + 8 + length
        if struct.unpack("<i", record[:4])[0] != 5:
            continue
        parts, points = struct.unpack("<ii", record[36:44])
        first = [*struct.unpack(f"<{parts}i", record[44:44 + 4 * parts]), points]
        flat = struct.unpack(f"<{2 * points}d", record[44 + 4 * parts:44 + 4 * parts + 16 * points])
        for a, b in zip(first, first[1:]):
            yield [(round(flat[2 * i], 4), round(flat[2 * i + 1], 4)) for i in range(a, b)]


def is_edge_of_the_map(a, b):
    return (abs(a[0]) > 179.9 and abs(b[0]) > 179.9) or (a[1] < -89.9 and b[1] < -89.9)


def chain(edges):
    near = collections.defaultdict(list)
    for a, b in edges:
        near[a].append(b)
        near[b].append(a)
    while near:
        start = next((p for p in near if len(near[p]) % 2), next(iter(near)))
        line = [start]
        while near.get(line[-1]):
            here, there = line[-1], near[line[-1]][0]
            near[here].remove(there)
            near[there].remove(here)
            line.append(there)
        for point in line:
            if point in near and not near[point]:
                del near[point]
        if len(line) > 1:
            yield line


def simplify(line):
    if len(line) < 3:
        return line
    (x0, y0), (x1, y1) = line[0], line[-1]
    length = math.hypot(x1 - x0, y1 - y0)

    def far(p):
        if length == 0:
            return math.hypot(p[0] - x0, p[1] - y0)
        return abs((x1 - x0) * (y0 - p[1]) - (x0 - p[0]) * (y1 - y0)) / length

    worst = max(range(1, len(line) - 1), key=lambda i: far(line[i]))
    if far(line[worst]) <= TOLERANCE:
        return [line[0], line[-1]]
    return simplify(line[:worst + 1])[:-1] + simplify(line[worst:])


count = collections.Counter()
for ring in read_rings(sys.argv[1]):
    for a, b in zip(ring, ring[1:]):
        if a != b and not is_edge_of_the_map(a, b):
            count[tuple(sorted((a, b)))] += 1
numbers = []
for line in chain([edge for edge, n in count.items() if n == 1]):
    if max(max(p[k] for p in line) - min(p[k] for p in line) for k in (0, 1)) < MIN_EXTENT:
        continue
    line = simplify(line)
    numbers += [len(line), *(round(100 * v) for p in line for v in p)]
print("/* coast_data.h - made by coast.py: coasts of Natural Earth, 1:110 million, public domain. */")
print("// clang-format off")
text = ""
for number in numbers:
    word = f"{number},"
    if len(text) + len(word) > 98:
        print(text)
        text = ""
    text += word
print(text)
