/* main.c - weather_ensemble: the commands. */
#include "app/weir_flow.h"
#include "conf/weir_cli.h"
#include "device/weir_device.h"
#include "options.h"
#include "commands.h"

static const weir_command commands[] = {
    {"prepare", "write the built-in simulation as archives of forecasts and truth, or import files",
     NULL, wx_cmd_prepare, WEIR_LAUNCHED_RANKS, false},
    {"inspect",
     "print what the files of data.forecast and data.truth hold: grid, times, what is missing, "
     "statistics",
     NULL, wx_cmd_inspect, WEIR_ONE_RANK, false},
    {"run", "train networks", NULL, wx_cmd_run, WEIR_THREAD_RANKS, true},
    {"predict", "apply weights to an archive of forecasts", NULL, wx_cmd_predict,
     WEIR_LAUNCHED_RANKS, false},
    {"eval", "score forecasts of models side by side against the truth", NULL, wx_cmd_eval,
     WEIR_LAUNCHED_RANKS, false},
    {"check", "compare the gradient of the network with differences", NULL, wx_cmd_check,
     WEIR_ONE_RANK, false},
    {"describe", "print the resolved configuration, the network and the plan of a training step",
     NULL, wx_cmd_describe, WEIR_ONE_RANK, false},
    {"report",
     "write the page of a flow, DIR/index.html: states, provenance and main results of its steps",
     "DIR", weir_flow_report, WEIR_ONE_RANK, false},
    {NULL, NULL, NULL, NULL, WEIR_ONE_RANK, false},
};

static const char *input_key(const char *value)
{
  (void)value;
  return "data.forecast[]";
}

int main(int argc, char **argv)
{
  const weir_app app = {.name = "weather_ensemble",
                        .summary = "trains networks that correct weather forecasts",
                        .commands = commands,
                        .opts = wx_options,
                        .input_key = input_key,
                        .opts_size = sizeof(wx_cfg),
                        .print_machine = weir_device_print};

  return weir_cli_main(argc, argv, &app);
}
