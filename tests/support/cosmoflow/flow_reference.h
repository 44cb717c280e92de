/* flow_reference.h - flows whose densities, inverses and gradients tests/bench/cosmo_posterior.py
 * computes with zuko 1.6.0 (PyTorch 2.15.0), in double precision. Tests only. */
#ifndef CF_FLOW_REFERENCE_H
#define CF_FLOW_REFERENCE_H
#include <string.h>
#include "data/flow.h"
#include "support/cosmoflow/congruential.h"

enum { FLOW_N = 2, FLOW_LABELS = 3, FLOW_FEATURES = 3, FLOW_WEIGHTS = 512, FLOW_CASES = 2 };

/* Of FLOW_N samples; gradients of the mean of -ln q: sum, sum of squares, last. */
typedef struct flow_reference {
  cf_flow_shape shape;
  double density[FLOW_N], inverse[FLOW_N * FLOW_LABELS], centre[FLOW_N * FLOW_LABELS];
  double by_weights[3], by_features[3];
} flow_reference;

static const flow_reference flow_references[FLOW_CASES] = {
    {{2, 3, 1, 4},
     {-7.6001929686638841, -2.2142966042704577},
     {-0.42229109998168962, -0.40909451197367536, -0.64685579094709578, 2.5259124068167864},
     {-0.11621527317123302, -0.96786058890963445, -0.082679926786641503, -1.1312072865877827},
     {9.3200058705881439, 28.377872776352348, -0.66534218817202839},
     {0.029195331375714506, 0.28980137369156489, -0.040942472988126692}},
    {{3, 2, 3, 7},
     {-7.9819715417763577, -9.8676979967269727},
     {1.6207888700133759, -2.2071804210790908, 1.0154396128360326, 4.9109831006199158,
      -0.78501394140790848, 2.9512816969244886},
     {-0.20619528716063978, -1.2161572810226791, 0.60207725920605726, -6.4645006175151787,
      0.62145946803400409, 1.274485790235353},
     {11.477966643049069, 331.8947408476368, -0.73416549439451417},
     {-5.5890638985759526, 27.80065374064462, 1.0617309057336572}},
};

/* The numbers that they are of. */
typedef struct flow_numbers {
  double weight[FLOW_WEIGHTS], feature[FLOW_N * FLOW_FEATURES];
  double truth[FLOW_N * FLOW_LABELS], z[FLOW_N * FLOW_LABELS];
} flow_numbers;

static inline void flow_numbers_make(const cf_flow_shape *s, flow_numbers *out)
{
  uint32_t state = 1;

  memset(out, 0, sizeof *out);
  congruential(&state, cf_flow_count(s), 1, out->weight);
  congruential(&state, FLOW_N * s->features, 1, out->feature);
  congruential(&state, FLOW_N * s->labels, 1, out->truth);
  congruential(&state, FLOW_N * s->labels, 2, out->z);
}

#endif
