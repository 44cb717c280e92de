/* store.c - named persistent arrays, and their checked dump. */
#include "graph/weir_store.h"

#include <string.h>

#include "base/weir_alloc.h"

enum { NAME_MAX_BYTES = 255 };

struct entry {
  char *name;
  weir_tensor tensor;
};

struct weir_store {
  struct entry **entries; /* one by one: borrowed tensors stay where they are */
  int64_t n, capacity;
};

weir_status weir_store_create(weir_store **out)
{
  void *s;

  *out = NULL;
  WEIR_TRY(weir_alloc(1, sizeof(weir_store), &s));
  *out = s;
  return WEIR_OK;
}

static void destroy_entry(struct entry **e)
{
  if (*e != NULL) {
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
  if (weir_store_get(s, name) != NULL) {
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

/* An entry of that name, of no array yet, that is not the store's yet. */
static weir_status new_entry(weir_store *s, const char *name, struct entry **out)
{
  void *memory;
  struct entry *e;
  weir_status status;

  WEIR_TRY(weir_reserve(&s->entries, &s->capacity, s->n + 1, sizeof *s->entries));
  WEIR_TRY(weir_alloc(1, sizeof *e, &memory));
  e = memory;
  WEIR_TRY_GOTO(weir_strdup(name, &e->name), failed);
  *out = e;
  return WEIR_OK;
failed:
  destroy_entry(&e);
  return status;
}

weir_status weir_store_add(weir_store *s, const char *name, weir_dtype dtype, int rank,
                           const int64_t *shape)
{
  struct entry *e;

  WEIR_TRY(check_new(s, name, dtype));
  WEIR_TRY(new_entry(s, name, &e));
  const weir_status status = weir_tensor_init(&e->tensor, dtype, rank, shape);

  if (status != WEIR_OK) {
    destroy_entry(&e);
    return weir_trace_at(status, __FILE__, __LINE__, __func__);
  }
  s->entries[s->n++] = e;
  return WEIR_OK;
}

weir_status weir_store_add_view(weir_store *s, const char *name, const weir_tensor *t)
{
  struct entry *e;

  WEIR_TRY(check_new(s, name, t->dtype));
  if (!weir_tensor_is_contiguous(t)) {
    return weir_fail(WEIR_ERR_SHAPE, "stored '%s': its elements are not contiguous", name);
  }
  WEIR_TRY(new_entry(s, name, &e));
  e->tensor = weir_tensor_wrap(t->data, t->dtype, t->rank, t->shape);
  s->entries[s->n++] = e;
  return WEIR_OK;
}

weir_tensor *weir_store_get(const weir_store *s, const char *name)
{
  for (int64_t i = 0; i < s->n; i++) {
    if (strcmp(s->entries[i]->name, name) == 0) {
      return &s->entries[i]->tensor;
    }
  }
  return NULL;
}

int64_t weir_store_count(const weir_store *s)
{
  return s->n;
}

const char *weir_store_name(const weir_store *s, int64_t i)
{
  return i >= 0 && i < s->n ? s->entries[i]->name : NULL;
}
