/* fold.c - operators on short constants of integers: exporters compute the extents of paddings from
 * constants, step by step. */
#include <string.h>
#include "base/weir_alloc.h"
#include "nn/onnx/onnx_net.h"

enum { MAX = 64 /* elements */ };

typedef struct ints {
  int n_dims;
  int64_t shape[WEIR_ONNX_DIMS], count, v[MAX];
} ints;

static bool load(const onnx_net *c, int64_t k, ints *out)
{
  const onnx_item *item = NULL;

  if (!onnx_has(c, k) || onnx_in(c, k, &item) != WEIR_OK || item->constant == NULL ||
      weir_dtype_is_real(item->constant->dtype) || item->constant->count > MAX) {
    return false;
  }
  out->n_dims = item->constant->n_dims;
  out->count = item->constant->count;
  memcpy(out->shape, item->constant->shape, sizeof out->shape);
  weir_onnx_ints(item->constant, out->v);
  return true;
}

/* A constant of the network, which frees it. */
static weir_status store(onnx_net *c, const ints *a, onnx_item *out)
{
  void *memory = NULL;

  WEIR_TRY(weir_reserve(&c->folded, &c->folded_capacity, c->n_folded + 1, sizeof *c->folded));
  WEIR_TRY(weir_alloc(1, sizeof(weir_onnx_tensor) + MAX * sizeof(int64_t), &memory));
  c->folded[c->n_folded++] = memory;
  weir_onnx_tensor *const t = memory;
  uint8_t *const bytes = (uint8_t *)(t + 1);

  *t = (weir_onnx_tensor){.dtype = WEIR_I64, .n_dims = a->n_dims, .count = a->count};
  memcpy(t->shape, a->shape, sizeof t->shape);
  t->data = bytes;
  t->end = bytes + a->count * 8;
  for (int64_t i = 0; i < a->count * 8; i++) { /* little-endian, as in a file */
    bytes[i] = (uint8_t)((uint64_t)a->v[i / 8] >> 8 * (i % 8));
  }
  out->constant = t;
  return WEIR_OK;
}

static bool of_shape(const onnx_net *c, ints *a)
{
  const weir_onnx_attribute *const value = weir_onnx_find(c->m, c->node, "value");
  int64_t fill = 0;

  if (value != NULL) {
    const weir_onnx_tensor *const t = value->tensor >= 0 ? &c->m->tensors[value->tensor] : NULL;

    if (t == NULL || t->count != 1 || weir_dtype_is_real(t->dtype)) {
      return false;
    }
    weir_onnx_ints(t, &fill);
  }
  if (a->n_dims != 1 || a->count > 1 || (a->count == 1 && (a->v[0] < 0 || a->v[0] > MAX))) {
    return false;
  }
  a->n_dims = (int)a->count;
  a->count = a->count == 1 ? a->v[0] : 1;
  a->shape[0] = a->count;
  for (int64_t i = 0; i < a->count; i++) {
    a->v[i] = fill;
  }
  return true;
}

static bool concat(const onnx_net *c, ints *a)
{
  bool fits = a->n_dims == 1 && onnx_int(c, "axis", 0) == 0;
  ints b;

  for (int64_t k = 1; k < c->node->n_in && fits; k++) {
    fits = load(c, k, &b) && b.n_dims == 1 && a->count + b.count <= MAX;
    if (fits) {
      memcpy(a->v + a->count, b.v, (size_t)b.count * sizeof *a->v);
      a->count += b.count;
    }
  }
  a->shape[0] = a->count;
  return fits;
}

static bool reshape(const onnx_net *c, ints *a)
{
  int64_t known = 1;
  int unknown = -1;
  ints to;

  if (!load(c, 1, &to) || to.n_dims != 1 || to.count > WEIR_ONNX_DIMS) {
    return false;
  }
  for (int k = 0; k < (int)to.count; k++) {
    const bool is_free = to.v[k] == -1;

    if ((is_free && unknown >= 0) || (!is_free && (to.v[k] < 1 || to.v[k] > MAX))) {
      return false;
    }
    unknown = is_free ? k : unknown;
    known *= is_free ? 1 : to.v[k];
    if (known > MAX) {
      return false;
    }
  }
  if (unknown >= 0) {
    to.v[unknown] = a->count / known;
    known *= to.v[unknown];
  }
  a->n_dims = (int)to.count;
  memcpy(a->shape, to.v, (size_t)to.count * sizeof *a->shape);
  return known == a->count;
}

/* Only the transposition of a matrix. */
static bool transpose(const onnx_net *c, ints *a)
{
  const weir_onnx_attribute *const perm = weir_onnx_find(c->m, c->node, "perm");
  const ints from = *a;

  if (a->n_dims != 2 || perm == NULL || perm->n_ints != 2 || perm->ints[0] != 1 ||
      perm->ints[1] != 0) {
    return false;
  }
  a->shape[0] = from.shape[1];
  a->shape[1] = from.shape[0];
  for (int64_t i = 0; i < a->count; i++) {
    a->v[i] = from.v[i % a->shape[1] * from.shape[1] + i / a->shape[1]];
  }
  return true;
}

static int64_t clamp(int64_t x, int64_t lo, int64_t hi)
{
  return x < lo ? lo : x > hi ? hi : x;
}

/* Along the first dimension. */
static bool slice(const onnx_net *c, ints *a)
{
  const ints from = *a;
  ints start, end, axis, step = {.count = 1, .v = {1}};

  if (a->n_dims < 1 || !load(c, 1, &start) || !load(c, 2, &end) || start.count != 1 ||
      end.count != 1 ||
      (onnx_has(c, 3) && (!load(c, 3, &axis) || axis.count != 1 || axis.v[0] != 0)) ||
      (onnx_has(c, 4) && !load(c, 4, &step)) || step.count != 1 || step.v[0] == 0 ||
      step.v[0] < -MAX || step.v[0] > MAX || a->count == 0) {
    return false;
  }
  const int64_t n = a->shape[0], row = a->count / n, by = step.v[0];
  const int64_t first = start.v[0] < 0 ? start.v[0] + n : start.v[0];
  const int64_t last = end.v[0] < 0 ? end.v[0] + n : end.v[0];
  const int64_t lo = by > 0 ? clamp(first, 0, n) : clamp(first, 0, n - 1);
  const int64_t hi = by > 0 ? clamp(last, 0, n) : clamp(last, -1, n - 1);

  a->shape[0] = 0;
  for (int64_t i = lo; by > 0 ? i < hi : i > hi; i += by) {
    memcpy(a->v + a->shape[0]++ * row, from.v + i * row, (size_t)row * sizeof *a->v);
  }
  a->count = a->shape[0] * row;
  return true;
}

/* One element of a vector, or several; the index is a number or a vector. */
static bool gather(const onnx_net *c, ints *a)
{
  const ints from = *a;
  ints at;

  if (a->n_dims != 1 || onnx_int(c, "axis", 0) != 0 || !load(c, 1, &at) || at.n_dims > 1) {
    return false;
  }
  a->n_dims = at.n_dims;
  a->shape[0] = a->count = at.count;
  for (int64_t i = 0; i < at.count; i++) {
    const int64_t k = at.v[i] < 0 ? at.v[i] + from.count : at.v[i];

    if (k < 0 || k >= from.count) {
      return false;
    }
    a->v[i] = from.v[k];
  }
  return true;
}

/* Only of a number, which becomes a vector. */
static bool unsqueeze(const onnx_net *c, ints *a)
{
  ints axes;

  if (a->n_dims != 0 || !load(c, 1, &axes) || axes.count != 1 || axes.v[0] != 0) {
    return false;
  }
  a->n_dims = 1;
  a->shape[0] = 1;
  return true;
}

/* The extents of data, in the order of the file. */
static bool shape_of(const onnx_net *c, ints *a)
{
  const onnx_item *in = NULL;

  if (!weir_onnx_is(c->node->op, "Shape") || c->node->n_attributes > 0 || !onnx_has(c, 0) ||
      onnx_in(c, 0, &in) != WEIR_OK || in->constant != NULL) {
    return false;
  }
  const weir_array_desc *const d = onnx_desc(c, in->v);

  *a = (ints){.n_dims = 1, .shape = {d->rank}, .count = d->rank};
  for (int k = 0; k < d->rank; k++) {
    a->v[k] = d->shape[onnx_placed(in, k)];
  }
  return true;
}

static bool cast(const onnx_net *c, ints *a)
{
  (void)a;
  return onnx_int(c, "to", 0) == 7; /* int64 */
}

static const struct {
  const char *name;
  bool (*fold)(const onnx_net *c, ints *a);
} folds[] = {{"Cast", cast},           {"Concat", concat},      {"ConstantOfShape", of_shape},
             {"Gather", gather},       {"Reshape", reshape},    {"Slice", slice},
             {"Transpose", transpose}, {"Unsqueeze", unsqueeze}};

weir_status onnx_fold(onnx_net *c, onnx_item *out, bool *folded)
{
  ints a;

  *folded = shape_of(c, &a);
  if (*folded) {
    return store(c, &a, out);
  }
  for (size_t k = 0; k < sizeof folds / sizeof folds[0]; k++) {
    if (weir_onnx_is(c->node->op, folds[k].name) && load(c, 0, &a) && folds[k].fold(c, &a)) {
      *folded = true;
      return store(c, &a, out);
    }
  }
  return WEIR_OK;
}

void onnx_fold_fini(onnx_net *c)
{
  for (int64_t k = 0; k < c->n_folded; k++) {
    weir_free(&c->folded[k]);
  }
  weir_free(&c->folded);
}
