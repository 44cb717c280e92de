/* backend_check.h - a graph run on a device, and its results as bytes. Tests only. */
#ifndef BACKEND_CHECK_H
#define BACKEND_CHECK_H
#include <stdlib.h>
#include <string.h>

#include "support/graph/store_check.h"
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "exec/backend/device/backend.h"
#include "support/exec/kernel_dir.h"

enum { BACKEND_MAX = 64 };

/* Results of a run, then stored arrays; groups on the host and bytes copied, of a device. */
typedef struct backend_bits {
  weir_tensor tensor[BACKEND_MAX];
  int n;
  int host;
  int pairs;              /* kernels that access both parts of complex numbers at once */
  int wide, narrow, rows; /* vectors that maps on the device load and store; of them with so many
                             bytes less than 16; maps whose threads have several rows */
  int64_t up, down, host_up, host_down;
} backend_bits;

static inline weir_exec_cfg backend_config(const char *device)
{
  weir_exec_cfg cfg;

  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  cfg.tier = WEIR_TIER_VECTOR;
  cfg.kernel = "none"; /* also on devices, which take the CPU's for library operators */
  cfg.device = device;
  cfg.device_blocks = 1; /* threads of small maps, too, take several elements */
  cfg.kernel_dir = draw_kernel_dir();
  return cfg;
}

/* Calls body for every device but the cpu that this machine has. */
static inline void backend_each(void (*body)(const char *device))
{
  for (int k = 0; weir_device_row_get(k) != NULL; k++) {
    const char *name = weir_device_row_get(k)->name;
    weir_device *d = NULL;

    if (strcmp(name, "cpu") != 0 && weir_device_open(name, NULL, &d) == WEIR_OK) {
      weir_device_close(&d);
      body(name);
    }
  }
}

/* Numbers in [-1, 1) for the k-th array. */
static inline void backend_fill(weir_tensor *t, uint32_t k)
{
  const weir_dtype part = weir_dtype_part(t->dtype);
  const int64_t n = weir_tensor_numel(t) * weir_dtype_parts(t->dtype);

  for (int64_t i = 0; i < n; i++) {
    weir_dtype_store_real(part, t->data, i, 2 * weir_random_uniform(9, k, 0, (uint64_t)i) - 1);
  }
}

/* A tensor for every input and result, inputs filled. */
static inline int backend_bind(const weir_graph *g, weir_tensor *tensors, weir_binding *bindings)
{
  int n = 0;

  for (int32_t a = 0; a < weir_graph_arrays(g); a++) {
    const weir_array *array = weir_graph_get_array(g, a);
    const weir_array_desc *d = &array->desc;
    const bool input = array->kind == WEIR_ARRAY_INPUT;

    for (int k = 0; k < 2; k++) {
      if (k == 0 ? input : array->output != NULL) {
        assert_true(n < BACKEND_MAX);
        assert_ok(weir_tensor_init(&tensors[n], d->dtype, d->rank, d->shape));
        if (k == 0) {
          backend_fill(&tensors[n], (uint32_t)a);
        }
        bindings[n] = (weir_binding){k == 0 ? array->name : array->output, &tensors[n]};
        n++;
      }
    }
  }
  return n;
}

/* Of a loop of real numbers. */
static inline void backend_count_wide(const weir_access *a, backend_bits *bits)
{
  exec_layout layout;
  exec_places s;
  native_form form;

  assert_ok(native_form_of(a, &form));
  assert_ok(exec_layout_of(&form, false, &layout));
  layout.dense = true;
  exec_layout_spread(&form, 1, &layout);
  exec_places_of(a, &layout, &s);
  bits->rows += layout.n_repeats > (layout.wide > 1);
  for (int k = 0; k < a->n_in + a->n_out; k++) {
    const native_place *p = k < a->n_in ? &s.in[k] : &s.out[k - a->n_in];
    const weir_dtype dtype = k < a->n_in ? a->in[k].dtype : a->out[k - a->n_in].dtype;

    bits->wide += p->wide > 1;
    bits->narrow += p->wide > 1 && exec_access_bytes(dtype, p->wide) < 16;
  }
}

static inline void backend_note(const weir_plan *p, backend_bits *bits)
{
  for (int32_t i = 0; p->backend != NULL && i < p->n_groups; i++) {
    const exec_group *group = &p->groups[i];

    bits->host += !group->on_device;
    for (int32_t k = 0; k < group->n_loops && group->on_device && !p->streaming; k++) {
      backend_count_wide(&group->loops[k].loop->access, bits);
    }
  }
  for (int64_t k = 0; p->backend != NULL && k < p->backend->n_kernels; k++) {
    bits->pairs += strstr(p->backend->kernels[k].text, "} pair_") != NULL;
  }
  if (p->backend != NULL) {
    bits->up = p->backend->counted.up;
    bits->down = p->backend->counted.down;
    bits->host_up = p->backend->counted.host_up;
    bits->host_down = p->backend->counted.host_down;
  }
}

static inline backend_bits backend_run_times(const weir_graph *g, weir_store *store,
                                             const char *device, int times)
{
  const weir_exec_cfg cfg = backend_config(device);
  weir_binding bindings[BACKEND_MAX];
  backend_bits bits = {.n = 0};
  weir_plan *p = NULL;

  assert_ok(weir_plan_create(g, store, &(weir_plan_opts){.exec = &cfg}, &p));
  bits.n = backend_bind(g, bits.tensor, bindings);
  for (int k = 0; k < times; k++) {
    assert_ok(weir_plan_run(p, bindings, bits.n));
  }
  backend_note(p, &bits);
  for (int64_t k = 0; store != NULL && k < weir_store_count(store); k++) {
    const weir_tensor *t = check_stored(store, weir_store_name(store, k));

    assert_true(bits.n < BACKEND_MAX);
    assert_ok(weir_tensor_init(&bits.tensor[bits.n], t->dtype, t->rank, t->shape));
    assert_ok(weir_tensor_copy(t, &bits.tensor[bits.n++]));
  }
  weir_plan_destroy(&p);
  return bits;
}

static inline backend_bits backend_run(const weir_graph *g, weir_store *store, const char *device)
{
  return backend_run_times(g, store, device, 1);
}

/* Number of the first byte that differs, -1: none, of the same NaNs. */
static inline int64_t backend_difference(const weir_tensor *a, const weir_tensor *b)
{
  const weir_dtype part = weir_dtype_part(a->dtype);
  const size_t size = weir_dtype_size(part);
  const int64_t n = weir_tensor_numel(a) * weir_dtype_parts(a->dtype);

  for (int64_t i = 0; i < n; i++) {
    const char *x = (const char *)a->data + (size_t)i * size;
    const char *y = (const char *)b->data + (size_t)i * size;
    const bool real = weir_dtype_is_real(part);
    const double u = real ? weir_dtype_load_real(part, x, 0) : 0;
    const double v = real ? weir_dtype_load_real(part, y, 0) : 0;

    if (memcmp(x, y, size) != 0 && !(u != u && v != v)) {
      return i;
    }
  }
  return -1;
}

/* Frees both. */
static inline void backend_compare(backend_bits *a, backend_bits *b)
{
  assert_int_equal(a->n, b->n);
  for (int k = 0; k < a->n; k++) {
    const int64_t at = backend_difference(&a->tensor[k], &b->tensor[k]);

    if (at >= 0) {
      print_error("array %d differs at %lld\n", k, (long long)at);
    }
    assert_true(at < 0);
    weir_tensor_fini(&a->tensor[k]);
    weir_tensor_fini(&b->tensor[k]);
  }
}
#endif
