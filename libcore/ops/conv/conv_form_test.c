/* conv_form_test.c - what is read from an access, against loops that follow it. */
#include "support/ops/conv_form_check.h"
#include "ops/conv/conv_form.h"

#include "base/weir_alloc.h"
#include "base/weir_random.h"
#include "exec/weir_plan.h"
#include "ops/conv/weir_conv.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/ops_cases.h"
#include "ops/reduce/weir_reduce.h"
#include "ops/reshape/weir_reshape.h"
#include "ops/slice/weir_slice.h"
#include "pass/autodiff/weir_gradients.h"
#include "pass/weir_pass.h"

/* What the form says, element by element. Arrays: x, y, w. */
typedef struct loops {
  const conv_form *f;
  const float *in[3];
  double *out;
  conv_weight_strides w;
} loops;

static int64_t border(const conv_form *f, int k, int64_t raw, bool *inside)
{
  const weir_index x = {.border = f->border[k]};

  return weir_index_border(&x, raw, f->x_extent[k], inside);
}

/* Nodes of a gradient through a mirror share the positions out among them. */
static bool is_added(const conv_form *f, int k, int64_t raw)
{
  const int64_t n = f->x_extent[k], period = 2 * (n - 1);

  return f->kind != CONV_DATA || f->border[k] != WEIR_BORDER_REFLECT ||
         (((raw % period + period) % period >= n) == f->mirrored[k]);
}

/* One window position of one group: all channels. */
static void multiply(const loops *l, int64_t x, int64_t y, int64_t w, int64_t g)
{
  const conv_form *f = l->f;

  for (int64_t i = 0; i < f->in; i++) {
    for (int64_t c = 0; c < f->out; c++) {
      const int64_t at[] = {(x * f->groups + g) * f->in + i, (y * f->groups + g) * f->out + c,
                            w + g * l->w.group + i * l->w.in + c * l->w.out};
      const int out = f->kind == CONV_DATA ? 0 : f->kind == CONV_FORWARD ? 1 : 2;
      const int a = out == 0 ? 1 : 0, b = out == 2 ? 1 : 2;

      l->out[at[out]] += (double)l->in[a][at[a]] * (double)l->in[b][at[b]];
    }
  }
}

/* Positions of output o and tap t, row-major over three dimensions. */
static void window(const loops *l, int64_t n, const int64_t *o, const int64_t *t)
{
  const conv_form *f = l->f;
  int64_t x = n, y = n, w = l->w.base;

  for (int k = 0; k < CONV_FORM_DIMS; k++) {
    bool inside;
    const int64_t raw = f->stride[k] * o[k] + f->dilation[k] * t[k] - f->lo[k];
    const int64_t at = border(f, k, raw, &inside);

    if (!inside || !is_added(f, k, raw)) {
      return;
    }
    x = x * f->x_extent[k] + at;
    y = y * f->y_extent[k] + o[k];
    w += t[k] * l->w.tap[k];
  }
  for (int64_t g = 0; g < f->groups; g++) {
    multiply(l, x, y, w, g);
  }
}

static void follow(const loops *l)
{
  const conv_form *f = l->f;
  int64_t o[CONV_FORM_DIMS], t[CONV_FORM_DIMS], outputs = 1, volume = 1;

  for (int k = 0; k < CONV_FORM_DIMS; k++) {
    outputs *= f->y_extent[k];
    volume *= f->kernel_size[k];
  }
  for (int64_t p = 0; p < f->n * outputs * volume; p++) {
    int64_t rest = p;

    for (int k = CONV_FORM_DIMS - 1; k >= 0; k--) {
      t[k] = rest % f->kernel_size[k];
      rest /= f->kernel_size[k];
    }
    for (int k = CONV_FORM_DIMS - 1; k >= 0; k--) {
      o[k] = rest % f->y_extent[k];
      rest /= f->y_extent[k];
    }
    window(l, rest, o, t);
  }
}

static double *new_sums(const weir_tensor *made)
{
  void *memory = NULL;

  assert_ok(weir_alloc(weir_tensor_numel(made), sizeof(double), &memory));
  return memory;
}

/* Frees the sums. */
static void compare_sums(const weir_tensor *made, double *sums)
{
  void *memory = sums;

  for (int64_t i = 0; i < weir_tensor_numel(made); i++) {
    assert_near(((const float *)made->data)[i], sums[i], 1e-4);
  }
  weir_free(&memory);
}

/* role: tensors of x, y, w. */
static void add_loops(const conv_form *f, const weir_tensor *const *role, double *sums)
{
  const weir_view w = weir_view_of(role[2]);
  loops l = {.f = f, .w = conv_form_weights(f, &w), .out = sums};

  for (int k = 0; k < 3; k++) {
    l.in[k] = role[k]->data;
  }
  follow(&l);
}

static void compare(const conv_form *f, const weir_tensor *const *role)
{
  const weir_tensor *made = role[f->kind == CONV_DATA ? 0 : f->kind == CONV_FORWARD ? 1 : 2];
  double *const sums = new_sums(made);

  add_loops(f, role, sums);
  compare_sums(made, sums);
}

static void fill(weir_tensor *t, uint64_t seed, uint32_t purpose)
{
  for (int64_t i = 0; i < weir_tensor_numel(t); i++) {
    ((float *)t->data)[i] = (float)weir_random_uniform(seed, purpose, 0, (uint64_t)i) - 0.5f;
  }
}

/* Tensor of an operand of the node that makes `made`: x, w, or what is summed with them. */
static const weir_tensor *tensor_of(const subject *s, const weir_node *node, weir_value made,
                                    int operand, const weir_tensor *t)
{
  if (operand == CONV_FORM_OUTPUT) {
    return &t[made.node == s->y.node ? 3 : made.node == s->gx.node ? 4 : 5];
  }
  return node->in[operand] == weir_value_array(s->g, s->x)   ? &t[0]
         : node->in[operand] == weir_value_array(s->g, s->w) ? &t[1]
                                                             : &t[2];
}

/* Whatever else the node might say of itself is refused, or true all the same (of dimensions that
 * stand still, and of one group). */
static void check_wrong(const weir_node *node, const subject *s, weir_value made,
                        const weir_tensor *t, uint64_t seed)
{
  weir_draw r = {.seed = seed};

  for (int i = 0; i < 40; i++) {
    weir_derivation derivation = weir_node_derivation(node);
    conv_form f;

    for (int n = (int)weir_draw_int(&r, 1, 3); n > 0; n--) {
      const int j = (int)weir_draw_int(&r, 0, node->access.n_dims - 1);
      const int other = (int)weir_draw_int(&r, 0, node->access.n_dims - 1);
      const weir_derived_dim dim = derivation.dim[j];

      switch (weir_draw_int(&r, 0, 3)) {
      case 0:
        derivation.made = (int8_t)weir_draw_int(&r, -1, 3);
        break;
      case 1:
        derivation.in[weir_draw_int(&r, 0, 1)] = (int8_t)weir_draw_int(&r, -1, 3);
        break;
      case 2:
        derivation.dim[j] = derivation.dim[other];
        derivation.dim[other] = dim;
        break;
      default:
        derivation.dim[j] =
            (weir_derived_dim){(int8_t)weir_draw_int(&r, -1, 3), (int8_t)weir_draw_int(&r, -1, 12)};
      }
    }
    if (conv_form_of(&node->access, &derivation, &f)) {
      compare(&f, (const weir_tensor *const[]){tensor_of(s, node, made, f.x, t),
                                               tensor_of(s, node, made, f.y, t),
                                               tensor_of(s, node, made, f.w, t)});
    }
  }
}

/* Whether all nodes whose sum is the gradient by x are read as convolutions; what is read is added
 * up and compared. */
static bool check_parts(const subject *s, const weir_graph *g, const weir_tensor *t)
{
  double *const sums = new_sums(&t[4]);
  bool all = true;

  for (int32_t i = 0; i < weir_graph_nodes(g); i++) {
    const weir_node *node = weir_graph_node(g, i);
    const weir_derivation derivation = weir_node_derivation(node);
    conv_form f;

    if (node->dead || derivation.of != &weir_op_conv || derivation.made != 0) {
      continue;
    }
    all = all && reads_node(node, &f);
    if (all) {
      const weir_tensor *const role[] = {tensor_of(s, node, s->gx, f.x, t),
                                         tensor_of(s, node, s->gx, f.y, t),
                                         tensor_of(s, node, s->gx, f.w, t)};

      add_loops(&f, role, sums);
    }
  }
  if (all) {
    compare_sums(&t[4], sums);
  } else {
    void *memory = sums;

    weir_free(&memory);
  }
  return all;
}

/* How many of the three results are read as convolutions, and whether they are what is read. */
static int check_nodes(const subject *s, const weir_tensor *t, uint64_t seed)
{
  const weir_value nodes[] = {s->y, s->gx, s->gw};
  weir_graph *g = NULL;
  int found = 0;

  assert_ok(weir_graph_copy(s->g, &g));
  assert_ok(weir_passes_run(g, &(weir_pass_opts){.kernel = "none"}, NULL, NULL));
  for (int k = 0; k < 3; k++) {
    const weir_node *node = weir_graph_node(g, nodes[k].node);
    conv_form f;

    if (k == 1) {
      found += check_parts(s, g, t);
    } else if (reads_node(node, &f)) {
      const weir_tensor *const role[] = {tensor_of(s, node, nodes[k], f.x, t),
                                         tensor_of(s, node, nodes[k], f.y, t),
                                         tensor_of(s, node, nodes[k], f.w, t)};

      compare(&f, role);
      found++;
    }
    if (weir_node_derivation(node).of == &weir_op_conv) { /* the gradient is one node */
      check_wrong(node, s, nodes[k], t, seed + (uint64_t)k);
    }
  }
  weir_graph_destroy(&g);
  return found;
}

/* Runs the subject and compares. */
static int check_subject(const subject *s, uint64_t seed)
{
  weir_exec_cfg cfg;
  weir_plan *plan = NULL;
  weir_tensor t[6];
  const char *const names[] = {"x", "w", "t", "y", "gx", "gw"};
  weir_binding bind[6];

  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  cfg.kernel = "none";
  cfg.tier = WEIR_TIER_VECTOR;
  assert_ok(weir_plan_create(s->g, NULL, &(weir_plan_opts){.exec = &cfg, .threads = 1}, &plan));
  for (int k = 0; k < 6; k++) {
    const weir_array_desc *d = &s->desc[(const int[]){0, 1, 2, 2, 0, 1}[k]];

    assert_ok(weir_tensor_init(&t[k], WEIR_F32, d->rank, d->shape));
    fill(&t[k], seed, (uint32_t)k);
    bind[k] = (weir_binding){names[k], &t[k]};
  }
  assert_ok(weir_plan_run(plan, bind, 6));
  const int found = check_nodes(s, t, seed);

  for (int k = 0; k < 6; k++) {
    weir_tensor_fini(&t[k]);
  }
  weir_plan_destroy(&plan);
  return found;
}

static bool is_empty(const weir_array_desc *d)
{
  bool empty = false;

  for (int k = 0; k < d->rank; k++) {
    empty = empty || d->shape[k] == 0;
  }
  return empty;
}

/* Forward and by weights always; by data where one element without a border rule does not meet one
 * tap (then a single o counts, and no dimension says so). */
static int expected(const weir_op_case *c)
{
  const weir_conv_spec *s = (const void *)c->spec.bytes;
  bool plain = true;

  for (int k = 0; k < c->in[0].rank - 2; k++) {
    const bool one = c->in[0].shape[k + 1] == 1;
    const bool zero = s->border[k] == WEIR_BORDER_NEVER || s->border[k] == WEIR_BORDER_ZERO;
    const bool padded = s->pad_before[k] > 0 || s->pad_after[k] > 0;

    plain = plain && (!padded || !zero || !one || c->in[1].shape[k] > 1);
  }
  return plain ? 3 : 2;
}

static void every_case_is_read_as_it_is(void **state)
{
  int full = 0;

  for (uint64_t seed = 1; seed <= 600; seed++) {
    weir_op_case c;
    subject s;

    weir_op_draw(&weir_op_conv, seed, &c);
    if (c.in[0].dtype != WEIR_F32 || is_empty(&c.in[0])) {
      continue;
    }
    make_subject(&s, &c.in[0], &c.in[1], (const void *)c.spec.bytes);
    const int found = check_subject(&s, seed);

    if (found < expected(&c)) {
      print_error("seed %d: %d of %d are read\n", (int)seed, found, expected(&c));
      weir_graph_print(s.g, 1, stderr);
    }
    assert_true(found >= expected(&c));
    full += found == 3;
    weir_graph_destroy(&s.g);
  }
  assert_true(full > 20);
}

/* The gradient by x as a layer, z = transposed(t, w), and the gradients of sum(z u): they count
 * along elements of x. */
static void check_transposed(const weir_array_desc *x, const weir_array_desc *w,
                             const weir_conv_spec *spec, uint64_t seed)
{
  enum { T, W, U, GT, GW, ALL };
  static const char *const names[ALL] = {"t", "w", "u", "ht", "hw"};
  subject s;
  weir_value grad[2];
  weir_tensor tensor[ALL];
  weir_binding bind[ALL];
  weir_exec_cfg cfg;
  weir_plan *plan = NULL;

  make_subject(&s, x, w, spec);
  weir_value loss = weir_mul(s.g, s.gx, weir_input(s.g, "u", x));

  for (int k = x->rank - 1; k >= 0; k--) {
    loss = weir_sum(s.g, loss, k);
  }
  assert_ok(weir_gradients(s.g, loss, (weir_value[]){s.t, s.w}, 2, grad));
  /* That by t is multiplied with ones, what y's product with t leaves of t. */
  assert_int_equal(weir_graph_node(s.g, grad[0].node)->n_in, 2);
  const weir_value gt = {grad[0].node - 1, 0};

  weir_output(s.g, "ht", gt);
  weir_output(s.g, "hw", grad[1]);
  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  cfg.kernel = "none";
  cfg.tier = WEIR_TIER_VECTOR;
  assert_ok(weir_plan_create(s.g, NULL, &(weir_plan_opts){.exec = &cfg, .threads = 1}, &plan));
  for (int k = 0; k < ALL; k++) {
    const weir_array_desc *d = k == W || k == GW ? w : k == U ? x : &s.desc[2];

    assert_ok(weir_tensor_init(&tensor[k], WEIR_F32, d->rank, d->shape));
    fill(&tensor[k], seed, (uint32_t)k);
    bind[k] = (weir_binding){names[k], &tensor[k]};
  }
  weir_tensor other;

  assert_ok(weir_tensor_init(&other, WEIR_F32, x->rank, x->shape));
  const weir_binding all[] = {bind[0], bind[1], bind[2], bind[3], bind[4], {"x", &other}};

  assert_ok(weir_plan_run(plan, all, 6));
  conv_form f;

  assert_true(reads_node(weir_graph_node(s.g, gt.node), &f));
  assert_int_equal(f.kind, CONV_FORWARD);
  compare(&f, (const weir_tensor *const[]){&tensor[U], &tensor[GT], &tensor[W]});
  assert_true(reads_node(weir_graph_node(s.g, grad[1].node), &f));
  assert_int_equal(f.kind, CONV_WEIGHTS);
  compare(&f, (const weir_tensor *const[]){&tensor[U], &tensor[T], &tensor[GW]});
  for (int k = 0; k < ALL; k++) {
    weir_tensor_fini(&tensor[k]);
  }
  weir_tensor_fini(&other);
  weir_plan_destroy(&plan);
  weir_graph_destroy(&s.g);
}

static void gradients_of_a_transposed_layer_are_read(void **state)
{
  const weir_array_desc x = {.dtype = WEIR_F32, .rank = 4, .shape = {2, 12, 9, 4}};
  const weir_array_desc w = {.dtype = WEIR_F32, .rank = 4, .shape = {3, 2, 4, 5}};

  check_transposed(&x, &w, &(weir_conv_spec){.pad_before = {1, 0}, .pad_after = {1, 1}}, 1);
  check_transposed(
      &x, &w, &(weir_conv_spec){.stride = {2, 2}, .pad_before = {1, 0}, .pad_after = {1, 1}}, 2);
  check_transposed(&x, &w,
                   &(weir_conv_spec){.stride = {3, 1}, .pad_before = {2, 1}, .dilation = {2}}, 3);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_case_is_read_as_it_is),
      cmocka_unit_test(gradients_of_a_transposed_layer_are_read),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
