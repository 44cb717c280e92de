/* options.c - the option tables of electrostatics.h. */
#include "model/electrostatics/electrostatics.h"

static const weir_opt gate_options[] = {
    WEIR_OPT_REAL(qt_gate_opts, from, 0, -1e6, 1e6, "Angstrom",
                  "where the gate begins, from the left end of the device"),
    WEIR_OPT_REAL(qt_gate_opts, to, 0, -1e6, 1e6, "Angstrom", "where the gate ends"),
    WEIR_OPT_ENUM(qt_gate_opts, sides, QT_SIDES_AROUND, "around|y|z|y_max|y_min|z_max|z_min",
                  "surfaces of the oxide that the gate covers; y, z: both of that axis"),
    WEIR_OPT_REAL(qt_gate_opts, voltage, 0, -100, 100, "V",
                  "gate voltage relative to the left lead; added to that of sweep.gate"),
    WEIR_OPT_BOOL(qt_gate_opts, swept, true, "whether the voltages of sweep.gate are applied"),
    WEIR_OPT_REAL(qt_gate_opts, flat_band, 0, -100, 100, "V",
                  "gate voltage at which the potential energy at the metal is 0, the zero of the "
                  "Hamiltonian's energies: the work-function difference"),
    WEIR_OPT_END,
};

static const weir_opt doping_options[] = {
    WEIR_OPT_REAL(qt_doping_opts, from, 0, -1e6, 1e6, "Angstrom",
                  "where the doping begins, from the left end of the device"),
    WEIR_OPT_REAL(qt_doping_opts, to, 0, -1e6, 1e6, "Angstrom", "where the doping ends"),
    WEIR_OPT_REAL(qt_doping_opts, concentration, 0, -1e24, 1e24, "cm^-3",
                  "ionised donors per volume of the semiconductor; acceptors: negative"),
    WEIR_OPT_END,
};

const weir_opt qt_electrostatics_options[] = {
    WEIR_OPT_BOOL(qt_electrostatics_opts, enabled, false,
                  "compute the self-consistent potential of electrons, doping and gates (needs "
                  "PETSc)"),
    WEIR_OPT_REAL(qt_electrostatics_opts, mid_gap, 0, -1e6, 1e6, "eV",
                  "an energy in the band gap of the leads, on the scale of the Hamiltonian: states "
                  "above hold electrons, states below holes"),
    WEIR_OPT_ENUM(qt_electrostatics_opts, fermi_level, QT_FERMI_DOPING, "doping|given",
                  "chemical potential of the left lead: that which its doping neutralises at zero "
                  "potential, or contact.mu"),
    WEIR_OPT_REAL(qt_electrostatics_opts, spacing, 2, 0.05, 100, "Angstrom",
                  "maximum spacing of the grid of the potential"),
    WEIR_OPT_REAL(qt_electrostatics_opts, semiconductor.permittivity, 11.9, 1, 1e4, "1",
                  "relative permittivity around the atoms; silicon 11.9"),
    WEIR_OPT_REAL(qt_electrostatics_opts, semiconductor.margin, 1.36, 1e-3, 100, "Angstrom",
                  "thickness of the semiconductor beyond the outermost atoms along y and z; a "
                  "quarter of silicon's lattice constant"),
    WEIR_OPT_REAL(qt_electrostatics_opts, oxide.thickness, 10, 0, 1e4, "Angstrom",
                  "thickness of the oxide around the semiconductor along y and z"),
    WEIR_OPT_REAL(qt_electrostatics_opts, oxide.permittivity, 3.9, 1, 1e4, "1",
                  "relative permittivity of the oxide; SiO2 3.9, HfO2 about 20"),
    WEIR_OPT_REAL(qt_electrostatics_opts, vacuum, 0, 0, 1e4, "Angstrom",
                  "thickness of vacuum around the oxide; gates fill it"),
    WEIR_OPT_LIST(qt_electrostatics_opts, gates, qt_gate_opts, gate_options, 100,
                  "metal gates on the surface of the oxide"),
    WEIR_OPT_LIST(qt_electrostatics_opts, doping, qt_doping_opts, doping_options, 1000,
                  "doped regions; those that overlap are summed"),
    WEIR_OPT_REAL(qt_electrostatics_opts, tolerance, 1e-3, 1e-9, 1, "eV",
                  "largest change of the potential energy of an atom at which the iteration ends"),
    WEIR_OPT_INT(qt_electrostatics_opts, max_iterations, 50, 1, 1e5, "1",
                 "iterations of electrons and potential of a bias point, after which it fails"),
    WEIR_OPT_REAL(qt_electrostatics_opts, damping, 1, 0.01, 1, "1",
                  "share of each new potential that is taken; 1: no damping"),
    WEIR_OPT_INT(qt_electrostatics_opts, history, 4, 0, 20, "1",
                 "potentials that Anderson mixing remembers; 0: none"),
    WEIR_OPT_INT(qt_electrostatics_opts, contour_points, 8, 2, 64, "1",
                 "Gauss-Legendre points of each segment of the contour in the plane of complex "
                 "energies"),
    WEIR_OPT_INT(qt_electrostatics_opts, band_points, 64, 4, 1e5, "1",
                 "wave vectors along x at which the bands of the leads are computed; doubled until "
                 "fermi_level: doping is within fermi_tolerance"),
    WEIR_OPT_INT(
        qt_electrostatics_opts, max_band_points, 4096, 4, 1e6, "1",
        "maximum number of these wave vectors: a run that needs more is refused, and memory "
        "is predicted for as many"),
    WEIR_OPT_REAL(qt_electrostatics_opts, fermi_tolerance, 1e-4, 1e-9, 1, "eV",
                  "change of the Fermi level from half as many wave vectors at which they suffice"),
    WEIR_OPT_REAL(qt_electrostatics_opts, integral_tolerance, 5e-4, 1e-10, 0.1, "1",
                  "error at which an interval of the energies between the chemical potentials is "
                  "halved, relative to the integral: current and charge of a bias"),
    WEIR_OPT_REAL(
        qt_electrostatics_opts, broadening, 0, 0, 1, "eV",
        "distance from the real axis at which the charge is computed that leads inject "
        "between their chemical potentials, some meV where states near the edges of the "
        "leads' bands keep the iteration from an end; currents are those of the real axis; "
        "0: no broadening"),
    WEIR_OPT_INT(qt_electrostatics_opts, poisson_ranks, 1, 1, 1e6, "ranks",
                 "ranks of mpiexec or srun that share the Poisson equation, at most as many as "
                 "there are ranks and grid nodes along x; with 1 results have the same bits on any "
                 "number of ranks, with more the potential changes in its last digits"),
    WEIR_OPT_END,
};

const weir_opt qt_sweep_options[] = {
    WEIR_OPT_REAL_LIST(qt_sweep_opts, drain, "", -100, 100, "V",
                       "voltages of the right lead relative to the left, outer loop"),
    WEIR_OPT_REAL_LIST(qt_sweep_opts, gate, "", -100, 100, "V",
                       "voltages of swept gates, inner loop"),
    WEIR_OPT_END,
};
