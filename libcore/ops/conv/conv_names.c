/* conv_names.c - what the iteration dimensions of a node are, should it be a convolution.
 *
 * Nothing is proved here: conv_form.c compares what follows from the names with the node. */
#include "ops/conv/conv_priv.h"

/* In place of a dimension: the line is no dimension alone. */
#define OTHER (-2)

/* The dimension that the line is, NONE where it is 0, else OTHER. */
static int only(const conv_line *l)
{
  int found = NONE;

  for (int j = 0; j < WEIR_MAX_DIMS; j++) {
    if (l->coef[j] != 0) {
      if (l->coef[j] != 1 || found != NONE) {
        return OTHER;
      }
      found = j;
    }
  }
  return l->offset == 0 && l->div == 1 ? found : OTHER;
}

static bool take(int *place, int dim)
{
  const bool free = *place == NONE;

  *place = dim;
  return free;
}

static bool is_reduced(const matching *m, int j)
{
  return m->a->dim[j].kind == WEIR_REDUCED;
}

int64_t conv_extent_of(const matching *m, int dim)
{
  return dim < 0 ? 1 : m->a->dim[dim].hi - m->a->dim[dim].lo;
}

/* x = stride o + dilation t - lo, of the convolution itself and of the gradient by weights. */
static bool name_window(matching *m, int k)
{
  const conv_line *l = &m->xi[k + 1];
  conv_form *f = m->f;
  int *tap = &m->of[OF_TAP + k];

  for (int j = 0; j < m->a->n_dims; j++) {
    if (l->coef[j] == 0) {
      continue;
    }
    if (j == m->of[OF_Y + k]) {
      f->stride[k] = l->coef[j];
    } else if (j == *tap || (f->kind == CONV_FORWARD && is_reduced(m, j) && take(tap, j))) {
      f->dilation[k] = l->coef[j];
    } else {
      return false;
    }
  }
  f->lo[k] = -l->offset;
  f->border[k] = m->x->index[k + 1].border;
  return l->div == 1;
}

/* Solved for o: o = (x + lo - dilation t) / stride, or for t: t = (x + lo - stride o) / dilation.
 */
static bool name_solved(matching *m, int k)
{
  conv_form *f = m->f;
  const int whole = only(&m->yi[k + 1]);
  const bool by_tap =
      f->kind == CONV_DATA && whole != OTHER && (whole == NONE || whole != m->element[k]);
  const conv_line *l = by_tap ? &m->wi[k] : &m->yi[k + 1];
  int *other = &m->of[by_tap ? OF_Y + k : OF_TAP + k];
  int64_t *step = by_tap ? &f->stride[k] : &f->dilation[k];

  /* What is solved for follows from the two others: else it would say nothing of them. */
  if ((by_tap && (m->w->rank != f->d + 2 || (whole >= 0 && l->coef[whole] >= 0))) ||
      (m->element[k] >= 0 && l->coef[m->element[k]] != 1)) {
    return false;
  }
  if (by_tap) {
    m->of[OF_Y + k] = whole;
  }
  for (int j = 0; j < m->a->n_dims; j++) {
    if (l->coef[j] == 0 || j == m->element[k]) {
      continue;
    }
    if (l->coef[j] < 0 && (j == *other || (is_reduced(m, j) && take(other, j)))) {
      *step = -l->coef[j];
    } else if (!is_reduced(m, j) || l->coef[j] != m->x->extent[k + 1] || !take(&m->turn[k], j)) {
      return false;
    }
  }
  *(by_tap ? &f->dilation[k] : &f->stride[k]) = l->div;
  f->lo[k] = l->offset;
  f->border[k] = m->turn[k] != NONE ? WEIR_BORDER_WRAP : WEIR_BORDER_ABSENT;
  f->taps[k] = by_tap ? m->w->extent[k] : conv_extent_of(m, m->of[OF_TAP + k]);
  return true;
}

static bool name_forward_channels(matching *m)
{
  const conv_line *x = &m->xi[m->f->d + 1], *y = &m->yi[m->f->d + 1];

  for (int j = 0; j < m->a->n_dims; j++) {
    if (x->coef[j] != 0 && !take(&m->of[is_reduced(m, j) ? OF_IN : OF_GROUP], j)) {
      return false;
    }
  }
  for (int j = 0; j < m->a->n_dims; j++) {
    if (y->coef[j] != 0 && j != m->of[OF_GROUP] && !take(&m->of[OF_OUT], j)) {
      return false;
    }
  }
  m->f->groups = conv_extent_of(m, m->of[OF_GROUP]);
  return true;
}

/* Of the gradient by x; solved for the group where y's channel depends on that of x. */
static bool name_data_channels(matching *m)
{
  const conv_line *y = &m->yi[m->f->d + 1];
  const bool solved = m->x_channel >= 0 && y->coef[m->x_channel] != 0;

  for (int j = 0; j < m->a->n_dims; j++) {
    const bool group = !solved && m->w->rank == m->f->d + 2 && m->wi[m->f->d].coef[j] != 0;

    if (y->coef[j] == 0 || j == m->x_channel) {
      continue;
    }
    if (!is_reduced(m, j) || !take(&m->of[group ? OF_GROUP : y->coef[j] > 0 ? OF_OUT : OF_IN], j)) {
      return false;
    }
  }
  m->f->groups = solved ? m->x->extent[m->f->d + 1] / conv_extent_of(m, m->of[OF_IN])
                        : conv_extent_of(m, m->of[OF_GROUP]);
  return true;
}

/* Of the gradient by w; solved for the group where x's channel depends on that of y. */
static bool name_weight_channels(matching *m)
{
  const conv_line *x = &m->xi[m->f->d + 1];
  const bool solved = m->y_channel >= 0 && x->coef[m->y_channel] != 0;

  for (int j = 0; j < m->a->n_dims; j++) {
    if (x->coef[j] == 0 || j == m->of[OF_IN] || j == m->y_channel) {
      continue;
    }
    if (!is_reduced(m, j) || !take(&m->of[x->coef[j] > 0 ? OF_GROUP : OF_OUT], j)) {
      return false;
    }
  }
  m->f->groups = solved ? m->y->extent[m->f->d + 1] / conv_extent_of(m, m->of[OF_OUT])
                        : conv_extent_of(m, m->of[OF_GROUP]);
  return true;
}

bool conv_name_dims(matching *m)
{
  conv_form *f = m->f;
  const int d = f->d;
  bool right = true;

  for (int v = 0; v < VARIABLES; v++) {
    m->of[v] = NONE;
  }
  m->x_channel = m->y_channel = NONE;
  m->of[OF_N] = only(f->kind == CONV_DATA ? &m->xi[0] : &m->yi[0]);
  for (int k = 0; k < d && right; k++) {
    f->stride[k] = f->dilation[k] = 1;
    m->element[k] = m->turn[k] = NONE;
    m->of[OF_TAP + k] = f->kind == CONV_WEIGHTS ? only(&m->wi[k]) : NONE;
    m->solved[k] =
        f->kind == CONV_DATA || (f->kind == CONV_WEIGHTS && only(&m->yi[k + 1]) == OTHER);
    if (m->solved[k]) {
      m->element[k] = only(&m->xi[k + 1]);
      right = m->element[k] != OTHER && m->of[OF_TAP + k] != OTHER && name_solved(m, k);
      continue;
    }
    m->of[OF_Y + k] = only(&m->yi[k + 1]);
    right = m->of[OF_Y + k] != OTHER && m->of[OF_TAP + k] != OTHER && name_window(m, k);
    f->taps[k] = conv_extent_of(m, m->of[OF_TAP + k]);
  }
  if (!right || m->of[OF_N] == OTHER) {
    return false;
  }
  if (f->kind == CONV_FORWARD) {
    return name_forward_channels(m);
  }
  if (f->kind == CONV_DATA) {
    m->x_channel = only(&m->xi[d + 1]);
    return m->x_channel != OTHER && name_data_channels(m);
  }
  m->of[OF_IN] = only(&m->wi[d]);
  m->y_channel = only(&m->wi[d + 1]);
  return m->of[OF_IN] != OTHER && m->y_channel != OTHER && name_weight_channels(m);
}
