"""make_slopes.py - prints slopes_known.h, the CRPS of distributions of eval/score/distribution.h and its first and second derivatives by
location and scale: integrals of (P(X <= x) - 1{y <= x})^2 with 40 digits, differentiated numerically. Made with mpmath 1.3.0:
python3 make_slopes.py > slopes_known.h && clang-format -i slopes_known.h"""
import random

from mpmath import mp, mpf

mp.dps = 40
FAMILIES = ["NORMAL", "TRUNCATED_NORMAL", "CENSORED_NORMAL", "LOGISTIC", "TRUNCATED_LOGISTIC", "CENSORED_LOGISTIC", "LOG_NORMAL",
            "CENSORED_SHIFTED_GAMMA"]


def normal(z):
    return mp.ncdf(z)


def logistic(z):
    return 1 / (1 + mp.exp(-z))


def below(family, m, s, lower, shift):
    """P(X <= x) as a function of x, and where it begins (None: nowhere)."""
    base = logistic if "LOGISTIC" in family else normal
    if family in ("NORMAL", "LOGISTIC"):
        return lambda x: base((x - m) / s), None
    if family.startswith("TRUNCATED"):
        out = base((lower - m) / s)
        return lambda x: (base((x - m) / s) - out) / (1 - out) if x >= lower else mpf(0), lower
    if family in ("CENSORED_NORMAL", "CENSORED_LOGISTIC"):
        return lambda x: base((x - m) / s) if x >= lower else mpf(0), lower
    mean = m - lower + shift
    if family == "LOG_NORMAL":
        t = mp.sqrt(mp.log(1 + (s / mean) ** 2))
        return lambda x: normal(mp.log((x - lower) / mean) / t + t / 2) if x > lower else mpf(0), lower
    shape, unit = (mean / s) ** 2, s ** 2 / mean
    return lambda x: mp.gammainc(shape, 0, (x - lower + shift) / unit, regularized=True) if x >= lower else mpf(0), lower


def crps(family, m, s, lower, shift, width, y):
    """width: from the lower to the upper bound, 0 where there is none."""
    probability, begin = below(family, m, s, lower, shift)
    far = 60 if "LOGISTIC" in family else 16 if "GAMMA" not in family and family != "LOG_NORMAL" else 80
    top = max(y, m, lower) + far * s * (4 if family == "LOG_NORMAL" else 1)
    bottom = begin if begin is not None else min(y, m) - far * s
    total = mpf(0)
    if y < bottom:
        total, y = bottom - y, bottom
    if width > 0:
        top = lower + width
        total, y = (total + y - top, top) if y > top else (total, y)
    marks = sorted({bottom, y, *[p for p in (m, m - s, m + s, m - 4 * s, m + 4 * s, m + 12 * s) if bottom < p < top], top})
    for a, b in zip(marks, marks[1:]):
        if b <= y:
            total += mp.quad(lambda x: probability(x) ** 2, [a, b])
        else:
            total += mp.quad(lambda x: (1 - probability(x)) ** 2, [a, b])
    return total


def main():
    draw = random.Random(4)
    print("""/* slopes_known.h - written by make_slopes.py: CRPS and derivatives with 17 digits. */
#ifndef SLOPES_KNOWN_H
#define SLOPES_KNOWN_H
#include "eval/score/distribution.h"

typedef struct known {
  wx_distribution d;
  double y;
  wx_crps_slopes is;
} known;

static const known known_cases[] = {""")
    bounded = random.Random(5)
    for family, between in [(f, False) for f in FAMILIES] + [("CENSORED_NORMAL", True), ("CENSORED_LOGISTIC", True)]:
        draw = bounded if between else draw
        for k in range(6):
            lower, s = mpf(round(draw.uniform(-3, 3), 3)), mpf(round(draw.uniform(0.2, 3), 3))
            positive = family in FAMILIES[6:]
            m = lower + s * mpf(round(draw.uniform(0.4, 5) if positive else draw.uniform(-3, 5), 3))
            shift = mpf(round(draw.uniform(0.05, 0.8), 3)) if family.endswith("GAMMA") else mpf(0)
            y = lower if k == 0 else lower - 1 if k == 1 else max(lower, m) + s * mpf(round(abs(draw.gauss(0, 1)), 3)) * (1 if k < 4 else -1)
            y = max(y, lower + s / 64) if k > 1 else y
            width = s * mpf(round(draw.uniform(0.3, 5), 3)) if between else mpf(0)
            if between:  # at and beyond both bounds, then between them
                y = [lower, lower - 1, lower + width, lower + width + 1, lower + width / 3, lower + width * mpf(0.875)][k]
            of = lambda a, b: crps(family, a, b, lower, shift, width, y)
            h = mpf(10) ** -9
            f = {(i, j): of(m + i * h, s + j * h) for i in (-1, 0, 1) for j in (-1, 0, 1)}
            d = {"m": (f[1, 0] - f[-1, 0]) / (2 * h), "s": (f[0, 1] - f[0, -1]) / (2 * h),
                 "mm": (f[1, 0] - 2 * f[0, 0] + f[-1, 0]) / h ** 2, "ss": (f[0, 1] - 2 * f[0, 0] + f[0, -1]) / h ** 2,
                 "ms": (f[1, 1] - f[1, -1] - f[-1, 1] + f[-1, -1]) / (4 * h ** 2)}
            numbers = ", ".join(mp.nstr(v, 17) for v in (f[0, 0], d["m"], d["s"], d["mm"], d["ms"], d["ss"]))
            print(f"    {{{{WX_{family}, {mp.nstr(m, 17)}, {mp.nstr(s, 17)}, {mp.nstr(lower, 17)}, {mp.nstr(shift, 17)}, "
                  f"{mp.nstr(width, 17)}}}, {mp.nstr(y, 17)},\n     {{{numbers}}}}},", flush=True)
    print("};\n#endif")


if __name__ == "__main__":
    main()
