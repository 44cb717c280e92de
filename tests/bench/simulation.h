/* simulation.h - the quasi-geostrophic model that benches integrate. */
#ifndef WEIR_BENCH_SIMULATION_H
#define WEIR_BENCH_SIMULATION_H
#include "data/simulation/qg_ensemble.h"

/* The standard model of the options. */
static inline wx_qg_params simulation_params(weir_dtype dtype)
{
  wx_qg_opts o;

  weir_opts_default(wx_qg_options, sizeof o, &o);
  wx_qg_params p = {dtype,   o.lon,   o.lat, o.lx,    o.ly,       o.coupling, o.beta, {0, 0},
                    o.tau_d, o.tau_f, o.jet, o.width, o.mountain, o.nu,       o.step};

  p.u[0] = wx_qg_mean_wind(&p);
  return p;
}

#endif
