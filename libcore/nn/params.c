/* params.c - the layout of a network: rows of one flat parameter buffer, and other buffers. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "nn/nn_priv.h"

weir_status weir_params_create(weir_dtype dtype, weir_params **out)
{
  void *p;

  *out = NULL;
  if ((unsigned)dtype >= WEIR_DTYPE_COUNT || !weir_dtype_is_real(dtype)) {
    return weir_fail(WEIR_ERR_SHAPE, "parameters must be floats, not dtype %d", (int)dtype);
  }
  WEIR_TRY(weir_alloc(1, sizeof(weir_params), &p));
  *out = p;
  (*out)->dtype = dtype;
  return WEIR_OK;
}

/* The names are ours, const for those who read them. */
static void free_name(const char *name)
{
  void *memory = (void *)(uintptr_t)name;

  weir_free(&memory);
}

void weir_params_destroy(weir_params **p)
{
  if (p == NULL || *p == NULL) {
    return;
  }
  for (int64_t i = 0; i < (*p)->n_rows; i++) {
    free_name((*p)->row[i].name);
  }
  for (int64_t i = 0; i < (*p)->n_buffers; i++) {
    free_name((*p)->buffer[i].name);
  }
  weir_free(&(*p)->row);
  weir_free(&(*p)->buffer);
  weir_free(p);
}

int64_t weir_params_count(const weir_params *p)
{
  return p->n_rows;
}

const weir_param_row *weir_params_get(const weir_params *p, int64_t i)
{
  return &p->row[i];
}

int64_t weir_params_find(const weir_params *p, const char *name)
{
  for (int64_t i = 0; i < p->n_rows; i++) {
    if (strcmp(p->row[i].name, name) == 0) {
      return i;
    }
  }
  return -1;
}

const nn_buffer *nn_params_buffer(const weir_params *p, const char *name)
{
  for (int64_t i = 0; i < p->n_buffers; i++) {
    if (strcmp(p->buffer[i].name, name) == 0) {
      return &p->buffer[i];
    }
  }
  return NULL;
}

int64_t weir_params_elements(const weir_params *p)
{
  return p->elements;
}

weir_dtype weir_params_dtype(const weir_params *p)
{
  return p->dtype;
}

weir_store *weir_params_store(const weir_params *p)
{
  return p->store;
}

const char *nn_shape_text(int rank, const int64_t *shape, char *out, size_t size)
{
  size_t n = (size_t)snprintf(out, size, "[");

  for (int d = 0; d < rank && n < size; d++) {
    n += (size_t)snprintf(out + n, size - n, "%s%" PRId64, d > 0 ? ", " : "", shape[d]);
  }
  if (n < size) {
    snprintf(out + n, size - n, "]");
  }
  return out;
}

static weir_status check_new(const weir_params *p, const char *name, int rank, const int64_t *shape,
                             int64_t *count)
{
  if (weir_params_find(p, name) >= 0 || nn_params_buffer(p, name) != NULL) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "parameter '%s' is declared twice: open a scope per layer, or pass the value "
                     "on to share it",
                     name);
  }
  if (strcmp(name, WEIR_PARAMS_FLAT) == 0) {
    return weir_fail(WEIR_ERR_CONFIG, "parameter '%s' has the reserved name of the flat buffer",
                     name);
  }
  if (rank < 0 || rank > WEIR_MAX_RANK) {
    return weir_fail(WEIR_ERR_SHAPE, "parameter '%s' has rank %d", name, rank);
  }
  *count = 1;
  for (int d = 0; d < rank; d++) {
    if (shape[d] < 1 || !weir_mul_ok(*count, shape[d], count) || *count > INT64_MAX / 16) {
      char text[256];

      return weir_fail(WEIR_ERR_SHAPE, "parameter '%s' cannot have the shape %s", name,
                       nn_shape_text(rank, shape, text, sizeof text));
    }
  }
  return WEIR_OK;
}

weir_status nn_params_declare(weir_params *p, const char *name, const weir_param_spec *spec)
{
  int64_t count = 0, end = 0;
  char *kept;

  WEIR_TRY(check_new(p, name, spec->rank, spec->shape, &count));
  if (spec->init.kind <= WEIR_INIT_DEFAULT || spec->init.kind >= WEIR_INIT_KINDS) {
    return weir_fail(WEIR_ERR_CONFIG, "parameter '%s': unknown initialiser %d", name,
                     (int)spec->init.kind);
  }
  if (!weir_add_ok(p->elements, count, &end) || end > INT64_MAX / 16) {
    return weir_fail(WEIR_ERR_SHAPE, "the size of the parameters overflows at '%s'", name);
  }
  WEIR_TRY(weir_reserve(&p->row, &p->row_capacity, p->n_rows + 1, sizeof *p->row));
  WEIR_TRY(weir_strdup(name, &kept));
  weir_param_row *row = &p->row[p->n_rows++];

  *row = (weir_param_row){.name = kept,
                          .rank = spec->rank,
                          .first = p->elements,
                          .count = count,
                          .decay = spec->decay,
                          .init = spec->init};
  memcpy(row->shape, spec->shape, (size_t)spec->rank * sizeof *row->shape);
  p->elements = end;
  return WEIR_OK;
}

weir_status nn_params_declare_buffer(weir_params *p, const char *name, int rank,
                                     const int64_t *shape, double initial)
{
  int64_t count = 0;
  char *kept;

  WEIR_TRY(check_new(p, name, rank, shape, &count));
  WEIR_TRY(weir_reserve(&p->buffer, &p->buffer_capacity, p->n_buffers + 1, sizeof *p->buffer));
  WEIR_TRY(weir_strdup(name, &kept));
  nn_buffer *s = &p->buffer[p->n_buffers++];

  *s = (nn_buffer){.name = kept, .rank = rank, .initial = initial};
  memcpy(s->shape, shape, (size_t)rank * sizeof *s->shape);
  return WEIR_OK;
}

weir_status weir_params_seal(weir_params *p, weir_store *store)
{
  if (p->store != NULL) {
    return weir_fail(WEIR_ERR_CONFIG, "the parameters are sealed already");
  }
  WEIR_TRY(weir_store_add(store, WEIR_PARAMS_FLAT, p->dtype, 1, &p->elements));
  for (int64_t i = 0; i < p->n_buffers; i++) {
    const nn_buffer *s = &p->buffer[i];

    WEIR_TRY(weir_store_add(store, s->name, p->dtype, s->rank, s->shape));
  }
  p->store = store;
  return WEIR_OK;
}

static weir_status find_array(weir_store *store, const char *name, int64_t count, weir_tensor **out)
{
  if (weir_store_find(store, name) == NULL) {
    return weir_fail(WEIR_ERR_CONFIG, "the store has no array '%s': seal the parameters first",
                     name);
  }
  WEIR_TRY(weir_store_write(store, name, out));
  if (weir_tensor_numel(*out) != count || !weir_dtype_is_real((*out)->dtype)) {
    return weir_fail(WEIR_ERR_SHAPE, "'%s' of the store has %" PRId64 " elements, not %" PRId64,
                     name, weir_tensor_numel(*out), count);
  }
  return WEIR_OK;
}

weir_status weir_params_init(const weir_params *p, weir_store *store, uint64_t seed)
{
  weir_tensor *flat;

  WEIR_TRY(find_array(store, WEIR_PARAMS_FLAT, p->elements, &flat));
  for (int64_t i = 0; i < p->n_rows; i++) {
    const weir_param_row *row = &p->row[i];
    char *at = (char *)flat->data + (size_t)row->first * weir_dtype_size(flat->dtype);
    weir_tensor t = weir_tensor_wrap(at, flat->dtype, row->rank, row->shape);

    WEIR_TRY(weir_init_fill(&row->init, seed, row->name, &t));
  }
  for (int64_t i = 0; i < p->n_buffers; i++) {
    const nn_buffer *s = &p->buffer[i];
    const weir_init init = {.kind = WEIR_INIT_CONSTANT, .value = s->initial};
    const weir_tensor like = weir_tensor_wrap(NULL, p->dtype, s->rank, s->shape);
    weir_tensor *t;

    WEIR_TRY(find_array(store, s->name, weir_tensor_numel(&like), &t));
    WEIR_TRY(weir_init_fill(&init, seed, s->name, t));
  }
  return WEIR_OK;
}

void weir_params_print(const weir_params *p, FILE *out)
{
  char shape[256];

  fprintf(out, "parameters: %" PRId64 " in %" PRId64 " arrays, %s\n", p->elements, p->n_rows,
          weir_dtype_name(p->dtype));
  for (int64_t i = 0; i < p->n_rows; i++) {
    const weir_param_row *row = &p->row[i];

    fprintf(out, "  %-40s %-24s %10" PRId64 "%s\n", row->name,
            nn_shape_text(row->rank, row->shape, shape, sizeof shape), row->count,
            row->decay ? "" : "  no decay");
  }
  for (int64_t i = 0; i < p->n_buffers; i++) {
    const nn_buffer *s = &p->buffer[i];

    fprintf(out, "  %-40s %-24s buffer\n", s->name,
            nn_shape_text(s->rank, s->shape, shape, sizeof shape));
  }
}
