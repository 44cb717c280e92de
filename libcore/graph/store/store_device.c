/* store_device.c - the two sides of stored arrays: versions, and copies between them. */
#include <string.h>

#include "base/weir_alloc.h"
#include "graph/store/store_priv.h"

/* ---- The device ---- */

void store_device_close(weir_store *s)
{
  WEIR_ASSERT(s->users == 0); /* plans over the store are destroyed first */
  for (int64_t i = 0; i < s->n; i++) {
    store_entry_leave_device(s->entries[i]);
  }
  weir_device_arena_destroy(&s->zeros_memory);
  s->zeros = NULL;
  weir_device_queue_destroy(&s->device.work);
  weir_device_queue_destroy(&s->device.copies);
  weir_device_close(&s->device.device);
}

static weir_status open_device(weir_store *s, const char *name)
{
  weir_status status;

  WEIR_TRY(weir_device_open(name, NULL, &s->device.device));
  WEIR_TRY_GOTO(weir_device_queue_create(s->device.device, &s->device.work), failed);
  WEIR_TRY_GOTO(weir_device_queue_create(s->device.device, &s->device.copies), failed);
  return WEIR_OK;
failed:
  store_device_close(s);
  return status;
}

/* What was kept stays: a device that is left has no plan whose step could fail. */
static weir_status leave_device(weir_store *s)
{
  for (int64_t i = 0; i < s->n; i++) {
    WEIR_TRY(store_entry_fetch(s, s->entries[i]));
    if (s->entries[i]->kept != NULL) {
      WEIR_TRY(store_entry_fetch(s, s->entries[i]->kept));
    }
  }
  store_device_close(s);
  return WEIR_OK;
}

weir_status weir_store_device_use(weir_store *s, const char *name, const weir_store_device **out)
{
  const char *open = s->device.device != NULL ? weir_device_name(s->device.device) : NULL;

  *out = NULL;
  if (open != NULL && strcmp(open, name) != 0) {
    if (s->users > 0) {
      return weir_fail(WEIR_ERR_CONFIG,
                       "device %s: plans over the same store use device %s: destroy them first",
                       name, open);
    }
    WEIR_TRY(leave_device(s));
  }
  if (s->device.device == NULL) {
    WEIR_TRY(open_device(s, name));
  }
  s->users++;
  *out = &s->device;
  return WEIR_OK;
}

void weir_store_device_release(weir_store *s)
{
  s->users--;
}

bool weir_store_has_device(const weir_store *s)
{
  return s->device.device != NULL;
}

/* ---- Memory ---- */

void store_entry_leave_device(store_entry *e)
{
  weir_device_arena_destroy(&e->device);
  weir_device_arena_destroy(&e->staging);
  e->sides.device = e->sides.staging = NULL;
  e->checked = false;
  if (e->kept != NULL) {
    store_entry_leave_device(e->kept);
  }
}

static weir_status create_memory(weir_store *s, store_entry *e)
{
  void *address = NULL;

  if (e->device != NULL || e->sides.bytes == 0) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_device_arena_create(s->device.device, WEIR_SPACE_STAGING, 1, &e->sides.bytes,
                                    &address, &e->staging));
  e->sides.staging = address;
  const weir_status status = weir_device_arena_create(s->device.device, WEIR_SPACE_DEVICE, 1,
                                                      &e->sides.bytes, &address, &e->device);

  if (status != WEIR_OK) {
    store_entry_leave_device(e);
    return weir_trace_at(status, __FILE__, __LINE__, __func__);
  }
  e->sides.device = address;
  e->sides.device_version = e->sides.host_version - 1;
  return WEIR_OK;
}

weir_status weir_store_sides_create(weir_store *s, const char *name)
{
  store_entry *e = store_entry_find(s, name);

  WEIR_ASSERT(e != NULL && s->device.device != NULL);
  WEIR_TRY(create_memory(s, e));
  return WEIR_OK;
}

const weir_store_sides *weir_store_sides_of(const weir_store *s, const char *name)
{
  const store_entry *e = store_entry_find(s, name);

  return e != NULL ? &e->sides : NULL;
}

/* ---- Undeclared writes, where the device checks accesses ---- */

/* Fowler, Noll and Vo's FNV-1a, of 8 bytes at a time. */
static uint64_t digest_of(const store_entry *e)
{
  const char *at = e->tensor.data;
  uint64_t digest = 14695981039346656037u, word = 0;

  for (int64_t left = e->sides.bytes; left > 0; left -= (int64_t)sizeof word) {
    memcpy(&word, at, left < (int64_t)sizeof word ? (size_t)left : sizeof word);
    digest = (digest ^ word) * 1099511628211u;
    at += sizeof word;
  }
  return digest;
}

static weir_status check_unchanged(const store_entry *e)
{
  if (e->checked && digest_of(e) != e->digest) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "the stored array '%s' was changed on the host without weir_store_write",
                     e->name);
  }
  return WEIR_OK;
}

/* After a run, or a copy: an old host's side holds NaN, and no side changes unnoticed. */
static void watch(const weir_store *s, store_entry *e)
{
  const weir_store_sides *sides = &e->sides;
  const bool old = sides->host_version < sides->device_version;

  e->checked = !sides->pinned && sides->bytes > 0 &&
               weir_device_poison(s->device.device, e->tensor.data, old ? sides->bytes : 0);
  e->digest = e->checked ? digest_of(e) : 0;
}

/* ---- Versions ---- */

/* Newer than both sides. */
static int64_t next_version(const weir_store_sides *s)
{
  return 1 + (s->host_version > s->device_version ? s->host_version : s->device_version);
}

void store_entry_changed(store_entry *e)
{
  e->checked = false;
  e->sides.host_version = next_version(&e->sides);
}

/* The device's side has a new value. */
static void changed_there(const weir_store *s, store_entry *e)
{
  e->sides.device_version = next_version(&e->sides);
  watch(s, e);
}

weir_status weir_store_sides_begin(weir_store *s, const char *name)
{
  store_entry *e = store_entry_find(s, name);

  WEIR_TRY(check_unchanged(e));
  if (e->sides.pinned) {
    store_entry_changed(e);
  }
  return WEIR_OK;
}

void weir_store_sides_end(weir_store *s, const char *name, weir_store_newest newest)
{
  store_entry *e = store_entry_find(s, name);
  weir_store_sides *sides = &e->sides;

  if (newest == WEIR_STORE_HOST) {
    sides->host_version = next_version(sides);
  } else if (newest == WEIR_STORE_DEVICE) {
    sides->device_version = next_version(sides);
  } else if (sides->host_version > sides->device_version) {
    sides->device_version = sides->host_version;
  } else {
    sides->host_version = sides->device_version;
  }
  watch(s, e);
}

/* ---- Copies ---- */

weir_status store_entry_fetch(const weir_store *s, store_entry *e)
{
  weir_store_sides *sides = &e->sides;

  WEIR_TRY(check_unchanged(e));
  if (sides->host_version >= sides->device_version) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_device_copy(s->device.copies, sides->staging, sides->device, sides->bytes));
  WEIR_TRY(weir_device_queue_sync(s->device.copies));
  memcpy(e->tensor.data, sides->staging, (size_t)sides->bytes);
  sides->host_version = sides->device_version;
  watch(s, e);
  return WEIR_OK;
}

/* Inside the device, which has the newest of `from`. */
static weir_status copy_on_device(weir_store *s, store_entry *to, const store_entry *from)
{
  WEIR_TRY(create_memory(s, to));
  WEIR_TRY(
      weir_device_copy(s->device.work, to->sides.device, from->sides.device, from->sides.bytes));
  WEIR_TRY(weir_device_queue_sync(s->device.work));
  changed_there(s, to);
  return WEIR_OK;
}

static weir_status create_zeros(weir_store *s)
{
  const int64_t bytes = STORE_ZEROS;
  weir_device_arena *staging = NULL;
  void *address = NULL;
  weir_status status, waited;

  if (s->zeros != NULL) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_device_arena_create(s->device.device, WEIR_SPACE_DEVICE, 1, &bytes, &address,
                                    &s->zeros_memory));
  char *const zeros = address;

  WEIR_TRY_GOTO(
      weir_device_arena_create(s->device.device, WEIR_SPACE_STAGING, 1, &bytes, &address, &staging),
      done);
  memset(address, 0, STORE_ZEROS);
  WEIR_TRY_GOTO(weir_device_copy(s->device.work, zeros, address, bytes), done);
done:
  waited = weir_device_queue_sync(s->device.work);
  status = status != WEIR_OK ? status : waited;
  weir_device_arena_destroy(&staging);
  if (status != WEIR_OK) {
    weir_device_arena_destroy(&s->zeros_memory);
    return weir_trace_at(status, __FILE__, __LINE__, __func__);
  }
  s->zeros = zeros;
  return WEIR_OK;
}

weir_status store_entry_clear(weir_store *s, store_entry *e)
{
  const weir_store_sides *sides = &e->sides;

  WEIR_TRY(check_unchanged(e));
  if (sides->device == NULL || sides->pinned) {
    if (sides->bytes > 0) {
      memset(e->tensor.data, 0, (size_t)sides->bytes);
    }
    store_entry_changed(e);
    return WEIR_OK;
  }
  WEIR_TRY(create_zeros(s));
  for (int64_t at = 0; at < sides->bytes; at += STORE_ZEROS) {
    const int64_t left = sides->bytes - at;

    WEIR_TRY(weir_device_copy(s->device.work, sides->device + at, s->zeros,
                              left < STORE_ZEROS ? left : STORE_ZEROS));
  }
  WEIR_TRY(weir_device_queue_sync(s->device.work));
  changed_there(s, e);
  return WEIR_OK;
}

weir_status store_entry_copy(weir_store *s, store_entry *to, store_entry *from)
{
  const weir_store_sides *sides = &from->sides;

  WEIR_TRY(check_unchanged(to));
  WEIR_TRY(check_unchanged(from));
  if (sides->device != NULL && sides->device_version >= sides->host_version && !sides->pinned &&
      !to->sides.pinned) {
    WEIR_TRY(copy_on_device(s, to, from));
    return WEIR_OK;
  }
  WEIR_TRY(store_entry_fetch(s, from));
  if (sides->bytes > 0) {
    memcpy(to->tensor.data, from->tensor.data, (size_t)sides->bytes);
  }
  store_entry_changed(to);
  return WEIR_OK;
}
