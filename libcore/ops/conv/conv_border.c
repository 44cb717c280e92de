/* conv_border.c - in a gradient by x, how its elements lead beyond the ends of x.
 *
 * pass/autodiff solves a window's position before the border rule: with element e of n and one more
 * dimension q, the position is
 *   wrap       e + n q
 *   replicate  e + q, where q is 0, or beyond the end that e is
 *   reflect    e + 2 (n - 1) q; in a second node 2 (n - 1) q - e, where e is no end
 *   n = 1      q
 * Every position of a rule is counted once. */
#include "ops/conv/conv_form_priv.h"

#include <string.h>

int64_t conv_border_sign(const matching *m, int k)
{
  return m->f->mirrored[k] ? -1 : 1;
}

bool conv_border_read(matching *m, int k, const conv_line *l)
{
  conv_form *f = m->f;
  const int64_t n = m->x->extent[k + 1], reflected = 2 * (n - 1);
  const int e = m->element[k], q = m->beyond[k];
  const int64_t sign = e < 0 ? 1 : l->coef[e], period = q < 0 ? 0 : l->coef[q];
  const bool by_data = f->kind == CONV_DATA;

  f->mirrored[k] = sign == -1;
  m->period[k] = period;
  m->rule[k] = q < 0                                           ? WEIR_BORDER_ABSENT
               : sign == 1 && period == n                      ? WEIR_BORDER_WRAP
               : sign == 1 && by_data && e >= 0 && period == 1 ? WEIR_BORDER_REPLICATE
                                                               : WEIR_BORDER_REFLECT;
  f->border[k] = m->rule[k];
  if (m->rule[k] != WEIR_BORDER_REFLECT) {
    return sign == 1 && (q < 0 || e >= 0 || n == 1);
  }
  return by_data && e >= 0 && n > 1 && period == reflected && (sign == 1 || sign == -1);
}

bool conv_border_reaches(const matching *m, int k)
{
  const conv_form *f = m->f;
  const weir_dim *dim = &m->a->dim[m->beyond[k]];
  const int64_t n = f->x_extent[k], period = m->period[k];
  const int64_t min = -f->lo[k], max = n - 1 + f->hi[k]; /* that a window reaches */

  if (m->rule[k] == WEIR_BORDER_REPLICATE) {
    return dim->lo <= (min < 0 ? min : 0) && dim->hi > (f->hi[k] > 0 ? f->hi[k] : 0);
  }
  return dim->lo <= weir_floor_div(min, period) &&
         dim->hi > weir_floor_div(max + (f->mirrored[k] ? n - 1 : 0), period);
}

/* Finds the condition that bounds dimension `dim`, and marks it; false: there is none. */
static bool meet_bound(matching *m, conv_test test, int dim, int64_t bound)
{
  conv_line line = {.div = 1};

  line.coef[dim] = 1;
  for (int i = 0; i < m->n_conditions; i++) {
    const conv_condition *c = &m->condition[i];

    if (c->test == test && c->bound == bound && memcmp(&c->line, &line, sizeof line) == 0) {
      m->met[i] = true;
      return true;
    }
  }
  return false;
}

static bool meet_edge(matching *m, int k)
{
  for (int i = 0; i < m->n_conditions; i++) {
    const conv_condition *c = &m->condition[i];

    if (c->test == CONV_EDGE && c->shift == m->beyond[k] && c->element == m->element[k] &&
        c->bound == m->f->x_extent[k] - 1) {
      m->met[i] = true;
      return true;
    }
  }
  return false;
}

bool conv_border_conditions(matching *m)
{
  bool right = true;

  for (int k = 0; k < m->f->d && right; k++) {
    if (!m->solved[k] || m->beyond[k] < 0) {
      continue;
    }
    /* Of one element the condition always holds. */
    right =
        (meet_edge(m, k) || m->rule[k] != WEIR_BORDER_REPLICATE) &&
        (!m->f->mirrored[k] || (meet_bound(m, CONV_FROM, m->element[k], 1) &&
                                meet_bound(m, CONV_BELOW, m->element[k], m->f->x_extent[k] - 1)));
  }
  return right;
}
