/* memory_stream.c - what a stream may hold in memory, and whether its plan does. */
#include "stream_priv.h"
#include "device/weir_parallel.h"
#include "graph/weir_store.h"

#define MIB 1048576.0

double stream_max_memory(const weir_stream_cfg *cfg, const char **who)
{
  *who = cfg->memory > 0 ? "stream.memory allows" : "this machine has";
  return cfg->memory > 0 ? cfg->memory * MIB : (double)weir_cpu_get()->constants.memory_bytes;
}

weir_status stream_check_memory(const weir_stream *s, const weir_store *store)
{
  const char *who = NULL;
  const double budget = stream_max_memory(&s->cfg, &who), plan = (double)s->buffer_bytes;
  double kept = 0;

  for (int64_t i = 0; store != NULL && i < weir_store_count(store); i++) {
    const weir_tensor *t = weir_store_find(store, weir_store_name(store, i));

    kept += (double)weir_tensor_bytes(t);
  }
  if (budget > 0 && plan + kept > budget) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "stream.memory: the plan needs %.4g MiB: %.4g MiB for chunks of %.4g s and "
                     "their look-back, %.4g MiB for buffers of operators; %s %.4g MiB: use shorter "
                     "windows and tolerances, a shorter stream.window, or increase stream.memory",
                     (plan + kept) / MIB, plan / MIB, (double)s->window_ns / 1e9, kept / MIB, who,
                     budget / MIB);
  }
  return WEIR_OK;
}
