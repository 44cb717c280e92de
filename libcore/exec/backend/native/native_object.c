/* native_object.c - kernels of loops: found in objects that earlier plans left, whichever plans and
 * sizes those were of, or compiled in as many pieces at once as there are threads. */
#include "exec/backend/native/native_priv.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/weir_alloc.h"
#include "base/weir_clock.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "device/weir_compile.h"
#include "device/weir_objects.h"

/* What of a plan is found in more objects than MAX is recompiled, together: each of them takes
 * a descriptor. A compiler is not started for less C than MIN bytes where another one runs. */
enum { MAX = 32, MIN = 16384 };

/* ---- What a kernel is. ---- */

weir_status native_maker_init(native_maker *m, const char *compiler, native_text *text)
{
  char cpu[8192], identity[256], digest[65];
  int n_flags, n_tuning;
  const char *const *flags = native_compiler_flags(&n_flags, &n_tuning);

  WEIR_TRY(weir_compiler_find(compiler, m->compiler, identity));
  text->n = 0;
  native_put_prelude(text);
  WEIR_TRY(text->status);
  weir_sha256(text->text, (size_t)text->n, digest);
  native_cpu_identity(cpu, sizeof cpu);
  text->n = 0;
  native_put(text, "weir native %d\nprelude %s\ncompiler %s\npointer %zu\n%s", NATIVE_ABI, digest,
             identity, sizeof(void *), cpu);
  for (int i = 0; i < n_flags; i++) {
    native_put(text, "%s\n", flags[i]);
  }
  WEIR_TRY(text->status);
  weir_sha256(text->text, (size_t)text->n, m->base);
  return WEIR_OK;
}

weir_status native_kernel_of(const native_maker *m, const native_form *f, native_text *text,
                             native_kernel *kernel)
{
  text->n = 0;
  native_put_kernel(f, 0, text);
  kernel->size = text->n;
  native_put_monoid(f, text);
  native_put_entry(f, 0, text);
  native_put(text, "%s\n", m->base);
  WEIR_TRY(text->status);
  weir_sha256(text->text, (size_t)text->n, kernel->key);
  kernel->form = f;
  return WEIR_OK;
}

/* ---- Loading. ---- */

/* Handle of the file of fd, NULL: failed. The loader knows objects by name, and the name of a
 * descriptor is its number: an object still loaded under this number, whose own descriptor is
 * closed, would be returned instead. Its source then tells, and another number is tried. */
static void *load_descriptor(int *fd, const char *source)
{
  int wrong[16], n_wrong = 0;
  void *handle = NULL;

  while (handle == NULL && n_wrong < 16) {
    char name[64];
    snprintf(name, sizeof name, "/proc/self/fd/%d", *fd);
    handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
      break;
    }
    const char *found = dlsym(handle, "weir_native_source");
    if (found == NULL || strcmp(found, source) != 0) {
      dlclose(handle);
      handle = NULL;
      wrong[n_wrong++] = *fd;
      *fd = fcntl(*fd, F_DUPFD_CLOEXEC, *fd + 1);
      if (*fd < 0) {
        break;
      }
    }
  }
  while (n_wrong > 0) {
    close(wrong[--n_wrong]);
  }
  return handle;
}

/* Takes over fd. name: digest of the object's source. */
static weir_status load_object(int fd, const char *name, native_object **out)
{
  void *memory;

  *out = NULL;
  const weir_status status = weir_alloc(1, sizeof(native_object), &memory);
  if (status != WEIR_OK) {
    close(fd);
    return weir_trace_at(status, __FILE__, __LINE__, __func__);
  }
  native_object *object = memory;
  object->handle = load_descriptor(&fd, name);
  object->fd = fd;
  atomic_init(&object->users, 1);
  if (object->handle != NULL) {
    const int *abi = dlsym(object->handle, "weir_native_abi");
    const int *count = dlsym(object->handle, "weir_native_count");
    object->kernels = dlsym(object->handle, "weir_native_kernels");
    object->keys = dlsym(object->handle, "weir_native_keys");
    if (abi != NULL && *abi == NATIVE_ABI && count != NULL && object->kernels != NULL &&
        object->keys != NULL) {
      object->n = *count;
      *out = object;
      return WEIR_OK;
    }
  }
  const char *reason = dlerror();
  const weir_status failed =
      weir_fail(WEIR_ERR_UNSUPPORTED, "compiled loops cannot be loaded: %s",
                reason != NULL ? reason : "they differ from the compiled loops");
  native_object_release(object);
  return failed;
}

void native_object_release(native_object *object)
{
  if (object == NULL || atomic_fetch_sub(&object->users, 1) > 1) {
    return;
  }
  if (object->handle != NULL) {
    dlclose(object->handle);
  }
  if (object->fd >= 0) {
    close(object->fd);
  }
  weir_free(&object);
}

/* False when the object does not hold the kernel. */
static bool take(native_kernel *kernel, native_object *object)
{
  for (int k = 0; k < object->n; k++) {
    if (strcmp(object->keys[k], kernel->key) == 0) {
      atomic_fetch_add(&object->users, 1);
      kernel->object = object;
      kernel->code = &object->kernels[k];
      return true;
    }
  }
  return false;
}

/* ---- Finding. ---- */

/* Objects that notes of kernels lead to; NULL: looked for, and not to be had. */
typedef struct found {
  native_object *object[MAX];
  char name[MAX][65];
  int n;
} found;

static weir_status look_up(int folder, found *all, native_kernel *kernel)
{
  char name[65];
  int k = 0, fd = -1;

  if (!native_cache_find(folder, kernel->key, name)) {
    return WEIR_OK;
  }
  while (k < all->n && strcmp(all->name[k], name) != 0) {
    k++;
  }
  if (k == MAX) {
    return WEIR_OK;
  }
  if (k == all->n) {
    memcpy(all->name[k], name, sizeof name);
    all->object[k] = NULL;
    all->n++;
    WEIR_TRY(weir_objects_find(folder, name, &fd));
    if (fd >= 0) {
      const weir_status status = load_object(fd, name, &all->object[k]);

      if (status != WEIR_ERR_UNSUPPORTED) {
        WEIR_TRY(status);
      } else { /* a folder without the right to execute, say: recompiled */
        weir_objects_refuse(name, weir_last_message());
        weir_clear_failure();
      }
    }
  }
  if (all->object[k] != NULL && !take(kernel, all->object[k])) {
    weir_objects_refuse(name, "lacks a required kernel");
  }
  return WEIR_OK;
}

static weir_status find(int folder, native_kernel *kernels, int32_t n)
{
  weir_status status = WEIR_OK;
  found all = {.n = 0};
  int64_t hits = 0;

  for (int32_t k = 0; k < n && folder >= 0; k++) {
    if (kernels[k].object == NULL) {
      WEIR_TRY_GOTO(look_up(folder, &all, &kernels[k]), done);
      hits += kernels[k].object != NULL;
    }
  }
  if (hits > 0) {
    weir_event("cache_hit", WEIR_INT("kernels", hits), WEIR_INT("of", n));
  }
done:
  for (int k = 0; k < all.n; k++) {
    native_object_release(all.object[k]);
  }
  return status;
}

/* ---- Compiling. ---- */

/* Kernels that are compiled together. */
typedef struct piece {
  native_kernel **kernels;
  int n;
  int64_t size;
  char name[65]; /* of the object */
} piece;

static bool has_monoid_before(const piece *p, int k)
{
  for (int j = 0; j < k; j++) {
    if (native_same_monoid(p->kernels[j]->form, p->kernels[k]->form)) {
      return true;
    }
  }
  return false;
}

static weir_status put_piece(piece *p, native_text *t)
{
  native_put_prelude(t);
  for (int k = 0; k < p->n; k++) {
    if (!has_monoid_before(p, k)) {
      native_put_monoid(p->kernels[k]->form, t);
    }
    native_put_kernel(p->kernels[k]->form, k, t);
  }
  native_put(t,
             "const int weir_native_abi = NATIVE_ABI;\n"
             "const int weir_native_count = %d;\n"
             "const char weir_native_keys[][65] = {\n",
             p->n);
  for (int k = 0; k < p->n; k++) {
    native_put(t, "  \"%s\",\n", p->kernels[k]->key);
  }
  native_put(t, "};\nconst native_kernels weir_native_kernels[] = {\n");
  for (int k = 0; k < p->n; k++) {
    native_put_entry(p->kernels[k]->form, k, t);
  }
  native_put(t, "};\n");
  WEIR_TRY(t->status);
  weir_sha256(t->text, (size_t)t->n, p->name);
  native_put(t, "const char weir_native_source[] = \"%s\";\n", p->name);
  WEIR_TRY(t->status);
  return WEIR_OK;
}

static int by_size(const void *a, const void *b)
{
  const native_kernel *x = *(native_kernel *const *)a, *y = *(native_kernel *const *)b;

  return x->size != y->size ? (x->size < y->size ? 1 : -1) : strcmp(x->key, y->key);
}

static int count_pieces(native_kernel *const *list, int32_t n, int threads)
{
  int64_t size = 0;

  for (int32_t k = 0; k < n; k++) {
    size += list[k]->size;
  }
  int64_t count = 1 + size / MIN;
  count = count < threads ? count : threads;
  count = count < NATIVE_PIECES ? count : NATIVE_PIECES;
  return count > 1 ? (int)count : 1;
}

/* Shares n kernels out, the largest first, each to the piece that is smallest so far. Every piece
 * has capacity for all of them. */
static void share(native_kernel **list, int32_t n, piece *pieces, int count)
{
  qsort(list, (size_t)n, sizeof *list, by_size);
  for (int32_t k = 0; k < n; k++) {
    piece *min = &pieces[0];

    for (int j = 1; j < count; j++) {
      min = pieces[j].size < min->size ? &pieces[j] : min;
    }
    min->kernels[min->n++] = list[k];
    min->size += list[k]->size;
  }
}

/* Loads what was compiled from a piece, and keeps it. */
static weir_status finish(const char *private, int number, const piece *p, int folder,
                          int64_t *bytes)
{
  char path[4096];
  native_object *object = NULL;
  int64_t n = 0;

  weir_compiled_path(private, number, path);
  int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0 || fchmod(fd, 0600) != 0) {
    const weir_status failed =
        weir_fail(WEIR_ERR_UNSUPPORTED, "%s: the compiled file cannot be read: %m", path);
    if (fd >= 0) {
      close(fd);
    }
    return failed;
  }
  const weir_status status =
      native_cache_keep(folder, fd, p->name, (const native_kernel *const *)p->kernels, p->n, &n);
  if (status != WEIR_OK) {
    close(fd);
    return weir_trace_at(status, __FILE__, __LINE__, __func__);
  }
  WEIR_TRY(load_object(fd, p->name, &object));
  bool whole = true;
  for (int k = 0; k < p->n; k++) {
    whole = take(p->kernels[k], object) && whole;
  }
  native_object_release(object);
  *bytes += n;
  return whole ? WEIR_OK
               : weir_fail(WEIR_ERR_UNSUPPORTED, "%s: the compiled file is incomplete", path);
}

static weir_status build(const native_maker *m, int threads, int folder, native_kernel **list,
                         int32_t n)
{
  const int count = count_pieces(list, n, threads);
  piece pieces[NATIVE_PIECES];
  native_text texts[NATIVE_PIECES] = {{0}};
  const char *sources[NATIVE_PIECES];
  weir_compiler compiler = {.command = m->compiler};
  native_kernel **kernels = NULL;
  char private[4096] = "";
  const double start = weir_clock();
  int64_t bytes = 0;
  weir_status status;
  void *memory;

  WEIR_TRY(weir_alloc((int64_t)n * count, sizeof *kernels, &memory));
  kernels = memory;
  for (int k = 0; k < count; k++) {
    pieces[k] = (piece){.kernels = kernels + (int64_t)k * n};
  }
  share(list, n, pieces, count);
  for (int k = 0; k < count; k++) {
    WEIR_TRY_GOTO(put_piece(&pieces[k], &texts[k]), done);
    sources[k] = texts[k].text;
  }
  compiler.flags = native_compiler_flags(&compiler.n_flags, &compiler.n_tuning);
  WEIR_TRY_GOTO(weir_compile(&compiler, sources, count, private), done);
  for (int k = 0; k < count; k++) {
    WEIR_TRY_GOTO(finish(private, k, &pieces[k], folder, &bytes), done);
  }
  weir_event("cache_compiled", WEIR_INT("kernels", n), WEIR_INT("objects", count),
             WEIR_REAL("seconds", weir_clock() - start), WEIR_INT("bytes", bytes));
done:
  weir_compile_remove(private, count);
  for (int k = 0; k < count; k++) {
    weir_free(&texts[k].text);
  }
  weir_free(&kernels);
  return status;
}

static int32_t list_missing(native_kernel *kernels, int32_t n, native_kernel **missing)
{
  int32_t count = 0;

  for (int32_t k = 0; k < n; k++) {
    if (kernels[k].object == NULL) {
      missing[count++] = &kernels[k];
    }
  }
  return count;
}

/* Compiles what is missing, unless another rank or program does. The turn is that of the smallest
 * key: sets of kernels that have most in common are likely to share it. */
static weir_status build_missing(const native_maker *m, int threads, int folder,
                                 native_kernel *kernels, int32_t n, native_kernel **missing)
{
  int32_t count = list_missing(kernels, n, missing);
  weir_status status = WEIR_OK;
  int turn;

  if (count == 0) {
    return WEIR_OK;
  }
  const char *key = missing[0]->key;
  for (int32_t k = 1; k < count; k++) {
    key = strcmp(missing[k]->key, key) < 0 ? missing[k]->key : key;
  }
  if (native_cache_turn(folder, key, &turn)) {
    WEIR_TRY_GOTO(find(folder, kernels, n), done);
    count = list_missing(kernels, n, missing);
  }
  if (count > 0) {
    WEIR_TRY_GOTO(build(m, threads, folder, missing, count), done);
  }
done:
  native_cache_turn_end(&turn);
  return status;
}

weir_status native_kernels_get(const native_maker *m, const weir_engine_opts *opts,
                               native_kernel *kernels, int32_t n)
{
  const int folder = weir_objects_open(opts->cache_dir);
  native_kernel **missing = NULL;
  weir_status status;
  void *memory;

  WEIR_TRY_GOTO(weir_alloc(n, sizeof *missing, &memory), done);
  missing = memory;
  WEIR_TRY_GOTO(find(folder, kernels, n), done);
  WEIR_TRY_GOTO(build_missing(m, opts->threads, folder, kernels, n, missing), done);
done:
  for (int32_t k = 0; k < n && status != WEIR_OK; k++) {
    native_object_release(kernels[k].object);
    kernels[k].object = NULL;
  }
  weir_free(&missing);
  if (folder >= 0) {
    close(folder);
  }
  return status;
}
