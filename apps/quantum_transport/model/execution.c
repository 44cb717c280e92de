/* execution.c - see execution.h. */
#include "model/execution.h"

const weir_opt qt_exec_options[] = {
    WEIR_OPT_STRING(qt_exec_opts, device, "cpu",
                    "device of plans: cpu, or another listed by `--version`; recursions and leads "
                    "run as host calls with copies, sums of self-energies as its loops"),
    WEIR_OPT_PATH(qt_exec_opts, kernel_dir, "",
                  "folder to which the text of each kernel generated for `exec.device` is written "
                  "(CUDA C); empty: none"),
    WEIR_OPT_BOOL(qt_exec_opts, explain, false,
                  "measure the time of every group, and log it by kernel class at the end of "
                  "a plan"),
    WEIR_OPT_PATH(qt_exec_opts, predict, "",
                  "file of constants of another device (keys: docs/reference/machine.md; examples: "
                  "configs/machines): the time of groups is measured as by exec.explain, and "
                  "predicted on that device; empty: none"),
    WEIR_OPT_PATH(
        qt_exec_opts, predict_from, "",
        "file of constants of the device of the run, as for exec.predict; empty: built-in "
        "constants of a core and the number of threads"),
    WEIR_OPT_END};

void qt_execution(const qt_exec_opts *chosen, weir_exec_cfg *out)
{
  weir_opts_default(weir_exec_opts, sizeof *out, out);
  if (chosen != NULL) {
    out->device = chosen->device;
    out->kernel_dir = chosen->kernel_dir;
    out->explain = chosen->explain;
    out->predict = chosen->predict;
    out->predict_from = chosen->predict_from;
  }
}
