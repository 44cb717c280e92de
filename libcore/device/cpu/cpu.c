/* cpu.c - facts of the processor, from /proc, the compiler's CPU id and sysconf. */
#include <stdio.h>
#include <string.h>
#include <threads.h>
#include <unistd.h>

#include "device/weir_parallel.h"

static void read_model(char *text, size_t size)
{
  FILE *file = fopen("/proc/cpuinfo", "re");
  char line[256];

  snprintf(text, size, "unknown processor");
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    const char *value = strchr(line, ':');
    if (strncmp(line, "model name", 10) == 0 && value != NULL) {
      value += 1 + strspn(value + 1, " ");
      snprintf(text, size, "%.*s", (int)strcspn(value, "\n"), value);
      break;
    }
  }
  if (file != NULL) {
    fclose(file);
  }
}

/* Systems without the fact (musl, some containers) get a size that every current core has. */
static int64_t cache_bytes(int name, int64_t fallback)
{
  const long bytes = sysconf(name);

  return bytes > 0 ? (int64_t)bytes : fallback;
}

static weir_cpu *storage(void)
{
  static weir_cpu cpu;

  return &cpu;
}

static int64_t memory_bytes(void)
{
  const int64_t pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);

  return pages > 0 && page > 0 ? pages * page : 0;
}

static void detect(void)
{
  weir_cpu *cpu = storage();
  const long online = sysconf(_SC_NPROCESSORS_ONLN);

  read_model(cpu->model, sizeof cpu->model);
  cpu->cores = online > 0 ? (int)online : 1;
#if defined(__x86_64__)
  __builtin_cpu_init();
  cpu->sse42 = __builtin_cpu_supports("sse4.2") != 0;
  cpu->avx2 = __builtin_cpu_supports("avx2") != 0;
  cpu->fma = __builtin_cpu_supports("fma") != 0;
  cpu->avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
#endif
  cpu->l1_bytes = cache_bytes(_SC_LEVEL1_DCACHE_SIZE, 32 * 1024);
  cpu->l2_bytes = cache_bytes(_SC_LEVEL2_CACHE_SIZE, 256 * 1024);
  cpu->l3_bytes = cache_bytes(_SC_LEVEL3_CACHE_SIZE, 2 * 1024 * 1024);
  cpu->memory_bytes = memory_bytes();
}

const weir_cpu *weir_cpu_get(void)
{
  static once_flag once = ONCE_FLAG_INIT;

  call_once(&once, detect);
  return storage();
}
