/* imbalance.c - see weir_imbalance.h. */
#include "place/weir_imbalance.h"

#include <math.h>

#include "base/weir_random.h"

enum { MAX_DELAYED = 256 };

const weir_opt weir_imbalance_opts[] = {
    WEIR_OPT_ENUM(
        weir_imbalance, family, WEIR_IMBALANCE_RANDOM, "none|fixed|random|tail|slow|bursts",
        "delayed ranks: none; fixed: the first ones, in every step; random: some drawn for "
        "each step; tail: all, by a log-normal time; slow: the first ones, in proportion "
        "to the computing time; bursts: neighbours, for several steps"),
    WEIR_OPT_INT(weir_imbalance, ranks, 1, 0, MAX_DELAYED, "ranks",
                 "of fixed, random, slow and bursts: number of delayed ranks"),
    WEIR_OPT_INT(weir_imbalance, length, 10, 1, 1000000, "steps", "of bursts: duration"),
    WEIR_OPT_INT(weir_imbalance, seed, 1, 0, 1e9, "1", "seed of the draws"),
    WEIR_OPT_REAL(weir_imbalance, delay_s, 0.3, 0, 1e6, "s",
                  "of fixed, random and bursts: delay of a step"),
    WEIR_OPT_REAL(weir_imbalance, mu, -1.6, -100, 100, "1",
                  "of tail: mean of the logarithm of the delay in seconds"),
    WEIR_OPT_REAL(weir_imbalance, sigma, 1.3, 0, 100, "1",
                  "of tail: standard deviation of that logarithm"),
    WEIR_OPT_REAL(weir_imbalance, max_s, 41.8, 0, 1e9, "s", "of tail: maximum delay"),
    WEIR_OPT_REAL(weir_imbalance, factor, 1.5, 1, 1e6, "1",
                  "of slow: computing time of the delayed ranks relative to the others"),
    WEIR_OPT_END,
};

enum { DRAW_RANK = 1, DRAW_LENGTH = 2, DRAW_FIRST = 3 }; /* purposes */

/* What is drawn differs between runs. */
static uint64_t seed_of(const weir_imbalance *m, int64_t run)
{
  return (uint64_t)m->seed + ((uint64_t)run << 32);
}

static int below(double uniform, int n)
{
  const int i = (int)(uniform * n);

  return i < n ? i : n - 1;
}

static bool contains(const int *list, int n, int one)
{
  for (int i = 0; i < n; i++) {
    if (list[i] == one) {
      return true;
    }
  }
  return false;
}

/* Whether a rank is among k different ones drawn for the step, by the method of R. W. Floyd
 * (Bentley and Floyd, Communications of the ACM 30, 1987); all ranks see the same draws. */
static bool is_drawn(uint64_t seed, int64_t step, int rank, int ranks, int64_t k)
{
  int drawn[MAX_DELAYED], n = 0;

  if (k >= ranks) {
    return true;
  }
  for (int i = ranks - (int)k; i < ranks; i++) {
    const double at = weir_random_uniform(seed, DRAW_RANK, (uint32_t)n, (uint64_t)step);
    const int one = below(at, i + 1);

    drawn[n] = contains(drawn, n, one) ? i : one;
    n++;
  }
  return contains(drawn, n, rank);
}

double weir_imbalance_delay(const weir_imbalance *m, int64_t run, double compute_s, int rank,
                            int ranks, int64_t step)
{
  const uint64_t seed = seed_of(m, run);

  switch ((weir_imbalance_family)m->family) {
  case WEIR_IMBALANCE_NONE:
    break;
  case WEIR_IMBALANCE_FIXED:
    return rank < m->ranks ? m->delay_s : 0;
  case WEIR_IMBALANCE_RANDOM:
    return is_drawn(seed, step, rank, ranks, m->ranks) ? m->delay_s : 0;
  case WEIR_IMBALANCE_TAIL:
    return fmin(m->max_s,
                exp(m->mu + m->sigma * weir_random_normal(seed, DRAW_LENGTH, (uint32_t)rank,
                                                          (uint64_t)step)));
  case WEIR_IMBALANCE_SLOW:
    return rank < m->ranks ? (m->factor - 1) * compute_s : 0;
  case WEIR_IMBALANCE_BURSTS: {
    const uint64_t burst = (uint64_t)(step / m->length);
    const int first = below(weir_random_uniform(seed, DRAW_FIRST, 0, burst), ranks);

    return (rank - first + ranks) % ranks < m->ranks ? m->delay_s : 0;
  }
  }
  return 0;
}
