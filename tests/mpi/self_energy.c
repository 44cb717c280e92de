/* self_energy.c - the scattering self-energy of npbench (spcl/npbench, BSD-3) over a grid of ranks:
 * Sigma[k,E,a] = sum over q, w, b, i, j of G[k,E-w,neigh[a,b]] dH[a,b,i] dH[a,b,j] D[q,w,a,b,i,j],
 * matrices over orbitals. G is cut by momentum and energy, Sigma by atom and energy; each rank gets
 * of G the atoms that its neighbour list names, and no more. The argument is how many ranks were
 * started. */
#include <math.h>
#include <string.h>

#include "all_ranks.h"
#include "base/weir_random.h"
#include "count_sends.h"
#include "exec/weir_plan.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/weir_builder.h"

enum { NK = 3, NE = 6, NQ = 2, NW = 3, ND = 2, NA = 16, NB = 3, NO = 2, MOST_RANKS = 4 };
/* Iteration dimensions. */
enum { K, E, A, M, N, Q, W, B, I, J, P, R, DIMS };

static const int64_t extent[DIMS] = {NK, NE, NA, NO, NO, NQ, NW, NB, ND, ND, NO, NO};

/* Two neighbours in the chain and one far away: a hull of them is nearly all atoms. */
static int64_t neighbour(int64_t a, int64_t b)
{
  return b == 0 ? (a + 1) % NA : b == 1 ? (a + NA - 1) % NA : (5 * a + 8) % NA;
}

/* An element of an array by its place in the whole one. */
static weir_c128 element(uint32_t which, int64_t at)
{
  return (weir_c128){weir_random_uniform(42, which, 0, (uint64_t)at),
                     weir_random_uniform(42, which, 1, (uint64_t)at)};
}

enum { OF_G, OF_H, OF_D };

static weir_c128 times(weir_c128 x, weir_c128 y)
{
  return (weir_c128){x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}

/* The definition, element by element. */
static weir_c128 expected(int64_t k, int64_t e, int64_t a, int64_t m, int64_t n)
{
  weir_c128 sum = {0, 0};

  for (int64_t x = 0; x < NQ * NW * NB * ND * ND * NO * NO; x++) {
    const int64_t r = x % NO, p = x / NO % NO, j = x / NO / NO % ND, i = x / NO / NO / ND % ND;
    const int64_t b = x / NO / NO / ND / ND % NB, w = x / NO / NO / ND / ND / NB % NW;
    const int64_t q = x / NO / NO / ND / ND / NB / NW;

    if (e < w) {
      continue;
    }
    const weir_c128 g =
        element(OF_G, (((k * NE + e - w) * NA + neighbour(a, b)) * NO + m) * NO + p);
    const weir_c128 left = element(OF_H, (((a * NB + b) * ND + i) * NO + p) * NO + r);
    const weir_c128 right = element(OF_H, (((a * NB + b) * ND + j) * NO + r) * NO + n);
    const weir_c128 d = element(OF_D, ((((q * NW + w) * NA + a) * NB + b) * ND + i) * ND + j);
    const weir_c128 z = times(times(g, left), times(right, d));

    sum.re += z.re;
    sum.im += z.im;
  }
  return sum;
}

/* Sets the operand to an array whose dimension d is iteration dimension dims[d]. */
static void map(weir_operand *o, weir_dtype dtype, int n, const int *dims)
{
  weir_array_desc d = {.dtype = dtype, .rank = n};

  for (int k = 0; k < n; k++) {
    d.shape[k] = extent[dims[k]];
  }
  weir_map_operand(o, &d);
  for (int k = 0; k < n; k++) {
    o->index[k].coef[dims[k]] = 1;
  }
}

/* The whole sum as one node. Inputs: G, dH, dH, D, the neighbours. */
static void state_access(weir_access *a)
{
  weir_access_init(a);
  for (int k = 0; k < DIMS; k++) {
    (void)weir_map_dim(a, k < Q ? WEIR_PARALLEL : WEIR_REDUCED, extent[k]);
  }
  a->n_in = 5;
  a->n_out = a->n_values = 1;
  map(&a->in[0], WEIR_C128, 5, (const int[]){K, E, A, M, P});
  map(&a->in[1], WEIR_C128, 5, (const int[]){A, B, I, P, R});
  map(&a->in[2], WEIR_C128, 5, (const int[]){A, B, J, R, N});
  map(&a->in[3], WEIR_C128, 6, (const int[]){Q, W, A, B, I, J});
  map(&a->in[4], WEIR_I32, 2, (const int[]){A, B});
  map(&a->out[0], WEIR_C128, 5, (const int[]){K, E, A, M, N});
  a->in[0].index[1].coef[W] = -1;
  a->in[0].index[1].border = WEIR_BORDER_ABSENT;
  a->in[0].index[2] = (weir_index){.gather = 5, .gather_lo = 0, .gather_hi = NA};
  const int32_t g = weir_body_load(&a->body, 0, WEIR_C128);
  const int32_t left = weir_body_load(&a->body, 1, WEIR_C128);
  const int32_t right = weir_body_load(&a->body, 2, WEIR_C128);
  const int32_t d = weir_body_load(&a->body, 3, WEIR_C128);
  const int32_t first = weir_body_binary(&a->body, WEIR_CODE_MUL, g, left);
  const int32_t second = weir_body_binary(&a->body, WEIR_CODE_MUL, right, d);

  a->value[0] = weir_body_binary(&a->body, WEIR_CODE_MUL, first, second);
  a->combine = WEIR_COMBINE_SUM;
  a->accumulator = WEIR_C128;
}

typedef struct problem {
  weir_graph *g;
  weir_grid grid;
  weir_cut cuts[8];
  int64_t bounds[8][MOST_RANKS + 1];
  int n_cuts;
} problem;

static void cut(problem *p, weir_value v, int dim, int along)
{
  const int n = p->grid.extent[along];
  int64_t *at = p->bounds[p->n_cuts];

  for (int q = 0; q <= n; q++) {
    at[q] = weir_value_desc(p->g, v)->shape[dim] * q / n;
  }
  p->cuts[p->n_cuts++] = (weir_cut){weir_value_array(p->g, v), dim, along, at};
}

static weir_value input(problem *p, const weir_access *a, const char *name, int operand)
{
  const weir_operand *o = &a->in[operand];
  weir_array_desc d = {.dtype = o->dtype, .rank = o->rank};

  memcpy(d.shape, o->extent, sizeof d.shape);
  return weir_input(p->g, name, &d);
}

static void build(problem *p)
{
  static const weir_op_desc op = {.name = "self_energy"};
  int32_t neighbours[NA * NB];
  weir_value in[5];
  weir_access a;

  memset(p, 0, sizeof *p);
  p->grid = (weir_grid){2, {ranks > 1 ? 2 : 1, ranks > 1 ? ranks / 2 : 1}};
  assert_ok(weir_graph_create(&p->g));
  state_access(&a);
  in[0] = input(p, &a, "G", 0);
  in[1] = in[2] = input(p, &a, "dH", 1);
  in[3] = input(p, &a, "D", 3);
  for (int64_t k = 0; k < NA * NB; k++) {
    neighbours[k] = (int32_t)neighbour(k / NB, k % NB);
  }
  const weir_tensor t = weir_tensor_wrap(neighbours, WEIR_I32, 2, (const int64_t[]){NA, NB});

  in[4] = weir_constant(p->g, &t);
  const weir_value sigma = weir_graph_add_access(p->g, &op, &a, in, 5, WEIR_WHERE);

  weir_access_fini(&a);
  weir_output(p->g, "Sigma", sigma);
  assert_ok(weir_graph_status(p->g));
  cut(p, in[0], 0, 0); /* G: momentum, energy */
  cut(p, in[0], 1, 1);
  cut(p, in[1], 0, 0); /* dH, D: atom */
  cut(p, in[3], 2, 0);
  cut(p, sigma, 2, 0); /* Sigma: atom, energy */
  cut(p, sigma, 1, 1);
}

/* This rank's box of an array of random numbers. */
static void fill(uint32_t which, const weir_array_desc *whole, const weir_box *box, weir_tensor *t)
{
  int64_t shape[WEIR_MAX_RANK];

  for (int d = 0; d < box->rank; d++) {
    shape[d] = box->hi[d] - box->lo[d];
  }
  assert_ok(weir_tensor_init(t, WEIR_C128, box->rank, shape));
  for (int64_t i = 0; i < weir_tensor_count(t); i++) {
    int64_t left = i, at = 0, stride = 1;

    for (int d = box->rank - 1; d >= 0; d--) {
      at += stride * (box->lo[d] + left % shape[d]);
      stride *= whole->shape[d];
      left /= shape[d];
    }
    weir_dtype_store_complex(WEIR_C128, t->data, i, element(which, at));
  }
}

/* Bytes of G that the rank at a place of the grid reads and does not own: of the energies that its
 * own ones need, the atoms that the neighbours of its own ones are. */
static int64_t missing(const problem *p, int of, bool all)
{
  int place[WEIR_GRID_DIMS];
  int64_t n = 0;

  weir_grid_place(&p->grid, of, place);
  const int64_t *k = p->bounds[0] + place[0], *e = p->bounds[1] + place[1];
  const int64_t *a = p->bounds[4] + place[0];

  for (int64_t x = 0; x < NK * NE * NA; x++) {
    const int64_t atom = x % NA, energy = x / NA % NE, momentum = x / NA / NE;
    const bool own = momentum >= k[0] && momentum < k[1] && energy >= e[0] && energy < e[1];
    bool read = all;

    for (int64_t b = 0; b < NB * NA; b++) {
      const bool named = neighbour(b / NB, b % NB) == atom && b / NB >= a[0] && b / NB < a[1];

      read = read || (named && energy < e[1] && energy > e[0] - NW);
    }
    n += read && !own;
  }
  return n * NO * NO * (int64_t)sizeof(weir_c128);
}

static void check_result(const weir_plan *plan)
{
  const weir_box own = weir_plan_owned(plan, "Sigma");
  const int64_t n = weir_box_volume(&own);
  double worst = 0, most = 0;
  int64_t lo, hi;
  weir_view v;

  assert_ok(weir_plan_result(plan, "Sigma", &v, &lo, &hi));

  for (int64_t i = 0; i < n; i++) {
    int64_t at[5], left = i;

    for (int d = 4; d >= 0; d--) {
      at[d] = own.lo[d] + left % (own.hi[d] - own.lo[d]);
      left /= own.hi[d] - own.lo[d];
    }
    const weir_c128 x = expected(at[0], at[1], at[2], at[3], at[4]);
    const weir_c128 y = weir_dtype_load_complex(WEIR_C128, v.data, i);

    worst = fmax(worst, hypot(x.re - y.re, x.im - y.im));
    most = fmax(most, hypot(x.re, x.im));
  }
  assert_true(most > 1 && worst <= 1e-13 * most);
}

static void named_atoms_move_and_no_others(void **state)
{
  weir_exec_cfg cfg;
  weir_plan *plan;
  problem p;
  weir_tensor t[3];
  weir_binding bindings[3];
  static const char *const names[] = {"G", "dH", "D"};

  build(&p);
  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  cfg.tier = 2;
  const weir_spread spread = {comm, p.grid, p.cuts, p.n_cuts};

  assert_ok(weir_plan_create(
      p.g, NULL, &(weir_plan_opts){.exec = &cfg, .threads = 1, .spread = &spread}, &plan));
  for (int k = 0; k < 3; k++) {
    const weir_box box = weir_plan_owned(plan, names[k]);
    const int32_t array = weir_graph_node(p.g, k)->out[0];

    fill((uint32_t)k, &weir_graph_get_array(p.g, array)->desc, &box, &t[k]);
    bindings[k] = (weir_binding){names[k], &t[k]};
  }
  const int64_t before = sends_so_far().bytes;

  assert_ok(weir_plan_run(plan, bindings, 3));
  int64_t bytes[3] = {sends_so_far().bytes - before, missing(&p, rank, false),
                      missing(&p, rank, true)};
  weir_request *sum;

  check_result(plan);
  assert_ok(weir_allreduce_create(comm, "bytes", weir_reducer_of(WEIR_MERGE_SUM, WEIR_I64), bytes,
                                  3, &sum));
  assert_ok(weir_request_start(sum));
  assert_ok(weir_request_wait(sum));
  weir_request_destroy(&sum);
  if (rank == 0) {
    print_message("%d ranks: %lld bytes of G sent, %lld read and not owned, %lld of whole G\n",
                  ranks, (long long)bytes[0], (long long)bytes[1], (long long)bytes[2]);
  }
  assert_int_equal(bytes[0], bytes[1]);
  assert_true(ranks == 1 || bytes[1] < bytes[2]);
  for (int k = 0; k < 3; k++) {
    weir_tensor_fini(&t[k]);
  }
  weir_plan_destroy(&plan);
  weir_graph_destroy(&p.g);
}

int main(int argc, char **argv)
{
  const weir_comm_cfg usual = {.piece = 1 << 20, .tree = 256, .patience = 60};
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(named_atoms_move_and_no_others),
  };

  open_all_ranks(argc, argv, MOST_RANKS, &usual);
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);

  weir_comm_close(&comm);
  return failed;
}
