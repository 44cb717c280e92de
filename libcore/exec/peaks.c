/* peaks.c - what the roofline stands on: measured once by `bench peaks`, else built in and marked
 * so. */
#include "plan_priv.h"
#include "base/weir_log.h"
#include "conf/weir_opt.h"

/* One core of a 2023 server part: sustained copy bandwidth, and f32 multiply-adds of a 512-bit
 * unit. */
#define BUILT_IN_BANDWIDTH 20e9
#define BUILT_IN_FLOP_RATE 100e9

struct peaks {
  double bandwidth, flop_rate;
};

static const weir_opt rows[] = {
    WEIR_OPT_REAL(struct peaks, bandwidth, BUILT_IN_BANDWIDTH, 1, 1e15, "bytes/s",
                  "sustained copy bandwidth of one core, bytes read plus bytes written"),
    WEIR_OPT_REAL(struct peaks, flop_rate, BUILT_IN_FLOP_RATE, 1, 1e18, "flop/s",
                  "f32 multiply-adds of one core, two operations each"),
    WEIR_OPT_END,
};

bool exec_peaks_read(const char *path, double *bandwidth, double *flop_rate)
{
  struct peaks peaks;
  weir_config *config = NULL;

  *bandwidth = BUILT_IN_BANDWIDTH;
  *flop_rate = BUILT_IN_FLOP_RATE;
  if (path == NULL || path[0] == '\0') {
    return false;
  }
  if (weir_config_load(rows, sizeof(peaks), &path, 1, NULL, 0, &peaks, &config) != WEIR_OK) {
    weir_warn("exec", "%s; predictions use built-in peaks", weir_last_message());
    weir_clear_failure();
    return false;
  }
  *bandwidth = peaks.bandwidth;
  *flop_rate = peaks.flop_rate;
  weir_config_destroy(&config);
  return true;
}
