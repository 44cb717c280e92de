/* eval_clock.c - see eval_clock.h. */
#include "eval_clock.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "base/weir_integer.h"
#include "base/weir_log.h"
#include "data/checksums.h"
#include "io/weir_record.h"

#define MAX_CLOCK 1e7
#define MIN_CLOCK 1e5

static double hertz(const int64_t rate[2])
{
  return (double)rate[0] / (double)rate[1];
}

static void reduce(int64_t rate[2])
{
  const int64_t divisor = weir_gcd(rate[0], rate[1]);

  rate[0] /= divisor;
  rate[1] /= divisor;
}

/* lcm(a/b, c/d) = lcm(a, c) / gcd(b, d) of reduced fractions. */
static bool common_multiple(const int64_t a[2], const int64_t b[2], int64_t out[2])
{
  const int64_t divisor = weir_gcd(a[0], b[0]);

  out[1] = weir_gcd(a[1], b[1]);
  return weir_mul_ok(a[0] / divisor, b[0], &out[0]) && hertz(out) <= MAX_CLOCK;
}

void ps_common_clock(const int64_t a[2], const int64_t b[2], int64_t out[2])
{
  int64_t x[2] = {a[0], a[1]}, y[2] = {b[0], b[1]};

  reduce(x);
  reduce(y);
  const int64_t *high = hertz(x) >= hertz(y) ? x : y;

  if (fabs(hertz(x) / hertz(y) - 1) < 1e-14) { /* the same in the decimals that a file has */
    high = x[1] <= y[1] ? x : y;
    out[0] = high[0];
    out[1] = high[1];
  } else if (!common_multiple(x, y, out)) {
    const double times = fmax(1, ceil(MIN_CLOCK / hertz(high)));

    out[1] = high[1];
    if (!weir_mul_ok(high[0], (int64_t)times, &out[0])) {
      out[0] = high[0];
    }
  }
}

static bool is_file(const char *path)
{
  struct stat info;

  return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

/* The file that has the signal: a WFDB record or the path itself, else RECORD.edf, .bdf, .nc. */
static void find_signal(ps_scored *s)
{
  static const char *const suffixes[] = {".hea", "", ".edf", ".EDF", ".bdf", ".BDF", ".nc"};

  s->signal[0] = 0;
  for (size_t k = 0; k < sizeof suffixes / sizeof suffixes[0]; k++) {
    char path[PS_PATH + 8];

    (void)snprintf(path, sizeof path, "%s%s", s->record, suffixes[k]);
    const char *signal = k == 0 ? s->record : path;
    const size_t length = strlen(signal);

    if (length < PS_PATH && is_file(path)) {
      memcpy(s->signal, signal, length + 1);
      return;
    }
  }
}

/* Signals of several rates in a file that, unlike a WFDB record, has no frames. */
static weir_status check_rates(const ps_scored *s, const char *file)
{
  const weir_record_opts opts = {.allow_short = 1, .zero_gain = 1};
  char header[PS_PATH + 8];
  weir_record *r = NULL;
  bool same = true;

  (void)snprintf(header, sizeof header, "%s.hea", s->signal);
  if (weir_file_exists(header) || strstr(s->signal, ".hea") != NULL) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_record_open(s->signal, &opts, &r));
  for (int i = 1; i < weir_record_signals(r); i++) {
    const weir_signal_info *a = weir_record_signal(r, 0), *b = weir_record_signal(r, i);

    same = same && a->fs_num == b->fs_num && a->fs_den == b->fs_den;
  }
  weir_record_close(&r);
  return same ? WEIR_OK
              : weir_fail(WEIR_ERR_DATA,
                          "%s states no time resolution and %s has signals of several rates: state "
                          "how many units of its times make a second: --set eval.fs=HZ",
                          file, s->signal);
}

/* The rate of the times of a file that states none. */
static weir_status find_base(const ps_cfg *cfg, const ps_scored *s, const weir_record_clock *record,
                             const char *file, int64_t base[2])
{
  if (cfg->eval.fs > 0) {
    base[0] = (int64_t)(cfg->eval.fs * 1e6 + 0.5);
    base[1] = 1000000;
    reduce(base);
    return WEIR_OK;
  }
  if (record->frames <= 0) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s states no time resolution, and there is no record next to it that does "
                     "(%s.hea, .edf, .bdf or .nc): state how many units of its times make a "
                     "second: --set eval.fs=HZ",
                     file, s->record);
  }
  WEIR_TRY(check_rates(s, file));
  base[0] = record->fs_num;
  base[1] = record->fs_den;
  return WEIR_OK;
}

/* Frames on the clock, to the end of the last one. */
static int64_t length_of(const weir_record_clock *record, const ps_beats_clock *clock)
{
  const double ratio = ((double)clock->fs_num * (double)record->fs_den) /
                       ((double)clock->fs_den * (double)record->fs_num);

  return record->frames <= 0 ? PS_FAR : (int64_t)ceil((double)record->frames * ratio - 1e-6);
}

/* The record's frames; none where it has no file, or one that only looks like its own and is not
 * needed. */
static weir_status read_record(const ps_cfg *cfg, ps_scored *s, bool needed, weir_record_clock *out)
{
  *out = (weir_record_clock){0};
  find_signal(s);
  if (s->signal[0] == 0) {
    return WEIR_OK;
  }
  const weir_status status = weir_record_read_clock(s->signal, out);

  if (status == WEIR_OK || status == WEIR_ERR_MEMORY || strcmp(s->signal, s->record) == 0 ||
      (needed && !(cfg->eval.fs > 0))) {
    return status;
  }
  weir_warn("eval", "%s is not read as the signal of %s: %s", s->signal, ps_base_name(s->record),
            weir_last_message());
  weir_clear_failure();
  *out = (weir_record_clock){0};
  s->signal[0] = 0;
  return WEIR_OK;
}

weir_status ps_eval_clock(const ps_cfg *cfg, ps_scored *s)
{
  const char *const files[2] = {s->files.reference, s->files.test};
  int64_t rate[2][2], base[2] = {0, 1}, common[2];
  weir_record_clock record;

  WEIR_TRY(ps_checksums_verify_file(ps_input_checksums(&cfg->input, files[0]), files[0]));
  for (int k = 0; k < 2; k++) {
    WEIR_TRY(ps_beats_rate(files[k], &rate[k][0], &rate[k][1]));
  }
  WEIR_TRY(read_record(cfg, s, rate[0][0] == 0 || rate[1][0] == 0, &record));
  for (int k = 0; k < 2; k++) {
    if (rate[k][0] == 0) {
      WEIR_TRY(find_base(cfg, s, &record, files[k], base));
      rate[k][0] = base[0];
      rate[k][1] = base[1];
    }
  }
  ps_common_clock(rate[0], rate[1], common);
  s->clock = (ps_beats_clock){
      .fs_num = common[0], .fs_den = common[1], .base_num = base[0], .base_den = base[1]};
  s->sample_rate = hertz(rate[0]);
  s->end = length_of(&record, &s->clock);
  return WEIR_OK;
}
