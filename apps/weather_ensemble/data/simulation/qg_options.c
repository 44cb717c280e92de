/* qg_options.c - the options of the simulation. */
#include "data/simulation/qg_ensemble.h"

static const weir_opt forecast_options[] = {
    WEIR_OPT_ENUM(wx_qg_imperfect, preset, WX_QG_REAL, "real|hard|perfect|custom",
                  "how wrong the forecasts' model is: real (the defaults of the rows below), hard "
                  "(13, 0.5, 1.3, 1e-7, 0.018), perfect (that of the truth, 0.03), or custom: what "
                  "the rows below say",
                  .choice_aliases = "own=custom"),
    WEIR_OPT_REAL(wx_qg_imperfect, tau_f, 11.5, 0.01, 1e9, "1", "its time of drag"),
    WEIR_OPT_REAL(wx_qg_imperfect, mountain, 0.65, -10, 10, "1", "its higher mountain"),
    WEIR_OPT_REAL(wx_qg_imperfect, jet, 1.35, -10, 10, "1", "its jet"),
    WEIR_OPT_REAL(wx_qg_imperfect, nu, 1e-7, 0, 1, "1", "its viscosity"),
    WEIR_OPT_REAL(wx_qg_imperfect, perturbation, 0.03, 0, 1, "1",
                  "of the members: that share of the difference of two states of the library"),
    WEIR_OPT_END,
};

const weir_opt wx_qg_options[] = {
    WEIR_OPT_ENUM(wx_qg_opts, precision, 0, "f32|f64", "what steps are computed in"),
    WEIR_OPT_INT(wx_qg_opts, batch, 0, 0, 1e6, "1",
                 "forecasts that a run of the plan steps, on the CPU by one thread; 0: 16384 grid "
                 "points on the CPU, at most 16 forecasts; 64 forecasts on other devices"),
    WEIR_OPT_INT(wx_qg_opts, unroll, 1, 1, 64, "1", "time steps of a run of the plan"),
    WEIR_OPT_INT(wx_qg_opts, lon, 128, 8, 4096, "1", "points along the jet, even"),
    WEIR_OPT_INT(wx_qg_opts, lat, 64, 8, 4096, "1", "points across it, even"),
    WEIR_OPT_INT(wx_qg_opts, refine, 1, 1, 8, "1",
                 "points of the truth for one of the forecasts, each way, and steps for one"),
    WEIR_OPT_REAL(wx_qg_opts, lx, 36, 0.1, 1e4, "1", "length of the domain, in scale.length"),
    WEIR_OPT_REAL(wx_qg_opts, ly, 12, 0.1, 1e4, "1", "its width"),
    WEIR_OPT_REAL(wx_qg_opts, step, 0.06, 1e-6, 10, "1",
                  "step in time, in scale.length / scale.wind: 1800 s"),
    WEIR_OPT_REAL(wx_qg_opts, coupling, 1, 0, 1e3, "1", "F, of the two layers"),
    WEIR_OPT_REAL(wx_qg_opts, beta, 0.3, -100, 100, "1", "gradient of planetary vorticity"),
    WEIR_OPT_REAL(wx_qg_opts, tau_d, 40, 0.01, 1e9, "1", "time of relaxation to the jet: 14 d"),
    WEIR_OPT_REAL(wx_qg_opts, tau_f, 10, 0.01, 1e9, "1", "time of drag at the ground: 3.5 d"),
    WEIR_OPT_REAL(wx_qg_opts, jet, 1.4, -10, 10, "1", "U0, wind of the jet, in scale.wind"),
    WEIR_OPT_REAL(wx_qg_opts, width, 2, 0.01, 1e3, "1", "sigma, width of the jet"),
    WEIR_OPT_REAL(wx_qg_opts, mountain, 0.8, -10, 10, "1", "h0, of the higher of two mountains"),
    WEIR_OPT_REAL(wx_qg_opts, nu, 3e-8, 0, 1, "1", "viscosity, of the eighth power of waves"),
    WEIR_OPT_REAL(wx_qg_opts, scale.length, 750, 1, 1e5, "km", "unit of length of the model"),
    WEIR_OPT_REAL(wx_qg_opts, scale.wind, 25, 0.1, 1e3, "m/s", "unit of its winds"),
    WEIR_OPT_REAL(wx_qg_opts, scale.coriolis, 1e-4, 1e-6, 1, "s-1", "f0, Coriolis parameter"),
    WEIR_OPT_TABLE(wx_qg_opts, forecast, forecast_options, "the model that forecasts"),
    WEIR_OPT_REAL(wx_qg_opts, analysis, 0.03, 0, 1, "1",
                  "error of analyses: that share of the difference of two states of the library"),
    WEIR_OPT_REAL(wx_qg_opts, spin_up, 150, 0, 1e6, "d", "from random eddies to the first state"),
    WEIR_OPT_INT(
        wx_qg_opts, library.states, 120, 2, 1e5, "1",
        "states of the truth before the first initialisation time, whose differences are errors"),
    WEIR_OPT_REAL(wx_qg_opts, library.every, 3, 0.01, 1e4, "d", "time between them"),
    WEIR_OPT_STRING(wx_qg_opts, begin, "2000-01-01",
                    "first initialisation time, as 2001-02-03 or with 12:00"),
    WEIR_OPT_INT(wx_qg_opts, init_times, 300, 1, 1e6, "1", "initialisation times of forecasts",
                 .alias = "starts"),
    WEIR_OPT_REAL(wx_qg_opts, every, 120, 0.01, 1e6, "h", "time between two initialisation times"),
    WEIR_OPT_INT(wx_qg_opts, members, 10, 1, 1000, "1", "of each, the control counted"),
    WEIR_OPT_REAL_LIST(wx_qg_opts, leads, "0, 24, 48", 0, 1e4, "h",
                       "lead times that are written, ascending"),
    WEIR_OPT_STRING_LIST(
        wx_qg_opts, quantities, "z500, t500, u500, v500, vo500, pv250, w500",
        "what is written: z, u, v, ws, vo at 250, 500, 750; t500, w500; pv250, pv750; "
        "tprate; tcc; 2t"),
    WEIR_OPT_TABLE(wx_qg_opts, surface, wx_surface_options, "temperature at 2 m, quantity 2t"),
    WEIR_OPT_END,
};
