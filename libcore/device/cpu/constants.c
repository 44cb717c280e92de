/* constants.c - constants of the machine: from /proc, the compiler's CPU id and sysconf, or from a
 * file.
 */
#include <stdio.h>
#include <string.h>
#include <threads.h>
#include <unistd.h>

#include "base/weir_log.h"
#include "conf/weir_opt.h"
#include "device/weir_parallel.h"

/* A file of machine constants; 0: as detected. */
struct machine {
  int64_t l1_bytes, l2_bytes, l3_bytes, memory_bytes;
  double bandwidth, flop_rate;
  int simd;
};

#define LARGEST_CACHE 1099511627776.0
static const weir_opt rows[] = {
    WEIR_OPT_INT(struct machine, l1_bytes, 0, 0, LARGEST_CACHE, "bytes",
                 "L1 data cache per core; 0: detected"),
    WEIR_OPT_INT(struct machine, l2_bytes, 0, 0, LARGEST_CACHE, "bytes",
                 "L2 cache per core; 0: detected"),
    WEIR_OPT_INT(struct machine, l3_bytes, 0, 0, LARGEST_CACHE, "bytes",
                 "last-level cache, including shared parts; 0: detected"),
    WEIR_OPT_INT(struct machine, memory_bytes, 0, 0, 1125899906842624.0, "bytes",
                 "main memory; 0: detected"),
    WEIR_OPT_REAL(struct machine, bandwidth, 0, 0, 1e15, "bytes/s",
                  "sustained copy bandwidth of one core, read plus write; 0: not measured"),
    WEIR_OPT_REAL(
        struct machine, flop_rate, 0, 0, 1e18, "flop/s",
        "f32 fused multiply-add rate of one core, counted as two operations; 0: not measured"),
    WEIR_OPT_ENUM(struct machine, simd, 0, "auto|base|avx2|avx512",
                  "instruction set (SIMD) of Weir's own kernels and of compiled loops"),
    WEIR_OPT_END,
};

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

static weir_cpu detected(void)
{
  weir_cpu cpu = {0};
  const long online = sysconf(_SC_NPROCESSORS_ONLN);

  read_model(cpu.model, sizeof cpu.model);
  cpu.cores = online > 0 ? (int)online : 1;
#if defined(__x86_64__)
  __builtin_cpu_init();
  cpu.sse42 = __builtin_cpu_supports("sse4.2") != 0;
  cpu.avx2 = __builtin_cpu_supports("avx2") != 0;
  cpu.fma = __builtin_cpu_supports("fma") != 0;
  cpu.avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
#endif
  cpu.l1_bytes = cache_bytes(_SC_LEVEL1_DCACHE_SIZE, 32 * 1024);
  cpu.l2_bytes = cache_bytes(_SC_LEVEL2_CACHE_SIZE, 256 * 1024);
  cpu.l3_bytes = cache_bytes(_SC_LEVEL3_CACHE_SIZE, 2 * 1024 * 1024);
  cpu.memory_bytes = memory_bytes();
  return cpu;
}

/* Leaves out what is beyond the instruction set that the file allows. */
static weir_status limit_simd(const char *path, weir_simd simd, weir_cpu *cpu)
{
  if ((simd == WEIR_SIMD_AVX2 && (!cpu->avx2 || !cpu->fma)) ||
      (simd == WEIR_SIMD_AVX512 && !cpu->avx512)) {
    return weir_fail(
        WEIR_ERR_CONFIG,
        "%s: simd: %s: %s does not support these instructions: set auto, or a narrower set", path,
        simd == WEIR_SIMD_AVX2 ? "avx2" : "avx512", cpu->model);
  }
  cpu->simd = simd;
  cpu->avx512 = cpu->avx512 && (simd == WEIR_SIMD_AUTO || simd == WEIR_SIMD_AVX512);
  if (simd == WEIR_SIMD_BASE) {
    cpu->sse42 = cpu->avx2 = cpu->fma = 0;
  }
  return WEIR_OK;
}

static void state(int64_t bytes, int64_t *constant)
{
  *constant = bytes > 0 ? bytes : *constant;
}

static weir_status read_file(const char *path, weir_cpu *cpu)
{
  struct machine file;
  weir_config *config = NULL;

  WEIR_TRY(weir_config_load(rows, sizeof file, &path, 1, NULL, 0, &file, &config));
  weir_config_destroy(&config);
  WEIR_TRY(limit_simd(path, (weir_simd)file.simd, cpu));
  state(file.l1_bytes, &cpu->l1_bytes);
  state(file.l2_bytes, &cpu->l2_bytes);
  state(file.l3_bytes, &cpu->l3_bytes);
  state(file.memory_bytes, &cpu->memory_bytes);
  cpu->bandwidth = file.bandwidth;
  cpu->flop_rate = file.flop_rate;
  return WEIR_OK;
}

static weir_status load(const char *path)
{
  weir_cpu cpu = detected();

  path = path == NULL || path[0] == 0 ? weir_env("WEIR_MACHINE") : path;
  if (path != NULL) {
    WEIR_TRY(read_file(path, &cpu));
  }
  *storage() = cpu;
  return WEIR_OK;
}

static void load_first(void)
{
  const weir_status status = storage()->cores > 0 ? WEIR_OK : load(NULL);

  if (status != WEIR_OK) {
    weir_error("device", "WEIR_MACHINE: %s", weir_last_message());
  }
  WEIR_ASSERT(status == WEIR_OK); /* programs have loaded it, and reported failures, before */
}

weir_status weir_cpu_load(const char *path)
{
  return load(path);
}

const weir_cpu *weir_cpu_get(void)
{
  static once_flag once = ONCE_FLAG_INIT;

  call_once(&once, load_first);
  return storage();
}
