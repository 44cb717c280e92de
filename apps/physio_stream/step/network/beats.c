/* beats.c - the step `network` with a network of beats (beats/apply.h): weights of this suite or an
 * ONNX file whose metadata describe it; a result at each beat. */
#include <string.h>
#include "beats/apply.h"
#include "step/network/network_priv.h"

/* What the file states is not stated again. */
weir_status ps_network_give_beats(const weir_series_use *use, weir_series_result *out)
{
  static const char *const names[PS_CLASSES] = {"n", "s", "v", "f"};
  const ps_network_opts *o = use->opts;
  const ps_beat_streams in = {.leads = use->in, .name = use->in_name, .n_leads = use->n_in};
  weir_series logit[PS_CLASSES];

  if (o->window > 0 || o->hop > 0 || o->fs > 0 || o->results != PS_OF_WINDOW || o->label != 0 ||
      o->scores == PS_SCORES_SIGMOID || (o->outputs.count > 0 && o->outputs.count != PS_CLASSES)) {
    return weir_fail(
        WEIR_ERR_CONFIG,
        "%s is a network of beats, with a result at each beat: fs, window, hop, "
        "results and label are not for it, scores are as_is or softmax, outputs %d names",
        o->file, PS_CLASSES);
  }
  if (o->state != PS_STATE_RESET || o->reset_after > 0 || o->state_in.count > 0 ||
      o->state_out.count > 0) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "%s is a network of beats, which has no state: leave out state, "
                     "reset_after, state_in and state_out",
                     o->file);
  }
  if (o->unit[0] != 0 && strcmp(o->unit, "mV") != 0) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "unit: %s is a network of beats, which takes leads in mV: "
                     "leave out unit",
                     o->file);
  }
  WEIR_TRY(ps_beat_apply(use, o->file, &in, logit));
  if (o->scores == PS_SCORES_SOFTMAX) {
    ps_beat_probabilities(use->graph, logit, out->out);
  } else {
    memcpy(out->out, logit, sizeof logit);
  }
  out->n = PS_CLASSES;
  for (int k = 0; k < PS_CLASSES; k++) {
    weir_series_set_unit(&out->out[k], "1");
    out->name[k] = o->outputs.count > 0 ? o->outputs.items[k] : names[k];
  }
  return weir_graph_status(use->graph);
}
