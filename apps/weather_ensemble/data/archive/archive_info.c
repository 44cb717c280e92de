/* archive_info.c - numbers of quantities, initialisation times and leads; see archive_info.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "data/archive/archive_info.h"

const weir_opt wx_archive_in_options[] = {
    WEIR_OPT_PATH(wx_archive_in, index, "",
                  "folder, made where it is not there, that keeps what each file holds, so that it "
                  "is opened faster the next time; made anew for a file whose size or time "
                  "changed; none: nothing is kept"),
    WEIR_OPT_BOOL(wx_archive_in, skip_damaged, false,
                  "continue after damaged messages, with a warning that names file and byte; their "
                  "fields are then not there (import.incomplete)"),
    WEIR_OPT_END,
};

/* The number of the nearest of ascending values, -1: none within the tolerance. */
static int64_t nearest_int(const int64_t *x, int64_t n, int64_t value, int64_t tolerance)
{
  int64_t lo = 0, hi = n;

  while (lo < hi) { /* the first that is not less */
    const int64_t middle = lo + (hi - lo) / 2;

    if (x[middle] < value) {
      lo = middle + 1;
    } else {
      hi = middle;
    }
  }
  const bool before = lo > 0 && (lo == n || value - x[lo - 1] < x[lo] - value);
  const int64_t best = before ? lo - 1 : lo;

  return best < n && llabs(x[best] - value) <= tolerance ? best : -1;
}

static int64_t nearest_real(const double *x, int64_t n, double value, double tolerance)
{
  int64_t lo = 0, hi = n;

  while (lo < hi) {
    const int64_t middle = lo + (hi - lo) / 2;

    if (x[middle] < value) {
      lo = middle + 1;
    } else {
      hi = middle;
    }
  }
  const bool before = lo > 0 && (lo == n || value - x[lo - 1] < x[lo] - value);
  const int64_t best = before ? lo - 1 : lo;

  return best < n && fabs(x[best] - value) <= tolerance ? best : -1;
}

int64_t wx_archive_find_quantity(const wx_archive_info *f, const char *name)
{
  for (int64_t k = 0; k < f->n_quantities; k++) {
    if (strcmp(f->quantity[k].name, name) == 0) {
      return k;
    }
  }
  return -1;
}

int64_t wx_archive_find_start(const wx_archive_info *f, int64_t seconds)
{
  return nearest_int(f->start, f->n_init_times, seconds, llround(f->tolerance * 3600));
}

int64_t wx_archive_lead_number(const wx_archive_info *f, double lead)
{
  return nearest_real(f->lead, f->n_leads, lead, 0);
}

int64_t wx_archive_find_lead(const wx_archive_info *f, double hours)
{
  return nearest_real(f->lead, f->n_leads, hours, fmax(f->tolerance, 1e-6));
}

/* With several leads a start is valid at several times: see wx_archive_open_truth. */
static int64_t find_valid(const wx_archive_info *truth, int64_t seconds, double tolerance)
{
  return truth->n_leads != 1
             ? -1
             : nearest_int(truth->start, truth->n_init_times,
                           seconds - llround(truth->lead[0] * 3600), llround(tolerance * 3600));
}

int64_t wx_archive_find_valid(const wx_archive_info *truth, int64_t seconds)
{
  return find_valid(truth, seconds, truth->tolerance);
}

int64_t wx_archive_find_truth(const wx_archive_info *truth, const wx_archive_info *forecast,
                              int64_t start, int64_t lead)
{
  return find_valid(truth, forecast->start[start] + llround(forecast->lead[lead] * 3600),
                    fmax(truth->tolerance, forecast->tolerance));
}
