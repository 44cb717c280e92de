/* about.c - see about.h. */
#include "data/volume/about.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD = 64 };
#define SIMULATION "simulation"

/* ---- Written ---- */

static void put(char text[CF_MAX_ABOUT], const char *word)
{
  const size_t n = strlen(text);

  (void)snprintf(text + n, CF_MAX_ABOUT - n, "%s%s", n > 0 && text[n - 1] != '\n' ? " " : "", word);
}

static void put_number(char text[CF_MAX_ABOUT], double x)
{
  char word[WORD];

  (void)snprintf(word, sizeof word, "%.17g", x);
  put(text, word);
}

static void put_line(char text[CF_MAX_ABOUT], const char *key, const double *x, int64_t n)
{
  put(text, key);
  for (int64_t k = 0; k < n; k++) {
    put_number(text, x[k]);
  }
  put(text, "\n");
}

static void put_labels(char text[CF_MAX_ABOUT], const cf_volume_info *info)
{
  put(text, "labels");
  for (int64_t k = 0; k < info->n_labels; k++) {
    put(text, info->label[k]);
  }
  put(text, "\n");
}

static void put_ranges(char text[CF_MAX_ABOUT], const cf_volume_info *info, bool hi)
{
  put(text, hi ? "label_hi" : "label_lo");
  for (int64_t k = 0; k < info->n_labels; k++) {
    if (info->lo[k] < info->hi[k]) {
      put_number(text, hi ? info->hi[k] : info->lo[k]);
    } else {
      put(text, "-");
    }
  }
  put(text, "\n");
}

/* Nothing of it where it does not fit, or is more than a line. */
static void put_simulation(char text[CF_MAX_ABOUT], const char *simulation)
{
  const size_t n = strlen(text);
  const bool fits = n + strlen(simulation) + sizeof SIMULATION + 2 <= CF_MAX_ABOUT;

  if (simulation[0] != 0 && fits && strchr(simulation, '\n') == NULL) {
    (void)snprintf(text + n, CF_MAX_ABOUT - n, "%s %s\n", SIMULATION, simulation);
  }
}

void cf_about_print(const cf_volume_info *info, const cf_facts *facts, char text[CF_MAX_ABOUT])
{
  const double corner[3] = {(double)facts->corner[0], (double)facts->corner[1],
                            (double)facts->corner[2]};

  text[0] = 0;
  if (info->n_labels > 0 && info->label[0][0] != 0) {
    put_labels(text, info);
  }
  for (int64_t k = 0; k < info->n_labels; k++) {
    if (info->lo[k] < info->hi[k]) {
      put_ranges(text, info, false);
      put_ranges(text, info, true);
      break;
    }
  }
  if (info->n_redshifts > 0) {
    put_line(text, "redshifts", info->redshift, info->n_redshifts);
  }
  if (info->quantity == CF_QUANTITY_COUNTS || info->quantity == CF_QUANTITY_DENSITY) {
    put(text, "quantity");
    put(text, cf_quantity_name[info->quantity]);
    put(text, "\n");
  }
  if (info->box > 0) {
    put_line(text, "box_size_mpc_h", &info->box, 1);
  }
  if (info->cell > 0) {
    put_line(text, "cell_size_mpc_h", &info->cell, 1);
  }
  if (info->unit > 0) {
    put_line(text, "voxel_unit", &info->unit, 1);
  }
  if (info->line_of_sight != 0) {
    put(text, "line_of_sight");
    put(text, (const char[]){info->line_of_sight, 0});
    put(text, "\n");
  }
  if (facts->has_physical) {
    put_line(text, "physPar", facts->physical, info->n_labels);
  }
  if (facts->has_cosmology) {
    put_line(text, "cosmology", facts->cosmology, CF_COSMOLOGY);
  }
  if (facts->has_corner) {
    put_line(text, "corner", corner, 3);
  }
  put_simulation(text, info->simulation);
}

/* ---- Read ---- */

/* The next word of the line that *at is in; false: it has none. */
static bool next(const char **at, char word[WORD])
{
  const char *const begin = *at + strspn(*at, " ");
  const size_t n = strcspn(begin, " \n");

  *at = begin + n;
  if (n == 0 || n >= WORD) {
    return false;
  }
  memcpy(word, begin, n);
  word[n] = 0;
  return true;
}

/* Parses exactly n finite numbers to the end of the line; unknown: "-" leaves the value unchanged.
 * */
static bool numbers(const char *at, double *x, int64_t n, bool unknown)
{
  char word[WORD], *end = NULL;

  for (int64_t k = 0; k < n; k++) {
    if (!next(&at, word)) {
      return false;
    }
    if (unknown && strcmp(word, "-") == 0) {
      continue;
    }
    x[k] = strtod(word, &end);
    if (*end != 0 || !isfinite(x[k])) {
      return false;
    }
  }
  return !next(&at, word);
}

static bool labels(const char *at, cf_volume_info *info)
{
  char word[WORD];

  for (int64_t k = 0; k < info->n_labels; k++) {
    if (!next(&at, word) || strlen(word) >= CF_MAX_NAME) {
      return false;
    }
    (void)snprintf(info->label[k], CF_MAX_NAME, "%.*s", CF_MAX_NAME - 1, word);
  }
  return !next(&at, word);
}

static bool quantity(const char *at, cf_volume_info *info)
{
  char word[WORD];

  if (!next(&at, word)) {
    return false;
  }
  for (int k = CF_QUANTITY_COUNTS; k <= CF_QUANTITY_DENSITY; k++) {
    info->quantity = strcmp(word, cf_quantity_name[k]) == 0 ? (cf_quantity)k : info->quantity;
  }
  return info->quantity != CF_QUANTITY_AUTO;
}

static bool line_of_sight(const char *at, cf_volume_info *info)
{
  char word[WORD];

  info->line_of_sight = next(&at, word) ? cf_axis_letter(word) : 0;
  return info->line_of_sight != 0 && !next(&at, word);
}

/* As prepare writes it; a line of another program is ignored. */
static bool simulation(const char *at, cf_volume_info *info)
{
  const char *const begin = at + strspn(at, " ");
  const size_t n = strcspn(begin, "\n");

  if (n < sizeof info->simulation && strncmp(begin, "seed ", 5) == 0) {
    memcpy(info->simulation, begin, n);
    info->simulation[n] = 0;
  }
  return true;
}

static bool corner(const char *at, cf_facts *facts)
{
  double x[3];

  facts->has_corner = numbers(at, x, 3, false);
  for (int d = 0; facts->has_corner && d < 3; d++) {
    facts->has_corner = x[d] >= 0 && x[d] <= 0x1p40 && x[d] == floor(x[d]);
    facts->corner[d] = facts->has_corner ? (int64_t)x[d] : 0;
  }
  return facts->has_corner;
}

/* A line of a key; true also for keys that are not known. */
static bool line(const char *key, const char *at, cf_volume_info *info, cf_facts *facts)
{
  const int64_t channels = info->lengths[3];

  if (strcmp(key, "labels") == 0) {
    return labels(at, info);
  }
  if (strcmp(key, "label_lo") == 0 || strcmp(key, "label_hi") == 0) {
    return numbers(at, key[6] == 'l' ? info->lo : info->hi, info->n_labels, true);
  }
  if (strcmp(key, "redshifts") == 0) {
    info->n_redshifts = channels;
    return channels <= CF_MAX_LABELS && numbers(at, info->redshift, channels, false);
  }
  if (strcmp(key, "quantity") == 0) {
    return quantity(at, info);
  }
  if (strcmp(key, "box_size_mpc_h") == 0) {
    return numbers(at, &info->box, 1, false) && info->box > 0;
  }
  if (strcmp(key, "cell_size_mpc_h") == 0) {
    return numbers(at, &info->cell, 1, false) && info->cell > 0;
  }
  if (strcmp(key, "voxel_unit") == 0) {
    return numbers(at, &info->unit, 1, false) && info->unit > 0;
  }
  if (strcmp(key, "line_of_sight") == 0) {
    return line_of_sight(at, info);
  }
  if (strcmp(key, SIMULATION) == 0) {
    return simulation(at, info);
  }
  if (strcmp(key, "physPar") == 0) {
    facts->has_physical = info->physical = numbers(at, facts->physical, info->n_labels, false);
    return facts->has_physical;
  }
  if (strcmp(key, "cosmology") == 0) {
    facts->has_cosmology = numbers(at, facts->cosmology, CF_COSMOLOGY, false);
    return facts->has_cosmology;
  }
  return strcmp(key, "corner") != 0 || corner(at, facts);
}

const char *cf_about_parse(const char *text, cf_volume_info *info, cf_facts *facts)
{
  static const char *const keys[] = {
      "labels",         "label_lo",        "label_hi",   "redshifts", "quantity",
      "box_size_mpc_h", "cell_size_mpc_h", "voxel_unit", "physPar",   "cosmology",
      "corner",         "line_of_sight",   SIMULATION};
  char word[WORD];

  while (*text) {
    const char *at = text;
    const bool some = next(&at, word);

    for (size_t k = 0; some && k < sizeof keys / sizeof keys[0]; k++) {
      if (strcmp(word, keys[k]) == 0 && !line(word, at, info, facts)) {
        return keys[k];
      }
    }
    text += strcspn(text, "\n");
    text += *text == '\n';
  }
  return NULL;
}
