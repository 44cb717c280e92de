/* onnx_net.c - see onnx_net.h. */
#include "nn/onnx/onnx_net.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "ops/transpose/weir_transpose.h"

weir_status onnx_refuse(const onnx_net *c, weir_status status, const char *format, ...)
{
  char text[512];
  va_list args;

  va_start(args, format);
  (void)vsnprintf(text, sizeof text, format, args);
  va_end(args);
  return weir_fail(status, "%s: node \"%.*s\", %.*s: %s", c->where, c->node->name.size,
                   c->node->name.at, c->node->op.size, c->node->op.at, text);
}

weir_status onnx_status(const onnx_net *c)
{
  const weir_status status = weir_graph_status(c->g);
  char text[512];

  if (status == WEIR_OK) {
    return WEIR_OK;
  }
  (void)snprintf(text, sizeof text, "%s", weir_last_message());
  return onnx_refuse(c, status, "%s", text);
}

const weir_array_desc *onnx_desc(const onnx_net *c, weir_value v)
{
  return weir_value_desc(c->g, v);
}

/* ---- Inputs ---- */

static weir_onnx_text name_of(const onnx_net *c, int64_t k)
{
  return k < c->node->n_in ? c->m->names[c->node->first_name + k] : (weir_onnx_text){NULL, 0};
}

bool onnx_has(const onnx_net *c, int64_t k)
{
  return name_of(c, k).size > 0;
}

weir_status onnx_in(const onnx_net *c, int64_t k, const onnx_item **out)
{
  const weir_onnx_text name = name_of(c, k);

  for (int64_t i = c->n_items - 1; i >= 0 && name.size > 0; i--) {
    if (weir_onnx_same(c->items[i].name, name)) {
      *out = &c->items[i];
      return WEIR_OK;
    }
  }
  return onnx_refuse(c, WEIR_ERR_DATA, "input %lld, \"%.*s\", is not defined before it",
                     (long long)k, name.size, name.at);
}

weir_value onnx_ordered(const onnx_net *c, weir_value v, bool is_last, bool last)
{
  const weir_transpose_spec swap = {.order = {0, 2, 1}};

  return is_last == last ? v : weir_transpose(c->g, v, &swap);
}

int onnx_placed(const onnx_item *in, int axis)
{
  return in->last ? (3 - axis) % 3 : axis == in->batch ? 0 : axis < in->batch ? axis + 1 : axis;
}

weir_status onnx_any(const onnx_net *c, int64_t k, const onnx_item **out)
{
  WEIR_TRY(onnx_in(c, k, out));
  return (*out)->constant == NULL
             ? WEIR_OK
             : onnx_refuse(c, WEIR_ERR_UNSUPPORTED,
                           "input %lld is constant: only data are supported", (long long)k);
}

weir_status onnx_data(const onnx_net *c, int64_t k, bool last, weir_value *out)
{
  const onnx_item *item = NULL;

  WEIR_TRY(onnx_any(c, k, &item));
  if (item->batch != 0) {
    return onnx_refuse(c, WEIR_ERR_UNSUPPORTED,
                       "the batch is dimension %d of its data: here it must be the first",
                       item->batch);
  }
  const weir_array_desc *const d = onnx_desc(c, item->v);

  if (last && (d == NULL || d->rank != 3)) {
    return onnx_refuse(c, WEIR_ERR_UNSUPPORTED,
                       "its data have %d dimensions: only [batch, channels, length] is supported",
                       d == NULL ? 0 : d->rank);
  }
  *out = onnx_ordered(c, item->v, item->last, last);
  return onnx_status(c);
}

weir_status onnx_weights(const onnx_net *c, int64_t k, const weir_onnx_tensor **out)
{
  const onnx_item *item = NULL;

  WEIR_TRY(onnx_in(c, k, &item));
  if (item->constant == NULL || !weir_dtype_is_real(item->constant->dtype)) {
    return onnx_refuse(c, WEIR_ERR_UNSUPPORTED, "input %lld is not a constant of floats",
                       (long long)k);
  }
  *out = item->constant;
  return WEIR_OK;
}

weir_status onnx_constant(const onnx_net *c, const weir_onnx_tensor *t, const int *order,
                          weir_value *out)
{
  weir_tensor plain = {.owned = NULL}, turned = {.owned = NULL}, view;
  weir_status status = WEIR_OK;

  if (!weir_dtype_is_real(t->dtype)) {
    return onnx_refuse(c, WEIR_ERR_UNSUPPORTED, "a constant of integers is not supported as data");
  }
  WEIR_TRY_GOTO(weir_tensor_init(&plain, WEIR_F32, t->n_dims, t->shape), done);
  weir_onnx_floats(t, plain.data);
  view = plain;
  if (order != NULL) {
    int from[WEIR_MAX_RANK] = {0};

    for (int d = 0; d < t->n_dims; d++) {
      from[order[d]] = d;
    }
    WEIR_TRY_GOTO(weir_tensor_transpose(&plain, from, &view), done);
  }
  WEIR_TRY_GOTO(weir_tensor_init(&turned, WEIR_F32, view.rank, view.shape), done);
  WEIR_TRY_GOTO(weir_tensor_copy(&view, &turned), done);
  *out = weir_constant(c->g, &turned);
  status = onnx_status(c);
done:
  weir_tensor_fini(&turned);
  weir_tensor_fini(&plain);
  return status;
}

/* ---- Attributes ---- */

int64_t onnx_int(const onnx_net *c, const char *name, int64_t usual)
{
  const weir_onnx_attribute *const a = weir_onnx_find(c->m, c->node, name);

  return a == NULL ? usual : a->number;
}

double onnx_real(const onnx_net *c, const char *name, double usual)
{
  const weir_onnx_attribute *const a = weir_onnx_find(c->m, c->node, name);

  return a == NULL ? usual : a->real;
}

bool onnx_text_is(const onnx_net *c, const char *name, const char *usual, const char *text)
{
  const weir_onnx_attribute *const a = weir_onnx_find(c->m, c->node, name);

  return a == NULL ? weir_onnx_is((weir_onnx_text){usual, (int)strlen(usual)}, text)
                   : weir_onnx_is(a->text, text);
}

weir_status onnx_list(const onnx_net *c, const char *name, int n, int64_t usual, int64_t *out)
{
  const weir_onnx_attribute *const a = weir_onnx_find(c->m, c->node, name);

  if (a != NULL && a->n_ints != n) {
    return onnx_refuse(c, WEIR_ERR_UNSUPPORTED,
                       "%s has %d numbers where %d are supported: only one dimension beside batch "
                       "and channels is",
                       name, a->n_ints, n);
  }
  for (int k = 0; k < n; k++) {
    out[k] = a == NULL ? usual : a->ints[k];
    if (out[k] < 0 || out[k] > INT32_MAX) {
      return onnx_refuse(c, WEIR_ERR_SHAPE, "%s: %lld is out of range", name, (long long)out[k]);
    }
  }
  return WEIR_OK;
}

weir_status onnx_numbers(const onnx_net *c, int64_t k, const char *name, int max, int64_t *out,
                         int *n)
{
  const weir_onnx_attribute *const a = weir_onnx_find(c->m, c->node, name);
  const onnx_item *item = NULL;

  *n = 0;
  if (onnx_has(c, k)) {
    WEIR_TRY(onnx_in(c, k, &item));
    if (item->constant == NULL || weir_dtype_is_real(item->constant->dtype) ||
        item->constant->n_dims > 1 || item->constant->count > max) {
      return onnx_refuse(c, WEIR_ERR_UNSUPPORTED,
                         "%s must be constant, at most %d integers: export the network with fixed "
                         "extents",
                         name, max);
    }
    weir_onnx_ints(item->constant, out);
    *n = (int)item->constant->count;
  } else if (a != NULL) {
    for (*n = 0; *n < a->n_ints && *n < max; ++*n) {
      out[*n] = a->ints[*n];
    }
  }
  return WEIR_OK;
}

weir_status onnx_axis(const onnx_net *c, int64_t axis, int rank, int batch, int *out)
{
  const int64_t from_start = axis < 0 ? axis + rank : axis;

  if (from_start < 0 || from_start >= rank) {
    return onnx_refuse(c, WEIR_ERR_SHAPE, "axis %lld of %d dimensions", (long long)axis, rank);
  }
  if (from_start == batch) {
    return onnx_refuse(c, WEIR_ERR_UNSUPPORTED,
                       "axis %lld is the batch, whose windows are independent", (long long)axis);
  }
  *out = (int)from_start;
  return WEIR_OK;
}
