/* volume_agree.c - what files of one set say of labels and channels: that they mean the same, in
 * which order, and what labels in [-1, 1] are in the units of the parameters. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "data/volume/volume_format.h"

enum { LIST = 256 /* bytes of a list in a message */ };

static bool named(const cf_volume_info *info)
{
  return info->n_labels > 0 && info->label[0][0] != 0;
}

static void list_names(const cf_volume_info *info, char text[LIST])
{
  text[0] = 0;
  for (int64_t k = 0; k < info->n_labels; k++) {
    const size_t n = strlen(text);

    (void)snprintf(text + n, LIST - n, "%s%s", n > 0 ? " " : "", info->label[k]);
  }
}

static void list_redshifts(const cf_volume_info *info, char text[LIST])
{
  text[0] = 0;
  for (int64_t k = 0; k < info->n_redshifts; k++) {
    const size_t n = strlen(text);

    (void)snprintf(text + n, LIST - n, "%s%g", n > 0 ? " " : "", info->redshift[k]);
  }
}

static bool same_redshift(double a, double b)
{
  return fabs(a - b) <= 1e-6 * (1 + fabs(a));
}

/* at[k]: position in the other file of element k of the first. */
static bool match(const cf_volume_info *first, const cf_volume_info *has, bool labels, int *at,
                  bool *moved)
{
  const int64_t n = labels ? first->n_labels : first->n_redshifts;
  bool used[CF_MAX_LABELS] = {false};

  *moved = false;
  for (int64_t k = 0; k < n; k++) {
    int64_t j = 0;

    while (j < n && (used[j] || !(labels ? strcmp(first->label[k], has->label[j]) == 0
                                         : same_redshift(first->redshift[k], has->redshift[j])))) {
      j++;
    }
    if (j == n) {
      return false;
    }
    used[j] = true;
    at[k] = (int)j;
    *moved = *moved || j != k;
  }
  return true;
}

static weir_status agree_names(const cf_volume_info *first, const char *first_path,
                               const cf_volume_info *has, const char *path, cf_order *o)
{
  char one[LIST], two[LIST];

  if (named(first) != named(has)) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: has %s of its labels, and %s, the first file, has %s: which label is "
                     "which is not known; files.names states those of files without",
                     path, named(has) ? "names" : "no names", first_path,
                     named(first) ? "some" : "none");
  }
  if (!named(first) || match(first, has, true, o->label, &o->labels_moved)) {
    return WEIR_OK;
  }
  list_names(first, one);
  list_names(has, two);
  return weir_fail(WEIR_ERR_DATA, "%s: its labels are \"%s\"; those of %s, the first file, \"%s\"",
                   path, two, first_path, one);
}

static weir_status agree_redshifts(const cf_volume_info *first, const char *first_path,
                                   const cf_volume_info *has, const char *path, cf_order *o)
{
  char one[LIST], two[LIST];

  if (first->n_redshifts == has->n_redshifts &&
      match(first, has, false, o->channel, &o->channels_moved)) {
    return WEIR_OK;
  }
  list_redshifts(first, one);
  list_redshifts(has, two);
  return weir_fail(WEIR_ERR_DATA,
                   "%s: the redshifts of its channels are \"%s\"; those of %s, the first file, "
                   "\"%s\"; files.redshifts states those of files without",
                   path, two, first_path, one);
}

static weir_status agree_ranges(const cf_volume_info *first, const char *first_path,
                                const cf_volume_info *has, const char *path, const cf_order *o)
{
  for (int64_t k = 0; k < first->n_labels; k++) {
    const int j = o->label[k];
    const double width = 1e-6 * (first->hi[k] - first->lo[k]);

    if (width > 0 && has->lo[j] < has->hi[j] &&
        (fabs(has->lo[j] - first->lo[k]) > width || fabs(has->hi[j] - first->hi[k]) > width)) {
      return weir_fail(WEIR_ERR_DATA,
                       "%s: label %d (%s) goes from %g to %g, in %s, the first file, from %g to "
                       "%g: labels in [-1, 1] do not mean the same",
                       path, j + 1, has->label[j], has->lo[j], has->hi[j], first_path, first->lo[k],
                       first->hi[k]);
    }
  }
  return WEIR_OK;
}

static weir_status agree_quantity(const cf_volume_info *first, const char *first_path,
                                  const cf_volume_info *has, const char *path)
{
  const bool one = first->quantity == CF_QUANTITY_DENSITY,
             two = has->quantity == CF_QUANTITY_DENSITY;

  return one == two /* undeclared voxels are counts */
             ? WEIR_OK
             : weir_fail(WEIR_ERR_DATA,
                         "%s: its voxels are %s, those of %s, the first file, %s; files.voxels "
                         "states what all are",
                         path, cf_quantity_name[has->quantity], first_path,
                         cf_quantity_name[first->quantity]);
}

static weir_status agree_line_of_sight(const cf_volume_info *first, const char *first_path,
                                       const cf_volume_info *has, const char *path)
{
  static const char *const none = "none";
  const char one[] = {first->line_of_sight, 0}, two[] = {has->line_of_sight, 0};

  return one[0] == two[0]
             ? WEIR_OK
             : weir_fail(WEIR_ERR_DATA,
                         "%s: states the line of sight %s, and %s, the first file, %s "
                         "(line_of_sight: axis along which samples are in redshift space)",
                         path, two[0] ? two : none, first_path, one[0] ? one : none);
}

weir_status cf_volume_agree(const cf_volume_info *first, const char *first_path,
                            const cf_volume_info *has, const char *path, cf_order *out)
{
  *out = (cf_order){.labels_moved = false};
  for (int k = 0; k < CF_MAX_LABELS; k++) {
    out->label[k] = out->channel[k] = k;
  }
  if (first->cell > 0 && has->cell > 0 && !(fabs(has->cell - first->cell) <= 1e-6 * first->cell)) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: a voxel is %g Mpc/h wide, in %s, the first file, %g (cell_size_mpc_h)",
                     path, has->cell, first_path, first->cell);
  }
  if (!(fabs(cf_volume_unit_of(has) - cf_volume_unit_of(first)) <=
        1e-6 * cf_volume_unit_of(first))) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: its voxels are divided by %g, those of %s, the first file, by %g "
                     "(voxel_unit); files.unit states that of files without",
                     path, cf_volume_unit_of(has), first_path, cf_volume_unit_of(first));
  }
  WEIR_TRY(agree_quantity(first, first_path, has, path));
  WEIR_TRY(agree_line_of_sight(first, first_path, has, path));
  WEIR_TRY(agree_names(first, first_path, has, path, out));
  WEIR_TRY(agree_ranges(first, first_path, has, path, out));
  return agree_redshifts(first, first_path, has, path, out);
}

/* Names are words: what pads them goes, and a space between is '_'. */
static void make_word(char name[CF_MAX_NAME])
{
  for (size_t n = strlen(name); n > 0 && (unsigned char)name[n - 1] <= ' '; n--) {
    name[n - 1] = 0;
  }
  for (char *at = name; *at; at++) {
    *at = (unsigned char)*at <= ' ' ? '_' : *at;
  }
}

/* Refuses names or ranges of labels that a file does not have. */
static weir_status refuse_no_labels(const char *path, const char *option)
{
  static const char ending[] = "_data.npy";
  const size_t n = strlen(path), stem = n > sizeof ending - 1 ? n - (sizeof ending - 1) : 0;

  if (stem > 0 && strcmp(path + stem, ending) == 0) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: has no labels, and files.%s states them: %.*s_label.npy is not there",
                     path, option, (int)stem, path);
  }
  return weir_fail(WEIR_ERR_DATA,
                   "%s: has no labels, and files.%s states them: files.labels names their variable "
                   "or key",
                   path, option);
}

/* The unit of the voxels, stated (0: not) or by the file, which keeps its own. */
static weir_status state_unit(double stated, const char *path, cf_volume_info *info)
{
  if (info->unit > 0) {
    return !(stated > 0) || fabs(info->unit - stated) <= 1e-6 * stated
               ? WEIR_OK
               : weir_fail(WEIR_ERR_CONFIG,
                           "files.unit: %s states that its voxels were divided by %g (voxel_unit), "
                           "not by %g: leave it out",
                           path, info->unit, stated);
  }
  if (stated > 0 && !weir_dtype_is_real(info->dtype)) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "files.unit: %s has whole numbers, and voxels of floats are divided: leave it "
                     "out",
                     path);
  }
  info->unit = stated;
  return WEIR_OK;
}

/* The unit of the voxels, and the box that files do not state. */
static weir_status state_scales(const cf_volume_opts *opts, const char *path, cf_volume_info *info)
{
  const int64_t *const l = info->lengths;
  const double cell = opts->box / (double)(l[1] > 0 ? l[1] : 1);

  WEIR_TRY(state_unit(fabs(opts->unit - 1) > 0 ? opts->unit : 0, path, info));
  if (!(opts->box > 0) || info->box > 0) {
    return WEIR_OK;
  }
  if (l[1] != l[2] || (l[0] != 1 && l[0] != l[1])) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "files.box: samples of %lld x %lld x %lld of %s are neither cubes nor square "
                     "maps, as wide as a box: leave it out",
                     (long long)l[0], (long long)l[1], (long long)l[2], path);
  }
  if (info->cell > 0 && !(fabs(info->cell - cell) <= 1e-6 * cell)) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "files.box: %s states voxels of %g Mpc/h, and %lld of them are not %g Mpc/h: "
                     "leave it out",
                     path, info->cell, (long long)l[1], opts->box);
  }
  info->box = opts->box;
  info->cell = cell;
  return WEIR_OK;
}

weir_status cf_volume_state(const cf_volume_opts *opts, const char *path, cf_volume_info *info)
{
  const struct {
    const char *name, *of;
    int64_t stated, has;
  } list[] = {{"names", "a name for each label", opts->names.count, info->n_labels},
              {"range", "lo and hi of each label", opts->range.count, 2 * info->n_labels},
              {"redshifts", "a redshift for each channel", opts->redshifts.count,
               info->lengths[3] <= CF_MAX_LABELS ? info->lengths[3] : -1}};

  for (int i = 0; i < 3; i++) {
    if (list[i].stated > 0 && i < 2 && info->n_labels == 0) {
      WEIR_TRY(opts->labels_optional ? WEIR_OK : refuse_no_labels(path, list[i].name));
      continue;
    }
    if (list[i].stated > 0 && list[i].stated != list[i].has) {
      return weir_fail(WEIR_ERR_CONFIG, "files.%s: %lld are stated, and %s takes %s: %lld",
                       list[i].name, (long long)list[i].stated, path, list[i].of,
                       (long long)list[i].has);
    }
  }
  info->quantity = opts->voxels != CF_QUANTITY_AUTO ? (cf_quantity)opts->voxels : info->quantity;
  const bool unnamed = !named(info) && opts->names.count > 0;

  for (int64_t k = 0; k < info->n_labels; k++) {
    if (unnamed) {
      (void)snprintf(info->label[k], CF_MAX_NAME, "%s", opts->names.items[k]);
    }
    make_word(info->label[k]);
    if (opts->range.count > 0 && !(info->lo[k] < info->hi[k])) {
      info->lo[k] = opts->range.items[2 * k];
      info->hi[k] = opts->range.items[2 * k + 1];
      if (!(info->lo[k] < info->hi[k])) {
        return weir_fail(WEIR_ERR_CONFIG, "files.range: label %lld from %g to %g: lo is below hi",
                         (long long)k + 1, info->lo[k], info->hi[k]);
      }
    }
  }
  if (info->n_redshifts == 0 && opts->redshifts.count > 0) {
    info->n_redshifts = opts->redshifts.count;
    memcpy(info->redshift, opts->redshifts.items, (size_t)info->n_redshifts * sizeof(double));
  }
  return state_scales(opts, path, info);
}

void cf_volume_move(const cf_order *order, int64_t channels, int64_t n, size_t size, void *voxels)
{
  char voxel[CF_MAX_LABELS * sizeof(double)], *at = voxels;

  WEIR_ASSERT(channels <= CF_MAX_LABELS && size <= sizeof(double));
  for (int64_t i = 0; i < n; i++, at += (size_t)channels * size) {
    memcpy(voxel, at, (size_t)channels * size);
    for (int64_t c = 0; c < channels; c++) {
      memcpy(at + (size_t)c * size, voxel + (size_t)order->channel[c] * size, size);
    }
  }
}

/* ---- Labels and the units of the parameters ---- */

weir_status cf_volume_unit(const cf_volume_opts *opts, const cf_volume_info *info,
                           const char *where, const double *stored, float *unit)
{
  const double limit = opts->label_limit > 0 ? opts->label_limit : 1;

  for (int64_t k = 0; k < info->n_labels; k++) {
    const char *const name = info->label[k];
    double value = stored[k];

    if (!isfinite(value)) {
      return weir_fail(WEIR_ERR_DATA, "%s: label %lld is %g, which is no finite number", where,
                       (long long)k + 1, value);
    }
    if (opts->label_scale == CF_LABELS_PHYSICAL && !(info->lo[k] < info->hi[k])) {
      return weir_fail(WEIR_ERR_CONFIG,
                       "%s: label %lld%s%s has no range, which files.label_scale=physical is "
                       "mapped to [-1, 1] by: files.range states lo and hi of each label",
                       where, (long long)k + 1, name[0] ? " " : "", name);
    }
    if (opts->label_scale == CF_LABELS_PHYSICAL) {
      value = 2 * (value - info->lo[k]) / (info->hi[k] - info->lo[k]) - 1;
    }
    unit[k] = (float)value;
    if (!(fabs(value) <= limit * (1 + 1e-5))) {
      return weir_fail(WEIR_ERR_DATA,
                       "%s: label %lld%s%s is %g%s, and labels are from %g to %g: %s, "
                       "files.label_limit takes larger ones as they are",
                       where, (long long)k + 1, name[0] ? " " : "", name, stored[k],
                       opts->label_scale == CF_LABELS_PHYSICAL ? ", beyond its range" : "", -limit,
                       limit,
                       opts->label_scale == CF_LABELS_PHYSICAL
                           ? "files.range states another"
                           : "files.label_scale=physical maps labels in the units of the "
                             "parameters by their ranges (files.range)");
    }
  }
  return WEIR_OK;
}

weir_status cf_volume_check_physical(const cf_volume_info *info, const char *where,
                                     const float *unit, const cf_facts *facts)
{
  for (int64_t k = 0; facts->has_physical && k < info->n_labels; k++) {
    const double lo = info->lo[k], hi = info->hi[k], is = facts->physical[k];
    const double by = lo + 0.5 * ((double)unit[k] + 1) * (hi - lo);

    if (lo < hi && !(fabs(by - is) <= 1e-5 * (hi - lo) + 1e-6 * fabs(is))) {
      return weir_fail(WEIR_ERR_DATA,
                       "%s: label %lld%s%s is %g, which is %g in its range of %g to %g, and "
                       "physPar is %g: they are not of one parameter",
                       where, (long long)k + 1, info->label[k][0] ? " " : "", info->label[k],
                       (double)unit[k], by, lo, hi, is);
    }
  }
  return WEIR_OK;
}

void cf_range_fit_add(cf_range_fit *f, int64_t n_labels, const float *unit, const cf_facts *facts)
{
  if (!facts->has_physical) {
    return;
  }
  for (int64_t k = 0; k < n_labels; k++) {
    const double u = (double)unit[k];

    for (int end = 0; end < 2; end++) {
      if (f->n == 0 || (end == 0 ? u < f->u[k][0] : u > f->u[k][1])) {
        f->u[k][end] = u;
        f->p[k][end] = facts->physical[k];
      }
    }
  }
  f->n++;
}

static double rounded(double x, int digits)
{
  char text[40];
  double value = x;

  (void)snprintf(text, sizeof text, "%.*g", digits, x);
  (void)sscanf(text, "%lf", &value);
  return value;
}

void cf_range_fit_set(const cf_range_fit *f, cf_volume_info *info)
{
  const double apart = 0.01, single = 0x1p-22; /* labels are f32 */

  for (int64_t k = 0; f->n > 1 && k < info->n_labels; k++) {
    const double *const u = f->u[k], *const p = f->p[k], slope = (p[1] - p[0]) / (u[1] - u[0]);
    const double lo = p[0] - slope * (u[0] + 1), hi = p[0] + slope * (1 - u[0]);

    if (!(u[1] - u[0] >= apart) || !(lo < hi) || !isfinite(lo) || !isfinite(hi) ||
        info->lo[k] < info->hi[k]) {
      continue;
    }
    info->lo[k] = lo;
    info->hi[k] = hi;
    for (int digits = 1; digits < 12; digits++) { /* the shortest that both pairs allow */
      const double a = rounded(lo, digits), b = rounded(hi, digits);
      bool both = a < b;

      for (int end = 0; end < 2; end++) {
        both = both &&
               fabs(a + 0.5 * (u[end] + 1) * (b - a) - p[end]) <= single * (fabs(p[end]) + hi - lo);
      }
      if (both) {
        info->lo[k] = a;
        info->hi[k] = b;
        break;
      }
    }
  }
}
