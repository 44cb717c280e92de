/* request_checks.h - what tests of requests share: options, numbers that all ranks can work out,
 * and counters. Tests only. */
#ifndef REQUEST_CHECKS_H
#define REQUEST_CHECKS_H
#include "base/weir_random.h"
#include "hosts.h"

enum { MOST_RANKS = 8, DRAWS = 12 };

static const weir_comm_cfg usual = {
    .max_message_bytes = 1 << 20, .tree_max_bytes = 256, .timeout = 60};

/* The same on all ranks: a number of [0, most] that belongs to what a, b, c count. */
static inline int64_t draw(int64_t most, uint32_t a, uint32_t b, uint64_t c)
{
  return (int64_t)(weir_random_bits(77, a, b, c) % ((uint64_t)most + 1));
}

static inline double number(uint32_t from, uint32_t what, int64_t i)
{
  return weir_random_uniform(5, from, what, (uint64_t)i) - 0.25;
}

static inline void finish(weir_request *r)
{
  assert_ok(weir_request_run(r));
}

static inline weir_comm_count since(weir_comm_count before, weir_comm_use use)
{
  weir_comm_count now = weir_comm_counted(comm, use);

  now.sent -= before.sent;
  now.sent_bytes -= before.sent_bytes;
  now.received -= before.received;
  now.received_bytes -= before.received_bytes;
  return now;
}

#endif
