/* conv_names.c - what the iteration dimensions of a node are, as its derivation says, and the steps
 * that its indices then take.
 *
 * Nothing is proved here: conv_form.c compares what follows from the names with the node. */
#include "ops/conv/conv_form_priv.h"

int64_t conv_extent_of(const matching *m, int dim)
{
  return dim < 0 ? 1 : m->a->dim[dim].hi - m->a->dim[dim].lo;
}

/* Where a dimension of an array as built (x, w, y) is kept. Along x and w channels count within a
 * group and through all of them. */
static int *slot_of_axis(matching *m, int array, int axis)
{
  const int d = m->f->d;

  if (axis < 0 || axis > d + 1) {
    return NULL;
  }
  if (array == 1) {
    return axis < d ? &m->of[OF_TAP + axis] : axis == d ? &m->of[OF_IN] : &m->y_channel;
  }
  if (axis == 0) {
    return &m->of[OF_N];
  }
  if (array == 0) {
    return axis == d + 1 ? &m->x_channel : &m->element[axis - 1];
  }
  return axis == d + 1 ? &m->y_channel : &m->of[OF_Y + axis - 1];
}

/* Of iterations as built: n, o1 .. od, group, channel out, t1 .. td, channel in. */
static int *slot_of_dim(matching *m, int dim)
{
  const int d = m->f->d;

  return dim < 0 || dim > 2 * d + 3 ? NULL
         : dim == 0                 ? &m->of[OF_N]
         : dim <= d                 ? &m->of[OF_Y + dim - 1]
         : dim == d + 1             ? &m->of[OF_GROUP]
         : dim == d + 2             ? &m->of[OF_OUT]
         : dim < 2 * d + 3          ? &m->of[OF_TAP + dim - d - 3]
                                    : &m->of[OF_IN];
}

/* Every name once; what leads beyond the ends is found later. */
static bool take_names(matching *m)
{
  for (int v = 0; v < VARIABLES; v++) {
    m->of[v] = NONE;
  }
  for (int k = 0; k < CONV_FORM_DIMS; k++) {
    m->element[k] = m->beyond[k] = NONE;
  }
  m->x_channel = m->y_channel = NONE;
  for (int j = 0; j < m->a->n_dims; j++) {
    const weir_derived_dim t = m->derivation->dim[j];
    int *const slot = t.array < 0   ? slot_of_dim(m, t.dim)
                      : t.array < 3 ? slot_of_axis(m, t.array, t.dim)
                                    : NULL;

    if (slot != NULL && *slot != NONE) {
      return false;
    }
    if (slot != NULL) {
      *slot = j;
    }
  }
  return true;
}

/* A dimension that stands still is none. */
static void forget_still(const matching *m, int *dim)
{
  *dim = *dim >= 0 && (m->still[*dim] || conv_extent_of(m, *dim) == 1) ? NONE : *dim;
}

/* x = stride o + dilation t - lo, of the convolution itself and of the gradient by weights. */
static bool read_window(matching *m, int k)
{
  const conv_line *l = &m->xi[k + 1];
  const int o = m->of[OF_Y + k], tap = m->of[OF_TAP + k];
  conv_form *f = m->f;

  f->stride[k] = o >= 0 && l->coef[o] != 0 ? l->coef[o] : 1;
  f->dilation[k] = tap >= 0 && l->coef[tap] != 0 ? l->coef[tap] : 1;
  f->lo[k] = -l->offset;
  f->border[k] = m->x->index[k + 1].border;
  f->kernel_size[k] = conv_extent_of(m, tap);
  return l->div == 1;
}

/* Solved for o: o = (x + lo - dilation t) / stride, or for t: t = (x + lo - stride o) / dilation.
 */
static bool read_solved(matching *m, int k, bool by_tap)
{
  conv_form *f = m->f;
  const conv_line *l = by_tap ? &m->wi[k] : &m->yi[k + 1];
  const int other = m->of[by_tap ? OF_Y + k : OF_TAP + k];

  if (by_tap && (m->w->rank != f->d + 2 || f->kind != CONV_DATA)) {
    return false;
  }
  for (int j = 0; j < m->a->n_dims; j++) {
    if (l->coef[j] != 0 && j != m->element[k] && j != other) {
      if (m->beyond[k] != NONE) {
        return false;
      }
      m->beyond[k] = j;
    }
  }
  *(by_tap ? &f->stride[k] : &f->dilation[k]) =
      other >= 0 && l->coef[other] != 0 ? -l->coef[other] : 1;
  *(by_tap ? &f->dilation[k] : &f->stride[k]) = l->div;
  f->lo[k] = l->offset;
  f->kernel_size[k] = by_tap ? m->w->extent[k] : conv_extent_of(m, other);
  return conv_border_read(m, k, l);
}

/* Of the three that belong together along a dimension, elements of x, o and t, two count. */
static bool name_spatial(matching *m, int k)
{
  const bool by_tap = m->of[OF_Y + k] != NONE;

  m->solved[k] = m->element[k] != NONE;
  if (m->solved[k] ? by_tap && m->of[OF_TAP + k] != NONE : m->f->kind == CONV_DATA) {
    return false;
  }
  forget_still(m, &m->element[k]);
  forget_still(m, &m->of[OF_Y + k]);
  forget_still(m, &m->of[OF_TAP + k]);
  return !m->solved[k]                ? read_window(m, k)
         : m->f->kind == CONV_FORWARD ? false
                                      : read_solved(m, k, by_tap);
}

/* Of one group, the channels of an array are those of the group. */
static void rename_channel(int *wanted, int *other)
{
  if (*wanted == NONE) {
    *wanted = *other;
    *other = NONE;
  }
}

/* Of channels of the array that is made, groups, and channels of a group, two count. */
static bool name_channels(matching *m)
{
  conv_form *f = m->f;
  const bool by_x = f->kind == CONV_DATA, by_y = f->kind == CONV_WEIGHTS;
  int *const group = &m->of[OF_GROUP], *const in = &m->of[OF_IN], *const out = &m->of[OF_OUT];
  const weir_operand *made = by_x ? m->x : m->y;
  const int64_t one = conv_extent_of(m, by_x ? *in : *out);

  f->groups = *group != NONE ? conv_extent_of(m, *group)
              : by_x || by_y ? made->extent[f->d + 1] / one
                             : 1;
  forget_still(m, group);
  forget_still(m, in);
  forget_still(m, out);
  forget_still(m, &m->x_channel);
  forget_still(m, &m->y_channel);
  if (f->groups == 1) {
    rename_channel(by_x ? &m->x_channel : in, by_x ? in : &m->x_channel);
    rename_channel(by_y ? &m->y_channel : out, by_y ? out : &m->y_channel);
  }
  return !(by_x && *in != NONE && (f->groups == 1 || *group != NONE)) &&
         !(by_y && *out != NONE && (f->groups == 1 || *group != NONE));
}

bool conv_name_dims(matching *m)
{
  bool right = take_names(m);

  forget_still(m, &m->of[OF_N]);
  for (int k = 0; k < m->f->d && right; k++) {
    right = name_spatial(m, k);
  }
  return right && name_channels(m);
}

weir_derivation conv_exchanged(const weir_derivation *derivation, int d)
{
  const int out = d + 2, tap = d + 3, in = 2 * d + 3;
  weir_derivation t = *derivation;

  t.made = 2;
  for (int k = 0; k < 2; k++) {
    t.in[k] = derivation->in[k] == 2 ? 0 : derivation->in[k];
  }
  for (int j = 0; j < WEIR_MAX_DIMS; j++) {
    const weir_derived_dim dim = derivation->dim[j];

    if (dim.array == 0 || dim.array == 2) {
      t.dim[j].array = (int8_t)(2 - dim.array);
    } else if (dim.array < 0 && dim.dim >= 1 && dim.dim <= d) {
      t.dim[j].dim = (int8_t)(tap + dim.dim - 1);
    } else if (dim.array < 0 && (dim.dim == in || dim.dim == out)) {
      t.dim[j].dim = (int8_t)(dim.dim == in ? out : in);
    }
  }
  return t;
}
