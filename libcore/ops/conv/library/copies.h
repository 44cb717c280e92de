/* copies.h - texts of kernels that bring the operands of a convolution to what a device's library
 * takes, and its results back: weights in another order, borders written out, wider numbers. Each
 * thread makes one element; addresses are p.word[0] (from) and p.word[1] (to) of
 * weir_device_text.h, in arrays as weir_library_convolution has them. */
#ifndef CONV_LIBRARY_COPIES_H
#define CONV_LIBRARY_COPIES_H
#include "ops/conv/conv_form.h"
#include "ops/weir_device_text.h"
#ifdef __cplusplus
extern "C" {
#endif

enum { CONV_COPY_THREADS = 256 };

/* n weights as [groups, out, taps, in] from their array, or back (unpacks). */
void conv_copy_weights(const conv_form *f, const conv_weight_strides *s, int64_t n, bool unpacks,
                       char text[WEIR_DEVICE_TEXT]);
/* Whether the array has that order. */
bool conv_copy_is_packed(const conv_form *f, const conv_weight_strides *s);
/* n elements of f32 from bf16. */
void conv_copy_wider(int64_t n, char text[WEIR_DEVICE_TEXT]);
/* Elements of inner's x (conv_pad_form) from that of f; of x_dtype. Neither lo is below 0. */
void conv_copy_padded(const conv_form *f, const conv_form *inner, char text[WEIR_DEVICE_TEXT]);
/* Elements of f's x, of x_dtype: sums of those elements of inner's x that stand for them, which are
 * of f's dtype (f32, f64), in their order. Neither lo is below 0. */
void conv_copy_folded(const conv_form *f, const conv_form *inner, char text[WEIR_DEVICE_TEXT]);

#ifdef __cplusplus
}
#endif
#endif
