/* peaks.c - the two numbers of the roofline: of the machine's file, else built in. */
#include "device/weir_parallel.h"
#include "plan_priv.h"

/* One core of a 2023 server CPU: sustained copy bandwidth, and f32 multiply-adds of a 512-bit
 * unit. */
#define BUILT_IN_BANDWIDTH 20e9
#define BUILT_IN_FLOP_RATE 100e9

bool exec_peaks(double *bandwidth, double *flop_rate)
{
  const weir_cpu *cpu = weir_cpu_get();
  const bool measured = cpu->bandwidth > 0 && cpu->flop_rate > 0;

  *bandwidth = measured ? cpu->bandwidth : BUILT_IN_BANDWIDTH;
  *flop_rate = measured ? cpu->flop_rate : BUILT_IN_FLOP_RATE;
  return measured;
}
