/* machine.c - see weir_machine.h. */
#include "perf/weir_machine.h"

#include "comm/weir_request.h"

void weir_machine_print(const weir_machine *m, FILE *out)
{
  (void)fprintf(out,
                "per rank: kernel speed %.4g times the model, loops %.4g Gflop/s, memory %.4g "
                "GB/s, %.3g us per group; communication: latency %.4g us, link %.4g GB/s, "
                "reduction %.4g GB/s, overlap with %.0f %% of compute time\n",
                m->kernels, m->flops / 1e9, m->bandwidth / 1e9, m->group_overhead * 1e6,
                m->latency * 1e6, m->link_bw / 1e9, m->reduce_bw / 1e9, 100 * m->overlap);
}

double weir_message_seconds(const weir_machine *m, double bytes)
{
  return m->latency + bytes / m->link_bw;
}

double weir_allreduce_seconds(const weir_machine *m, int ranks, int64_t bytes)
{
  const weir_allreduce_way way = weir_allreduce_way_of(ranks, bytes, m->tree);

  return way.steps == 0 ? 0
                        : (double)(way.steps / 2) *
                              (2 * weir_message_seconds(m, way.bytes) + way.bytes / m->reduce_bw);
}
