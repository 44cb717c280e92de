/* planar.h - loops of complex numbers for engines that know real ones: every complex expression is
 * two, its real part and its imaginary part, every complex array is two with twice the strides. */
#ifndef WEIR_PLANAR_H
#define WEIR_PLANAR_H
#include "exec/exec_priv.h"

/* Prepares every loop for `inner`, an engine of real numbers: a loop of these as it is, one with
 * complex numbers as a loop of their parts, a complex sum as two. contexts[k] is for planar_run and
 * planar_release alone; *inner outlives it. Fails: as inner->prepare; WEIR_ERR_UNSUPPORTED where
 * the parts are more operands, outputs or states than a loop may have. */
weir_status planar_prepare(const weir_engine *inner, const weir_loop *const *loops, int32_t n,
                           const weir_engine_opts *opts, void **contexts) WEIR_CHECKED;
/* Runs the loop, or the loops of its parts, over the run's box. Thread-safe, cannot fail. */
void planar_run(void *context, const weir_loop_run *run);
/* Frees a context; NULL is nothing. */
void planar_release(void *context);

/* planar_body.c: appends the expressions of `from` to *body in real numbers. re[k], im[k]: inputs
 * that hold the parts of input k (im < 0: it is real); state[k]: the first state that does of state
 * k. For expression i, real[i] and imag[i] receive the numbers of its parts (imag < 0: it is real);
 * both have space for from->n. */
void planar_body(const weir_body *from, const int *re, const int *im, const int *state,
                 weir_body *body, int32_t *real, int32_t *imag);
#endif
