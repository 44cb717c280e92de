/* planar.h - loops of complex numbers for engines that know real ones: every complex expression is
 * two, its real part and its imaginary part, every complex array is two with twice the strides. */
#ifndef WEIR_PLANAR_H
#define WEIR_PLANAR_H
#include "exec/exec_priv.h"

/* What planar_prepare puts into contexts for `inner`, whose contexts know real numbers alone: one
 * loop each, or, for a sum of complex numbers, one for each part of it. Fails: as inner->prepare;
 * WEIR_ERR_UNSUPPORTED where the parts are more operands, outputs or states than a loop may have.
 */
weir_status planar_prepare(const weir_engine *inner, const weir_loop *const *loops, int32_t n,
                           const weir_engine_opts *opts, void **contexts) WEIR_CHECKED;
void planar_run(const weir_engine *inner, void *context, const weir_loop_run *run);
void planar_release(const weir_engine *inner, void *context);

/* planar_body.c: for every expression of `from`, appended to *body with loads of input k from
 * re[k] and im[k] (im[k] < 0: it is real): number of its real part (or of itself) and of its
 * imaginary part (or -1). parts: [from->n] each. */
void planar_body(const weir_body *from, const int *re, const int *im, const int *state,
                 weir_body *body, int32_t *real, int32_t *imag);
#endif
