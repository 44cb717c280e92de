/* weir_device_text.h - kernels of devices whose text an operator's kernel writes itself. Their one
 * parameter is `addresses p`, with the addresses of arrays p.word[0], .. */
#ifndef WEIR_DEVICE_TEXT_H
#define WEIR_DEVICE_TEXT_H
#include "base/weir_alloc.h"
#include "graph/weir_kernel.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of a body; addresses. */
enum { WEIR_DEVICE_TEXT = 8192, WEIR_DEVICE_WORDS = 4 };

/* Appends to a text of WEIR_DEVICE_TEXT bytes, which must suffice. */
void weir_device_text_put(char *text, const char *format, ...) WEIR_PRINTF(2, 3);
/* Blocks of `threads` threads, one for each of n elements. */
weir_kernel_grid weir_device_text_grid(int64_t n, int threads, int64_t bytes);
/* Makes the kernel of that body; helpers: text before it, NULL: none. Fails as maker->make. */
weir_status weir_device_text_make(const weir_kernel_maker *maker, const char *name,
                                  const char *helpers, const char *body,
                                  const weir_kernel_grid *launch,
                                  const weir_device_kernel **out) WEIR_CHECKED;
/* Launches it on the n ranges, whose addresses are p.word[0 .. n). Fails as weir_device_launch. */
weir_status weir_device_text_launch(weir_device_queue *queue, const weir_device_kernel *kernel,
                                    const weir_kernel_grid *launch, const weir_device_range *ranges,
                                    int n) WEIR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
