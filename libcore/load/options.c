/* options.c - the options of a loader, and tables of speed. */
#include "load/load_priv.h"

#define SPEED "pairs: number of threads, MB/s of all together; empty: not known, taken for faster"

const weir_opt weir_load_opts[] = {
    WEIR_OPT_INT(weir_load_cfg, staging.bytes, 1 << 28, 1, 1e15, "B",
                 "samples that are read ahead of the step, in the order of the steps"),
    WEIR_OPT_INT(weir_load_cfg, staging.threads, 1, 0, 64, "1",
                 "threads that read ahead; 0: none, a step waits for its samples"),
    WEIR_OPT_INT(weir_load_cfg, memory.bytes, INT64_C(1) << 31, 0, 1e15, "B",
                 "samples that come again and stay in memory: first the most frequent"),
    WEIR_OPT_INT(weir_load_cfg, memory.threads, 0, 0, 64, "1",
                 "threads that fill it beyond what is read ahead; 0: each sample when it is due"),
    WEIR_OPT_REAL_LIST(weir_load_cfg, memory.speed, "", 0, 1e9, "MB/s", SPEED " than the source"),
    WEIR_OPT_PATH(weir_load_cfg, directory.path, "",
                  "folder of a disk nearby, for samples that memory has no room for"),
    WEIR_OPT_INT(weir_load_cfg, directory.bytes, 0, 0, 1e18, "B", "of samples in it; 0: none"),
    WEIR_OPT_INT(weir_load_cfg, directory.threads, 0, 0, 64, "1", "threads that fill it, as above"),
    WEIR_OPT_REAL_LIST(weir_load_cfg, directory.speed, "", 0, 1e9, "MB/s",
                       SPEED " than the source"),
    WEIR_OPT_BOOL(weir_load_cfg, directory.keep, false,
                  "its files stay at the end, for a run that goes on"),
    WEIR_OPT_REAL_LIST(weir_load_cfg, source.speed, "", 0, 1e9, "MB/s",
                       "of the shared file system, pairs: number of ranks that read, which all of "
                       "the grid do, MB/s of all together; a class that is slower by its table is "
                       "not used"),
    WEIR_OPT_ENUM(weir_load_cfg, remote, WEIR_LOAD_AUTO, "auto|on|off",
                  "a sample is read by one of the ranks along the samples of the grid, which keeps "
                  "it in memory and sends it to the others; auto: where there are several and "
                  "memory.bytes has room; off: each reads for itself"),
    WEIR_OPT_END,
};

double load_speed(const weir_real_list *table, double n)
{
  const double *const x = table->items;
  const int64_t pairs = table->count / 2;

  for (int64_t i = 0; i < pairs; i++) {
    if (n <= x[2 * i]) {
      const double before = i > 0 ? x[2 * i - 2] : 0, least = i > 0 ? x[2 * i - 1] : 0;

      return least + (x[2 * i + 1] - least) * (n - before) / (x[2 * i] - before);
    }
  }
  return pairs > 0 ? x[2 * pairs - 1] : 0; /* saturated */
}

static weir_status check_speed(const char *key, const weir_real_list *table)
{
  bool good = table->count % 2 == 0;

  for (int64_t i = 0; good && i < table->count; i += 2) {
    good = table->items[i] > (i > 0 ? table->items[i - 2] : 0) && table->items[i + 1] > 0;
  }
  return good ? WEIR_OK
              : weir_fail(WEIR_ERR_CONFIG,
                          "load.%s.speed: is no list of pairs, ascending numbers of threads and "
                          "MB/s above 0",
                          key);
}

weir_status weir_load_suits(const weir_load_cfg *cfg, bool several, int64_t bytes)
{
  WEIR_TRY(check_speed("memory", &cfg->memory.speed));
  WEIR_TRY(check_speed("directory", &cfg->directory.speed));
  WEIR_TRY(check_speed("source", &cfg->source.speed));
  if (cfg->remote == WEIR_LOAD_ON && !several) {
    return weir_fail(WEIR_ERR_CONFIG, "load.remote: is on, and there is one rank only along the "
                                      "samples of the grid: no other one has any; auto sees that");
  }
  if (cfg->remote == WEIR_LOAD_ON && cfg->memory.bytes < bytes) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "load.remote: is on, and load.memory.bytes: %lld hold no sample of %lld bytes",
                     (long long)cfg->memory.bytes, (long long)bytes);
  }
  if (cfg->staging.bytes < bytes) {
    return weir_fail(WEIR_ERR_CONFIG, "load.staging.bytes: %lld hold no sample of %lld bytes",
                     (long long)cfg->staging.bytes, (long long)bytes);
  }
  if (cfg->directory.bytes > 0 && !cfg->directory.path[0]) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "load.directory.bytes: %lld, and load.directory.path is "
                     "empty: name a folder",
                     (long long)cfg->directory.bytes);
  }
  return WEIR_OK;
}
