/* axes.c - see axes.h. */
#include "data/volume/axes.h"
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The voxels' axes where samples and channels are there or not. */
static cf_axes axes_of(bool samples, bool channels, bool first)
{
  const int cube = samples + (channels && first);

  return (cf_axes){samples ? 0 : -1, !channels ? -1 : first ? cube - 1 : cube + 3, cube};
}

/* Without classes to tell. */
static cf_axes usual(const cf_axes_known *k)
{
  const int n = k->volume.n;
  const bool samples = n == 5 || (n == 4 && strcmp(k->first, "sample") == 0);
  const bool channels = n - samples == 4;
  const int64_t *const l = k->volume.length + samples;

  return axes_of(samples, channels, channels && l[1] == l[2] && l[2] == l[3] && l[0] != l[1]);
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

static weir_status by_letters(const cf_axes_known *k, cf_axes *out)
{
  const char *const at = k->letters, *const cube = strstr(at, "zyx");
  const char *const n = strchr(at, 'n'), *const c = strchr(at, 'c');
  const int letters = 3 + (n != NULL) + (c != NULL);

  if (cube == NULL || (int)strlen(at) != letters || letters != k->volume.n) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "files.axes: '%s' is not a letter for each of the %d dimensions of %s: zyx in "
                     "a row, n of samples, c of channels",
                     at, k->volume.n, k->path);
  }
  *out =
      (cf_axes){n != NULL ? (int)(n - at) : -1, c != NULL ? (int)(c - at) : -1, (int)(cube - at)};
  return WEIR_OK;
}

weir_status cf_axes_find(const cf_axes_known *known, cf_axes *out)
{
  const int n = known->volume.n;
  const cf_axes possible[] = {
      usual(known),
      axes_of(true, n == 5, false),
      axes_of(n == 5, n >= 4, false),
      axes_of(n == 5, n >= 4, true),
  };

  if (known->letters[0] != 0) {
    WEIR_TRY(by_letters(known, out));
    return known->classes == NULL || suits(known, out) ? WEIR_OK : refuse_shape(known);
  }
  *out = possible[0];
  if (known->classes == NULL) {
    return WEIR_OK;
  }
  for (int i = 0; i < (n == 3 ? 1 : 4); i++) {
    if (suits(known, &possible[i])) {
      *out = possible[i];
      return WEIR_OK;
    }
  }
  return refuse_shape(known);
}
