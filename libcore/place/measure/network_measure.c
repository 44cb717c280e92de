/* network_measure.c - see weir_network_measure.h.
 *
 * PRTT(n, d, s): rank 0 sends n messages of s bytes, d seconds apart, and rank 1 answers the last
 * one with one of s bytes. By LogGP it is PRTT(1, 0, s) + (n - 1) max(o + d, g + (s - 1) G), where
 * PRTT(1, 0, s) = 2 (L + 2 o + (s - 1) G). */
#include "place/measure/network_measure.h"

#include <math.h>

#include "base/weir_alloc.h"
#include "base/weir_clock.h"
#include "comm/weir_request.h"
#include "place/rank_clock.h"
#include "place/measure/weir_network_measure.h"

enum { TRAIN = 16, SMALL = 1, LARGE = 1 << 20, LARGER = 4 << 20, SUMMED = 4 << 20 };
enum { SMALL_TIMES = 400, LARGE_TIMES = 15, SUM_TIMES = 15 };

/* Messages of one size between ranks 0 and 1; on the others, none. Small ones are under way
 * together, each with a byte of its own. */
typedef struct ping {
  weir_comm *comm;
  bool simulated;
  int64_t bytes;
  char *data;
  weir_request *message[TRAIN], *answer;
} ping;

static weir_status create_ping(weir_comm *c, bool simulated, int64_t bytes, char *data, ping *p)
{
  const int rank = weir_comm_rank(c);
  weir_message one = {1 - rank, rank == 1, data, bytes};
  weir_status status = WEIR_OK;

  *p = (ping){.comm = c, .simulated = simulated, .bytes = bytes, .data = data};
  for (int k = 0; k < TRAIN && status == WEIR_OK; k++) {
    one.data = data + (bytes == SMALL ? k : 0);
    status = weir_messages_create(c, "ping", &one, rank < 2, &p->message[k]);
  }
  one.receive = rank == 0;
  one.data = data + LARGER;
  if (status == WEIR_OK) {
    status = weir_messages_create(c, "answer", &one, rank < 2, &p->answer);
  }
  return weir_comm_agree(c, status);
}

static void destroy_ping(ping *p)
{
  for (int k = 0; k < TRAIN; k++) {
    weir_request_destroy(&p->message[k]);
  }
  weir_request_destroy(&p->answer);
}

/* Without a call that may let another process have the processor for longer. */
static weir_status spend(const ping *p, double seconds)
{
  const double begin = weir_clock();

  if (p->simulated) {
    return place_sleep(p->comm, true, seconds);
  }
  while (weir_clock() - begin < seconds) {
  }
  return WEIR_OK;
}

static weir_status one_round(const ping *p, int n, double delay)
{
  const bool sends = weir_comm_rank(p->comm) == 0;

  if (sends) {
    WEIR_TRY(weir_request_start(p->answer));
  }
  for (int k = 0; k < n; k++) {
    if (k > 0 && sends && delay > 0) {
      WEIR_TRY(spend(p, delay));
    }
    WEIR_TRY(weir_request_start(p->message[k]));
  }
  for (int k = 0; k < n; k++) {
    WEIR_TRY(weir_request_wait(p->message[k]));
  }
  if (!sends) {
    WEIR_TRY(weir_request_start(p->answer));
  }
  return weir_request_wait(p->answer);
}

/* The least of some round trips, on rank 0. */
static weir_status round_trip(const ping *p, int n, double delay, int times, double *seconds)
{
  *seconds = INFINITY;
  for (int i = 0; i < times && weir_comm_rank(p->comm) < 2; i++) {
    const double begin = place_clock(p->comm, p->simulated);

    WEIR_TRY(one_round(p, n, delay));
    *seconds = fmin(*seconds, place_clock(p->comm, p->simulated) - begin);
  }
  return weir_comm_barrier(p->comm);
}

static double above_0(double x)
{
  return x > 0 ? x : 0;
}

/* Of messages of one byte. */
static weir_status measure_small(weir_comm *c, bool simulated, char *data, weir_network *n)
{
  double one = 0, train = 0, spaced = 0;
  weir_status status = WEIR_OK;
  ping p;

  WEIR_TRY_GOTO(create_ping(c, simulated, SMALL, data, &p), done);
  WEIR_TRY_GOTO(round_trip(&p, 1, 0, SMALL_TIMES, &one), done);
  WEIR_TRY_GOTO(round_trip(&p, TRAIN, 0, SMALL_TIMES, &train), done);
  n->gap = above_0((train - one) / (TRAIN - 1));
  const double delay = 2 * n->gap + one / 2; /* so that the interface is idle when the next comes */

  WEIR_TRY_GOTO(round_trip(&p, TRAIN, delay, SMALL_TIMES / 4, &spaced), done);
  n->overhead = above_0((spaced - one) / (TRAIN - 1) - delay);
  n->overhead = fmin(n->overhead, one / 4);
  n->latency = one / 2 - 2 * n->overhead;
done:
  destroy_ping(&p);
  return status;
}

/* A larger message takes longer, but on a busy machine the least of some times need not say so;
 * then the bandwidth is that of the larger ones, with their latency. The sizes take turns, so that
 * what else the machine does meets both. */
static weir_status measure_large(weir_comm *c, bool simulated, char *data, weir_network *n)
{
  const int64_t bytes[] = {LARGE, LARGER};
  double seconds[2] = {INFINITY, INFINITY};
  weir_status status = WEIR_OK;
  ping p[2] = {0};

  for (int k = 0; k < 2; k++) {
    WEIR_TRY_GOTO(create_ping(c, simulated, bytes[k], data, &p[k]), done);
  }
  for (int i = 0; i < 2 * LARGE_TIMES; i++) {
    double once = 0;

    WEIR_TRY_GOTO(round_trip(&p[i % 2], 1, 0, 1, &once), done);
    seconds[i % 2] = fmin(seconds[i % 2], once);
  }
  const double each = (seconds[1] - seconds[0]) / (2 * (double)(LARGER - LARGE));
  const double whole = seconds[1] / (2 * (double)LARGER);

  n->link_bw = 1 / (each > 0 ? each : whole);
done:
  destroy_ping(&p[0]);
  destroy_ping(&p[1]);
  return status;
}

/* Those of rank 0 become those of all; rank 1 sends nothing but zeros. */
static weir_status share(weir_comm *c, weir_network *n)
{
  double x[] = {n->latency, n->overhead, n->gap, n->link_bw, n->reduce_bw};
  weir_request *r = NULL;

  for (int k = 0; k < 5 && weir_comm_rank(c) > 0; k++) {
    x[k] = 0;
  }
  WEIR_TRY(
      weir_allreduce_create(c, "network", weir_reducer_of(WEIR_REDUCE_MAX, WEIR_F64), x, 5, &r));
  WEIR_TRY(weir_request_run_once(&r));
  *n = (weir_network){.latency = x[0],
                      .overhead = x[1],
                      .gap = x[2],
                      .link_bw = x[3],
                      .reduce_bw = x[4],
                      .eager_max_bytes = n->eager_max_bytes};
  return WEIR_OK;
}

weir_status place_network_measure(weir_comm *c, bool simulated, weir_network *n)
{
  char *data = NULL;
  weir_status status = weir_alloc(2 * (int64_t)LARGER, 1, (void **)&data);

  WEIR_TRY_GOTO(weir_comm_agree(c, status), done);
  WEIR_TRY_GOTO(measure_small(c, simulated, data, n), done);
  WEIR_TRY_GOTO(measure_large(c, simulated, data, n), done);
  WEIR_TRY_GOTO(share(c, n), done);
done:
  weir_free(&data);
  return status;
}

/* Of arrays beyond the caches. */
static weir_status measure_sum(weir_network *n)
{
  const weir_reducer *sum = weir_reducer_of(WEIR_REDUCE_SUM, WEIR_F32);
  float *data = NULL;
  double least = INFINITY;

  WEIR_TRY(weir_alloc(2 * (int64_t)SUMMED, sizeof *data, (void **)&data));
  for (int64_t k = 0; k < 2 * (int64_t)SUMMED; k++) {
    data[k] = 1; /* pages that nothing was written to are all the same one, in the cache */
  }
  for (int i = 0; i < SUM_TIMES; i++) {
    const double begin = weir_clock();

    sum->merge(data, data + SUMMED, SUMMED);
    least = fmin(least, weir_clock() - begin);
  }
  n->reduce_bw = SUMMED * (double)sizeof *data / least;
  weir_free(&data);
  return WEIR_OK;
}

weir_status weir_network_measure(weir_comm *c, weir_network *n)
{
  WEIR_TRY(weir_comm_agree(c, measure_sum(n)));
  return place_network_measure(c, false, n);
}
