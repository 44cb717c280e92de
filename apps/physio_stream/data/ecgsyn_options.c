/* ecgsyn_options.c - see ecgsyn_options.h. */
#include "data/ecgsyn_options.h"

#define PAPER "(McSharry 2003, table I)"
#define WAVE(w, angle_deg, a, b)                                                       \
  WEIR_OPT_REAL(ps_ecgsyn_opts, w.angle, angle_deg, -180, 180, "deg",                  \
                "angle on the cycle " PAPER),                                          \
      WEIR_OPT_REAL(ps_ecgsyn_opts, w.strength, a, -100, 100, "1", "strength " PAPER), \
      WEIR_OPT_REAL(ps_ecgsyn_opts, w.width, b, 0.01, 3, "rad", "width " PAPER)

const weir_opt ps_ecgsyn_options[] = {
    WEIR_OPT_REAL(ps_ecgsyn_opts, rate, 256, 50, 10000, "Hz",
                  "samples per second (ecgsyn of PhysioNet: 256)"),
    WEIR_OPT_INT(ps_ecgsyn_opts, oversample, 2, 1, 64, "1",
                 "integration steps per sample (ecgsyn of PhysioNet: 512 Hz inside)"),
    WEIR_OPT_REAL(ps_ecgsyn_opts, heart_rate, 60, 25, 220, "1/min",
                  "mean heart rate (ecgsyn of PhysioNet)"),
    WEIR_OPT_REAL(ps_ecgsyn_opts, heart_rate_std, 1, 0, 40, "1/min",
                  "its standard deviation (ecgsyn of PhysioNet)"),
    WEIR_OPT_REAL(ps_ecgsyn_opts, irregular, 0, 0, 0.5, "1",
                  "standard deviation of changes that are independent from beat to beat, as a "
                  "share of the mean RR interval; 0: none; in atrial fibrillation about 0.2, with "
                  "p.strength 0"),
    WEIR_OPT_REAL(ps_ecgsyn_opts, lf, 0.1, 0.01, 0.4, "Hz",
                  "Mayer-wave peak of the RR spectrum (McSharry 2003, section III)"),
    WEIR_OPT_REAL(ps_ecgsyn_opts, lf_std, 0.01, 0.002, 0.1, "Hz",
                  "its width (McSharry 2003, section III)"),
    WEIR_OPT_REAL(ps_ecgsyn_opts, hf, 0.25, 0.01, 0.4, "Hz",
                  "respiratory peak of the RR spectrum (McSharry 2003, section III)"),
    WEIR_OPT_REAL(ps_ecgsyn_opts, hf_std, 0.01, 0.002, 0.1, "Hz",
                  "its width (McSharry 2003, section III)"),
    WEIR_OPT_REAL(ps_ecgsyn_opts, lf_hf, 0.5, 0, 100, "1",
                  "power of the first peak relative to the second (ecgsyn of PhysioNet)"),
    WEIR_OPT_REAL(ps_ecgsyn_opts, wander, 0.005, 0, 1, "1",
                  "respiratory drift of the baseline, model units (ecgsyn of PhysioNet)"),
    WEIR_OPT_REAL(ps_ecgsyn_opts, wander_rate, 0.25, 0, 1, "Hz",
                  "frequency of that drift (McSharry 2003, eq. 2)"),
    WEIR_OPT_REAL(ps_ecgsyn_opts, low, -0.4, -100, 100, "mV",
                  "lowest value of the calibration stretch (ecgsyn of PhysioNet)"),
    WEIR_OPT_REAL(ps_ecgsyn_opts, high, 1.2, -100, 100, "mV",
                  "highest value of the calibration stretch (ecgsyn of PhysioNet)"),
    WEIR_OPT_REAL(ps_ecgsyn_opts, calibration, 60, 5, 3600, "s",
                  "signal whose extremes and variance set scale and SNR; a minute holds the slow "
                  "peaks of the RR spectrum several times"),
    WEIR_OPT_INT(ps_ecgsyn_opts, lead_beats, 1, 0, 1000, "1",
                 "beats run before the first sample, which then lies midway between R waves; 0 "
                 "starts on top of an R wave as in McSharry 2003"),
    WEIR_OPT_INT(ps_ecgsyn_opts, rr_points, 1024, 256, 65536, "s",
                 "block of the RR process; resolves 1/256 Hz or finer, below the peaks' width"),
    WAVE(p, -70, 1.2, 0.25),
    WAVE(q, -15, -5.0, 0.1),
    WAVE(r, 0, 30.0, 0.1),
    WAVE(s, 15, -7.5, 0.1),
    WAVE(t, 100, 0.75, 0.4),
    WEIR_OPT_END,
};
