/* measure.c - see weir_load_measure.h. */
#include "load/weir_load_measure.h"

#include <fcntl.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/weir_alloc.h"
#include "base/weir_clock.h"
#include "base/weir_signal.h"
#include "load/load_priv.h"

enum { TIMES = 3, MAX_THREADS = 64 };

/* ---- What is free ---- */

int64_t weir_load_free_memory(void)
{
  FILE *const file = fopen("/proc/meminfo", "re");
  char line[256];
  long long kib = -1;

  while (file && kib < 0 && fgets(line, sizeof line, file)) {
    kib = sscanf(line, "MemAvailable: %lld kB", &kib) == 1 ? kib : -1;
  }
  if (file) {
    (void)fclose(file);
  }
  const int64_t pages = sysconf(_SC_AVPHYS_PAGES), page = sysconf(_SC_PAGESIZE);

  return kib >= 0 ? (int64_t)kib * 1024 : pages > 0 ? pages * page : 0;
}

int64_t weir_load_free_space(const char *path)
{
  struct statvfs v;

  return statvfs(path, &v) == 0 ? (int64_t)v.f_bavail * (int64_t)v.f_frsize : 0;
}

/* ---- The page cache ---- */

/* The kernel tells those alone who own a file or may write it; to others all of it is in memory
 * (mincore, since Linux 5.2). */
static bool is_told(const char *path, const struct stat *info)
{
  return geteuid() == info->st_uid || faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0;
}

/* The share of a file that is in memory; NaN: not known. */
static double cached_of(int fd, int64_t size)
{
  const int64_t page = sysconf(_SC_PAGESIZE), n = (size + page - 1) / page;
  unsigned char *resident = NULL;
  int64_t there = -1;
  void *const at = size > 0 ? mmap(NULL, (size_t)size, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;

  if (at == MAP_FAILED || weir_alloc(n, 1, (void **)&resident) != WEIR_OK) {
    weir_clear_failure();
  } else if (mincore(at, (size_t)size, resident) == 0) {
    there = 0;
    for (int64_t i = 0; i < n; i++) {
      there += resident[i] & 1;
    }
  }
  if (at != MAP_FAILED) {
    (void)munmap(at, (size_t)size);
  }
  weir_free(&resident);
  return n == 0 ? 0 : there < 0 ? (double)NAN : (double)there / (double)n;
}

double weir_load_drop_cached(const char *path)
{
  struct stat info = {.st_size = 0};
  const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  double cached = (double)NAN;

  if (fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) {
    (void)fsync(fd); /* of pages that are not written back none is dropped */
    (void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    cached = is_told(path, &info) ? cached_of(fd, (int64_t)info.st_size) : (double)NAN;
  }
  if (fd >= 0) {
    (void)close(fd);
  }
  return cached;
}

/* ---- Threads that read ---- */

typedef struct work {
  int64_t bytes, n; /* of a sample; samples */
  const char *memory;
  const load_folder *folder; /* NULL: memory */
  atomic_llong next;
} work;

typedef struct reader {
  work *of;
  weir_worker *worker;
  char *buffer; /* [bytes] */
} reader;

/* Files that were written are removed after a signal, too. */
static weir_status go_on(void)
{
  return weir_stop_requested()
             ? weir_fail(WEIR_ERR_STOPPED, "stopped by signal %d", weir_stop_signal())
             : WEIR_OK;
}

static weir_status read_all(void *context)
{
  reader *const r = context;
  work *const w = r->of;

  for (int64_t k = atomic_fetch_add(&w->next, 1); k < w->n; k = atomic_fetch_add(&w->next, 1)) {
    WEIR_TRY(go_on());
    if (w->folder == NULL) {
      memcpy(r->buffer, w->memory + k * w->bytes, (size_t)w->bytes);
    } else if (!load_folder_get(w->folder, k, r->buffer)) {
      return weir_fail(WEIR_ERR_DATA, "%s%lld.sample: cannot be read back, or is damaged",
                       w->folder->prefix, (long long)k);
    }
  }
  return WEIR_OK;
}

/* Seconds in which so many threads read all samples. */
static weir_status time_once(reader *r, int64_t threads, double *seconds)
{
  weir_status status = WEIR_OK;
  const double begin = weir_clock();

  atomic_store(&r->of->next, 0);
  for (int64_t t = 0; t < threads; t++) {
    weir_worker_start(r[t].worker, read_all, &r[t]);
  }
  for (int64_t t = 0; t < threads; t++) {
    const weir_status one = weir_worker_wait(r[t].worker);

    status = status == WEIR_OK ? one : status;
  }
  *seconds = weir_clock() - begin;
  return status;
}

static double drop_all(const load_folder *f, int64_t n)
{
  char path[LOAD_PATH];
  double cached = 0;

  for (int64_t k = 0; k < n; k++) {
    load_folder_path(f, k, path, sizeof path);
    cached += weir_load_drop_cached(path) / (double)n;
  }
  return cached;
}

static weir_status check_threads(const weir_int_list *threads)
{
  bool good = threads->count > 0 && threads->count <= WEIR_LOAD_MAX_PAIRS;

  for (int64_t i = 0; good && i < threads->count; i++) {
    good =
        threads->items[i] > (i > 0 ? threads->items[i - 1] : 0) && threads->items[i] <= MAX_THREADS;
  }
  return good ? WEIR_OK
              : weir_fail(WEIR_ERR_CONFIG,
                          "tune.threads: list 1 to %d numbers of threads, ascending, up to %d",
                          WEIR_LOAD_MAX_PAIRS, MAX_THREADS);
}

static weir_status measure(work *w, const weir_int_list *threads, weir_load_speeds *out)
{
  const int64_t most = threads->items[threads->count - 1];
  reader *r = NULL;
  weir_status status = WEIR_OK;

  *out = (weir_load_speeds){.n = 0};
  WEIR_TRY_GOTO(weir_alloc(most, sizeof *r, (void **)&r), done);
  for (int64_t t = 0; t < most; t++) {
    r[t].of = w;
    WEIR_TRY_GOTO(weir_alloc(w->bytes, 1, (void **)&r[t].buffer), done);
    memset(r[t].buffer, 1, (size_t)w->bytes);
    WEIR_TRY_GOTO(weir_worker_create(true, &r[t].worker), done);
  }
  for (int64_t i = 0; i < threads->count; i++) {
    double least = INFINITY;

    for (int k = 0; k < TIMES; k++) {
      double seconds = 0;

      out->cached = w->folder ? fmax(out->cached, drop_all(w->folder, w->n)) : (double)NAN;
      WEIR_TRY_GOTO(time_once(r, threads->items[i], &seconds), done);
      least = fmin(least, seconds);
    }
    out->item[2 * i] = (double)threads->items[i];
    out->item[2 * i + 1] = (double)(w->n * w->bytes) / 1e6 / fmax(least, 1e-9);
    out->n++;
  }
done:
  for (int64_t t = 0; r && t < most; t++) {
    weir_worker_destroy(&r[t].worker);
    weir_free(&r[t].buffer);
  }
  weir_free(&r);
  return status;
}

static int64_t samples_of(int64_t sample_bytes, int64_t bytes, const weir_int_list *threads)
{
  const int64_t most = threads->items[threads->count - 1], fit = bytes / sample_bytes;

  return fit > most ? fit : most;
}

weir_status weir_load_measure_memory(int64_t sample_bytes, int64_t bytes,
                                     const weir_int_list *threads, weir_load_speeds *out)
{
  char *memory = NULL;

  WEIR_TRY(check_threads(threads));
  work w = {.bytes = sample_bytes, .n = samples_of(sample_bytes, bytes, threads)};

  WEIR_TRY(weir_alloc(w.n, (size_t)sample_bytes, (void **)&memory));
  memset(memory, 1, (size_t)(w.n * sample_bytes)); /* pages of zeros alone are one page */
  w.memory = memory;
  const weir_status status = measure(&w, threads, out);

  weir_free(&memory);
  return status;
}

weir_status weir_load_measure_directory(const char *path, int64_t sample_bytes, int64_t bytes,
                                        const weir_int_list *threads, weir_load_speeds *out)
{
  load_folder f = {.bytes = sample_bytes};
  char *data = NULL;
  int64_t written = 0;
  weir_status status = WEIR_OK;

  WEIR_TRY(check_threads(threads));
  work w = {.bytes = sample_bytes, .n = samples_of(sample_bytes, bytes, threads), .folder = &f};

  WEIR_TRY(load_folder_open(&f, path, (uint64_t)getpid(), 0));
  WEIR_TRY_GOTO(weir_alloc(sample_bytes, 1, (void **)&data), done);
  for (int64_t i = 0; i < sample_bytes; i++) {
    data[i] = (char)(i * 197 >> 3); /* not zeros, which a file system may not store */
  }
  for (; written < w.n; written++) {
    WEIR_TRY_GOTO(go_on(), done);
    WEIR_TRY_GOTO(load_folder_put(&f, written, data), done);
  }
  WEIR_TRY_GOTO(measure(&w, threads, out), done);
done:
  for (int64_t k = 0; k < written; k++) {
    load_folder_remove(&f, k);
  }
  weir_free(&data);
  return status;
}
