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

/* Square root of the sum of |a_i|^2; place of the largest. */
double lead_norm(int64_t count, const weir_c128 *a);
int64_t lead_largest(int64_t count, const weir_c128 *a);
/* to loses its part along `unit`, of length 1. */
void lead_remove_part(int64_t count, const weir_c128 *unit, weir_c128 *to);

/* Both give Sigma of both sides, unless *found is false. Fail: WEIR_ERR_MEMORY. */
weir_status lead_decimate(const qt_lead_opts *o, const lead_blocks *b, weir_c128 *const sigma[2],
                          bool *found) WEIR_CHECKED;
/* The same by a cell of twice the length. */
weir_status lead_decimate_double(const qt_lead_opts *o, const lead_blocks *b,
                                 weir_c128 *const sigma[2], bool *found) WEIR_CHECKED;
/* Modes that propagate towards the device, at unit flux, [n_modes, n] each: u, and A- u / lambda
 * (left lead) or lambda A+ u (right). mode NULL: not wanted. */
typedef struct lead_incoming {
  weir_c128 *mode[QT_LEADS], *coupling[QT_LEADS];
} lead_incoming;

/* up is the conjugate transpose of down: the energy is real. c: whose blocks these are. */
weir_status lead_modes(const qt_lead_opts *o, const qt_cell *c, const lead_blocks *b,
                       weir_c128 *const sigma[2], const lead_incoming *incoming, int64_t *n_modes,
                       bool *found) WEIR_CHECKED;
/* The same from modes that do not decay fast, where as many propagate to either side; Sigma is then
 * near the fixed point. */
weir_status lead_contour(const qt_lead_opts *o, const qt_cell *c, const lead_blocks *b,
                         weir_c128 *const sigma[2], const lead_incoming *incoming, int64_t *n_modes,
                         bool *found) WEIR_CHECKED;
/* The same from those that SLEPc finds in a ring about the unit circle, one thread at a time. */
weir_status lead_slepc(const qt_lead_opts *o, const qt_cell *c, const lead_blocks *b,
                       weir_c128 *const sigma[2], const lead_incoming *incoming, int64_t *n_modes,
                       bool *found) WEIR_CHECKED;
weir_status lead_slepc_start(const weir_string_list *options) WEIR_CHECKED;

#endif
