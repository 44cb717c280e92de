/* layers.c - see layers.h. */
#include "data/layers.h"

#include <math.h>

#include "base/weir_alloc.h"
#include "data/bloch.h"

static const char *const sides[QT_LEADS] = {"left", "right"};

void qt_pattern_fini(qt_pattern *p)
{
  weir_free(&p->first);
  weir_free(&p->last);
  p->n = 0;
}

static void take(const qt_bloch *m, qt_pattern *p)
{
  for (int64_t i = 0; i < m->count; i++) {
    const qt_sparse *const a = &m->matrix[i];

    for (int64_t r = 0; r < a->rows; r++) {
      for (int64_t e = a->start[r]; e < a->start[r + 1]; e++) {
        if (a->value[e].re != 0 || a->value[e].im != 0) {
          p->last[r] = a->column[e] > p->last[r] ? a->column[e] : p->last[r];
          p->first[r] = a->column[e] < p->first[r] ? a->column[e] : p->first[r];
        }
      }
    }
  }
}

weir_status qt_pattern_create(const qt_bloch *h, const qt_bloch *s, int64_t n, qt_pattern *out)
{
  weir_status status = WEIR_OK;

  *out = (qt_pattern){.n = n};
  WEIR_TRY_GOTO(weir_alloc(n, sizeof *out->last, (void **)&out->last), failed);
  WEIR_TRY_GOTO(weir_alloc(n, sizeof *out->first, (void **)&out->first), failed);
  for (int64_t r = 0; r < n; r++) {
    out->last[r] = out->first[r] = r;
  }
  take(h, out);
  take(s, out);
  for (int64_t r = 1; r < n; r++) {
    const int64_t back = n - 1 - r;

    out->last[r] = out->last[r] > out->last[r - 1] ? out->last[r] : out->last[r - 1];
    out->first[back] =
        out->first[back] < out->first[back + 1] ? out->first[back] : out->first[back + 1];
  }
  return WEIR_OK;
failed:
  qt_pattern_fini(out);
  return status;
}

/* How many orbitals beyond an end layer it couples to: counted from the end. */
static int64_t reach_of(const qt_pattern *p, int side, int64_t layer)
{
  return side == QT_LEFT ? p->last[layer - 1] + 1 : p->n - p->first[p->n - layer];
}

weir_status qt_layer_check(const qt_pattern *p, int side, int64_t layer)
{
  if (2 * layer > p->n) {
    return weir_fail(
        WEIR_ERR_CONFIG,
        "device.matrices.%s.layer: %lld: the device has %lld orbitals, fewer than two such "
        "layers; give a file of the lead (device.matrices.%s.h)",
        sides[side], (long long)layer, (long long)p->n, sides[side]);
  }
  if (reach_of(p, side, layer) > 2 * layer) {
    return weir_fail(
        WEIR_ERR_CONFIG,
        "device.matrices.%s.layer: %lld: the layer is too thin: it couples to orbital %lld "
        "from the %s end, beyond its neighbour",
        sides[side], (long long)layer, (long long)reach_of(p, side, layer), sides[side]);
  }
  return WEIR_OK;
}

/* Corner of an end layer shifted by `layers` layers inwards. */
static int64_t corner(int64_t n, int side, int64_t layer, int64_t layers)
{
  return side == QT_LEFT ? layers * layer : n - (layers + 1) * layer;
}

double qt_layer_difference(const qt_bloch *h, const qt_bloch *s, int64_t n, int side, int64_t layer,
                           bool couplings)
{
  const int64_t at[3] = {corner(n, side, layer, 0), corner(n, side, layer, 1),
                         couplings ? corner(n, side, layer, 2) : 0};
  const qt_bloch *const both[] = {h, s};
  double max = 0;

  for (int m = 0; m < 2; m++) {
    max = fmax(max, qt_bloch_difference(both[m], layer, at, at));
    if (couplings) {
      max = fmax(max, qt_bloch_difference(both[m], layer, at, at + 1));
    }
  }
  return max;
}

weir_status qt_layer_find(const qt_pattern *p, const qt_bloch *h, const qt_bloch *s, int side,
                          double tolerance, int64_t *layer)
{
  for (int64_t n = 1; 3 * n <= p->n; n++) {
    const int64_t reach = reach_of(p, side, n);

    if (reach > n && reach <= 2 * n &&
        qt_layer_difference(h, s, p->n, side, n, true) <= tolerance) {
      *layer = n;
      return WEIR_OK;
    }
  }
  return weir_fail(
      WEIR_ERR_DATA,
      "the %s end of the device does not repeat a layer to %g: let it begin with three "
      "layers of the lead, raise device.matrices.tolerance, or give "
      "device.matrices.%s.layer or %s.h",
      sides[side], tolerance, sides[side], sides[side]);
}

weir_status qt_layers_divide(const qt_pattern *p, int64_t left, int64_t right, const bool *ends,
                             int64_t **block, int64_t *n_blocks)
{
  const int64_t stop = p->n - right;
  int64_t at = left, count = 1;

  if (left == p->n && right == p->n) {
    WEIR_TRY(weir_alloc(2, sizeof **block, (void **)block));
    (*block)[1] = p->n;
    *n_blocks = 1;
    return WEIR_OK;
  }
  if (left > stop || (left < stop && p->last[left - 1] >= stop)) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "the layers of %lld and %lld orbitals at the ends of the device of %lld %s: "
                     "make the device longer",
                     (long long)left, (long long)right, (long long)p->n,
                     left > stop ? "overlap" : "couple to one another");
  }
  WEIR_TRY(weir_alloc(p->n + 1, sizeof **block, (void **)block));
  (*block)[1] = left;
  while (at < stop) {
    int64_t next = p->last[at - 1] + 1 > at ? p->last[at - 1] + 1 : at + 1;

    while (ends && next < stop && !ends[next]) {
      next++;
    }
    if (p->last[at - 1] >= stop) { /* it couples to the last layer: it reaches up to it */
      (*block)[count] = at = stop;
    } else {
      (*block)[++count] = at = next < stop ? next : stop;
    }
  }
  (*block)[++count] = p->n;
  *n_blocks = count;
  return WEIR_OK;
}
