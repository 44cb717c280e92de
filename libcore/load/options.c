/* options.c - the options of a loader, and tables of speed. */
#include "load/load_priv.h"

#define SPEED "read speed, pairs: number of threads, total MB/s; empty: unknown, assumed faster"

const weir_opt weir_load_opts[] = {
    WEIR_OPT_INT(weir_load_cfg, staging.bytes, 1 << 28, 1, 1e15, "B",
                 "size of the prefetch buffer, filled in access order"),
    WEIR_OPT_INT(weir_load_cfg, staging.threads, 1, 0, 64, "1",
                 "prefetch threads; 0: none, each step reads its own samples"),
    WEIR_OPT_INT(weir_load_cfg, memory.bytes, INT64_C(1) << 31, 0, 1e15, "B",
                 "size of the memory cache of repeatedly accessed samples, most frequent first"),
    WEIR_OPT_INT(weir_load_cfg, memory.threads, 0, 0, 64, "1",
                 "threads that fill the memory cache ahead of the prefetch buffer; 0: each sample "
                 "when it is first read"),
    WEIR_OPT_REAL_LIST(weir_load_cfg, memory.speed, "", 0, 1e9, "MB/s", SPEED " than the source"),
    WEIR_OPT_PATH(weir_load_cfg, directory.path, "",
                  "folder on a local disk that caches samples beyond the memory cache"),
    WEIR_OPT_INT(weir_load_cfg, directory.bytes, 0, 0, 1e18, "B",
                 "size of the cache in the folder; 0: none"),
    WEIR_OPT_INT(weir_load_cfg, directory.threads, 0, 0, 64, "1",
                 "threads that fill the cache in the folder, as memory.threads"),
    WEIR_OPT_REAL_LIST(weir_load_cfg, directory.speed, "", 0, 1e9, "MB/s",
                       SPEED " than the source"),
    WEIR_OPT_BOOL(weir_load_cfg, directory.keep, false,
                  "keep the files of the folder at the end, for a resumed run"),
    WEIR_OPT_REAL_LIST(
        weir_load_cfg, source.speed, "", 0, 1e9, "MB/s",
        "speed of the shared file system, pairs: number of reading ranks (all ranks of the grid "
        "read), total MB/s; a storage tier with a lower speed is not used"),
    WEIR_OPT_ENUM(
        weir_load_cfg, remote, WEIR_LOAD_AUTO, "auto|on|off",
        "distributed cache: each sample is read by one of the ranks along the samples of the grid, "
        "which caches it in memory and sends it to the others; auto: with several such ranks and a "
        "sample in memory.bytes; off: each rank reads its own samples"),
    WEIR_OPT_END,
};

double load_speed(const weir_real_list *table, double n)
{
  const double *const x = table->items;
  const int64_t pairs = table->count / 2;

  for (int64_t i = 0; i < pairs; i++) {
    if (n <= x[2 * i]) {
      const double before = i > 0 ? x[2 * i - 2] : 0, low = i > 0 ? x[2 * i - 1] : 0;

      return low + (x[2 * i + 1] - low) * (n - before) / (x[2 * i] - before);
    }
  }
  return pairs > 0 ? x[2 * pairs - 1] : 0; /* saturated */
}

bool load_pays(const weir_load_cfg *cfg, int64_t readers, const weir_real_list *speed)
{
  const double threads = cfg->staging.threads > 0 ? (double)cfg->staging.threads : 1;
  const double here = load_speed(speed, threads);
  const double there = load_speed(&cfg->source.speed, (double)readers) / (double)readers;

  return here == 0 || here >= there;
}

static weir_status check_speed(const char *key, const weir_real_list *table)
{
  bool good = table->count % 2 == 0;

  for (int64_t i = 0; good && i < table->count; i += 2) {
    good = table->items[i] > (i > 0 ? table->items[i - 2] : 0) && table->items[i + 1] > 0;
  }
  return good ? WEIR_OK
              : weir_fail(WEIR_ERR_CONFIG,
                          "load.%s.speed is not a list of pairs: give ascending numbers of "
                          "threads, each followed by MB/s above 0",
                          key);
}

weir_status weir_load_suits(const weir_load_cfg *cfg, bool several, int64_t bytes)
{
  WEIR_TRY(check_speed("memory", &cfg->memory.speed));
  WEIR_TRY(check_speed("directory", &cfg->directory.speed));
  WEIR_TRY(check_speed("source", &cfg->source.speed));
  if (cfg->remote == WEIR_LOAD_ON && !several) {
    return weir_fail(WEIR_ERR_CONFIG, "load.remote is on, but there is only one rank along the "
                                      "samples of the grid: set it to auto or off");
  }
  if (cfg->remote == WEIR_LOAD_ON && cfg->memory.bytes < bytes) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "load.remote is on, but load.memory.bytes, %lld, is smaller than a sample "
                     "(%lld bytes): increase it",
                     (long long)cfg->memory.bytes, (long long)bytes);
  }
  if (cfg->staging.bytes < bytes) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "load.staging.bytes, %lld, is smaller than a sample (%lld bytes): increase it",
                     (long long)cfg->staging.bytes, (long long)bytes);
  }
  if (cfg->directory.bytes > 0 && !cfg->directory.path[0]) {
    return weir_fail(
        WEIR_ERR_CONFIG,
        "load.directory.bytes is %lld, but load.directory.path is empty: name a folder",
        (long long)cfg->directory.bytes);
  }
  return WEIR_OK;
}
