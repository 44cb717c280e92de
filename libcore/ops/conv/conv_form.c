/* conv_form.c - names what every iteration dimension of a node stands for, writes its indices over
 * the variables of a convolution, and compares.
 *
 * The adjoints that pass/autodiff makes count along elements of x (or of y's channels) where the
 * convolution counts along o, t, g, i, c. Each such dimension is a sum of those; once it is
 * replaced, indices that belonged to a convolution are the convolution's own again. */
#include "ops/conv/conv_form_priv.h"

#include <string.h>

#include "base/weir_alloc.h"

static bool read_lines(const matching *m, const weir_operand *o, conv_line *lines)
{
  const weir_access *a = m->a;

  for (int d = 0; d < o->rank; d++) {
    const weir_index *x = &o->index[d];

    lines[d] = (conv_line){.offset = x->offset, .div = weir_index_divisor(x)};
    memcpy(lines[d].coef, x->coef, sizeof lines[d].coef);
    if (x->gather != 0 || !conv_is_small(x->offset) || !conv_is_small(x->div) ||
        !conv_is_small(o->extent[d])) {
      return false;
    }
    for (int j = 0; j < a->n_dims; j++) {
      if (!conv_is_small(x->coef[j])) {
        return false;
      }
      lines[d].coef[j] = m->still[j] ? 0 : lines[d].coef[j];
    }
    conv_line_reduce(a, &lines[d]);
  }
  return o->role == WEIR_ROLE_DATA;
}

/* Iteration dimension j is `line`, each of its values [0, extent) once. */
static bool replace(matching *m, bool *known, int j, int64_t extent, const form_line *line)
{
  if (j < 0) {
    return extent == 1;
  }
  if (known[j] || m->a->dim[j].lo != 0 || m->a->dim[j].hi != extent) {
    return false;
  }
  known[j] = true;
  m->line[j] = *line;
  return true;
}

static form_line sum_of(const matching *m, int first, int64_t by, int second, int64_t times,
                        int64_t offset)
{
  form_line l = {.offset = offset};

  l.coef[first] = m->extent[first] > 1 ? by : 0;
  l.coef[second] = m->extent[second] > 1 ? times : 0;
  return l;
}

static form_line element_line(const matching *m, int k)
{
  return sum_of(m, OF_Y + k, m->f->stride[k], OF_TAP + k, m->f->dilation[k], -m->f->lo[k]);
}

/* Elements of x and what leads beyond its ends count one position together: the line of the first
 * goes beyond the ends, and the second is 0; of one element, it is the other way round. */
static bool replace_element(matching *m, bool *known, int k)
{
  const int j = m->beyond[k];
  form_line line = element_line(m, k);

  for (int v = 0; v < VARIABLES; v++) {
    line.coef[v] *= conv_border_sign(m, k);
  }
  line.offset *= conv_border_sign(m, k);
  if (!replace(m, known, m->element[k], m->f->x_extent[k], &line)) {
    return false;
  }
  if (j < 0) {
    return true;
  }
  if (known[j] || !conv_border_reaches(m, k)) {
    return false;
  }
  known[j] = true;
  if (m->element[k] < 0) {
    m->line[j] = line;
  }
  return true;
}

/* Every dimension of more than one iteration gets its line. */
static bool replace_dims(matching *m)
{
  const conv_form *f = m->f;
  bool known[WEIR_MAX_DIMS] = {false}, right = true;
  const form_line x = sum_of(m, OF_GROUP, f->in, OF_IN, 1, 0);
  const form_line y = sum_of(m, OF_GROUP, f->out, OF_OUT, 1, 0);

  for (int v = 0; v < VARIABLES; v++) {
    form_line one = {.offset = 0};

    one.coef[v] = 1;
    right = right && (m->of[v] < 0 || replace(m, known, m->of[v], m->extent[v], &one));
  }
  for (int k = 0; k < f->d && right; k++) {
    right = !m->solved[k] || replace_element(m, known, k);
  }
  right = right &&
          (f->kind != CONV_DATA || replace(m, known, m->x_channel, f->groups * f->in, &x)) &&
          (f->kind != CONV_WEIGHTS || replace(m, known, m->y_channel, f->groups * f->out, &y));
  for (int j = 0; j < m->a->n_dims && right; j++) {
    right = known[j] || m->still[j] || conv_extent_of(m, j) == 1;
  }
  return right;
}

/* Along an extent of 1 the element is 0 and no dimension counts it: a line that was solved for
 * another variable, whose coefficient is then negative, holds it all the same. */
static void add_element(const matching *m, const conv_line *l, int k, form_line *out)
{
  const int64_t step[] = {m->f->dilation[k], m->f->stride[k]};
  const int dim[] = {m->of[OF_TAP + k], m->of[OF_Y + k]};
  const form_line element = element_line(m, k);

  for (int i = 0; i < 2; i++) {
    if (dim[i] >= 0 && l->coef[dim[i]] < 0 && l->coef[dim[i]] % step[i] == 0) {
      for (int v = 0; v < VARIABLES; v++) {
        out->coef[v] -= l->coef[dim[i]] / step[i] * element.coef[v];
      }
      out->offset -= l->coef[dim[i]] / step[i] * element.offset;
    }
  }
}

/* The numerator over the variables; false where what leads beyond the ends does not go with the
 * elements. */
static bool substitute(const matching *m, const conv_line *l, form_line *out)
{
  *out = (form_line){.offset = l->offset};
  for (int j = 0; j < m->a->n_dims; j++) {
    for (int v = 0; v < VARIABLES && l->coef[j] != 0; v++) {
      out->coef[v] += l->coef[j] * m->line[j].coef[v];
    }
    out->offset += l->coef[j] * m->line[j].offset;
  }
  for (int k = 0; k < m->f->d; k++) {
    if (!m->solved[k]) {
      continue;
    }
    const int e = m->element[k], j = m->beyond[k];

    if (e < 0 && j < 0) {
      add_element(m, l, k, out);
    }
    if (e >= 0 && j >= 0 && l->coef[j] != l->coef[e] * conv_border_sign(m, k) * m->period[k]) {
      return false;
    }
  }
  return true;
}

static bool divide(form_line *l, int64_t div)
{
  bool whole = l->offset % div == 0;

  for (int v = 0; v < VARIABLES; v++) {
    whole = whole && l->coef[v] % div == 0;
    l->coef[v] /= div;
  }
  l->offset /= div;
  return whole;
}

static void range_of(const matching *m, const form_line *l, int64_t *min, int64_t *max)
{
  *min = *max = l->offset;
  for (int v = 0; v < VARIABLES; v++) {
    const int64_t end = l->coef[v] * (m->extent[v] - 1);

    *min += end < 0 ? end : 0;
    *max += end > 0 ? end : 0;
  }
}

static bool drops_nothing(weir_border b)
{
  return b == WEIR_BORDER_NEVER || b == WEIR_BORDER_ABSENT;
}

static bool is_line(const matching *m, const conv_line *l, const form_line *expected)
{
  form_line here;

  return substitute(m, l, &here) && divide(&here, l->div) &&
         memcmp(&here, expected, sizeof here) == 0;
}

/* Where x is made, its index is the element itself. */
static bool is_element(const matching *m, int k)
{
  conv_line expected = {.div = 1};

  if (m->element[k] >= 0) {
    expected.coef[m->element[k]] = 1;
  }
  return m->f->kind != CONV_DATA || memcmp(&m->xi[k + 1], &expected, sizeof expected) == 0;
}

/* x and y are read and written where the convolution's are. */
static bool activations_agree(const matching *m)
{
  const int d = m->f->d;
  const form_line n = sum_of(m, OF_N, 1, OF_N, 1, 0);
  const form_line x = sum_of(m, OF_GROUP, m->f->in, OF_IN, 1, 0);
  const form_line y = sum_of(m, OF_GROUP, m->f->out, OF_OUT, 1, 0);
  bool right = is_line(m, &m->xi[0], &n) && is_line(m, &m->yi[0], &n) &&
               is_line(m, &m->xi[d + 1], &x) && is_line(m, &m->yi[d + 1], &y) &&
               drops_nothing(m->x->index[0].border) && drops_nothing(m->x->index[d + 1].border);

  for (int k = 0; k < d && right; k++) {
    const form_line element = element_line(m, k);
    const form_line o = sum_of(m, OF_Y + k, 1, OF_Y + k, 1, 0);

    /* The element of x may be a separate dimension, whatever leads from it beyond the ends. */
    right = (m->solved[k] ? is_element(m, k) : is_line(m, &m->xi[k + 1], &element)) &&
            is_line(m, &m->yi[k + 1], &o);
  }
  for (int k = 0; k < d + 2 && right; k++) {
    right = drops_nothing(m->y->index[k].border);
  }
  return right;
}

/* Weights lie anywhere, but depend on nothing else, and all of them are in the array. */
static bool weights_agree(const matching *m)
{
  conv_form *f = m->f;

  f->w_rank = m->w->rank;
  for (int k = 0; k < m->w->rank; k++) {
    conv_weight_index *w = &f->w_index[k];
    form_line l;
    int64_t min, max;

    if (!substitute(m, &m->wi[k], &l) || !divide(&l, m->wi[k].div) || l.coef[OF_N] != 0 ||
        l.coef[OF_Y] != 0 || l.coef[OF_Y + 1] != 0 || l.coef[OF_Y + 2] != 0 ||
        !drops_nothing(m->w->index[k].border)) {
      return false;
    }
    range_of(m, &l, &min, &max);
    if (min < 0 || max >= m->w->extent[k]) {
      return false;
    }
    *w = (conv_weight_index){
        .group = l.coef[OF_GROUP], .in = l.coef[OF_IN], .out = l.coef[OF_OUT], .offset = l.offset};
    memcpy(w->tap, &l.coef[OF_TAP], sizeof w->tap);
  }
  return true;
}

/* No condition drops an iteration of the convolution. */
static bool conditions_hold(const matching *m)
{
  for (int i = 0; i < m->n_conditions; i++) {
    const conv_condition *c = &m->condition[i];
    form_line l;
    int64_t min, max;

    if (m->met[i]) {
      continue;
    }
    if (c->test == CONV_EDGE || !substitute(m, &c->line, &l)) {
      return false;
    }
    range_of(m, &l, &min, &max);
    if ((c->test == CONV_WHOLE && !divide(&l, c->line.div)) ||
        (c->test == CONV_FROM && min < c->bound) || (c->test == CONV_BELOW && max >= c->bound) ||
        (c->test == CONV_EQUAL && (min != c->bound || max != c->bound))) {
      return false;
    }
  }
  return true;
}

/* True when the numbers differ by multiples of the divisor, or their sum is one. */
static bool same_rest(const conv_line *a, const conv_line *b)
{
  bool differ = (a->offset - b->offset) % a->div == 0, add = (a->offset + b->offset) % a->div == 0;

  for (int j = 0; j < WEIR_MAX_DIMS; j++) {
    differ = differ && (a->coef[j] - b->coef[j]) % a->div == 0;
    add = add && (a->coef[j] + b->coef[j]) % a->div == 0;
  }
  return a->div == b->div && (differ || add);
}

/* True where a condition says so, or it is so anyway. */
static bool is_demanded(const matching *m, conv_test test, conv_line line, int64_t bound)
{
  conv_condition wanted = {.test = test, .line = line, .bound = bound};

  conv_condition_reduce(m->a, &wanted);
  if (test == CONV_WHOLE && wanted.line.div == 1) {
    return true;
  }
  for (int i = 0; i < m->n_conditions; i++) {
    const conv_condition *c = &m->condition[i];

    if (c->test == wanted.test &&
        (test == CONV_WHOLE
             ? same_rest(&c->line, &wanted.line)
             : c->bound == wanted.bound && memcmp(&c->line, &wanted.line, sizeof c->line) == 0)) {
      return true;
    }
  }
  return false;
}

/* channel - of[v] * by: what is left of a channel once the other term is known. */
static conv_line rest_of(const matching *m, int channel, int v, int64_t by, int64_t div)
{
  conv_line l = {.div = div};

  if (channel >= 0) {
    l.coef[channel] = 1;
  }
  if (m->of[v] >= 0) {
    l.coef[m->of[v]] = -by;
  }
  return l;
}

/* Iterations that are none of the convolution are dropped: by the ends of y and w, which their
 * borders see to, or by a condition. */
static bool nothing_more(const matching *m)
{
  const conv_form *f = m->f;

  for (int k = 0; k < f->d; k++) {
    const bool plain = m->w->rank == f->d + 2;

    if (!m->solved[k]) {
      continue;
    }
    if (!is_demanded(m, CONV_WHOLE, m->yi[k + 1], 0) ||
        (plain && !is_demanded(m, CONV_WHOLE, m->wi[k], 0))) {
      return false;
    }
  }
  if (f->kind == CONV_FORWARD || f->groups == 1) {
    return true;
  }
  if (f->kind == CONV_DATA && m->of[OF_GROUP] == NONE) {
    return is_demanded(m, CONV_WHOLE, rest_of(m, m->x_channel, OF_IN, 1, f->in), 0);
  }
  if (f->kind == CONV_DATA) {
    const form_line in = sum_of(m, OF_IN, 1, OF_IN, 1, 0);

    return m->w->extent[f->d] == f->in && is_line(m, &m->wi[f->d], &in);
  }
  if (m->of[OF_GROUP] == NONE) {
    return is_demanded(m, CONV_WHOLE, rest_of(m, m->y_channel, OF_OUT, 1, f->out), 0);
  }
  const conv_line rest = rest_of(m, m->y_channel, OF_GROUP, f->out, 1);

  return is_demanded(m, CONV_FROM, rest, 0) && is_demanded(m, CONV_BELOW, rest, f->out);
}

/* With the number of groups known, all extents are. */
static bool set_extents(matching *m)
{
  conv_form *f = m->f;
  const int64_t x = m->x->extent[f->d + 1], y = m->y->extent[f->d + 1];

  f->n = m->y->extent[0];
  if (f->groups < 1 || x % f->groups != 0 || y % f->groups != 0 || m->x->extent[0] != f->n) {
    return false;
  }
  f->in = x / f->groups;
  f->out = y / f->groups;
  for (int k = 0; k < CONV_FORM_DIMS; k++) {
    const bool used = k < f->d;

    f->x_extent[k] = used ? m->x->extent[k + 1] : 1;
    f->y_extent[k] = used ? m->y->extent[k + 1] : 1;
    f->kernel_size[k] = used ? f->kernel_size[k] : 1;
    m->extent[OF_Y + k] = f->y_extent[k];
    m->extent[OF_TAP + k] = f->kernel_size[k];
    if (!used) {
      f->stride[k] = f->dilation[k] = 1;
      f->border[k] = WEIR_BORDER_ABSENT;
      continue;
    }
    const int64_t last =
        f->stride[k] * (f->y_extent[k] - 1) + f->dilation[k] * (f->kernel_size[k] - 1);

    f->hi[k] = last - f->lo[k] + 1 - f->x_extent[k];
    if (f->border[k] == WEIR_BORDER_NEVER || (f->lo[k] <= 0 && f->hi[k] <= 0 && !f->mirrored[k])) {
      f->border[k] = WEIR_BORDER_ABSENT;
    }
    if (f->stride[k] < 1 || f->dilation[k] < 1 || f->x_extent[k] < 1 || f->y_extent[k] < 1 ||
        f->border[k] == WEIR_BORDER_ZERO || f->border[k] == WEIR_BORDER_VALUE) {
      return false;
    }
  }
  m->extent[OF_N] = f->n;
  m->extent[OF_GROUP] = f->groups;
  m->extent[OF_IN] = f->in;
  m->extent[OF_OUT] = f->out;
  return f->n > 0 && f->in > 0 && f->out > 0;
}

static const weir_operand *operand_of(const weir_access *a, int k)
{
  return k == CONV_FORM_OUTPUT ? &a->out[0] : &a->in[k];
}

/* What the node makes and reads, as it says itself; false where that is no convolution's. */
static bool name_arrays(const weir_derivation *derivation, conv_form *f)
{
  int *const array[] = {&f->x, &f->w, &f->y}; /* of a convolution as built */

  f->x = f->y = f->w = NOTHING;
  if (derivation->made < 0 || derivation->made > 2) {
    return false;
  }
  *array[derivation->made] = CONV_FORM_OUTPUT;
  for (int k = 0; k < 2; k++) {
    if (derivation->in[k] < 0 || derivation->in[k] > 2 || *array[derivation->in[k]] != NOTHING) {
      return false;
    }
    *array[derivation->in[k]] = k;
  }
  f->kind = (conv_kind[]){CONV_DATA, CONV_WEIGHTS, CONV_FORWARD}[derivation->made];
  return true;
}

static bool matches(matching *m)
{
  conv_form *f = m->f;

  m->x = operand_of(m->a, f->x);
  m->y = operand_of(m->a, f->y);
  m->w = operand_of(m->a, f->w);
  f->d = m->x->rank - 2;
  if (f->d < 1 || f->d > CONV_FORM_DIMS || m->y->rank != m->x->rank ||
      (f->kind == CONV_WEIGHTS && m->w->rank != m->x->rank) || !read_lines(m, m->x, m->xi) ||
      !read_lines(m, m->y, m->yi) || !read_lines(m, m->w, m->wi)) {
    return false;
  }
  memset(m->line, 0, sizeof m->line);
  return conv_name_dims(m) && set_extents(m) && replace_dims(m) && activations_agree(m) &&
         weights_agree(m) && conv_border_conditions(m) && conditions_hold(m) && nothing_more(m);
}

static bool is_candidate(const weir_access *a)
{
  if (a->maker != WEIR_MADE_BY_BODY || a->n_in != 2 || a->n_out != 1 || a->n_states != 0 ||
      a->n_values != 1 || a->combine != WEIR_COMBINE_SUM || !weir_dtype_is_real(a->accumulator) ||
      weir_dtype_compute_type(a->out[0].dtype) != a->accumulator ||
      weir_dtype_compute_type(a->in[0].dtype) != a->accumulator ||
      weir_dtype_compute_type(a->in[1].dtype) != a->accumulator) {
    return false;
  }
  for (int j = 0; j < a->n_dims; j++) {
    const weir_dim *d = &a->dim[j];

    if (d->time || !conv_is_small(d->lo) || !conv_is_small(d->hi) || d->hi <= d->lo ||
        (d->kind != WEIR_PARALLEL && d->kind != WEIR_REDUCED)) {
      return false;
    }
  }
  return true;
}

static bool matches_as(const matching *ready, const weir_derivation *derivation, conv_form *f)
{
  conv_form here = {.dtype = ready->a->accumulator};
  matching m = *ready;

  m.derivation = derivation;
  m.f = &here;
  if (!name_arrays(derivation, &here) || !matches(&m)) {
    return false;
  }
  here.x_dtype = m.x->dtype;
  here.y_dtype = m.y->dtype;
  here.w_dtype = m.w->dtype;
  *f = here;
  return true;
}

bool conv_form_of(const weir_access *a, const weir_derivation *derivation, conv_form *f)
{
  matching m = {.a = a};

  if (derivation->of != &weir_op_conv || !is_candidate(a)) {
    return false;
  }
  m.n_conditions = conv_body_conditions(a, m.condition);
  if (m.n_conditions < 0) {
    return false;
  }
  conv_find_still(&m);
  if (derivation->made == 0) {
    const weir_derivation turned = conv_exchanged(derivation, a->out[0].rank - 2);

    if (matches_as(&m, &turned, f)) {
      return true;
    }
  }
  return matches_as(&m, derivation, f);
}

bool conv_form_of_group(const weir_graph *g, const weir_group *group, conv_form *f)
{
  const weir_node *node = weir_graph_node(g, group->nodes[0]);
  const weir_derivation derivation = weir_node_derivation(node);

  return group->n_nodes == 1 && conv_form_of(&node->access, &derivation, f);
}

bool conv_form_is(const conv_form *f, weir_dtype dtype)
{
  return f->dtype == dtype && f->x_dtype == dtype && f->y_dtype == dtype && f->w_dtype == dtype;
}

double conv_form_flops(const conv_form *f)
{
  double flops = 2.0 * (double)f->n * (double)f->groups * (double)f->in * (double)f->out;

  for (int k = 0; k < f->d; k++) {
    flops *= (double)f->y_extent[k] * (double)f->kernel_size[k];
  }
  return flops;
}

conv_weight_strides conv_form_weights(const conv_form *f, const weir_view *w)
{
  conv_weight_strides p = {.base = 0};

  for (int d = 0; d < f->w_rank; d++) {
    const conv_weight_index *i = &f->w_index[d];

    p.base += (i->offset - w->origin[d]) * w->stride[d];
    p.group += i->group * w->stride[d];
    p.in += i->in * w->stride[d];
    p.out += i->out * w->stride[d];
    for (int k = 0; k < f->d; k++) {
      p.tap[k] += i->tap[k] * w->stride[d];
    }
  }
  return p;
}

int conv_form_arrays(const weir_graph *g, const weir_group *group, int32_t *arrays, int n)
{
  const weir_node *node = weir_graph_node(g, group->nodes[0]);
  conv_form f;

  WEIR_ASSERT(n >= 3 && conv_form_of_group(g, group, &f));
  arrays[0] = f.x < 0 ? node->out[0] : node->in[f.x];
  arrays[1] = f.y < 0 ? node->out[0] : node->in[f.y];
  arrays[2] = f.w < 0 ? node->out[0] : node->in[f.w];
  return 3;
}

void conv_form_steps(const weir_view *v, int d, int64_t step[4])
{
  step[0] = v->stride[0];
  for (int k = 0; k < 3; k++) {
    step[1 + k] = k < 3 - d ? 0 : v->stride[1 + k - (3 - d)];
  }
}

void conv_form_block_size(int d, weir_kernel_blocks *blocks)
{
  for (int k = 0; k < d; k++) {
    blocks->block_size[k] = 1;
  }
}

void conv_form_box(const weir_kernel_run *r, const weir_view *made, int d, int64_t lo[3],
                   int64_t hi[3], int64_t first[3])
{
  lo[0] = r->block.lo[0];
  hi[0] = r->block.hi[0];
  first[0] = made->origin[0];
  for (int at = 1; at < 3; at++) {
    const int k = at - (3 - d); /* dimension of the view */
    const bool has = k >= 1;

    lo[at] = has ? r->block.lo[k] : 0;
    hi[at] = has ? r->block.hi[k] : 1;
    first[at] = has ? made->origin[k] : 0;
  }
}
