/* universe_options.c - the options of the built-in universes. */
#include "data/simulation/universe.h"

const weir_opt cf_universe_options[] = {
    WEIR_OPT_INT(cf_universe_opts, universes, 64, 1, 1e8, "1", "number of universes"),
    WEIR_OPT_INT(cf_universe_opts, first, 0, 0, 1e9, "1",
                 "number of the first: other jobs may make others, of the same seed"),
    WEIR_OPT_INT(cf_universe_opts, file, 64, 1, 1e6, "1",
                 "universes of a file; what is written is kept when prepare is stopped"),
    WEIR_OPT_INT(cf_universe_opts, ranks, 1, 1, 4096, "1",
                 "ranks that prepare simulates each universe on, for meshes that one node cannot "
                 "hold; 1: each rank simulates its own universes"),
    WEIR_OPT_INT(cf_universe_opts, side, 64, 4, 4096, "1", "cells along each side of the box"),
    WEIR_OPT_INT(cf_universe_opts, particles, 0, 0, 4096, "1",
                 "particles along each side, at least 4; 0: one for each cell"),
    WEIR_OPT_REAL(cf_universe_opts, box, 256, 1, 1e5, "Mpc/h", "side of the box"),
    WEIR_OPT_INT(cf_universe_opts, block, 0, 0, 4096, "1",
                 "cells along each side of a sample, of which a box then has many (MLPerf HPC: 128 "
                 "of 512); 0: the box is one sample"),
    WEIR_OPT_REAL_LIST(cf_universe_opts, redshifts, "0", 0, 100, "1",
                       "channels of a sample (the set of 2019: 0, 0.5, 1.5, 3)"),
    WEIR_OPT_ENUM(cf_universe_opts, preset, CF_PRESET_SC18, "sc18|wide2|custom",
                  "what parameters are drawn of: sc18, the defaults of the rows below (the set of "
                  "arXiv:1808.04728); wide2, omega_m [0.1, 0.5] and sigma_8 [0.5, 1.1] with n_s "
                  "0.9667 and h 0.6774; or custom: what the rows below say",
                  .choice_aliases = "own=custom"),
    WEIR_OPT_REAL_LIST(cf_universe_opts, range.omega_m, "0.25, 0.35", 0.02, 1, "1",
                       "prior range of Omega_m; twice the same number: fixed, and no label"),
    WEIR_OPT_REAL_LIST(cf_universe_opts, range.sigma_8, "0.78, 0.95", 0.01, 3, "1",
                       "prior range of sigma_8"),
    WEIR_OPT_REAL_LIST(cf_universe_opts, range.n_s, "0.9, 1", 0, 2, "1", "prior range of n_s"),
    WEIR_OPT_REAL_LIST(cf_universe_opts, range.h, "0.6, 0.8", 0.2, 2, "1",
                       "prior range of h = H0 / (100 km/s/Mpc)"),
    WEIR_OPT_REAL(cf_universe_opts, baryons, 0.0224, 1e-4, 1, "1", "Omega_b h^2 of all"),
    WEIR_OPT_ENUM(cf_universe_opts, draw, CF_DRAW_UNIFORM, "uniform|sobol",
                  "independent draws, or points of a shifted Sobol sequence, which fill the ranges "
                  "more evenly"),
    WEIR_OPT_ENUM(cf_universe_opts, method, CF_METHOD_2LPT, "1lpt|2lpt|pm",
                  "particles are displaced by theory of first or second order, or go on from it "
                  "through a particle-mesh simulation"),
    WEIR_OPT_REAL(cf_universe_opts, start, 0.1, 0.001, 0.99, "1",
                  "pm: a = 1 / (1 + z) it begins at"),
    WEIR_OPT_INT(cf_universe_opts, steps, 10, 1, 10000, "1",
                 "pm: steps from there to today, equal in a; each redshift ends one"),
    WEIR_OPT_ENUM(cf_universe_opts, transfer, CF_TRANSFER_FULL, "full|smooth",
                  "Eisenstein and Hu's transfer function with or without acoustic oscillations"),
    WEIR_OPT_BOOL(
        cf_universe_opts, fixed, false,
        "every wave of the linear field has the modulus of the spectrum, its phase alone is "
        "random: for tests, no sample variance at first order"),
    WEIR_OPT_ENUM(
        cf_universe_opts, line_of_sight, CF_SIGHT_NONE, "none|x|y|z",
        "axis along which peculiar velocities move particles, s = x + v / (a H): redshift "
        "space of a distant observer; none: real space"),
    WEIR_OPT_ENUM(cf_universe_opts, counts, CF_COUNTS_NGP, "ngp|cic",
                  "a particle counts in the cell it is in, or in eight by linear weights"),
    WEIR_OPT_ENUM(cf_universe_opts, values, CF_VALUES_I16, "i16|f32",
                  "what counts are stored as; cic needs f32"),
    WEIR_OPT_REAL(cf_universe_opts, feedback.mass, 0, 0, 1e17, "Msun/h",
                  "effect of baryons on the density: haloes below this mass lose their gas, fit of "
                  "Schneider and Teyssier (2015), such as 1.2e14; 0: none; needs values f32 or "
                  "tracers"),
    WEIR_OPT_REAL(cf_universe_opts, feedback.ejection, 0.5, 0.05, 5, "1",
                  "to which radius the gas goes, in units of the escape radius (eta_b)"),
    WEIR_OPT_REAL(cf_universe_opts, tracers, 0, 0, 1e6, "(h/Mpc)^3",
                  "tracers in the place of the matter: their number in a cell is a Poisson number "
                  "whose mean is this density times the volume of the cell and the density of "
                  "matter in units of its mean; 0: the matter itself"),
    WEIR_OPT_INT(cf_universe_opts, deflate, 1, 0, 9, "1", "compression of the files; 0: none"),
    WEIR_OPT_END,
};
