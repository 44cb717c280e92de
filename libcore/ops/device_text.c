/* device_text.c - see weir_device_text.h. */
#include "ops/weir_device_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The parameter. */
typedef struct addresses {
  int64_t word[WEIR_DEVICE_WORDS];
} addresses;

static const char addresses_text[] =
    "typedef struct addresses {\n  long long word[4];\n} addresses;\n";
_Static_assert(WEIR_DEVICE_WORDS == 4, "the text declares as many");

void weir_device_text_put(char *text, const char *format, ...)
{
  const size_t used = strlen(text);
  va_list args;

  va_start(args, format);
  const int length = vsnprintf(text + used, WEIR_DEVICE_TEXT - used, format, args);

  va_end(args);
  WEIR_ASSERT(length >= 0 && used + (size_t)length < WEIR_DEVICE_TEXT);
}

weir_kernel_grid weir_device_text_grid(int64_t n, int threads, int64_t bytes)
{
  return (weir_kernel_grid){.blocks = (n - 1) / threads + 1, .threads = threads, .bytes = bytes};
}

weir_status weir_device_text_make(const weir_kernel_maker *maker, const char *name,
                                  const char *helpers, const char *body,
                                  const weir_kernel_grid *launch, const weir_device_kernel **out)
{
  static const weir_device_param param = {"addresses", "p", sizeof(addresses)};
  char all[WEIR_DEVICE_TEXT] = "";
  const weir_device_source source = {
      .name = name, .params = &param, .n_params = 1, .helpers = all, .body = body};

  weir_device_text_put(all, "%s%s", addresses_text, helpers != NULL ? helpers : "");
  WEIR_TRY(maker->make(maker->plan, &source, launch, out));
  return WEIR_OK;
}

weir_status weir_device_text_launch(weir_device_queue *queue, const weir_device_kernel *kernel,
                                    const weir_kernel_grid *launch, const weir_device_range *ranges,
                                    int n)
{
  addresses a = {{0}};
  const void *const args[] = {&a};

  WEIR_ASSERT(n <= WEIR_DEVICE_WORDS);
  for (int k = 0; k < n; k++) {
    a.word[k] = (int64_t)(intptr_t)ranges[k].address;
  }
  WEIR_TRY(weir_device_launch(queue, &(weir_device_launch_spec){.kernel = kernel,
                                                                .grid = {(int)launch->blocks, 1, 1},
                                                                .block = {launch->threads, 1, 1},
                                                                .args = args,
                                                                .ranges = ranges,
                                                                .n_ranges = n}));
  return WEIR_OK;
}
