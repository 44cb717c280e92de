/* weir_load_tuning.h - settings of a loader, chosen by trainings that are simulated
 * (weir_load_simulation.h, policy weir) with every setting of a grid:
 *
 *   staging.threads    each number of a list
 *   staging.bytes      2, 4, 8 and 16 batches of a worker, or what the limit of memory holds
 *   memory.bytes       none, the share of the data set of one of n workers, 1/4, 2/4, 3/4 and all
 *                      of the data set, and what the limit leaves
 *   directory.bytes    none, 1/4, 2/4, 3/4 and all of the data set, and the limit
 *   remote             off; with several workers and a network, on (auto)
 *
 * Settings are simulated in the order of memory (staging buffer, cache, received samples), then
 * directory, threads, remote. The first one within WEIR_LOAD_TIE of the time without stalls is
 * chosen, and none after it is simulated; where there is none, the first within WEIR_LOAD_TIE of
 * the fastest of all. memory.threads and directory.threads are 0: threads that fill a tier ahead
 * share the speed of the source with those of the staging buffer, and the model has none. */
#ifndef WEIR_LOAD_TUNING_H
#define WEIR_LOAD_TUNING_H
#include "load/weir_load_simulation.h"
#ifdef __cplusplus
extern "C" {
#endif

#define WEIR_LOAD_TIE 1e-3 /* relative difference of times that are taken for equal */

/* What a worker may use. Borrows the list. */
typedef struct weir_load_limits {
  int64_t memory_bytes;    /* staging buffer, cache and received samples together */
  int64_t directory_bytes; /* 0: no directory */
  weir_int_list threads;   /* above 0 */
} weir_load_limits;

typedef struct weir_load_setting {
  int64_t threads, staging_bytes, memory_bytes, directory_bytes;
  int64_t received_bytes; /* two batches of samples of other workers, with remote */
  bool remote;
  weir_load_simulated predicted;
} weir_load_setting;

typedef struct weir_load_choice {
  weir_load_setting best;
  weir_load_setting smaller; /* the fastest of the settings before the chosen one */
  int64_t before;            /* settings before the chosen one; 0: `smaller` is not set */
  int64_t settings, simulated;
  bool unstalled; /* `best` is within WEIR_LOAD_TIE of the time without stalls */
} weir_load_choice;

/* Chooses for a training on so many workers; load: the measured speeds, and the path of the
 * directory. Local. Fails: WEIR_ERR_CONFIG (a limit below one sample, no threads), as
 * weir_load_simulation_check and weir_load_simulate. */
weir_status weir_load_choose(const weir_load_cfg *load, const weir_load_simulation *s,
                             int64_t workers, const weir_load_limits *limits,
                             weir_load_choice *out) WEIR_CHECKED;
/* Returns the options of a loader with a setting: speeds and path are those of `load`. */
weir_load_cfg weir_load_cfg_of(const weir_load_cfg *load, const weir_load_setting *setting);

#ifdef __cplusplus
}
#endif
#endif
