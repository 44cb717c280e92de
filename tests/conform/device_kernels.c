/* device_kernels.c - the texts of kernels in folders (exec.kernel_dir), compiled for GPUs that this
 * machine need not have: without a warning, with no multiply-add and no approximation that the text
 * does not write. With `--lean` also: nothing spilled, and registers for half of the threads of a
 * multiprocessor. With `--gpu FILE`: the library calls of the folders, for which cuDNN must have an
 * engine on the GPU whose properties the file has. With `--probe` alone: whether this build can
 * compile for GPUs (77: it cannot), and that what is counted is. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "device/weir_library.h"
#include "support/device/kernel_text.h"

enum { ARCHITECTURES = 3, SKIPPED = 77 };
static const char *const architecture[ARCHITECTURES] = {"sm_80", "sm_90", "sm_100"};
static const char ptx[] = "compute_80";

typedef struct totals {
  int kernels, failed, most_registers;
  int64_t spilled;
  bool lean;
  char *gpu; /* its properties, NULL: calls are not asked for */
  int calls, untold;
  int64_t workspace;
} totals;

static bool check_one(const char *path, const weir_device_source *source, totals *t)
{
  weir_device_usage u;
  bool passed = true;

  if (weir_device_compile("cuda", ptx, source, &u) != WEIR_OK) {
    printf("%s: %s\n", path, weir_last_message());
    return false;
  }
  if (u.fused > 0 || u.approximate > 0) {
    printf("%s: %d multiply-adds and %d approximations that it does not write\n", path, u.fused,
           u.approximate);
    passed = false;
  }
  for (int k = 0; k < ARCHITECTURES; k++) {
    if (weir_device_compile("cuda", architecture[k], source, &u) != WEIR_OK) {
      printf("%s: %s\n", path, weir_last_message());
      return false;
    }
    if (t->lean && !kernel_text_is_lean(&u)) {
      printf("%s for %s: %d registers, %lld bytes spilled, %lld of stack\n", path, architecture[k],
             u.registers, (long long)u.spill_bytes, (long long)u.stack_bytes);
      passed = false;
    }
    t->most_registers = u.registers > t->most_registers ? u.registers : t->most_registers;
    t->spilled += u.spill_bytes;
  }
  return passed;
}

static void check_file(const char *folder, const char *name, totals *t)
{
  char path[4096];
  kernel_text text;
  bool passed = false;

  (void)snprintf(path, sizeof path, "%s/%s", folder, name);
  if (kernel_text_open(path, &text) != WEIR_OK) {
    printf("%s\n", weir_last_message());
  } else {
    passed = check_one(path, &text.source, t);
    kernel_text_close(&text);
  }
  t->kernels++;
  t->failed += !passed;
}

/* Products and transforms are untold: cuBLASLt and cuFFT say nothing without a GPU; convolutions
 * where there is no cuDNN.
 */
static void check_call(const char *folder, const char *name, totals *t)
{
  char path[4096];
  char *data = NULL;
  int64_t size = 0, workspace = 0;
  weir_library_spec spec;

  (void)snprintf(path, sizeof path, "%s/%s", folder, name);
  t->calls++;
  if (weir_file_read(path, 1 << 16, &data, &size) != WEIR_OK || size != (int64_t)sizeof spec) {
    printf("%s: not a call of this build\n", path);
    t->failed++;
  } else {
    memcpy(&spec, data, sizeof spec);
    if (weir_library_plan("cuda", t->gpu, &spec, &workspace) == WEIR_OK) {
      t->workspace = workspace > t->workspace ? workspace : t->workspace;
    } else if (spec.kind != WEIR_LIBRARY_CONVOLUTION ||
               strstr(weir_last_message(), "no libcudnn") != NULL ||
               strstr(weir_last_message(), "without the headers") != NULL) {
      t->untold++;
    } else {
      printf("%s: %s\n", path, weir_last_message());
      t->failed++;
    }
  }
  weir_free(&data);
}

static bool ends_in(const char *name, const char *suffix)
{
  const size_t n = strlen(name), m = strlen(suffix);

  return n > m && strcmp(name + n - m, suffix) == 0;
}

static void check_folder(const char *folder, totals *t)
{
  DIR *dir = opendir(folder);

  if (dir == NULL) {
    printf("%s: no folder of kernels\n", folder);
    t->failed++;
    return;
  }
  for (const struct dirent *e; (e = readdir(dir)) != NULL;) {
    if (ends_in(e->d_name, ".cu")) {
      check_file(folder, e->d_name, t);
    } else if (ends_in(e->d_name, ".call") && t->gpu != NULL) {
      check_call(folder, e->d_name, t);
    }
  }
  (void)closedir(dir);
}

/* What the counts must say of texts with and without what they count. */
static bool check_counts(void)
{
  static const weir_device_param param = {"float *", "x", sizeof(float *)};
  static const struct {
    const char *body;
    int fused, approximate;
  } cases[] = {{"x[0] = x[1] * x[2] + x[3];", 0, 0},
               {"x[0] = x[1] / sqrtf(x[2]);", 0, 0},
               {"x[0] = __builtin_fmaf(x[1], x[2], x[3]);", 0, 0},
               {"x[0] = __builtin_fmaf(x[1], x[2], x[3]);\nx[1] = fmaf(x[4], x[5], x[6]);", 1, 0},
               {"x[0] = __fdividef(x[1], x[2]);", 0, 1}};
  bool right = true;

  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    const weir_device_source source = {
        .name = "counted", .params = &param, .n_params = 1, .body = cases[k].body};
    weir_device_usage u;

    if (weir_device_compile("cuda", ptx, &source, &u) != WEIR_OK) {
      printf("%s\n", weir_last_message());
      right = false;
    } else if (u.fused != cases[k].fused || u.approximate != cases[k].approximate) {
      printf("%s: %d multiply-adds and %d approximations counted\n", cases[k].body, u.fused,
             u.approximate);
      right = false;
    }
  }
  return right;
}

/* Whether this build has a compiler for GPUs, and it counts right. */
static int probe(void)
{
  if (kernel_text_no_compiler(ptx)) {
    printf("skipped: this build has no NVRTC: %s\n", weir_last_message());
    return SKIPPED;
  }
  return check_counts() ? 0 : 1;
}

int main(int argc, char **argv)
{
  totals t = {.kernels = 0};

  for (int k = 1; k < argc; k++) {
    if (strcmp(argv[k], "--probe") == 0) {
      return probe();
    }
    if (strcmp(argv[k], "--lean") == 0) {
      t.lean = true;
    } else if (strcmp(argv[k], "--gpu") == 0 && k + 1 < argc) {
      if (weir_file_read(argv[++k], 1 << 16, &t.gpu, &(int64_t){0}) != WEIR_OK) {
        printf("%s\n", weir_last_message());
        return 1;
      }
    } else {
      check_folder(argv[k], &t);
    }
  }
  printf("%d kernels for %d architectures: %d failed; at most %d registers, %lld bytes spilled\n",
         t.kernels, ARCHITECTURES, t.failed, t.most_registers, (long long)t.spilled);
  if (t.gpu != NULL) {
    printf(
        "%d library calls, of which %d cannot be asked for here; workspace of at most %lld bytes\n",
        t.calls, t.untold, (long long)t.workspace);
  }
  weir_free(&t.gpu);
  return t.failed > 0 || t.kernels == 0;
}
