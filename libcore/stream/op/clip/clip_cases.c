/* clip_cases.c - see series_cases.h. */
#include "stream/op/clip/clip_priv.h"
#include "stream/series_cases.h"

extern const weir_series_op weir_series_op_clip;

static weir_series draw(const weir_series_use *use, uint64_t seed)
{
  const clip_opts o = {.longest = 1 + (double)(seed % 50)};

  return weir_series_step(&weir_series_op_clip, use, &o).out[1];
}

const weir_series_cases weir_series_cases_clip = {.op = &weir_series_op_clip, .draw = draw};
