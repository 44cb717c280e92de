/* main.c - physio_stream: the verbs. */
#include "conf/weir_cli.h"
#include "options.h"
#include "verbs.h"

static const weir_verb verbs[] = {
    {"prepare", "write the built-in recording as a WFDB record with its true beats", NULL,
     ps_verb_prepare},
    {"run", "find the beats of a recording", NULL, ps_verb_run},
    {"eval", "score beats against a reference", NULL, ps_verb_eval},
    {"bench", "time and data movement of the detection, from samples in memory", NULL,
     ps_verb_bench},
    {"describe", "print the resolved configuration, the graph and its plan; run nothing", NULL,
     ps_verb_describe},
    {NULL, NULL, NULL, NULL},
};

int main(int argc, char **argv)
{
  const weir_app app = {.name = "physio_stream",
                        .summary = "finds the heart beats of an electrocardiogram, as a stream",
                        .verbs = verbs,
                        .opts = ps_options,
                        .opts_size = sizeof(ps_cfg)};

  return weir_cli_main(argc, argv, &app);
}
