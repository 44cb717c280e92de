/* model_query.c - the query that an ONNX file with a declared interface stands for. */
#include <math.h>
#include "site/model.h"

/* Beats are at least that far apart, s: no ventricle is excited again earlier. */
#define APART 0.2

static const char *const scores[] = {"as_is", "sigmoid", "softmax"};

const char *ps_model_stream(const ps_model *m)
{
  return m->weir.kind == PS_MODEL_ONNX ? "beats" : m->weir.stream;
}

/* A score for each sample: beats are its maxima within APART on either side, the first of equal
 * ones. */
static void print_beats(const ps_model *m, FILE *out)
{
  const double slots = fmax(1, rint(APART * m->weir.fs)), window = slots / m->weir.fs;

  fprintf(out,
          "    - {name: high, from: [score], do: {moving: {kind: max, window: %.17g}}}\n"
          "    - {name: before, from: [high], do: {shift: {by: %.17g}}}\n"
          "    - {name: after, from: [high], do: {shift: {by: %.17g}}}\n"
          "    - {name: beats, from: [score, before, after], do: {where: {keep: "
          "\"score >= %.17g and score > before and score >= after\"}}}\n",
          window, 1 / m->weir.fs, -window, m->weir.threshold);
}

/* A score for each window: it is that of the beats that `detect` finds in its last hop. */
static void print_class(const ps_model *m, FILE *out)
{
  fprintf(out,
          "    - {name: r, from: [signal], do: detect}\n"
          "    - {name: beats, from: [r.beat, score], do: {join: {value: "
          "\"if(score >= %.17g, r.beat, nan)\"}}}\n",
          m->weir.threshold);
}

/* Names of the numbers that come out, where the descriptor gives them. */
static void print_names(const ps_model *m, FILE *out)
{
  for (int64_t k = 0; k < m->weir.outputs.count; k++) {
    fprintf(out, "%s%s", k == 0 ? ", outputs: [" : ", ", m->weir.outputs.items[k]);
  }
  fputs(m->weir.outputs.count > 0 ? "]" : "", out);
}

void ps_model_print_query(const ps_model *m, const char *network, FILE *out)
{
  const bool beats = m->weir.gives == PS_GIVES_BEATS, named = m->weir.outputs.count > 0;

  fprintf(out,
          "query:\n"
          "  streams: [{name: signal, signal: \"%s\", unit: \"%s\"}]\n"
          "  steps:\n"
          "    - {name: given, from: [signal], do: {resample: {rate: %.17g, method: polyphase}}}\n"
          "    - {name: net, from: [given], do: {network: {file: \"%s\", fs: %.17g, window: %.17g, "
          "hop: %.17g, scores: %s, results: %s",
          m->weir.signal, m->weir.unit, m->weir.fs, network, m->weir.fs, m->weir.window,
          m->weir.hop, scores[m->weir.scores], beats ? "samples" : "window");
  print_names(m, out);
  fprintf(out,
          "}}}\n"
          "    - {name: score, from: [net%s%s], do: {select: {value: x}}}\n",
          named ? "." : "", named ? m->weir.score : "");
  if (beats) {
    print_beats(m, out);
  } else {
    print_class(m, out);
  }
  fprintf(out, "  outputs: [{stream: beats, format: annotations}]\n");
}
