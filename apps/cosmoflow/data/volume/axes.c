/* axes.c - see axes.h. */
#include "data/volume/axes.h"
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* The voxels' axes where samples and channels are there or not. */
static cf_axes axes_of(bool samples, bool channels, bool first)
{
  const int cube = samples + (channels && first);

  return (cf_axes){samples ? 0 : -1, !channels ? -1 : first ? cube - 1 : cube + 3, cube, false};
}

/* What the name of a dimension says. */
typedef enum meaning { NO_NAME, SAMPLES, CHANNELS, SPACE, OTHER } meaning;

static meaning meaning_of(const char *name)
{
  static const struct {
    const char *name;
    meaning is;
  } known[] = {
      {"sample", SAMPLES},
      {"samples", SAMPLES},
      {"n", SAMPLES},
      {"sim", SAMPLES},
      {"sims", SAMPLES},
      {"simulation", SAMPLES},
      {"simulations", SAMPLES},
      {"realization", SAMPLES},
      {"realizations", SAMPLES},
      {"realisation", SAMPLES},
      {"realisations", SAMPLES},
      {"universe", SAMPLES},
      {"universes", SAMPLES},
      {"batch", SAMPLES},
      {"channel", CHANNELS},
      {"channels", CHANNELS},
      {"c", CHANNELS},
      {"redshift", CHANNELS},
      {"redshifts", CHANNELS},
      {"x", SPACE},
      {"y", SPACE},
      {"z", SPACE},
      {"depth", SPACE},
      {"height", SPACE},
      {"width", SPACE},
  };

  if (name == NULL || name[0] == 0 || strncmp(name, "phony_dim_", 10) == 0) {
    return NO_NAME;
  }
  for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
    if (strcasecmp(name, known[k].name) == 0) {
      return known[k].is;
    }
  }
  return OTHER;
}

/* The channels of five dimensions: those after the samples, or the last. */
static bool are_second(const cf_axes_known *k)
{
  const int64_t *const l = k->volume.length + 1;
  const meaning second = meaning_of(k->name[1]), last = meaning_of(k->name[4]);

  if (second == CHANNELS || last == CHANNELS || second == SPACE || last == SPACE) {
    return second == CHANNELS || (last == SPACE && second != SPACE);
  }
  return l[1] == l[2] && l[2] == l[3] && l[0] != l[1];
}

/* The first dimension whose name contradicts every usual order: samples that do not come first, or
 * what the first of five, or of one cube, cannot be; -1: none. */
static int unusual(const cf_axes_known *k)
{
  const meaning first = meaning_of(k->name[0]);
  const int n = k->volume.n;

  if ((n == 3 && (first == SAMPLES || first == CHANNELS)) ||
      (n == 5 && (first == SPACE || first == CHANNELS))) {
    return 0;
  }
  for (int d = 1; d < n; d++) {
    if (meaning_of(k->name[d]) == SAMPLES) {
      return d;
    }
  }
  return -1;
}

/* The dimensions by names and lengths; false: the first can be samples or channels. */
static bool usual(const cf_axes_known *k, cf_axes *out)
{
  const int64_t *const l = k->volume.length;
  const meaning first = meaning_of(k->name[0]), last = meaning_of(k->name[3]);
  const bool cube_last = l[1] == l[2] && l[2] == l[3] && l[0] != l[1];
  const bool cube_first = l[0] == l[1] && l[1] == l[2] && l[2] != l[3] && last != SPACE;

  *out = axes_of(k->volume.n == 5, k->volume.n > 3, k->volume.n == 5 && are_second(k));
  if (k->volume.n != 4) {
    return true;
  }
  *out = first == SAMPLES
             ? axes_of(true, false, false)
             : axes_of(false, true,
                       first == CHANNELS || (first == NO_NAME && last != CHANNELS && cube_last));
  return first == NO_NAME ? last == CHANNELS || cube_first || !cube_last
                          : first != OTHER || last == CHANNELS || cube_first;
}

/* Whether the classes are those of the voxels: the same samples and cube, and where the channels
 * are, or last, at most a dimension of one. */
static bool suits(const cf_axes_known *k, const cf_axes *a)
{
  const cf_extents *const v = &k->volume, *const c = k->classes;
  int64_t wanted[CF_MAX_AXES] = {0};
  int n = 0;

  for (int d = 0; d < v->n; d++) {
    if (d != a->channel) {
      wanted[n++] = v->length[d];
    }
  }
  if (c->n == n) {
    return memcmp(c->length, wanted, (size_t)n * sizeof *wanted) == 0;
  }
  for (int one = 0; c->n == n + 1 && one <= n; one++) {
    if (c->length[one] == 1 && (one == n || one == a->channel) &&
        memcmp(c->length, wanted, (size_t)one * sizeof *wanted) == 0 &&
        memcmp(c->length + one + 1, wanted + one, (size_t)(n - one) * sizeof *wanted) == 0) {
      return true;
    }
  }
  return false;
}

static void print_extents(const cf_extents *e, char *text, size_t size)
{
  text[0] = 0;
  for (int d = 0; d < e->n; d++) {
    const size_t n = strlen(text);

    (void)snprintf(text + n, size - n, "%s%lld", d > 0 ? " x " : "", (long long)e->length[d]);
  }
}

static weir_status refuse_shape(const cf_axes_known *k)
{
  char volume[128], classes[128];

  print_extents(&k->volume, volume, sizeof volume);
  print_extents(k->classes, classes, sizeof classes);
  return weir_fail(WEIR_ERR_DATA,
                   "%s: the classes of the voxels are %s, and the voxels %s: not one of each "
                   "(files.segmentation, files.axes)",
                   k->path, classes, volume);
}

/* Refuses by the name of dimension d. */
static weir_status refuse_name(const cf_axes_known *k, int d)
{
  static const char remedy[] =
      "set files.axes, a letter for each dimension: n of samples, c of channels, zyx (nzyx, czyx, "
      "zyxc, cnzyx)";
  const char *const name = k->name[d];
  char volume[128];

  print_extents(&k->volume, volume, sizeof volume);
  if (name == NULL || meaning_of(name) == NO_NAME) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: the dimensions of the voxels (%s) have no names, and the first can count "
                     "samples or channels: %s",
                     k->path, volume, remedy);
  }
  if (meaning_of(name) != OTHER) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: dimension %d of the voxels (%s) is called %s, which is not the usual "
                     "order: %s",
                     k->path, d + 1, volume, name, remedy);
  }
  return weir_fail(WEIR_ERR_DATA,
                   "%s: the name of the first dimension of the voxels, %s (%s), does not say "
                   "whether it counts samples: %s",
                   k->path, name, volume, remedy);
}

static weir_status by_letters(const cf_axes_known *k, cf_axes *out)
{
  const char *const at = k->letters;
  const bool map = strchr(at, 'z') == NULL;
  const char *const cube = strstr(at, map ? "yx" : "zyx");
  const char *const n = strchr(at, 'n'), *const c = strchr(at, 'c');
  const int letters = (map ? 2 : 3) + (n != NULL) + (c != NULL);

  if (cube == NULL || (int)strlen(at) != letters || letters != k->volume.n) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "files.axes: '%s' is not a letter for each of the %d dimensions of %s: zyx in "
                     "a row, of maps yx, n of samples, c of channels",
                     at, k->volume.n, k->path);
  }
  *out = (cf_axes){n != NULL ? (int)(n - at) : -1, c != NULL ? (int)(c - at) : -1, (int)(cube - at),
                   map};
  return WEIR_OK;
}

weir_status cf_axes_find(const cf_axes_known *known, cf_axes *out)
{
  const int n = known->volume.n;
  cf_axes possible[] = {
      {-1, -1, 0, false},
      axes_of(true, n == 5, false),
      axes_of(n == 5, n >= 4, false),
      axes_of(n == 5, n >= 4, true),
  };

  if (known->letters[0] != 0) {
    WEIR_TRY(by_letters(known, out));
    return known->classes == NULL || suits(known, out) ? WEIR_OK : refuse_shape(known);
  }
  const bool clear = usual(known, &possible[0]);
  const int d = unusual(known);

  *out = possible[0];
  if (d >= 0) {
    return refuse_name(known, d);
  }
  if (known->classes == NULL) {
    return clear ? WEIR_OK : refuse_name(known, 0);
  }
  for (int i = 0; i < (n == 3 ? 1 : 4); i++) {
    if (suits(known, &possible[i])) {
      *out = possible[i];
      return WEIR_OK;
    }
  }
  return refuse_shape(known);
}
