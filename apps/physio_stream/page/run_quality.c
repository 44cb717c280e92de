/* run_quality.c - see run_quality.h. */
#include "page/run_quality.h"
#include <string.h>

weir_status ps_quality_init(const ps_input_info *facts, ps_quality *q)
{
  const double rate = (double)facts->fs_num / (double)facts->fs_den;

  *q = (ps_quality){.from = -1};
  WEIR_TRY(ps_timeline_init(PS_QUALITY_ROWS, rate, &q->line));
  return ps_timeline_init(1, rate, &q->pauses);
}

void ps_quality_fini(ps_quality *q)
{
  ps_timeline_fini(&q->line);
  ps_timeline_fini(&q->pauses);
}

/* The run of one value ends before slot `at`. */
static void end_run(ps_quality *q, int64_t at)
{
  if (q->from >= 0 && (double)(at - q->from) >= PS_QUALITY_FLAT * q->line.rate) {
    ps_timeline_add(&q->line, PS_QUALITY_SAME, q->from, at);
  }
  q->from = -1;
}

void ps_quality_take(ps_quality *q, int64_t lo, int64_t hi, const float *x, const uint8_t *present)
{
  if (lo > q->next) {
    end_run(q, q->next);
  }
  int64_t since = lo > q->next ? lo : q->next; /* present slots that are not counted yet */

  for (int64_t t = since; t < hi; t++) {
    const float value = x[t - lo];

    if (!present[t - lo]) {
      end_run(q, t);
      ps_timeline_add(&q->line, PS_QUALITY_MISSING, since, t);
      since = t + 1;
    } else if (q->from < 0 || value != q->value) {
      end_run(q, t);
      q->from = t;
      q->value = value;
    }
  }
  ps_timeline_add(&q->line, PS_QUALITY_MISSING, since, hi);
  q->next = hi > q->next ? hi : q->next;
}

/* No beat from `last_beat` to `at`. */
static void add_pause(ps_quality *q, int64_t at)
{
  if ((double)(at - q->last_beat) > PS_QUALITY_PAUSE * q->pauses.rate) {
    ps_timeline_add(&q->pauses, 0, q->last_beat, at);
  }
  q->last_beat = at;
}

void ps_quality_beat(ps_quality *q, int64_t sample)
{
  add_pause(q, sample);
}

void ps_quality_end(ps_quality *q, int64_t slots)
{
  end_run(q, q->next < slots ? q->next : slots);
  add_pause(q, slots);
  ps_timeline_end(&q->line, slots);
  ps_timeline_end(&q->pauses, slots);
  memcpy(q->line.count + (int64_t)PS_QUALITY_NO_BEAT * PS_TIMELINE_WINDOWS, q->pauses.count,
         PS_TIMELINE_WINDOWS * sizeof *q->pauses.count);
  int64_t *count = q->line.count + (int64_t)PS_QUALITY_MISSING * PS_TIMELINE_WINDOWS;

  for (int64_t i = 0; i < ps_timeline_windows(&q->line); i++) {
    const int64_t left = slots - i * q->line.size;

    count[i] = (left < q->line.size ? left : q->line.size) - count[i];
  }
}

static const char *const names[PS_QUALITY_ROWS] = {"missing", "flat: one value for 0.5 s or more",
                                                   "no beat for more than 2 s"};

weir_status ps_quality_page(const ps_quality *q, weir_report *r)
{
  static const char *const head[] = {"property", "windows", "most of the window", "part of it"};
  const int64_t windows = ps_timeline_windows(&q->line);
  weir_table c = {0};

  WEIR_TRY(weir_report_heading(r, "Signal quality"));
  for (int row = 0; row < PS_QUALITY_ROWS; row++) {
    int64_t mostly = 0, partly = 0;

    for (int64_t i = 0; i < windows; i++) {
      const double share = ps_timeline_share(&q->line, row, i);

      mostly += share > 0.5;
      partly += share > 0 && share <= 0.5;
    }
    weir_table_add(&c, "%s", names[row]);
    weir_table_add(&c, "%lld", (long long)windows);
    weir_table_add(&c, "%lld", (long long)mostly);
    weir_table_add(&c, "%lld", (long long)partly);
  }
  const weir_status status = weir_table_report(&c, r, "quality", 4, head);

  weir_table_fini(&c);
  WEIR_TRY(status);
  return ps_timeline_figure(&q->line, r, "quality", "signal quality", names,
                            "nothing is missing or flat, and beats come all the time");
}
