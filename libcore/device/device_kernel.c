/* device_kernel.c - kernels: their text and arguments; and operations that outlive a call. */
#include <stdalign.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "device/device_priv.h"

static void free_kernel(weir_device_kernel **kernel)
{
  if (*kernel != NULL) {
    weir_free(&(*kernel)->name);
    weir_free(&(*kernel)->offsets);
    weir_free(&(*kernel)->sizes);
    weir_free(kernel);
  }
}

/* Places the arguments one after another, each aligned to its size or to 16 bytes. */
static weir_status layout_args(const weir_device_source *source, weir_device_kernel *kernel)
{
  void *memory = NULL;

  WEIR_TRY(weir_strdup(source->name, &kernel->name));
  WEIR_TRY(weir_alloc(source->n_params, sizeof *kernel->offsets, &memory));
  kernel->offsets = memory;
  WEIR_TRY(weir_alloc(source->n_params, sizeof *kernel->sizes, &memory));
  kernel->sizes = memory;
  kernel->n_params = source->n_params;
  for (int k = 0; k < source->n_params; k++) {
    const int64_t align = (int64_t)alignof(max_align_t);
    kernel->sizes[k] = source->params[k].bytes;
    kernel->offsets[k] = (kernel->args_bytes + align - 1) / align * align;
    kernel->args_bytes = kernel->offsets[k] + kernel->sizes[k];
  }
  return WEIR_OK;
}

weir_status weir_device_kernel_create(weir_device *device, const weir_device_source *source,
                                      weir_device_kernel **out)
{
  weir_status status = WEIR_OK;
  void *memory = NULL;

  *out = NULL;
  if (source->n_params < 0 || source->n_params > DEVICE_PARAMS) {
    return weir_fail(WEIR_ERR_SHAPE, "device %s: kernel %s has %d parameters; at most %d",
                     device->row->name, source->name, source->n_params, DEVICE_PARAMS);
  }
  WEIR_TRY(weir_alloc(1, sizeof **out, &memory));
  weir_device_kernel *kernel = memory;

  kernel->device = device;
  WEIR_TRY_GOTO(layout_args(source, kernel), failed);
  WEIR_TRY_GOTO(device->ops->kernel_create(kernel, source), failed);
  *out = kernel;
  return WEIR_OK;
failed:
  free_kernel(&kernel);
  return status;
}

void weir_device_kernel_destroy(weir_device_kernel **kernel)
{
  if (*kernel != NULL) {
    (*kernel)->device->ops->kernel_destroy(*kernel);
    free_kernel(kernel);
  }
}

weir_status weir_device_compile(const char *name, const char *architecture,
                                const weir_device_source *source, weir_device_usage *out)
{
  const weir_device_row *row = NULL;

  *out = (weir_device_usage){0};
  WEIR_TRY(device_find_row(name, &row));
  if (row->compile == NULL) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "device %s: kernels are compiled only on the machine where they run", name);
  }
  WEIR_TRY(row->compile(architecture, source, out));
  return WEIR_OK;
}

/* Appends to a text of *used bytes where `text` is not NULL; counts in any case. */
static void put(char *text, size_t *used, const char *piece)
{
  const size_t n = strlen(piece);

  if (text != NULL) {
    memcpy(text + *used, piece, n + 1);
  }
  *used += n;
}

static size_t write_source(const weir_device_source *source, const char *head,
                           const char *qualifier, char *text)
{
  size_t used = 0;

  put(text, &used, head);
  put(text, &used, source->helpers == NULL ? "" : source->helpers);
  put(text, &used, "\n");
  put(text, &used, qualifier);
  put(text, &used, " void ");
  put(text, &used, source->name);
  put(text, &used, "(");
  for (int k = 0; k < source->n_params; k++) {
    put(text, &used, k > 0 ? ", " : "");
    put(text, &used, source->params[k].type);
    put(text, &used, " ");
    put(text, &used, source->params[k].name);
  }
  put(text, &used, source->n_params == 0 ? "void)\n{\n" : ")\n{\n");
  put(text, &used, source->body);
  put(text, &used, "\n}\n");
  return used;
}

weir_status weir_device_source_text(const weir_device_source *source, const char *head,
                                    const char *qualifier, char **out)
{
  void *memory = NULL;

  *out = NULL;
  WEIR_TRY(weir_alloc((int64_t)write_source(source, head, qualifier, NULL) + 1, 1, &memory));
  write_source(source, head, qualifier, memory);
  *out = memory;
  return WEIR_OK;
}

weir_status device_op_clone(const device_op *op, device_op **out)
{
  const int64_t align = (int64_t)alignof(max_align_t),
                head = ((int64_t)sizeof *op + align - 1) / align * align,
                uses = (op->n_uses * (int64_t)sizeof *op->uses + align - 1) / align * align,
                args = op->kernel != NULL ? op->kernel->args_bytes : 0;
  void *memory = NULL;

  *out = NULL;
  WEIR_TRY(weir_alloc(head + uses + args, 1, &memory));
  device_op *copy = memory;
  char *bytes = memory;

  *copy = *op;
  if (op->n_uses > 0) {
    copy->uses = memcpy(bytes + head, op->uses, (size_t)op->n_uses * sizeof *op->uses);
  }
  if (args > 0) {
    copy->args = memcpy(bytes + head + uses, op->args, (size_t)args);
  }
  *out = copy;
  return WEIR_OK;
}

void device_op_free(device_op **op)
{
  weir_free(op);
}
