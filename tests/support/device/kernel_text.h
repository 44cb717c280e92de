/* kernel_text.h - texts of kernels that plans write (exec.kernel_dir), as sources that can be
 * compiled for GPUs that this machine need not have. Tests and benches only. */
#ifndef KERNEL_TEXT_H
#define KERNEL_TEXT_H
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "device/weir_device.h"

/* A text; source points into it, so that it must stay where it was opened. */
typedef struct kernel_text {
  char *memory;
  weir_device_source source;
  weir_device_param param;
  int threads; /* of a block */
} kernel_text;

/* Divides the text into the pieces of a source; false where it is none. */
static inline bool kernel_text_divide(kernel_text *k)
{
  char *kernel = strstr(k->memory, "\n__global__ void "), *open, *body, *space;

  if (kernel == NULL || sscanf(k->memory, "/* kernel %*s blocks of %d", &k->threads) != 1) {
    return false;
  }
  *kernel = '\0';
  kernel += strlen("\n__global__ void ");
  open = strchr(kernel, '(');
  body = strstr(kernel, ")\n{\n");
  if (open == NULL || body == NULL || (space = strchr(open, ' ')) == NULL) {
    return false;
  }
  *open = *space = *body = '\0';
  body += strlen(")\n{\n");
  if (strrchr(body, '}') == NULL) {
    return false;
  }
  *strrchr(body, '}') = '\0';
  const char *words_of = strstr(k->memory, " word[");
  const int words = words_of == NULL ? 0 : atoi(words_of + strlen(" word["));

  k->param = (weir_device_param){open + 1, space + 1, words * (int64_t)sizeof(int64_t)};
  k->source = (weir_device_source){
      .name = kernel, .params = &k->param, .n_params = 1, .helpers = k->memory, .body = body};
  return words > 0;
}

/* Reads a file of exec.kernel_dir. Fails: WEIR_ERR_DATA. */
static inline weir_status kernel_text_open(const char *path, kernel_text *k)
{
  int64_t size = 0;

  *k = (kernel_text){.memory = NULL};
  WEIR_TRY(weir_file_read(path, 1 << 24, &k->memory, &size));
  if (!kernel_text_divide(k)) {
    weir_free(&k->memory);
    return weir_fail(WEIR_ERR_DATA, "%s: not the text of a kernel", path);
  }
  return WEIR_OK;
}

static inline void kernel_text_close(kernel_text *k)
{
  weir_free(&k->memory);
}

/* Whether this build cannot compile for GPUs; the reason is then weir_last_message. */
static inline bool kernel_text_no_compiler(const char *architecture)
{
  const weir_device_source source = {.name = "nothing", .body = ""};
  weir_device_usage usage;

  return weir_device_compile("cuda", architecture, &source, &usage) != WEIR_OK &&
         strstr(weir_last_message(), "is made by a build") != NULL;
}

/* Registers of a multiprocessor, and its threads. */
enum { KERNEL_TEXT_REGISTERS = 65536, KERNEL_TEXT_THREADS = 2048 };

/* Registers for half of the threads of a multiprocessor, and nothing spilled. */
static inline bool kernel_text_is_lean(const weir_device_usage *u)
{
  return u->spill_bytes == 0 && u->registers * (KERNEL_TEXT_THREADS / 2) <= KERNEL_TEXT_REGISTERS;
}
#endif
