/* device.c - the table of devices: opening one, its arenas, and what a machine has. */
#include <inttypes.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "device/device_priv.h"
#include "device/weir_parallel.h"

extern const weir_device_row *const weir_device_row_table[]; /* generated */

const weir_device_row *weir_device_row_get(int k)
{
  return weir_device_row_table[k];
}

weir_status device_find_row(const char *name, const weir_device_row **out)
{
  char names[256] = "";
  size_t n = 0;

  for (int k = 0; weir_device_row_table[k] != NULL; k++) {
    const weir_device_row *row = weir_device_row_table[k];
    if (strcmp(row->name, name) == 0) {
      *out = row;
      return WEIR_OK;
    }
    if (n < sizeof names - 1) {
      n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", k > 0 ? ", " : "", row->name);
    }
  }
  return weir_fail(WEIR_ERR_CONFIG, "unknown device '%s': choose one of %s", name, names);
}

const weir_constants *weir_constants_get(const char *device)
{
  for (int k = 0; device != NULL && weir_device_row_table[k] != NULL; k++) {
    if (strcmp(weir_device_row_table[k]->name, device) == 0) {
      return weir_device_row_table[k]->constants();
    }
  }
  return &weir_cpu_get()->constants;
}

weir_status weir_device_open(const char *name, const weir_device_options *options,
                             weir_device **out)
{
  const weir_device_options usual = {0, 0};
  const weir_device_row *row = NULL;
  void *memory = NULL;

  *out = NULL;
  WEIR_TRY(device_find_row(name, &row));
  WEIR_TRY(weir_alloc(1, sizeof(weir_device), &memory));
  weir_device *device = memory;

  device->row = row;
  weir_status status = row->open(device, options == NULL ? &usual : options);
  if (status != WEIR_OK) {
    weir_free(&device);
    return weir_trace_at(status, __FILE__, __LINE__, __func__);
  }
  *out = device;
  return WEIR_OK;
}

void weir_device_close(weir_device **device)
{
  weir_device *d = *device;

  if (d == NULL) {
    return;
  }
  WEIR_ASSERT(d->n_arrays == 0 && d->capture == 0); /* arenas destroyed, captures ended */
  d->ops->close(d);
  weir_free(&d->arrays);
  weir_free(&d->uses);
  weir_free(&d->args);
  weir_free(&d->passed);
  weir_free(device);
}

const char *weir_device_name(const weir_device *device)
{
  return device->row->name;
}

const weir_device_info *weir_device_info_get(const weir_device *device)
{
  return &device->info;
}

/* The last failure without "device NAME: ", which the line says already. */
static const char *failure_of(const char *name)
{
  const char *text = weir_last_message();
  const size_t n = strlen(name);

  if (strncmp(text, "device ", 7) == 0 && strncmp(text + 7, name, n) == 0 &&
      strncmp(text + 7 + n, ": ", 2) == 0) {
    return text + 7 + n + 2;
  }
  return text;
}

static int print_row(const weir_device_row *row, FILE *out)
{
  weir_device *device = NULL;

  if (weir_device_open(row->name, NULL, &device) != WEIR_OK) {
    return fprintf(out, "  %s: not available: %s\n", row->name, failure_of(row->name));
  }
  const weir_device_info *info = &device->info;
  const int put = fprintf(out, "  %s: %s%s%s, %s %" PRId64 ", memory %.0f GiB (%s)\n", row->name,
                          info->model, info->architecture[0] != 0 ? " " : "", info->architecture,
                          info->vector_threads > 1 ? "multiprocessors" : "cores", info->processors,
                          (double)info->memory_bytes * 0x1p-30, row->help);

  weir_device_close(&device);
  return put;
}

weir_status weir_device_print(FILE *out)
{
  bool written = fprintf(out, "devices:\n") > 0;

  for (int k = 0; weir_device_row_table[k] != NULL; k++) {
    written = print_row(weir_device_row_table[k], out) > 0 && written;
  }
  return written ? WEIR_OK
                 : weir_fail(WEIR_ERR_DATA, "the list of devices: the output cannot be written");
}

weir_status weir_device_check(const char *name)
{
  weir_device *device = NULL;
  char reason[512];

  if (name == NULL) {
    return WEIR_OK;
  }
  if (weir_device_open(name, NULL, &device) != WEIR_OK) {
    (void)snprintf(reason, sizeof reason, "%s", failure_of(name));
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "--device %s: not available: %s: omit --device or give --device cpu", name,
                     reason);
  }
  weir_device_close(&device);
  return WEIR_OK;
}

/* ---- Arenas. ---- */

/* Inserts the array by address. There is space. */
static void list_array(weir_device *d, device_array *array)
{
  int64_t i = d->n_arrays++;

  for (; i > 0 && d->arrays[i - 1]->address > array->address; i--) {
    d->arrays[i] = d->arrays[i - 1];
  }
  d->arrays[i] = array;
}

static void unlist_arrays(weir_device *d, const weir_device_arena *arena)
{
  int64_t kept = 0;

  for (int64_t i = 0; i < d->n_arrays; i++) {
    if (d->arrays[i]->arena != arena) {
      d->arrays[kept++] = d->arrays[i];
    }
  }
  d->n_arrays = kept;
}

static weir_status check_sizes(weir_device *d, int64_t n, const int64_t *bytes)
{
  int64_t sum = 0;

  for (int64_t i = 0; i < n; i++) {
    if (bytes[i] < 0 || !weir_add_ok(sum, bytes[i], &sum) ||
        !weir_add_ok(sum, WEIR_DEVICE_ALIGN, &sum)) {
      return weir_fail(WEIR_ERR_SHAPE,
                       "device %s: array %" PRId64 " of an arena has %" PRId64
                       " bytes: give sizes of at least 0 whose sum fits 63 bits",
                       d->row->name, i, bytes[i]);
    }
  }
  return WEIR_OK;
}

static void free_arena(weir_device_arena **arena)
{
  if (*arena != NULL) {
    weir_free(&(*arena)->arrays);
    weir_free(arena);
  }
}

weir_status weir_device_arena_create(weir_device *device, weir_device_space space, int64_t n,
                                     const int64_t *bytes, void **address, weir_device_arena **out)
{
  weir_status status = WEIR_OK;
  weir_device_arena *arena = NULL;
  void *memory = NULL;

  *out = NULL;
  WEIR_TRY(check_sizes(device, n, bytes));
  WEIR_TRY(weir_reserve(&device->arrays, &device->arrays_capacity, device->n_arrays + n,
                        sizeof(device_array *)));
  WEIR_TRY(weir_alloc(1, sizeof *arena, &memory));
  arena = memory;
  *arena = (weir_device_arena){.device = device, .space = space, .n = n};
  WEIR_TRY_GOTO(weir_alloc(n, sizeof(device_array), &memory), failed);
  arena->arrays = memory;
  for (int64_t i = 0; i < n; i++) {
    arena->arrays[i] = (device_array){
        .arena = arena, .bytes = bytes[i], .space = space, .number = device->numbers++};
  }
  WEIR_TRY_GOTO(device->ops->arena_create(arena), failed);
  for (int64_t i = 0; i < n; i++) {
    address[i] = bytes[i] > 0 ? arena->arrays[i].address : NULL;
    if (bytes[i] > 0) {
      list_array(device, &arena->arrays[i]);
    }
  }
  *out = arena;
  return WEIR_OK;
failed:
  free_arena(&arena);
  return status;
}

void weir_device_arena_destroy(weir_device_arena **arena)
{
  if (*arena != NULL) {
    (*arena)->device->ops->arena_destroy(*arena);
    unlist_arrays((*arena)->device, *arena);
    free_arena(arena);
  }
}

bool weir_device_poison(const weir_device *device, void *memory, int64_t bytes)
{
  if (device->ops->poison != NULL && bytes > 0) {
    device->ops->poison(memory, bytes);
  }
  return device->ops->poison != NULL;
}
