/* native_compile.c - with which flags the C compiler is used, on which processor. */
#include "exec/backend/native/native_priv.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "device/weir_parallel.h"

/* Contraction and the like would change bits. The first N_TUNING are gcc's names: compilers that
 * refuse them are asked again without. With them, gcc -O1 makes code as fast as -O2 in three
 * quarters of the time, and -O3 slower code: it unrolls blocks of lanes out of their registers. At
 * -O1 gcc leaves the upper halves of vector registers in use when a kernel returns (vzeroupper)
 * unless its third name is there: what libweir does next, in 128 bits, then waits for them. */
#define FLAGS(march)                                                                               \
  {                                                                                                \
    "-ftree-vectorize", "-fvect-cost-model=dynamic", "-fexpensive-optimizations", "-fopenmp-simd", \
        "-O1", "-std=gnu11", march, "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math",  \
        "-fno-strict-aliasing", "-fwrapv", "-w", "-fPIC", "-shared", "-nostdlib"                   \
  }
enum { N_FLAGS = 16, N_TUNING = 4 };
#if defined(__x86_64__)
#define BASE "-march=x86-64"
#else
#define BASE "-w"
#endif
static const char *const flags[][N_FLAGS] = {
    [WEIR_SIMD_AUTO] = FLAGS("-march=native"),
    [WEIR_SIMD_BASE] = FLAGS(BASE),
    [WEIR_SIMD_AVX2] = FLAGS("-march=x86-64-v3"),
    [WEIR_SIMD_AVX512] = FLAGS("-march=x86-64-v4"),
};

const char *const *native_compiler_flags(int *n, int *n_tuning)
{
  *n = N_FLAGS;
  *n_tuning = N_TUNING;
  return flags[weir_cpu_get()->constants.simd];
}

void native_cpu_identity(char *text, size_t size)
{
  static const char *const keys[] = {"vendor_id", "cpu family", "model",           "stepping",
                                     "flags",     "Features",   "CPU implementer", "CPU part"};
  char block[8192];
  size_t n = 0, used = 0;
  const int fd = open("/proc/cpuinfo", O_RDONLY | O_CLOEXEC);

  while (fd >= 0 && n < sizeof block - 1) {
    const ssize_t got = read(fd, block + n, sizeof block - 1 - n);
    if (got <= 0) {
      break;
    }
    n += (size_t)got;
  }
  if (fd >= 0) {
    close(fd);
  }
  block[n] = 0;
  text[0] = 0;
  for (const char *line = block; *line != 0 && *line != '\n';) { /* the first processor */
    const size_t length = strcspn(line, "\n");
    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
      if (strncmp(line, keys[k], strlen(keys[k])) == 0 && used < size) {
        const int put = snprintf(text + used, size - used, "%.*s\n", (int)length, line);
        used += put > 0 ? (size_t)put : 0;
        break;
      }
    }
    line += length + (line[length] == '\n');
  }
}
