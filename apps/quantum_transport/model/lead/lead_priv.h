/* lead_priv.h - what the methods for leads share. */
#ifndef QT_LEAD_PRIV_H
#define QT_LEAD_PRIV_H
#include "model/lead/lead.h"

/* A0, A+ (up) and A- (down) at an energy, [n, n]; owns them. */
typedef struct lead_blocks {
  int64_t n;
  weir_c128 *a0, *up, *down;
} lead_blocks;
/* Fails: WEIR_ERR_MEMORY. *out is finished by the caller, on failure too. */
weir_status lead_blocks_create(int64_t n, lead_blocks *out) WEIR_CHECKED;
void lead_blocks_fini(lead_blocks *b);

/* Returns the square root of the sum of |a_i|^2; index of the largest. */
double lead_norm(int64_t count, const weir_c128 *a);
int64_t lead_largest(int64_t count, const weir_c128 *a);
/* Removes from `to` its component along `unit`, of length 1. */
void lead_remove_component(int64_t count, const weir_c128 *unit, weir_c128 *to);

/* Multiplications of complex numbers, matrices taken as full, without lower powers of n: of
 * weir_linear_solve (n, k), and of weir_linear_pair (n). QZ with vectors of one side takes about 50
 * n^3 flops of real numbers (Golub and Van Loan, Matrix Computations, section 7.7, two iterations
 * for each eigenvalue), of complex ones four times as many; how many it takes is not known before.
 */
static inline double lead_solve_work(double n, double k)
{
  return n * n * n / 3 + n * n * k;
}

static inline double lead_pair_work(double n)
{
  return 25 * n * n * n;
}

/* What a method gave, with Sigma of both sides unless found is false. */
typedef struct lead_outcome {
  bool found;
  int64_t n_modes; /* of methods that find modes                                              */
  double work;     /* multiplications of complex numbers that it took, found or not; NaN: not known
                    */
} lead_outcome;

/* Compute Sigma by decimation. Both fail: WEIR_ERR_MEMORY. */
weir_status lead_decimate(const qt_lead_opts *o, const lead_blocks *b, weir_c128 *const sigma[2],
                          lead_outcome *out) WEIR_CHECKED;
/* The same by a cell of twice the length. */
weir_status lead_decimate_double(const qt_lead_opts *o, const lead_blocks *b,
                                 weir_c128 *const sigma[2], lead_outcome *out) WEIR_CHECKED;
/* Multiplications of a step, and of all that lead_modes does for A+ of rank r. */
double lead_decimation_work(int64_t n);
double lead_modes_work(int64_t n, int64_t r);
/* Modes that propagate towards the device, at unit flux, [n_modes, n] each: u, and A- u / lambda
 * (left lead) or lambda A+ u (right). mode NULL: not wanted. */
typedef struct lead_incoming {
  weir_c128 *mode[QT_LEADS], *coupling[QT_LEADS];
} lead_incoming;

/* up is the conjugate transpose of down: the energy is real. c: whose blocks these are. */
weir_status lead_modes(const qt_lead_opts *o, const qt_cell *c, const lead_blocks *b,
                       weir_c128 *const sigma[2], const lead_incoming *incoming,
                       lead_outcome *out) WEIR_CHECKED;
/* The same from modes that do not decay fast, where as many propagate to either side; Sigma is then
 * near the fixed point. */
weir_status lead_contour(const qt_lead_opts *o, const qt_cell *c, const lead_blocks *b,
                         weir_c128 *const sigma[2], const lead_incoming *incoming,
                         lead_outcome *out) WEIR_CHECKED;
/* The same from those that SLEPc finds in a ring about the unit circle, one thread at a time. */
weir_status lead_slepc(const qt_lead_opts *o, const qt_cell *c, const lead_blocks *b,
                       weir_c128 *const sigma[2], const lead_incoming *incoming,
                       lead_outcome *out) WEIR_CHECKED;
weir_status lead_slepc_start(const weir_string_list *options) WEIR_CHECKED;

#endif
