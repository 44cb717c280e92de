/* weights.c - attributes of files of weights, written and read. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "estimator.h"
#include "io/weir_netcdf.h"

/* ---- Written ---- */

/* The section of the configuration, each line without the origin of its value. */
weir_status cf_note_model(const weir_config *config, char **text)
{
  char *all = NULL, *rest = NULL;
  size_t size = 0, at = 0;
  bool inside = false;
  weir_status status = WEIR_OK;
  FILE *const out = open_memstream(&all, &size);

  *text = NULL;
  if (out == NULL) {
    return weir_fail(WEIR_ERR_MEMORY, "no memory for the text of the configuration");
  }
  status = weir_config_print(config, out);
  (void)fclose(out);
  WEIR_TRY_GOTO(status, done);
  WEIR_TRY_GOTO(weir_alloc((int64_t)size + 1, 1, (void **)text), done);
  for (char *line = strtok_r(all, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
    inside = line[0] == ' ' ? inside : strncmp(line, "model:", 6) == 0;
    char *const origin = strstr(line, "  # ");

    if (origin != NULL) {
      *origin = 0;
    }
    if (inside) {
      at += (size_t)snprintf(*text + at, size + 1 - at, "%s\n", line);
    }
  }
done:
  free(all);
  return status;
}

static void put(char *line, const char *format, double x)
{
  const size_t n = strlen(line);

  (void)snprintf(line + n, CF_NOTE_LINE - n, n > 0 ? " " : "");
  (void)snprintf(line + strlen(line), CF_NOTE_LINE - strlen(line), format, x);
}

void cf_note_info(const cf_volume_info *info, char text[CF_NOTES][CF_NOTE_LINE])
{
  for (int k = CF_NOTE_sample_shape; k <= CF_NOTE_redshifts; k++) {
    text[k][0] = 0;
  }
  for (int d = 0; d < 4; d++) {
    put(text[CF_NOTE_sample_shape], "%.0f", (double)info->lengths[d]);
  }
  for (int64_t k = 0; k < info->n_labels; k++) {
    char *const names = text[CF_NOTE_labels];
    const size_t n = strlen(names);
    const bool known = info->lo[k] < info->hi[k];

    if (info->label[k][0] != 0) {
      (void)snprintf(names + n, CF_NOTE_LINE - n, "%s%s", n > 0 ? " " : "", info->label[k]);
    } else {
      (void)snprintf(names + n, CF_NOTE_LINE - n, "%sparameter_%lld", n > 0 ? " " : "",
                     (long long)k + 1);
    }
    put(text[CF_NOTE_label_lo], known ? "%.17g" : "-", info->lo[k]);
    put(text[CF_NOTE_label_hi], known ? "%.17g" : "-", info->hi[k]);
  }
  (void)snprintf(text[CF_NOTE_classes], CF_NOTE_LINE, "%lld", (long long)info->n_classes);
  for (int64_t c = 0; c < info->n_redshifts; c++) {
    put(text[CF_NOTE_redshifts], "%.17g", info->redshift[c]);
  }
}

/* ---- Read ---- */

static const char *const note_name[] = {
#define X(name) #name,
    CF_NOTE_LIST(X)
#undef X
};

/* The attribute of a note; files of earlier versions have a former name of it. */
static const char *attribute_of(const weir_netcdf *nc, int k)
{
  const bool former = k == CF_NOTE_samples_per_universe &&
                      !weir_netcdf_has(nc, WEIR_NETCDF_FILE, note_name[k]) &&
                      weir_netcdf_has(nc, WEIR_NETCDF_FILE, "siblings");

  return former ? "siblings" : note_name[k];
}

static weir_status read_notes(const char *path, char *text[CF_NOTES])
{
  weir_netcdf *nc = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_netcdf_open(path, &nc));
  for (int k = 0; k < CF_NOTES && status == WEIR_OK; k++) {
    const bool later = k >= CF_NOTE_classes; /* weights of earlier versions have none */
    const char *const name = attribute_of(nc, k);

    if (later && !weir_netcdf_has(nc, WEIR_NETCDF_FILE, name)) {
      status = weir_strdup(k == CF_NOTE_classes ? "0" : "", &text[k]);
    } else if (!weir_netcdf_has(nc, WEIR_NETCDF_FILE, name) ||
               weir_netcdf_get_text(nc, WEIR_NETCDF_FILE, name, &text[k]) != WEIR_OK) {
      status = weir_fail(WEIR_ERR_DATA,
                         "%s: no weights of cosmoflow: there is no text attribute %s", path, name);
    }
  }
  weir_netcdf_close(&nc);
  return status;
}

/* Reads the next word, after spaces; false: none that fits. */
static bool next_word(const char **at, char *word, size_t size)
{
  const char *const begin = *at + strspn(*at, " ");
  const size_t n = strcspn(begin, " ");

  *at = begin + n;
  if (n == 0 || n >= size) {
    return false;
  }
  memcpy(word, begin, n);
  word[n] = 0;
  return true;
}

static bool next_number(const char **at, double *x)
{
  char word[64], *end = NULL;

  if (!next_word(at, word, sizeof word)) {
    return false;
  }
  *x = strtod(word, &end);
  return *end == 0 && isfinite(*x);
}

/* Reads names and ranges of the labels; false: invalid. */
static bool read_labels(cf_weights *w)
{
  const char *name = w->text[CF_NOTE_labels], *lo = w->text[CF_NOTE_label_lo],
             *hi = w->text[CF_NOTE_label_hi];
  cf_volume_info *const i = &w->info;

  while (i->n_labels < CF_MAX_LABELS && next_word(&name, i->label[i->n_labels], CF_MAX_NAME)) {
    double *const a = &i->lo[i->n_labels], *const b = &i->hi[i->n_labels];
    char word[2];
    const char *const before = lo;

    if (next_word(&lo, word, sizeof word) && strcmp(word, "-") == 0) {
      *a = *b = 0;
      if (!next_word(&hi, word, sizeof word)) {
        return false;
      }
    } else {
      lo = before;
      if (!next_number(&lo, a) || !next_number(&hi, b) || !(*a < *b)) {
        return false;
      }
    }
    i->n_labels++;
  }
  return name[strspn(name, " ")] == 0;
}

static bool read_shape(cf_weights *w)
{
  const char *at = w->text[CF_NOTE_sample_shape], *z = w->text[CF_NOTE_redshifts];
  cf_volume_info *const i = &w->info;
  double x = 0;

  for (int d = 0; d < 4; d++) {
    if (!next_number(&at, &x) || !(x >= 1 && x <= 1 << 20)) {
      return false;
    }
    i->lengths[d] = (int64_t)x;
  }
  while (i->n_redshifts < CF_MAX_LABELS && next_number(&z, &i->redshift[i->n_redshifts])) {
    i->n_redshifts++;
  }
  return true;
}

static bool read_numbering(cf_weights *w)
{
  const char *each = w->text[CF_NOTE_samples_per_universe], *count = w->text[CF_NOTE_sample_count];
  double x = 0, y = 0;

  if (!next_number(&each, &x) || !next_number(&count, &y) || !(x >= 0 && x <= 0x1p52) ||
      !(y >= 1 && y <= 0x1p52)) {
    return false;
  }
  w->samples_per_universe = (int64_t)x;
  w->count = (int64_t)y;
  return true;
}

static bool read_classes(cf_weights *w)
{
  const char *classes = w->text[CF_NOTE_classes];
  double x = 0;

  if (!next_number(&classes, &x) || !(x >= 0 && x <= CF_MAX_CLASSES) || x == 1) {
    return false;
  }
  w->info.n_classes = (int64_t)x;
  return true;
}

/* Reads quantity of voxels and sizes of box and voxel; absent in weights of earlier versions. */
static bool read_voxels(cf_weights *w)
{
  const char *const is = w->text[CF_NOTE_voxels], *box = w->text[CF_NOTE_box_size_mpc_h],
                    *cell = w->text[CF_NOTE_cell_size_mpc_h], *unit = w->text[CF_NOTE_voxel_unit];

  for (int k = 0; k <= CF_QUANTITY_ANY; k++) {
    w->info.quantity = strcmp(is, cf_quantity_name[k]) == 0 ? (cf_quantity)k : w->info.quantity;
  }
  return (*box == 0 || (next_number(&box, &w->info.box) && w->info.box > 0)) &&
         (*cell == 0 || (next_number(&cell, &w->info.cell) && w->info.cell > 0)) &&
         (*unit == 0 || (next_number(&unit, &w->info.unit) && w->info.unit > 0));
}

static bool read_scale(cf_weights *w)
{
  for (w->scale = 0; w->scale < CF_SCALES; w->scale++) {
    if (strcmp(cf_scale_name[w->scale], w->text[CF_NOTE_scale]) == 0) {
      return true;
    }
  }
  return false;
}

/* What the attribute network is read as. */
typedef struct holder {
  cf_model_opts model;
} holder;

static const weir_opt rows[] = {
    WEIR_OPT_TABLE(holder, model, cf_model_options, "the network"),
    WEIR_OPT_END,
};

weir_status cf_note_present(const char *network, char **text)
{
  weir_config *config = NULL;
  holder h;

  *text = NULL;
  WEIR_TRY(weir_opts_parse(rows, sizeof h, network, &h, &config));
  const weir_status status = cf_note_model(config, text);

  weir_config_destroy(&config);
  return status;
}

static weir_status read_model(cf_weights *w, const char *path)
{
  holder h;
  const weir_status status =
      weir_opts_parse(rows, sizeof h, w->text[CF_NOTE_network], &h, &w->config);

  if (status == WEIR_ERR_CONFIG) {
    return weir_fail(WEIR_ERR_DATA, "%s: its attribute network is no section of a configuration",
                     path);
  }
  w->model = h.model;
  if (status == WEIR_OK && cf_model_net(&w->model)->target == CF_ESTIMATE &&
      w->info.n_labels == 0) {
    return weir_fail(WEIR_ERR_DATA, "%s: its attribute labels names none, and %s estimates them",
                     path, cf_model_net(&w->model)->name);
  }
  return status;
}

static weir_status read_all(const char *path, cf_weights *w)
{
  WEIR_TRY(read_notes(path, w->text));
  if (!read_labels(w) || !read_shape(w) || !read_scale(w) || !read_numbering(w) ||
      !read_classes(w) || !read_voxels(w)) {
    return weir_fail(
        WEIR_ERR_DATA,
        "%s: its attributes sample_shape (%.60s), labels (%.60s) with label_lo and "
        "label_hi, scale (%.20s), samples_per_universe (%.20s), sample_count (%.20s) and "
        "classes (%.20s) are not those of weights",
        path, w->text[CF_NOTE_sample_shape], w->text[CF_NOTE_labels], w->text[CF_NOTE_scale],
        w->text[CF_NOTE_samples_per_universe], w->text[CF_NOTE_sample_count],
        w->text[CF_NOTE_classes]);
  }
  return read_model(w, path);
}

weir_status cf_weights_read(const char *path, cf_weights *out)
{
  *out = (cf_weights){.config = NULL};
  const weir_status status = read_all(path, out);

  if (status != WEIR_OK) {
    cf_weights_fini(out);
  }
  return status;
}

void cf_weights_fini(cf_weights *w)
{
  weir_config_destroy(&w->config);
  for (int k = 0; k < CF_NOTES; k++) {
    weir_free(&w->text[k]);
  }
}

/* Numbers agree to six digits: ranges that follow from single precision are not exact. */
static bool same_word(const char *x, const char *y)
{
  char *end[2] = {NULL, NULL};
  const double a = strtod(x, &end[0]), b = strtod(y, &end[1]);

  return strcmp(x, y) == 0 || (end[0] != x && end[1] != y && *end[0] == 0 && *end[1] == 0 &&
                               fabs(a - b) <= 1e-6 * (fabs(a) + fabs(b)));
}

/* Whether two lines of words agree where both know: "-" is not known, nor is a line without words.
 */
static bool agree(const char *a, const char *b)
{
  char x[CF_NOTE_LINE], y[CF_NOTE_LINE];

  if (*a == 0 || *b == 0) {
    return true;
  }
  for (;;) {
    const bool more = next_word(&a, x, sizeof x);

    if (next_word(&b, y, sizeof y) != more) {
      return false;
    }
    if (!more) {
      return true;
    }
    if (!same_word(x, y) && strcmp(x, "-") != 0 && strcmp(y, "-") != 0) {
      return false;
    }
  }
}

/* Names of labels that a set has: those of cf_note_info, "parameter_1" and so on, are of none. */
static bool trained_on_names(const cf_weights *w)
{
  return strncmp(w->text[CF_NOTE_labels], "parameter_1", 11) != 0;
}

static bool is_matter(cf_quantity q)
{
  return q == CF_QUANTITY_COUNTS || q == CF_QUANTITY_DENSITY;
}

/* Warns of properties of the weights that the samples do not state, and so are not compared. */
static void tell_unknown(const cf_weights *w, const char *path, const cf_volume_info *info)
{
  const struct {
    const char *what;
    bool there, here;
  } of[] = {
      {"redshifts", w->info.n_redshifts > 0, info->n_redshifts > 0},
      {"cell_size_mpc_h", w->info.cell > 0, info->cell > 0},
      {"quantity of voxels", is_matter(w->info.quantity), info->quantity != CF_QUANTITY_AUTO}};
  char text[128] = "";

  for (size_t k = 0; k < sizeof of / sizeof of[0]; k++) {
    const size_t n = strlen(text);

    if (of[k].there && !of[k].here) {
      (void)snprintf(text + n, sizeof text - n, "%s%s", n > 0 ? ", " : "", of[k].what);
    }
  }
  if (text[0] != 0) {
    weir_warn("weights",
              "%s: these samples do not say their %s, which it was trained with: that they are the "
              "same is not checked",
              path, text);
  }
  if (w->info.box > 0 && info->box > 0 && fabs(info->box - w->info.box) > 1e-6 * w->info.box) {
    weir_warn(
        "weights",
        "%s: was trained on universes in boxes of %g Mpc/h, and these are of %g: waves longer "
        "than the box are missing in each",
        path, w->info.box, info->box);
  }
}

static weir_status fit_scales(const cf_weights *w, const char *path, const cf_volume_info *info,
                              bool estimates)
{
  const double cell = w->info.cell, unit = cf_volume_unit_of(&w->info);

  if (estimates && info->n_labels > 0 && info->label[0][0] == 0 && trained_on_names(w)) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: was trained on labels \"%s\"; these samples do not name theirs: "
                     "files.names states them in the order in which they stand",
                     path, w->text[CF_NOTE_labels]);
  }
  if (is_matter(w->info.quantity) && is_matter(info->quantity) &&
      w->info.quantity != info->quantity) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: was trained on voxels that are %s (voxels); these are %s: convert them, "
                     "or train on such",
                     path, cf_quantity_name[w->info.quantity], cf_quantity_name[info->quantity]);
  }
  if (!(fabs(cf_volume_unit_of(info) - unit) <= 1e-6 * unit)) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: was trained on voxels divided by %g (voxel_unit); these are divided by "
                     "%g: files.unit states it of files without",
                     path, unit, cf_volume_unit_of(info));
  }
  if (cell > 0 && info->cell > 0 && !(fabs(info->cell - cell) <= 1e-6 * cell)) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: was trained on voxels %g Mpc/h wide (cell_size_mpc_h); these are %g",
                     path, cell, info->cell);
  }
  tell_unknown(w, path, info);
  return WEIR_OK;
}

weir_status cf_weights_fit(const cf_weights *w, const char *path, const cf_volume_info *info)
{
  const bool estimates = cf_model_net(&w->model)->target == CF_ESTIMATE;
  char text[CF_NOTES][CF_NOTE_LINE];

  cf_note_info(info, text);
  for (int k = CF_NOTE_sample_shape; k <= CF_NOTE_redshifts; k++) {
    if (!estimates && k >= CF_NOTE_labels && k <= CF_NOTE_label_hi) {
      continue; /* classes of voxels have nothing to do with them */
    }
    const bool named = k != CF_NOTE_labels || info->label[0][0] != 0;
    const bool has_to = k == CF_NOTE_sample_shape || (k == CF_NOTE_labels && info->n_labels > 0);

    if (named && (has_to ? strcmp(text[k], w->text[k]) != 0 : !agree(text[k], w->text[k]))) {
      return weir_fail(WEIR_ERR_DATA,
                       "%s: was trained on samples whose %s is \"%s\"; these have \"%s\"", path,
                       note_name[k], w->text[k], text[k]);
    }
  }
  return fit_scales(w, path, info, estimates);
}
