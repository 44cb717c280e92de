/* reference.c - runs tests/bench/reference.py on arrays and reads back what it made. */
#include "reference.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/weir_check.h"
#include "weir_bench.h"

#define BENCH_PYTHON WEIR_SOURCE_DIR "/build/bench-python/bin/python"
#define DACE_PYTHON WEIR_SOURCE_DIR "/build/dace-python/bin/python"

/* What hinders a library: kernels of another processor, threads that are bound or poll. */
#define FREE_ENVIRONMENT                                                                        \
  "env -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE -u DNNL_MAX_CPU_ISA -u ONEDNN_MAX_CPU_ISA "     \
  "-u ATEN_CPU_CAPABILITY -u MKL_ENABLE_INSTRUCTIONS -u MKL_NUM_THREADS -u MKL_DYNAMIC "        \
  "-u OMP_WAIT_POLICY -u OMP_PROC_BIND -u OMP_PLACES -u OMP_THREAD_LIMIT -u GOMP_CPU_AFFINITY " \
  "-u GOMP_SPINCOUNT -u KMP_AFFINITY -u KMP_BLOCKTIME -u NPY_DISABLE_CPU_FEATURES "

enum { TEXT = 4096 };

static void give_up(const char *what, const char *which)
{
  fprintf(stderr, "reference: %s %s\n", what, which);
  exit(8);
}

static size_t size_of(const char *dtype)
{
  return (size_t)(dtype[1] - '0');
}

static int has(const char *python, const char *module)
{
  char command[TEXT];

  (void)snprintf(command, sizeof command, "'%s' -c 'import %s' >/dev/null 2>&1", python, module);
  return system(command) == 0;
}

static const char *python_of(const char *script)
{
  if (strcmp(script, "sse_dace.py") == 0) {
    return DACE_PYTHON;
  }
  return access(BENCH_PYTHON, X_OK) == 0 ? BENCH_PYTHON : "/usr/bin/python3";
}

int reference_ready(const char *module)
{
  if (has(BENCH_PYTHON, module)) {
    return 1;
  }
  fprintf(stderr, "SKIP: build/bench-python has no %s: run workflows/setup.sh bench\n", module);
  return 0;
}

int reference_has(const char *module)
{
  return has(python_of(""), module);
}

int reference_has_dace(void)
{
  return has(DACE_PYTHON, "dace");
}

static void write_input(const char *folder, const reference_input *in)
{
  char path[TEXT];

  (void)snprintf(path, sizeof path, "%s/in_%s", folder, in->name);
  FILE *f = fopen(path, "wb");
  const size_t n = (size_t)in->count;

  if (f == NULL || fwrite(in->data, size_of(in->dtype), n, f) != n || fclose(f) != 0) {
    give_up("cannot write", path);
  }
  (void)chmod(path, 0600);
}

static void read_output(const char *folder, int k, reference_result *r)
{
  char path[TEXT];
  struct stat info;

  (void)snprintf(path, sizeof path, "%s/out_%d", folder, k);
  FILE *f = fopen(path, "rb");

  if (f == NULL || fstat(fileno(f), &info) != 0) {
    give_up("cannot read", path);
    return;
  }
  r->bytes[k] = (int64_t)info.st_size;
  r->data[k] = malloc((size_t)info.st_size + 1);
  if (r->data[k] == NULL || fread(r->data[k], 1, (size_t)info.st_size, f) != (size_t)info.st_size) {
    give_up("cannot read", path);
  }
  (void)fclose(f);
}

static void remove_folder(const char *folder, const reference_input *in, int n_in, int n_out)
{
  char path[TEXT];

  for (int i = 0; i < n_in; i++) {
    (void)snprintf(path, sizeof path, "%s/in_%s", folder, in[i].name);
    (void)unlink(path);
  }
  for (int k = 0; k < n_out; k++) {
    (void)snprintf(path, sizeof path, "%s/out_%d", folder, k);
    (void)unlink(path);
  }
  (void)rmdir(folder);
}

/* Starts reference.py and reads "seconds outputs version" from it. */
static void call(const char *command, const char *function, reference_result *r)
{
  char line[TEXT] = "";
  FILE *f = popen(command, "r");

  if (f == NULL) {
    give_up("cannot start", command);
    return;
  }
  const char *got = fgets(line, sizeof line, f);
  const int status = pclose(f);
  char *rest = NULL;

  r->seconds = strtod(line, &rest);
  r->n = (int)strtol(rest, &rest, 10);
  rest += strspn(rest, " ");
  rest[strcspn(rest, ",\n")] = 0;
  (void)snprintf(r->version, sizeof r->version, "%s", rest);
  if (got == NULL || status != 0 || !(r->seconds > 0) || r->n < 1 || r->n > REFERENCE_ARRAYS) {
    give_up("failed in", function);
  }
}

reference_result reference_run(const char *script, const char *function, const char *arguments,
                               int runs, int threads, const reference_input *in, int n_in)
{
  reference_result r = {.n = 0};
  const char *tmp = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
  char folder[64], command[TEXT];
  int used;

  (void)snprintf(folder, sizeof folder, "%s/weir-reference-XXXXXX", tmp);
  if (mkdtemp(folder) == NULL) {
    give_up("cannot make a folder in", tmp);
  }
  used = snprintf(command, sizeof command,
                  FREE_ENVIRONMENT
                  "OMP_NUM_THREADS=%d OPENBLAS_NUM_THREADS=%d '%s' '" WEIR_SOURCE_DIR
                  "/tests/bench/reference.py' '%s' '" WEIR_SOURCE_DIR "/tests/bench/%s' %s %d",
                  threads, threads, python_of(script), folder, script, function, runs);
  for (int i = 0; i < n_in; i++) {
    write_input(folder, &in[i]);
    used +=
        snprintf(command + used, sizeof command - (size_t)used, " %s:%s", in[i].name, in[i].dtype);
  }
  (void)snprintf(command + used, sizeof command - (size_t)used, " %s",
                 arguments != NULL ? arguments : "");
  call(command, function, &r);
  for (int k = 0; k < r.n; k++) {
    read_output(folder, k, &r);
  }
  remove_folder(folder, in, n_in, r.n);
  return r;
}

void reference_free(reference_result *r)
{
  for (int k = 0; k < r->n; k++) {
    free(r->data[k]);
    r->data[k] = NULL;
  }
  r->n = 0;
}

static void need_count(const char *work, const reference_result *r, int k, int64_t count,
                       size_t size)
{
  if (k >= r->n || r->bytes[k] != count * (int64_t)size) {
    fprintf(stderr, "reference: %s: its output %d has %lld bytes, not %lld\n", work, k,
            k < r->n ? (long long)r->bytes[k] : -1LL, (long long)count * (long long)size);
    exit(6);
  }
}

void reference_same_f32(const char *work, const reference_result *r, int k, const float *own,
                        int64_t count, double tolerance)
{
  need_count(work, r, k, count, sizeof *own);
  if (weir_compare(work, WEIR_F32, own, r->data[k], count,
                   (weir_tolerance){tolerance, tolerance}) != 0) {
    exit(6);
  }
}

void reference_same_u8(const char *work, const reference_result *r, int k, const uint8_t *own,
                       int64_t count)
{
  need_count(work, r, k, count, 1);
  const uint8_t *theirs = r->data[k];

  for (int64_t i = 0; i < count; i++) {
    if (own[i] != theirs[i]) {
      fprintf(stderr, "reference: %s: presence %lld is %d, the reference's %d\n", work,
              (long long)i, own[i], theirs[i]);
      exit(6);
    }
  }
}

void reference_row(const char *work, const char *reference, const reference_result *r,
                   double events, double own_seconds, double goal)
{
  bench_row_of(work, reference, r->version, events / r->seconds * 1e-6, events / own_seconds * 1e-6,
               "M events/s", 1, goal);
}

void reference_row_ms(const char *work, const char *reference, const reference_result *r,
                      double parts, double own_seconds, double goal)
{
  bench_row_of(work, reference, r->version, r->seconds / parts * 1e3, own_seconds / parts * 1e3,
               "ms", 0, goal);
}
