/* device_kernels.c - the texts of kernels in folders (exec.kernel_dir), compiled for GPUs that this
 * machine need not have: without a warning, with no multiply-add and no approximation that the text
 * does not write. With `--lean` also: nothing spilled, and registers for half of the threads of a
 * multiprocessor. With `--probe` alone: whether this build can compile for GPUs (77: it cannot). */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "device/weir_device.h"

enum { ARCHITECTURES = 3, SKIPPED = 77, REGISTERS = 65536, THREADS = 2048 };
static const char *const architecture[ARCHITECTURES] = {"sm_80", "sm_90", "sm_100"};

typedef struct totals {
  int kernels, failed, most_registers;
  int64_t spilled;
  bool lean;
} totals;

/* The pieces of a text that plans write; it is cut. False where it is none. */
static bool cut(char *text, weir_device_source *source, weir_device_param *param, int *threads)
{
  char *kernel = strstr(text, "\n__global__ void "), *open, *body, *space;
  int words = 0;

  if (kernel == NULL || sscanf(text, "/* kernel %*s blocks of %d", threads) != 1) {
    return false;
  }
  *kernel = '\0';
  kernel += strlen("\n__global__ void ");
  open = strchr(kernel, '(');
  body = strstr(kernel, ")\n{\n");
  if (open == NULL || body == NULL || (space = strchr(open, ' ')) == NULL) {
    return false;
  }
  *open = *space = *body = '\0';
  body += strlen(")\n{\n");
  *strrchr(body, '}') = '\0';
  const char *struct_of = strstr(text, "int64_t word[");

  words = struct_of == NULL ? 0 : atoi(struct_of + strlen("int64_t word["));
  *param = (weir_device_param){open + 1, space + 1, words * (int64_t)sizeof(int64_t)};
  *source = (weir_device_source){
      .name = kernel, .params = param, .n_params = 1, .helpers = text, .body = body};
  return words > 0;
}

static bool check_one(const char *path, const weir_device_source *source, totals *t)
{
  bool passed = true;

  for (int k = 0; k < ARCHITECTURES; k++) {
    weir_device_usage u;

    if (weir_device_compile("cuda", architecture[k], source, &u) != WEIR_OK) {
      printf("%s: %s\n", path, weir_last_message());
      return false;
    }
    const bool fits = u.spill_bytes == 0 && u.registers * (THREADS / 2) <= REGISTERS;

    if (u.fused > 0 || u.approximate > 0 || (t->lean && !fits)) {
      printf("%s for %s: %d multiply-adds and %d approximations that it does not write, %d "
             "registers, %lld bytes spilled, %lld of stack\n",
             path, architecture[k], u.fused, u.approximate, u.registers, (long long)u.spill_bytes,
             (long long)u.stack_bytes);
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
  char *text = NULL;
  int64_t size = 0;
  weir_device_source source;
  weir_device_param param;
  int threads = 0;
  bool passed = false;

  (void)snprintf(path, sizeof path, "%s/%s", folder, name);
  if (weir_file_read(path, 1 << 24, &text, &size) != WEIR_OK) {
    printf("%s\n", weir_last_message());
  } else if (!cut(text, &source, &param, &threads)) {
    printf("%s: not the text of a kernel\n", path);
  } else {
    passed = check_one(path, &source, t);
  }
  weir_free(&text);
  t->kernels++;
  t->failed += !passed;
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
    const size_t n = strlen(e->d_name);

    if (n > 3 && strcmp(e->d_name + n - 3, ".cu") == 0) {
      check_file(folder, e->d_name, t);
    }
  }
  (void)closedir(dir);
}

/* Whether this build has a compiler for GPUs; says why not. */
static bool can_compile(void)
{
  const weir_device_source source = {.name = "nothing", .body = ""};
  weir_device_usage usage;

  if (weir_device_compile("cuda", architecture[0], &source, &usage) == WEIR_OK) {
    return true;
  }
  printf("skipped: this build has no NVRTC: %s\n", weir_last_message());
  return false;
}

int main(int argc, char **argv)
{
  totals t = {.kernels = 0};

  for (int k = 1; k < argc; k++) {
    if (strcmp(argv[k], "--probe") == 0) {
      return can_compile() ? 0 : SKIPPED;
    }
    if (strcmp(argv[k], "--lean") == 0) {
      t.lean = true;
    } else {
      check_folder(argv[k], &t);
    }
  }
  printf("%d kernels for %d architectures: %d failed; at most %d registers, %lld bytes spilled\n",
         t.kernels, ARCHITECTURES, t.failed, t.most_registers, (long long)t.spilled);
  return t.failed > 0 || t.kernels == 0;
}
