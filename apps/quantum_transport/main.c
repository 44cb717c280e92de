/* main.c - quantum_transport: the commands. */
#include "app/weir_flow.h"
#include "conf/weir_cli.h"
#include "device/weir_device.h"
#include "options.h"
#include "commands.h"

static const weir_command commands[] = {
    {"prepare", "check a device and write its matrices and the bands of its leads", NULL,
     qt_cmd_prepare, WEIR_ONE_RANK, false},
    {"run", "compute transmission, density of states and current of a device", NULL, qt_cmd_run,
     WEIR_LAUNCHED_RANKS, true},
    {"eval", "compare the transmission of a run with a reference", NULL, qt_cmd_eval, WEIR_ONE_RANK,
     false},
    {"bench",
     "time of leads and recursion at one energy of the device, relative to matrix products", NULL,
     qt_cmd_bench, WEIR_ONE_RANK, false},
    {"describe",
     "print the resolved configuration, the blocks of the device and what a run would cost; run "
     "nothing",
     NULL, qt_cmd_describe, WEIR_ONE_RANK, false},
    {"report",
     "write the page of a flow, DIR/index.html: states, provenance and main results of its steps",
     "DIR", weir_flow_report, WEIR_ONE_RANK, false},
    {NULL, NULL, NULL, NULL, WEIR_ONE_RANK, false},
};

int main(int argc, char **argv)
{
  const weir_app app = {.name = "quantum_transport",
                        .summary = "electrons and phonons in nano-transistors by Green's functions",
                        .commands = commands,
                        .opts = qt_options,
                        .opts_size = sizeof(qt_cfg),
                        .print_machine = weir_device_print};

  return weir_cli_main(argc, argv, &app);
}
