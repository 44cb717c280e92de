/* style_layers.c - who may include whom: the level table, and where each library is known. */
#include "style.h"
#include <stdlib.h>
#include <string.h>

/* A module includes modules of lower levels, never of its own (docs/tour.md shows the table). */
static const struct level {
  const char *module;
  int level;
} levels[] = {
    {"base", 0}, {"conf", 1},   {"device", 2}, {"tensor", 3}, {"comm", 3}, {"graph", 4}, {"io", 4},
    {"perf", 4}, {"report", 4}, {"ops", 5},    {"load", 5},   {"pass", 6}, {"optim", 6}, {"nn", 6},
    {"exec", 7}, {"stream", 8}, {"train", 8},  {"place", 9},  {"app", 10},
};

_Static_assert(sizeof levels / sizeof levels[0] == STYLE_MODULES, "style.h counts the modules");

int style_level(const char *module, size_t length, bool *listed)
{
  for (int i = 0; i < STYLE_MODULES; i++) {
    if (strlen(levels[i].module) == length && memcmp(levels[i].module, module, length) == 0) {
      if (listed) {
        listed[i] = true;
      }
      return levels[i].level;
    }
  }
  return -1;
}

static int level_of(const char *module, size_t length)
{
  return style_level(module, length, NULL);
}

static bool same_folder(const char *path, const char *target, size_t length)
{
  return strncmp(path, target, length) == 0 && path[length] == '/';
}

static void layer_of_library(const style_file *f, style_report *r, const style_include *in)
{
  const char *module = f->path + strlen("libcore/");
  const size_t mine = strcspn(module, "/"), theirs = strcspn(in->target, "/");

  if (!in->target[theirs] || same_folder(module, in->target, theirs)) {
    return; /* a file of the same folder or module */
  }
  const int here = level_of(module, mine), there = level_of(in->target, theirs);
  if (there < 0) {
    style_find(r, f, in->line, "\"%s\" is in no module of libcore", in->target);
  } else if (there >= here) {
    style_find(r, f, in->line, "%.*s (level %d) includes %s (level %d)", (int)mine, module, here,
               in->target, there);
  }
}

/* An app sees libcore and its own folder; what tests share is for tests. */
static void layer_of_app(const style_file *f, style_report *r, const style_include *in)
{
  if (style_starts(in->target, "support/")) {
    style_find(r, f, in->line, "a program includes support of tests: %s", in->target);
  }
  if (style_starts(in->target, "apps/")) {
    const char *app = f->path + strlen("apps/");
    if (!same_folder(app, in->target + strlen("apps/"), strcspn(app, "/"))) {
      style_find(r, f, in->line, "an app includes another: %s", in->target);
    }
  }
}

void style_layers(const style_file *f, style_report *r)
{
  const char *module = f->path + strlen("libcore/");

  if (style_starts(f->path, "libcore/") && strchr(module, '/') &&
      level_of(module, strcspn(module, "/")) < 0) {
    style_find(r, f, 1, "libcore/%.*s is not in the level table", (int)strcspn(module, "/"),
               module);
    return;
  }
  if (!f->is_c || style_is_test(f)) {
    return;
  }
  for (int i = 0; i < f->n_includes; i++) {
    const style_include *in = &f->includes[i];

    if (in->angled) {
      continue;
    }
    if (strstr(in->target, "..")) {
      style_find(r, f, in->line, "a path with .. in \"%s\"", in->target);
    } else if (style_starts(f->path, "libcore/")) {
      layer_of_library(f, r, in);
    } else if (style_starts(f->path, "apps/")) {
      layer_of_app(f, r, in);
    }
  }
}

/* Headers of libraries, and the only files that may include them. */
static const struct library {
  const char *header; /* prefix of the name in <...> */
  const char *where[3];
} libraries[] = {
    {"yaml.h", {"libcore/conf/"}},
    {"FLAC/", {"libcore/io/wfdb/"}},
    {"zlib.h", {"libcore/io/tfrecord/"}},
    {"expat.h", {"libcore/io/xml/"}},
    {"dcmtk/", {"libcore/io/dicom/parse_dcmtk.cc"}},
    {"edflib.h", {"libcore/io/edf/"}},
    {"omp.h", {"libcore/device/"}},
    {"cuda_runtime", {"libcore/device/"}},
    {"pthread.h", {"libcore/base/", "libcore/device/"}},
    {"threads.h", {"libcore/base/", "libcore/device/"}},
    {"mpi.h", {"libcore/comm/", "tests/mpi/", "tests/bench/"}},
    {"nccl.h", {"libcore/comm/"}},
    {"netcdf", {"libcore/io/netcdf/"}},
    {"hdf5", {"libcore/io/hdf5/", "libcore/io/netcdf/"}},
    {"eccodes", {"libcore/io/grib/"}},
    {"dnnl", {"libcore/ops/", "tests/bench/"}},
    {"cblas", {"libcore/ops/"}},
    {"lapacke", {"libcore/ops/"}},
    {"fftw3", {"libcore/ops/"}},
    {"libxsmm", {"libcore/ops/"}},
    {"cudnn", {"libcore/device/cuda/"}},
    {"cublas", {"libcore/device/cuda/"}},
    {"cufft", {"libcore/device/cuda/"}},
    {"cusolver", {"libcore/ops/"}},
    {"nvrtc.h", {"libcore/device/cuda/"}},
    {"cuda.h", {"libcore/device/cuda/"}},
    {"petsc", {"apps/quantum_transport/"}},
    {"slepc", {"apps/quantum_transport/"}},
    {"cmocka.h", {"libcore/base/weir_check.h"}},
    {"comm/weir_comm_mpi.h", {"libcore/io/netcdf/", "libcore/io/hdf5/", "apps/quantum_transport/"}},
};

/* What the system itself offers: C11, POSIX, and the processor's intrinsics. */
static const char *const system_headers[] = {
    "assert.h",      "complex.h",   "ctype.h",     "errno.h",
    "fenv.h",        "float.h",     "inttypes.h",  "limits.h",
    "locale.h",      "math.h",      "setjmp.h",    "signal.h",
    "stdalign.h",    "stdarg.h",    "stdatomic.h", "stdbool.h",
    "stddef.h",      "stdint.h",    "stdio.h",     "stdlib.h",
    "stdnoreturn.h", "string.h",    "strings.h",   "tgmath.h",
    "time.h",        "wchar.h",     "dirent.h",    "dlfcn.h",
    "elf.h",         "fcntl.h",     "fnmatch.h",   "ftw.h",
    "getopt.h",      "glob.h",      "libgen.h",    "poll.h",
    "pwd.h",         "sched.h",     "spawn.h",     "unistd.h",
    "link.h",        "malloc.h",    "sys/",        "arpa/",
    "netinet/",      "immintrin.h", "cpuid.h",     "x86intrin.h",
    "linux/",        "ucontext.h",  NULL,
};

static bool is_system(const char *target)
{
  for (const char *const *h = system_headers; *h; h++) {
    if (style_ends(*h, "/") ? style_starts(target, *h) : strcmp(target, *h) == 0) {
      return true;
    }
  }
  return false;
}

static const struct library *library_of(const char *target)
{
  for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++) {
    if (style_starts(target, libraries[i].header)) {
      return &libraries[i];
    }
  }
  return NULL;
}

static bool allowed(const struct library *l, const char *path)
{
  if (style_starts(l->header, "cuda_runtime") && style_ends(path, ".cu")) {
    return true;
  }
  for (int i = 0; i < 3 && l->where[i]; i++) {
    if (style_starts(path, l->where[i])) {
      return true;
    }
  }
  return false;
}

void style_external(const style_file *f, style_report *r)
{
  const bool ours = style_starts(f->path, "libcore/") || style_starts(f->path, "apps/");

  if (!f->is_c || !ours || style_is_test(f)) {
    return;
  }
  for (int i = 0; i < f->n_includes; i++) {
    const style_include *in = &f->includes[i];
    const struct library *l = library_of(in->target);

    if (l && !allowed(l, f->path)) {
      style_find(r, f, in->line, "<%s> belongs to %s alone", in->target, l->where[0]);
    } else if (!l && in->angled && !is_system(in->target)) {
      style_find(r, f, in->line, "<%s> is not in the table of libraries", in->target);
    }
  }
}
