/* wait.c - waits of a rank: until what it waits for is done, or too much time has passed. */
#include <math.h>
#include <stdlib.h>
#include "base/weir_log.h"
#include "comm/comm_priv.h"

static int compare(const void *a, const void *b)
{
  const float x = *(const float *)a, y = *(const float *)b;

  return (x > y) - (x < y);
}

/* Sorts; the lower one of two in the middle. */
static float median(float *x, int n)
{
  qsort(x, (size_t)n, sizeof *x, compare);
  return x[(n - 1) / 2];
}

/* Seconds from which on a wait is a stall: the median of the last waits and some median absolute
 * deviations, but no shorter than any of them, since every so many exchanges may wait for all ranks
 * (0: too few waits to tell). *usual: the median. */
static double stall_limit(const comm_waits *w, const weir_comm_cfg *cfg, double *usual)
{
  const int n = (int)(w->n < COMM_WAITS ? w->n : COMM_WAITS);
  float s[COMM_WAITS], longest = 0;

  if (n < COMM_WAITS_MIN) {
    return 0;
  }
  for (int i = 0; i < n; i++) {
    s[i] = w->s[i];
    longest = s[i] > longest ? s[i] : longest;
  }
  const float middle = median(s, n);

  for (int i = 0; i < n; i++) {
    s[i] = fabsf(w->s[i] - middle);
  }
  const double limit = middle + cfg->stall_deviations * median(s, n);

  *usual = middle;
  return fmax(cfg->stall_floor, fmax(limit, longest));
}

static weir_status time_out(const weir_comm *c, const comm_awaited *a, double after,
                            const char *option)
{
  char name[COMM_TEXT / 4], missing[COMM_TEXT / 2];

  a->describe(a->what, name, missing);
  return weir_fail(WEIR_ERR_EXTERNAL, "rank %d of %d: %s timed out after %g s, waiting for %s (%s)",
                   comm_run_rank(c, c->rank), comm_run_size(c), name, after, missing, option);
}

static void report(const weir_comm *c, const comm_awaited *a, double waited, double usual)
{
  char name[COMM_TEXT / 4], missing[COMM_TEXT / 2];

  a->describe(a->what, name, missing);
  weir_warn("comm", "rank %d of %d: %s stalls: it has waited %.3g s, usually %.3g s, for %s",
            comm_run_rank(c, c->rank), comm_run_size(c), name, waited, usual, missing);
}

/* No progress for that long: reports a stall once, and fails in the end. *limit: of a stall, below
 * 0: not yet known. */
static weir_status check(const weir_comm *c, const comm_awaited *a, double idle, double *limit,
                         bool *reported)
{
  const weir_comm_cfg *cfg = &c->engine->cfg;
  double usual = 0;

  if (cfg->timeout > 0 && idle > cfg->timeout) {
    return time_out(c, a, cfg->timeout, "comm.timeout");
  }
  if (cfg->stall == WEIR_STALL_IGNORE || idle <= cfg->stall_floor) {
    return WEIR_OK;
  }
  if (*limit < 0) {
    *limit = stall_limit(a->waits, cfg, &usual);
  }
  if (*limit > 0 && idle > *limit && !*reported) {
    (void)stall_limit(a->waits, cfg, &usual);
    report(c, a, idle, usual);
    *reported = true;
  }
  return *limit > 0 && idle > 2 * *limit && cfg->stall == WEIR_STALL_FAIL
             ? time_out(c, a, 2 * *limit, "comm.stall")
             : WEIR_OK;
}

static weir_status wait_until(weir_comm *c, const comm_awaited *a)
{
  const double begin = c->kind->clock(c);
  double last = begin, limit = -1;
  bool reported = false;

  if (c->kind->await != NULL) {
    WEIR_TRY(c->kind->await(c, a->what, a->done));
    last = c->kind->clock(c);
  }
  while (!a->done(a->what)) {
    bool moved = false;

    WEIR_TRY(comm_progress(c, &moved));
    if (moved || a->done(a->what)) {
      last = c->kind->clock(c);
    } else {
      WEIR_TRY(check(c, a, c->kind->clock(c) - last, &limit, &reported));
      c->kind->pause(c, true);
    }
  }
  a->waits->s[a->waits->n++ % COMM_WAITS] = (float)(last - begin);
  comm_count_add(c, a->use, &(weir_comm_count){.waited_s = last - begin});
  return WEIR_OK;
}

weir_status comm_wait(weir_comm *c, const comm_awaited *a)
{
  weir_comm_borrow(c);
  const weir_status status = wait_until(c, a);

  weir_comm_return(c);
  return status;
}
