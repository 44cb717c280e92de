/* self_energy_node.h - the scattering self-energy of npbench (spcl/npbench, BSD-3) as one node:
 * Sigma[k,E,a] = sum over q, w, b, i, j of G[k,E-w,neigh[a,b]] dH[a,b,i] dH[a,b,j] D[q,w,a,b,i,j],
 * matrices over orbitals. Tests and benches only. */
#ifndef SELF_ENERGY_NODE_H
#define SELF_ENERGY_NODE_H
#include <string.h>

#include "base/weir_check.h"
#include "ops/weir_builder.h"

/* Iteration dimensions: momentum, energy, atom, the two orbitals of Sigma; phonon momentum and
 * frequency, neighbour, two directions, two orbitals between the matrices. */
enum {
  SELF_ENERGY_K,
  SELF_ENERGY_E,
  SELF_ENERGY_A,
  SELF_ENERGY_M,
  SELF_ENERGY_N,
  SELF_ENERGY_Q,
  SELF_ENERGY_W,
  SELF_ENERGY_B,
  SELF_ENERGY_I,
  SELF_ENERGY_J,
  SELF_ENERGY_P,
  SELF_ENERGY_R,
  SELF_ENERGY_DIMS
};

/* Operands: dH is read twice. */
enum { SELF_ENERGY_G, SELF_ENERGY_DH_I, SELF_ENERGY_DH_J, SELF_ENERGY_D, SELF_ENERGY_NEIGHBOURS };

/* Sets the operand to an array whose dimension d is iteration dimension dims[d]. */
static inline void self_energy_map(weir_operand *o, weir_dtype dtype, const int64_t *extent, int n,
                                   const int *dims)
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

static inline void self_energy_operands(weir_access *a, const int64_t *extent)
{
  enum {
    K = SELF_ENERGY_K,
    E = SELF_ENERGY_E,
    A = SELF_ENERGY_A,
    M = SELF_ENERGY_M,
    N = SELF_ENERGY_N,
    Q = SELF_ENERGY_Q,
    W = SELF_ENERGY_W,
    B = SELF_ENERGY_B,
    I = SELF_ENERGY_I,
    J = SELF_ENERGY_J,
    P = SELF_ENERGY_P,
    R = SELF_ENERGY_R
  };

  self_energy_map(&a->in[SELF_ENERGY_G], WEIR_C128, extent, 5, (const int[]){K, E, A, M, P});
  self_energy_map(&a->in[SELF_ENERGY_DH_I], WEIR_C128, extent, 5, (const int[]){A, B, I, P, R});
  self_energy_map(&a->in[SELF_ENERGY_DH_J], WEIR_C128, extent, 5, (const int[]){A, B, J, R, N});
  self_energy_map(&a->in[SELF_ENERGY_D], WEIR_C128, extent, 6, (const int[]){Q, W, A, B, I, J});
  self_energy_map(&a->in[SELF_ENERGY_NEIGHBOURS], WEIR_I32, extent, 2, (const int[]){A, B});
  self_energy_map(&a->out[0], WEIR_C128, extent, 5, (const int[]){K, E, A, M, N});
  a->in[SELF_ENERGY_G].index[1].coef[W] = -1;
  a->in[SELF_ENERGY_G].index[1].border = WEIR_BORDER_ABSENT;
  a->in[SELF_ENERGY_G].index[2] =
      (weir_index){.gather = SELF_ENERGY_NEIGHBOURS + 1, .gather_lo = 0, .gather_hi = extent[A]};
}

/* Which factors stand together as written: those of two products of matrices, or nabla H G nabla H
 * before D, a scalar, is multiplied (convolution form). */
typedef enum self_energy_order { SELF_ENERGY_PRODUCTS, SELF_ENERGY_CONVOLUTION } self_energy_order;

static inline int32_t self_energy_value(weir_body *b, self_energy_order order)
{
  const int32_t g = weir_body_load(b, SELF_ENERGY_G, WEIR_C128);
  const int32_t left = weir_body_load(b, SELF_ENERGY_DH_I, WEIR_C128);
  const int32_t right = weir_body_load(b, SELF_ENERGY_DH_J, WEIR_C128);
  const int32_t d = weir_body_load(b, SELF_ENERGY_D, WEIR_C128);
  const int32_t first = weir_body_binary(b, WEIR_CODE_MUL, g, left);

  if (order == SELF_ENERGY_CONVOLUTION) {
    return weir_body_binary(b, WEIR_CODE_MUL, weir_body_binary(b, WEIR_CODE_MUL, first, right), d);
  }
  return weir_body_binary(b, WEIR_CODE_MUL, first, weir_body_binary(b, WEIR_CODE_MUL, right, d));
}

/* The whole sum as one access; extent: of every iteration dimension. The caller frees it. */
static inline void self_energy_access(const int64_t *extent, self_energy_order order,
                                      weir_access *a)
{
  weir_access_init(a);
  for (int k = 0; k < SELF_ENERGY_DIMS; k++) {
    (void)weir_map_dim(a, k < SELF_ENERGY_Q ? WEIR_PARALLEL : WEIR_REDUCED, extent[k]);
  }
  assert_ok(weir_access_resize(a, 5, 1, 0));
  a->n_values = 1;
  self_energy_operands(a, extent);
  a->value[0] = self_energy_value(&a->body, order);
  a->combine = WEIR_COMBINE_SUM;
  a->accumulator = WEIR_C128;
}

/* An input of the shape of an operand. */
static inline weir_value self_energy_input(weir_graph *g, const weir_access *a, const char *name,
                                           int operand)
{
  const weir_operand *o = &a->in[operand];
  weir_array_desc d = {.dtype = o->dtype, .rank = o->rank};

  memcpy(d.shape, o->extent, sizeof d.shape);
  return weir_input(g, name, &d);
}

/* Adds inputs "G", "dH" and "D", the node, and its result of that name, which is returned. */
static inline weir_value self_energy_add(weir_graph *g, const int64_t *extent,
                                         self_energy_order order, weir_value neighbours,
                                         const char *name)
{
  static const weir_op_desc op = {.name = "self_energy"};
  weir_access a;

  self_energy_access(extent, order, &a);
  const weir_value green = self_energy_input(g, &a, "G", SELF_ENERGY_G);
  const weir_value dh = self_energy_input(g, &a, "dH", SELF_ENERGY_DH_I);
  const weir_value d = self_energy_input(g, &a, "D", SELF_ENERGY_D);
  const weir_value in[] = {green, dh, dh, d, neighbours};
  const weir_value sigma = weir_graph_add_access(g, &op, &a, in, 5, WEIR_WHERE);

  weir_access_fini(&a);
  weir_output(g, name, sigma);
  return sigma;
}

#endif
