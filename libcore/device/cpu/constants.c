/* constants.c - constants of the machine: from /proc, the compiler's CPU id and sysconf, or from a
 * file.
 */
#include <stdio.h>
#include <string.h>
#include <pthread.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif
#if defined(__linux__)
#include <sys/syscall.h>
#endif

#include "base/weir_log.h"
#include "conf/weir_opt.h"
#include "device/weir_parallel.h"

#define LARGEST 1099511627776.0
#define LONGEST 1000.0 /* s */
/* Rows of a file, and the built-in constants: single threads on Zen 4 (tests/bench/layout.c and
 * tests/bench/peaks.c print them), and an assumed link between ranks. 0: as detected. */
const weir_opt weir_constants_opts[] = {
    WEIR_OPT_INT(weir_constants, processors, 0, 0, 1048576, "1",
                 "cores of a CPU, or multiprocessors of a GPU; 0: detected"),
    WEIR_OPT_INT(weir_constants, resident_blocks, 1, 1, 1024, "1",
                 "blocks of a kernel that a processor runs at a time; 1: a core"),
    WEIR_OPT_INT(weir_constants, l1_bytes, 0, 0, LARGEST, "bytes",
                 "L1 data cache per core; 0: detected"),
    WEIR_OPT_INT(weir_constants, l2_bytes, 0, 0, LARGEST, "bytes",
                 "L2 cache per core; 0: detected"),
    WEIR_OPT_INT(weir_constants, l3_bytes, 0, 0, LARGEST, "bytes",
                 "last-level cache, including shared parts; 0: detected"),
    WEIR_OPT_INT(weir_constants, line_bytes, 0, 0, 65536, "bytes", "cache line; 0: detected"),
    WEIR_OPT_INT(weir_constants, memory_bytes, 0, 0, 1125899906842624.0, "bytes",
                 "main memory; 0: detected"),
    WEIR_OPT_REAL(weir_constants, bandwidth, 20e9, 1, 1e15, "bytes/s",
                  "sustained copy bandwidth of one core, read plus write"),
    WEIR_OPT_REAL(weir_constants, total_bandwidth, 0, 0, 1e16, "bytes/s",
                  "the same of all processors together; 0: `processors` times `bandwidth`"),
    WEIR_OPT_REAL(weir_constants, cache_bandwidth, 0, 0, 1e15, "bytes/s",
                  "bandwidth of arrays that stay in a near cache; 0: four times `bandwidth`"),
    WEIR_OPT_REAL(weir_constants, flop_rate, 100e9, 1, 1e18, "flop/s",
                  "f32 fused multiply-add rate of one core, counted as two operations"),
    WEIR_OPT_REAL(weir_constants, flop_rate_f64, 0, 0, 1e18, "flop/s",
                  "the same in f64; 0: half of `flop_rate`"),
    WEIR_OPT_REAL(weir_constants, flop_rate_bf16, 0, 0, 1e18, "flop/s",
                  "the same of products of bf16 or f16, summed in f32; 0: `flop_rate`"),
    WEIR_OPT_REAL(weir_constants, load_s, 0.04e-9, 0, LONGEST, "s",
                  "load or store of an element of a row that is contiguous in memory"),
    WEIR_OPT_REAL(weir_constants, line_l1_s, 1e-9, 0, LONGEST, "s",
                  "load or store of an element on a cache line of its own, in rows of at most "
                  "`line_l1_row` elements"),
    WEIR_OPT_INT(weir_constants, line_l1_row, 32, 0, LARGEST, "1",
                 "elements of a row whose lines stay in the L1 cache until the next row"),
    WEIR_OPT_REAL(weir_constants, line_l2_s, 2e-9, 0, LONGEST, "s",
                  "the same in rows of at most `line_l2_row` elements"),
    WEIR_OPT_INT(weir_constants, line_l2_row, 511, 0, LARGEST, "1",
                 "elements of a row whose lines and pages stay in near caches"),
    WEIR_OPT_REAL(weir_constants, line_far_s, 8e-9, 0, LONGEST, "s", "the same in longer rows"),
    WEIR_OPT_REAL(weir_constants, row_s, 2.5e-9, 0, LONGEST, "s",
                  "start of a row of a loop, in addition to its elements"),
    WEIR_OPT_REAL(weir_constants, reduce_across_s, 0.25e-9, 0, LONGEST, "s",
                  "iteration of a reduction that runs across a row of results"),
    WEIR_OPT_REAL(weir_constants, reduce_along_s, 1.4e-9, 0, LONGEST, "s",
                  "iteration of a reduction that runs along the row and merges its lanes"),
    WEIR_OPT_REAL(weir_constants, group_overhead, 2e-6, 0, LONGEST, "s",
                  "start of a group, or of a call of a kernel, in addition to its work"),
    WEIR_OPT_INT(weir_constants, min_tile_points, 1024, 1, LARGEST, "1",
                 "iterations from which a tile is worth its overhead"),
    WEIR_OPT_INT(weir_constants, max_tile_points, 65536, 1, LARGEST, "1",
                 "iterations of a tile without tile-local buffers"),
    WEIR_OPT_REAL(weir_constants, tile_flops, 65536, 1, 1e18, "flop",
                  "work of a tile of a library operator, some ten microseconds"),
    WEIR_OPT_INT(weir_constants, group_local_bytes, 4194304, 0, LARGEST, "bytes",
                 "maximum tile-local buffers of a group; larger ones are no faster than arrays"),
    WEIR_OPT_REAL(weir_constants, latency, 20e-6, 0, LONGEST, "s",
                  "latency of a message between ranks, to decide about overlap"),
    WEIR_OPT_REAL(weir_constants, link_bw, 2e9, 1, 1e18, "bytes/s",
                  "rate of a message between ranks, to decide about overlap"),
    WEIR_OPT_ENUM(weir_constants, simd, 0, "auto|base|avx2|avx512",
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

static void set_missing(int64_t *constant, int64_t detected)
{
  *constant = *constant > 0 ? *constant : detected;
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

static int64_t processors(void)
{
  const long online = sysconf(_SC_NPROCESSORS_ONLN);

  return online > 0 ? online : 1;
}

static void set_derived(double *constant, double derived)
{
  *constant = *constant > 0 ? *constant : derived;
}

/* What follows from other constants. */
static void derive(weir_constants *c)
{
  set_derived(&c->total_bandwidth, (double)c->processors * c->bandwidth);
  set_derived(&c->cache_bandwidth, 4 * c->bandwidth);
  set_derived(&c->flop_rate_f64, c->flop_rate / 2);
  set_derived(&c->flop_rate_bf16, c->flop_rate);
}

/* Detects what is not stated. */
static void complete(weir_constants *c)
{
  set_missing(&c->processors, processors());
  set_missing(&c->l1_bytes, cache_bytes(_SC_LEVEL1_DCACHE_SIZE, 32 * 1024));
  set_missing(&c->l2_bytes, cache_bytes(_SC_LEVEL2_CACHE_SIZE, 256 * 1024));
  set_missing(&c->l3_bytes, cache_bytes(_SC_LEVEL3_CACHE_SIZE, 2 * 1024 * 1024));
  set_missing(&c->line_bytes, cache_bytes(_SC_LEVEL1_DCACHE_LINESIZE, 64));
  set_missing(&c->memory_bytes, memory_bytes());
  derive(c);
}

#if defined(__x86_64__)
/* Whether the processor multiplies tiles of bf16, and Linux lets this process use them, which it
 * has to be asked for (Documentation/arch/x86/xstate.rst). */
static bool has_tiles(void)
{
#if defined(__linux__)
  enum { FEATURES = 7, BF16 = 1 << 22, TILE = 1 << 24, ASK = 0x1023, TILE_DATA = 18 };
  unsigned a, b, c, d = 0;

  return __get_cpuid_count(FEATURES, 0, &a, &b, &c, &d) != 0 && (d & BF16) != 0 &&
         (d & TILE) != 0 && syscall(SYS_arch_prctl, ASK, TILE_DATA) == 0;
#else
  return false;
#endif
}
#endif

static weir_cpu detected(void)
{
  weir_cpu cpu = {0};

  read_model(cpu.model, sizeof cpu.model);
  cpu.cores = (int)processors();
#if defined(__x86_64__)
  __builtin_cpu_init();
  cpu.sse42 = __builtin_cpu_supports("sse4.2") != 0;
  cpu.avx2 = __builtin_cpu_supports("avx2") != 0;
  cpu.fma = __builtin_cpu_supports("fma") != 0;
  cpu.avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
  cpu.avx512bf16 = cpu.avx512 && __builtin_cpu_supports("avx512bf16");
  cpu.amx = cpu.avx512bf16 && has_tiles();
#endif
  weir_opts_default(weir_constants_opts, sizeof cpu.constants, &cpu.constants);
  complete(&cpu.constants);
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
  cpu->avx512 = cpu->avx512 && (simd == WEIR_SIMD_AUTO || simd == WEIR_SIMD_AVX512);
  cpu->avx512bf16 = cpu->avx512bf16 && cpu->avx512;
  cpu->amx = cpu->amx && cpu->avx512;
  if (simd == WEIR_SIMD_BASE) {
    cpu->sse42 = cpu->avx2 = cpu->fma = 0;
  }
  return WEIR_OK;
}

/* What the file states, and the defaults of the other rows. */
static weir_status read_stated(const char *path, weir_constants *out)
{
  weir_config *config = NULL;

  WEIR_TRY(weir_config_load(weir_constants_opts, sizeof *out, &path, 1, NULL, 0, out, &config));
  out->measured = weir_config_states(config, &out->bandwidth, sizeof out->bandwidth) &&
                  weir_config_states(config, &out->flop_rate, sizeof out->flop_rate);
  weir_config_destroy(&config);
  return WEIR_OK;
}

weir_status weir_constants_read(const char *path, weir_constants *out)
{
  weir_constants file = {0};

  WEIR_TRY(read_stated(path, &file));
  if (file.processors == 0 || !file.measured) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "%s: states no %s: constants of another device have processors, bandwidth and "
                     "flop_rate (docs/reference/machine.md)",
                     path, file.processors == 0 ? "processors" : "bandwidth or flop_rate");
  }
  derive(&file);
  *out = file;
  return WEIR_OK;
}

static weir_status read_file(const char *path, weir_cpu *cpu)
{
  weir_constants file = {0};

  WEIR_TRY(read_stated(path, &file));
  WEIR_TRY(limit_simd(path, (weir_simd)file.simd, cpu));
  complete(&file);
  cpu->constants = file;
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
  static pthread_once_t once = PTHREAD_ONCE_INIT;

  (void)pthread_once(&once, load_first);
  return storage();
}
