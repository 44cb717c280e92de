/* shuffle.c - a permutation as a Feistel network over Philox bits (Luby and Rackoff, SIAM J.
 * Comput. 17 (1988) 373), walked along its cycles until it is back in range (Black and Rogaway,
 * CT-RSA 2002, section 3): each step leaves with probability 3/4 at most. */
#include "load/weir_shuffle.h"

#include "base/weir_random.h"
#include "base/weir_status.h"

/* ROUNDS: 8 leave the orders of eight samples 4 times as uneven as chance would, 12 as chance. */
enum { PURPOSE = 0x73687566, ROUNDS = 12 };

weir_shuffle weir_shuffle_of(int64_t n, uint64_t seed, int64_t epoch)
{
  weir_shuffle s = {.n = n, .seed = seed, .epoch = (uint32_t)epoch, .half = 1};

  while ((INT64_C(1) << 2 * s.half) < n) {
    s.half++;
  }
  return s;
}

static uint64_t once(const weir_shuffle *s, uint64_t x)
{
  const uint64_t mask = (UINT64_C(1) << s->half) - 1;
  uint64_t left = x >> s->half, right = x & mask;

  for (uint64_t round = 0; round < ROUNDS; round++) {
    const uint64_t bits = weir_random_bits(s->seed, PURPOSE, s->epoch, round << 32 | right);
    const uint64_t next = left ^ (bits & mask);

    left = right;
    right = next;
  }
  return left << s->half | right;
}

int64_t weir_shuffle_at(const weir_shuffle *s, int64_t position)
{
  uint64_t x = (uint64_t)position;

  WEIR_ASSERT(position >= 0 && position < s->n); /* the walk from elsewhere need not end */
  /* A network makes even permutations only: in every other epoch the first two positions are
   * exchanged. */
  if (position < 2 && s->n > 1) {
    x ^= weir_random_bits(s->seed, PURPOSE, s->epoch, (uint64_t)ROUNDS << 32) & 1;
  }
  do {
    x = once(s, x);
  } while (x >= (uint64_t)s->n);
  return (int64_t)x;
}
