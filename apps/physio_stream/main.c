/* main.c - physio_stream: the commands. */
#include <string.h>
#include "app/weir_flow.h"
#include "conf/weir_cli.h"
#include "device/weir_device.h"
#include "options.h"
#include "commands.h"

static const weir_command commands[] = {
    {"prepare", "write the built-in recording as a WFDB record with its true beats", NULL,
     ps_cmd_prepare, WEIR_ONE_RANK, false},
    {"run", "find the beats of a recording", NULL, ps_cmd_run, WEIR_LAUNCHED_RANKS, false},
    {"eval", "score beats against a reference", NULL, ps_cmd_eval, WEIR_LAUNCHED_RANKS, false},
    {"train",
     "fit the classifiers of beats, by features and by a network, to annotated records and test "
     "them on other patients (beat_class.txt, weights.nc, scores.csv, confusion.csv, report.html)",
     NULL, ps_cmd_train, WEIR_ONE_RANK, false},
    {"convert", "write records in another format: NetCDF, WFDB, EDF+, BDF+, aECG or text", NULL,
     ps_cmd_convert, WEIR_LAUNCHED_RANKS, false},
    {"site", "study over several hospitals: the steps of one hospital, and the pooled results",
     "prepare|check|stats|eval|approve|run|merge", ps_cmd_site, WEIR_ONE_RANK, false},
    {"bench", "time and data movement of the detection, from samples in memory", NULL, ps_cmd_bench,
     WEIR_ONE_RANK, false},
    {"replay", "send a recording as live samples, with the disorder of a connection", NULL,
     ps_cmd_replay, WEIR_ONE_RANK, false},
    {"compare",
     "train a classifier of heart rhythms in recordings of different length under exchange "
     "policies, on simulated ranks: validation loss over simulated time (compare.csv, losses.csv, "
     "report.html)",
     NULL, ps_cmd_compare, WEIR_ONE_RANK, false},
    {"describe", "print the resolved configuration, the graph and its plan; run nothing", NULL,
     ps_cmd_describe, WEIR_ONE_RANK, false},
    {"report",
     "write the page of a flow, DIR/index.html: states, provenance and main results of its steps",
     "DIR", weir_flow_report, WEIR_ONE_RANK, false},
    {NULL, NULL, NULL, NULL, WEIR_ONE_RANK, false},
};

/* An address of live input, a text file, or a record. */
static const char *input_key(const char *value)
{
  const char *dot = strrchr(value, '.');

  if (strcmp(value, "-") == 0 || strncmp(value, "tcp:", 4) == 0 ||
      strncmp(value, "unix:", 5) == 0) {
    return "input.live";
  }
  return dot != NULL && (strcmp(dot, ".csv") == 0 || strcmp(dot, ".txt") == 0) ? "input.csv"
                                                                               : "input.record";
}

int main(int argc, char **argv)
{
  const weir_app app = {.name = "physio_stream",
                        .summary = "finds the heart beats of an electrocardiogram, as a stream",
                        .commands = commands,
                        .opts = ps_options,
                        .input_key = input_key,
                        .inputs_key = "input.records",
                        .opts_size = sizeof(ps_cfg),
                        .print_machine = weir_device_print};

  return weir_cli_main(argc, argv, &app);
}
