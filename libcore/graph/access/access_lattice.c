/* access_lattice.c - integer points of strips, counted and found without visiting them. */
#include "graph/graph_priv.h"

typedef unsigned __int128 uwide;

/* Sum of floor((a i + b) / m) over 0 <= i < n: the multiples are taken out, and what is left is the
 * same sum with a and m exchanged (Graham, Knuth, Patashnik, Concrete Mathematics, 3.5), as in the
 * algorithm of Euclid. */
static uwide floor_sum(uwide n, uwide m, uwide a, uwide b)
{
  uwide sum = 0;

  while (n > 0) {
    sum += n * (n - 1) / 2 * (a / m) + n * (b / m);
    a %= m;
    b %= m;
    const uwide top = a * n + b, step = a;
    n = top / m;
    b = top % m;
    a = m;
    m = step;
  }
  return sum;
}

static weir_wide clamp(weir_wide x, weir_wide min, weir_wide max)
{
  return x < min ? min : x > max ? max : x;
}

/* Points with a i + b j < end, a and b > 0, 0 <= i < n, 0 <= j < m. */
static weir_wide points_below(weir_wide a, weir_wide n, weir_wide b, weir_wide m, weir_wide end)
{
  const weir_wide whole = clamp(weir_wide_ceil_div(end - a * (n - 1), b), 0, m); /* rows of n */
  const weir_wide some = clamp(weir_wide_ceil_div(end, b), 0, m);
  const weir_wide partial = some - whole;

  if (partial <= 0) {
    return whole * n;
  }
  const weir_wide last = end - 1 - b * (some - 1);
  return whole * n + partial +
         (weir_wide)floor_sum((uwide)partial, (uwide)a, (uwide)b, (uwide)last);
}

weir_wide weir_strip_points(weir_wide a, weir_wide n, weir_wide b, weir_wide m, weir_wide lo,
                            weir_wide hi)
{
  const weir_wide shift = (a < 0 ? -a * (n - 1) : 0) + (b < 0 ? -b * (m - 1) : 0);

  a = a < 0 ? -a : a;
  b = b < 0 ? -b : b;
  return points_below(a, n, b, m, hi + shift) - points_below(a, n, b, m, lo + shift);
}

/* Least x of [0, n) with lo <= a x mod m <= hi, where 0 < lo <= hi < m; n: there is none. Between
 * two multiples of m the multiples of a either meet [lo, hi] at once, or the number of times that m
 * was passed is the solution of the same question about m mod a. */
static weir_wide first_within(weir_wide a, weir_wide m, weir_wide lo, weir_wide hi, weir_wide n)
{
  a %= m;
  if (a == 0) {
    return n;
  }
  weir_wide x = (lo + a - 1) / a;
  if (a * x > hi) {
    const weir_wide max = a * (n - 1) / m + 1;
    const weir_wide low = a - 1 - (hi + a - 1) % a, high = a - 1 - (lo + a - 1) % a;
    const weir_wide passed = first_within(m % a, a, low, high, max);
    if (passed >= max) {
      return n;
    }
    x = (lo + m * passed + a - 1) / a;
  }
  return x < n ? x : n;
}

weir_wide weir_first_hit(weir_wide c, weir_wide start, weir_wide period, weir_wide width,
                         weir_wide n)
{
  if (c < 0) { /* mirrored: width - 1 - value */
    c = -c;
    start = width - 1 - start;
  }
  start -= weir_wide_floor_div(start, period) * period;
  if (start < width) {
    return 0;
  }
  return first_within(c, period, period - start, period - start + width - 1, n);
}
