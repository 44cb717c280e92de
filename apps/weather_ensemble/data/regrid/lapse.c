/* lapse.c - see lapse.h. */
#include "data/regrid/lapse.h"
#include <math.h>
#include <string.h>
#include "base/weir_alloc.h"

const weir_opt wx_lapse_options[] = {
    WEIR_OPT_REAL(
        wx_lapse_opts, lapse_rate, 6.5, -20, 20, "K km-1",
        "decrease of temperature with height between the model's surface (of "
        "data.invariants) and the station; 6.5: ICAO standard atmosphere; 0: no correction"),
    WEIR_OPT_STRING_LIST(wx_lapse_opts, quantities, "2t, mx2t, mn2t, mx2t3, mn2t3, mx2t6, mn2t6",
                         "temperatures that are corrected, those of them that the forecast has"),
    WEIR_OPT_END,
};

static bool is_corrected(const wx_lapse_opts *o, const wx_quantity *q)
{
  bool is = false;

  for (int64_t i = 0; i < o->quantities.count; i++) {
    is = is || strcmp(o->quantities.items[i], q->name) == 0;
  }
  return is;
}

bool wx_lapse_applies(const wx_lapse_opts *opts, const wx_archive_info *f, const wx_grid *to)
{
  bool any = false;

  for (int64_t q = 0; q < f->n_quantities; q++) {
    any = any || is_corrected(opts, &f->quantity[q]);
  }
  return any && opts->lapse_rate != 0 && to->kind == WX_GRID_SITES;
}

weir_status wx_lapse_check(const wx_lapse_opts *opts, const wx_archive_info *f, const wx_grid *to)
{
  for (int64_t q = 0; q < f->n_quantities; q++) {
    if (is_corrected(opts, &f->quantity[q]) && !wx_quantity_same_units(f->quantity[q].units, "K")) {
      return weir_fail(WEIR_ERR_DATA,
                       "%s: %s is in '%s', and is corrected for height (import.height) in K: state "
                       "its units, or leave it out of import.height.quantities",
                       f->name, f->quantity[q].name, f->quantity[q].units);
    }
  }
  return to->height != NULL
             ? WEIR_OK
             : weir_fail(WEIR_ERR_CONFIG,
                         "import.height: the file of stations (import.grid.file) states no "
                         "altitude in m, by which temperatures are corrected: add a variable "
                         "altitude, or set import.height.lapse_rate to 0");
}

weir_status wx_lapse_correct(const wx_lapse_opts *opts, wx_archive *a, const float *orography,
                             int64_t *unknown)
{
  const wx_archive_info *const f = wx_archive_get(a);
  const int64_t n = wx_grid_cells(&f->grid);
  float *offset = NULL;
  weir_status status = WEIR_OK;

  *unknown = 0;
  WEIR_TRY(weir_alloc(n, sizeof *offset, (void **)&offset));
  for (int64_t i = 0; i < n; i++) {
    const double above = (double)orography[i] - f->grid.height[i];

    offset[i] = (float)(opts->lapse_rate / 1000 * above);
    *unknown += isnan(f->grid.height[i]);
  }
  for (int64_t q = 0; q < f->n_quantities; q++) {
    if (is_corrected(opts, &f->quantity[q])) {
      WEIR_TRY_GOTO(wx_archive_offset(a, q, offset), done);
    }
  }
done:
  weir_free(&offset);
  return status;
}
