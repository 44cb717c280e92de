/* main.c - cosmoflow: the commands. */
#include "app/weir_flow.h"
#include "conf/weir_cli.h"
#include "device/weir_device.h"
#include "options.h"
#include "commands.h"

static const weir_command commands[] = {
    {"prepare", "write simulated universes", NULL, cf_cmd_prepare, WEIR_LAUNCHED_RANKS, true},
    {"run", "train the network", NULL, cf_cmd_run, WEIR_THREAD_RANKS, true},
    {"predict", "write what trained weights say of samples (predictions.nc, predictions.csv)",
     "[PATH ...]", cf_cmd_predict, WEIR_LAUNCHED_RANKS, false},
    {"convert", "write samples in another format, whole or cut into smaller cubes", "PATH ...",
     cf_cmd_convert, WEIR_LAUNCHED_RANKS, true},
    {"paint",
     "write the matter of snapshots of simulations (HDF5 of Gadget, AREPO, GIZMO or SWIFT) on "
     "meshes, or maps of it, as samples",
     "PATH ...", cf_cmd_paint, WEIR_ONE_RANK, true},
    {"haloes",
     "write the haloes of snapshots of simulations by friends of friends: masses, centres "
     "(haloes-00000000.csv, ..., snapshots.csv)",
     "PATH ...", cf_cmd_haloes, WEIR_ONE_RANK, false},
    {"inspect",
     "print what files of samples hold: shapes, labels, a histogram of the voxels; or whether logs "
     "of "
     "MLPerf HPC keep to its rules",
     "PATH ...", cf_cmd_inspect, WEIR_ONE_RANK, false},
    {"power", "write the power spectrum P(k) of a sample (spectrum.csv, spectrum.nc, report.html)",
     "PATH ...", cf_cmd_power, WEIR_ONE_RANK, false},
    {"summaries",
     "write the one-point distribution, the peak counts, the bispectrum, the multipoles of P(k) "
     "and "
     "the wavelet scattering coefficients of a sample (a .csv each, report.html)",
     "PATH ...", cf_cmd_summaries, WEIR_ONE_RANK, false},
    {"eval", "score predictions against regressions on P(k) and the mean", NULL, cf_cmd_eval,
     WEIR_LAUNCHED_RANKS, false},
    {"robustness",
     "score networks, and regressions fitted on the same universes, on samples of other "
     "simulations (robustness.csv, report.html)",
     NULL, cf_cmd_robustness, WEIR_ONE_RANK, false},
    {"describe",
     "print the resolved configuration, the samples of source.input or what prepare would write "
     "and take, and what the network costs layer by layer",
     NULL, cf_cmd_describe, WEIR_ONE_RANK, false},
    {"scaling",
     "predict the time of a training step on many ranks, under every exchange policy (scaling.csv, "
     "report.html); on several ranks, measure it, too",
     NULL, cf_cmd_scaling, WEIR_LAUNCHED_RANKS, false},
    {"compare",
     "train the network under exchange policies on simulated ranks, of which some may be late: "
     "validation loss over simulated time (compare.csv, losses.csv, report.html)",
     NULL, cf_cmd_compare, WEIR_ONE_RANK, false},
    {"loading",
     "predict the time of a training by where its samples come from, under policies of loading "
     "(loading.csv, report.html); nothing is read",
     NULL, cf_cmd_loading, WEIR_ONE_RANK, false},
    {"tune",
     "measure how fast memory, load.directory.path and the files of samples are read, choose the "
     "settings of section load by simulated trainings, and write load.yaml for run and loading; on "
     "several ranks, by numbers of ranks",
     "PATH ...", cf_cmd_tune, WEIR_LAUNCHED_RANKS, false},
    {"report",
     "write the page of a flow, DIR/index.html: states, provenance and main results of its steps",
     "DIR", weir_flow_report, WEIR_ONE_RANK, false},
    {NULL, NULL, NULL, NULL, WEIR_ONE_RANK, false},
};

int main(int argc, char **argv)
{
  const weir_app app = {.name = "cosmoflow",
                        .summary = "cosmological parameters from the distribution of matter",
                        .commands = commands,
                        .opts = cf_options,
                        .opts_size = sizeof(cf_cfg),
                        .print_machine = weir_device_print};

  return weir_cli_main(argc, argv, &app);
}
