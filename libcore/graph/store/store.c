/* store.c - named persistent arrays, and their checked dump. */
#include <string.h>

#include "base/weir_alloc.h"
#include "graph/store/store_priv.h"

enum { NAME_MAX_BYTES = 255 };

weir_status weir_store_create(weir_store **out)
{
  void *s;

  *out = NULL;
  WEIR_TRY(weir_alloc(1, sizeof(weir_store), &s));
  *out = s;
  return WEIR_OK;
}

static void destroy_entry(store_entry **e)
{
  if (*e != NULL) {
    store_entry_leave_device(*e);
    destroy_entry(&(*e)->kept);
    weir_tensor_fini(&(*e)->tensor);
    weir_free(&(*e)->name);
    weir_free(e);
  }
}

void weir_store_destroy(weir_store **s)
{
  if (s == NULL || *s == NULL) {
    return;
  }
  store_device_close(*s);
  for (int64_t i = 0; i < (*s)->n; i++) {
    destroy_entry(&(*s)->entries[i]);
  }
  weir_free(&(*s)->entries);
  weir_free(s);
}

static weir_status check_new(const weir_store *s, const char *name, weir_dtype dtype)
{
  if (name == NULL || name[0] == 0 || strlen(name) > NAME_MAX_BYTES) {
    return weir_fail(WEIR_ERR_CONFIG, "a stored array needs a name of 1 to %d bytes",
                     NAME_MAX_BYTES);
  }
  if (store_entry_find(s, name) != NULL) {
    return weir_fail(WEIR_ERR_CONFIG, "the store already has an array '%s'", name);
  }
  if ((unsigned)dtype >= WEIR_DTYPE_COUNT) {
    return weir_fail(WEIR_ERR_SHAPE, "stored '%s': unknown dtype %d", name, (int)dtype);
  }
  if (weir_dtype_is_storage(dtype)) {
    return weir_fail(WEIR_ERR_UNSUPPORTED,
                     "stored '%s': arrays are saved in f32; files cannot store %s", name,
                     weir_dtype_name(dtype));
  }
  return WEIR_OK;
}

/* An entry of that name without a tensor. */
static weir_status new_entry(const char *name, store_entry **out)
{
  void *memory;
  store_entry *e = NULL;
  weir_status status;

  WEIR_TRY(weir_alloc(1, sizeof *e, &memory));
  e = memory;
  WEIR_TRY_GOTO(weir_strdup(name, &e->name), failed);
  *out = e;
  return WEIR_OK;
failed:
  destroy_entry(&e);
  return status;
}

static void set_tensor(store_entry *e, const weir_tensor *t)
{
  e->tensor = *t;
  e->shape = weir_tensor_wrap(NULL, t->dtype, t->rank, t->shape);
  e->sides.host = &e->tensor;
  e->sides.bytes = (int64_t)weir_tensor_bytes(t);
}

static weir_status create_entry(const char *name, weir_dtype dtype, int rank, const int64_t *shape,
                                store_entry **out)
{
  store_entry *e = NULL;
  weir_tensor t;

  *out = NULL;
  WEIR_TRY(new_entry(name, &e));
  const weir_status status = weir_tensor_init(&t, dtype, rank, shape);

  if (status != WEIR_OK) {
    destroy_entry(&e);
    return weir_trace_at(status, __FILE__, __LINE__, __func__);
  }
  set_tensor(e, &t);
  *out = e;
  return WEIR_OK;
}

weir_status weir_store_add(weir_store *s, const char *name, weir_dtype dtype, int rank,
                           const int64_t *shape)
{
  WEIR_TRY(check_new(s, name, dtype));
  WEIR_TRY(weir_reserve(&s->entries, &s->capacity, s->n + 1, sizeof *s->entries));
  WEIR_TRY(create_entry(name, dtype, rank, shape, &s->entries[s->n]));
  s->n++;
  return WEIR_OK;
}

weir_status weir_store_add_view(weir_store *s, const char *name, const weir_tensor *t)
{
  store_entry *e = NULL;

  WEIR_TRY(check_new(s, name, t->dtype));
  if (!weir_tensor_is_contiguous(t)) {
    return weir_fail(WEIR_ERR_SHAPE, "stored '%s': its elements are not contiguous", name);
  }
  WEIR_TRY(weir_reserve(&s->entries, &s->capacity, s->n + 1, sizeof *s->entries));
  WEIR_TRY(new_entry(name, &e));
  const weir_tensor view = weir_tensor_wrap(t->data, t->dtype, t->rank, t->shape);

  set_tensor(e, &view);
  e->sides.pinned = true;
  s->entries[s->n++] = e;
  return WEIR_OK;
}

/* ---- Access by the host ---- */

store_entry *store_entry_find(const weir_store *s, const char *name)
{
  for (int64_t i = 0; i < s->n; i++) {
    if (strcmp(s->entries[i]->name, name) == 0) {
      return s->entries[i];
    }
  }
  return NULL;
}

const weir_tensor *weir_store_find(const weir_store *s, const char *name)
{
  const store_entry *e = store_entry_find(s, name);

  return e != NULL ? &e->shape : NULL;
}

static weir_status need(const weir_store *s, const char *name, store_entry **out)
{
  *out = store_entry_find(s, name);
  return *out != NULL ? WEIR_OK : weir_fail(WEIR_ERR_CONFIG, "the store has no array '%s'", name);
}

weir_status weir_store_read(const weir_store *s, const char *name, const weir_tensor **out)
{
  store_entry *e = NULL;

  *out = NULL;
  WEIR_TRY(need(s, name, &e));
  WEIR_TRY(store_entry_fetch(s, e));
  *out = &e->tensor;
  return WEIR_OK;
}

weir_status weir_store_write(weir_store *s, const char *name, weir_tensor **out)
{
  store_entry *e = NULL;

  *out = NULL;
  WEIR_TRY(need(s, name, &e));
  WEIR_TRY(store_entry_fetch(s, e));
  store_entry_changed(e);
  *out = &e->tensor;
  return WEIR_OK;
}

weir_status weir_store_pin(weir_store *s, const char *name, weir_tensor **out)
{
  WEIR_TRY(weir_store_write(s, name, out));
  store_entry_find(s, name)->sides.pinned = true;
  return WEIR_OK;
}

/* Copies the elements that both have; new element i is element first + i of before. */
static void copy_common(const weir_tensor *before, int64_t first, weir_tensor *after)
{
  const int64_t skip = first < 0 ? -first : 0, size = (int64_t)weir_dtype_size(before->dtype);
  const int64_t from = first + skip;
  const int64_t left = before->shape[0] - from, space = after->shape[0] - skip;
  const int64_t n = left < space ? left : space;

  if (n > 0) {
    memcpy((char *)after->data + skip * size, (const char *)before->data + from * size,
           (size_t)(n * size));
  }
}

weir_status weir_store_resize(weir_store *s, const char *name, int64_t first, int64_t count)
{
  weir_tensor *before = NULL, after;

  WEIR_TRY(weir_store_write(s, name, &before));
  if (before->rank != 1) {
    return weir_fail(WEIR_ERR_SHAPE, "stored '%s': has %d dimensions, not one", name, before->rank);
  }
  if (before->owned == NULL && weir_tensor_bytes(before) > 0) {
    return weir_fail(WEIR_ERR_CONFIG, "stored '%s': is in memory of its caller", name);
  }
  WEIR_TRY(weir_tensor_init(&after, before->dtype, 1, &count));
  copy_common(before, first, &after);
  store_entry *e = store_entry_find(s, name);

  store_entry_leave_device(e);
  destroy_entry(&e->kept);
  weir_tensor_fini(&e->tensor);
  set_tensor(e, &after);
  return WEIR_OK;
}

weir_status weir_store_clear(weir_store *s, const char *name)
{
  store_entry *e = NULL;

  WEIR_TRY(need(s, name, &e));
  WEIR_TRY(store_entry_clear(s, e));
  return WEIR_OK;
}

/* ---- Copies ---- */

weir_status weir_store_copy(weir_store *s, const char *to, const char *from)
{
  store_entry *x = NULL, *y = NULL;

  WEIR_TRY(need(s, to, &x));
  WEIR_TRY(need(s, from, &y));
  bool same = x->tensor.dtype == y->tensor.dtype && x->tensor.rank == y->tensor.rank;

  for (int d = 0; same && d < x->tensor.rank; d++) {
    same = x->tensor.shape[d] == y->tensor.shape[d];
  }
  if (!same) {
    return weir_fail(WEIR_ERR_SHAPE, "stored '%s' and '%s' differ in dtype or shape", to, from);
  }
  WEIR_TRY(store_entry_copy(s, x, y));
  return WEIR_OK;
}

weir_status weir_store_keep(weir_store *s, const char *name)
{
  store_entry *e = NULL;

  WEIR_TRY(need(s, name, &e));
  if (e->kept == NULL) {
    WEIR_TRY(create_entry(name, e->tensor.dtype, e->tensor.rank, e->tensor.shape, &e->kept));
  }
  WEIR_TRY(store_entry_copy(s, e->kept, e));
  return WEIR_OK;
}

weir_status weir_store_restore(weir_store *s, const char *name)
{
  store_entry *e = NULL;

  WEIR_TRY(need(s, name, &e));
  if (e->kept == NULL) {
    return weir_fail(WEIR_ERR_CONFIG, "stored '%s': no copy of it was kept", name);
  }
  WEIR_TRY(store_entry_copy(s, e, e->kept));
  return WEIR_OK;
}

int64_t weir_store_bytes(const weir_store *s)
{
  int64_t bytes = 0;

  for (int64_t i = 0; i < s->n; i++) {
    const store_entry *e = s->entries[i];

    bytes += e->sides.bytes + (e->kept != NULL ? e->kept->sides.bytes : 0);
  }
  return bytes;
}

int64_t weir_store_count(const weir_store *s)
{
  return s->n;
}

const char *weir_store_name(const weir_store *s, int64_t i)
{
  return i >= 0 && i < s->n ? s->entries[i]->name : NULL;
}
