/* instruction_sets.c - this program again, with fewer instructions. */
#include "instruction_sets.h"

#include <sys/wait.h>
#include <unistd.h>

#include "device/weir_parallel.h"
#include "weir_bench.h"

enum { TEXT = 512 };

const bench_set bench_sets[BENCH_SETS] = {
    {"avx2", "AVX2", "Haswell"},
    {"avx512", "AVX512_CORE", "SkylakeX"},
};

void bench_set_command(const bench_set *set, const char *machine, char *command, size_t size)
{
  char program[TEXT];
  const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);

  program[length > 0 ? length : 0] = 0;
  (void)snprintf(command, size, "WEIR_MACHINE='%s' DNNL_MAX_CPU_ISA=%s OPENBLAS_CORETYPE=%s '%s'",
                 machine, set->dnnl, set->openblas, program);
}

int bench_each_set(int (*rows)(void))
{
  char command[3 * TEXT];

  bench_must(weir_cpu_load(NULL));
  const int status = rows();

  if (status != 0 || weir_env("WEIR_MACHINE") != NULL || !weir_cpu_get()->avx512) {
    return status;
  }
  bench_set_command(&bench_sets[0], WEIR_SOURCE_DIR "/tests/machines/avx2.yaml", command,
                    sizeof command);
  (void)fflush(stdout);
  const int again = system(command);

  return again != -1 && WIFEXITED(again) ? WEXITSTATUS(again) : 8;
}

const char *bench_set_row(const char *name)
{
  static char row[TEXT];

  (void)snprintf(row, sizeof row, "%s%s", name, weir_cpu_get()->avx512 ? "" : " (AVX2)");
  return row;
}
