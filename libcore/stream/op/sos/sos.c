/* sos.c - second-order sections in transposed direct form II, over time with gaps. */
#include "ops/scan/weir_scan.h"
#include "stream/op/sos/weir_stream_sos.h"

weir_series weir_stream_sos(weir_graph *g, weir_series s, const weir_sos *section, int n,
                            int64_t hold)
{
  weir_sos_spec spec = {.n = n, .steady = true, .hold = hold};

  if (n < 1 || n > WEIR_SOS_SECTIONS) {
    s.value = weir_graph_fail(g, weir_fail(WEIR_ERR_SHAPE, "sos: %d sections: 1 to %d are allowed",
                                           n, WEIR_SOS_SECTIONS));
    return s;
  }
  for (int k = 0; k < n; k++) {
    const double row[6] = {section[k].b0, section[k].b1, section[k].b2, 1,
                           section[k].a1, section[k].a2};

    for (int i = 0; i < 6; i++) {
      spec.section[k][i] = row[i];
    }
  }
  s.value = weir_sos_at(g, &spec, s.value, s.present, WEIR_WHERE);
  return s;
}

const weir_series_op weir_series_op_sos = {.name = "sos", .cite = ""};
