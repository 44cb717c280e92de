/* options.c - the option table of scattering.h. */
#include "model/device.h"
#include "model/scattering/scattering.h"
#include "model/scattering/self_energy.h"
#include "pass/weir_pass.h"

const weir_opt qt_scattering_options[] = {
    WEIR_OPT_ENUM(qt_scattering_opts, kind, QT_SCATTERING_NONE, "none|born",
                  "coherent transport alone, or with electron-phonon scattering in the "
                  "self-consistent Born approximation"),
    WEIR_OPT_ENUM(qt_scattering_opts, retarded, QT_RETARDED_FULL, "half|full",
                  "retarded self-energy of electrons: (greater - lesser) / 2, or with its Hilbert "
                  "transform, which shifts energies"),
    WEIR_OPT_ENUM(qt_scattering_opts, method, QT_BORN_SIMPLE, "simple|anderson|ngmres",
                  "simple mixing, or by PETSc Anderson's method, which needs fewer iterations, or "
                  "nonlinear GMRES, each of whose steps takes two iterations"),
    WEIR_OPT_INT(qt_scattering_opts, history, 5, 1, 50, "1",
                 "scattering.method: anderson, ngmres: number of previous self-energies that are "
                 "combined; each takes memory"),
    WEIR_OPT_REAL(qt_scattering_opts, mixing, 1, 1e-3, 1, "1",
                  "fraction of the new self-energy in simple mixing; 1: no damping"),
    WEIR_OPT_REAL(qt_scattering_opts, tolerance, 1e-6, 1e-14, 1, "1",
                  "largest change of the lesser self-energy at which the iteration ends, relative "
                  "to its largest element"),
    WEIR_OPT_REAL(qt_scattering_opts, current_tolerance, 1e-5, 1e-14, 1, "1",
                  "relative change of the current at which the iteration ends"),
    WEIR_OPT_REAL(
        qt_scattering_opts, energy_tolerance, 0, 0, 1, "1",
        "largest sum of the energies that all contacts give, relative to the largest of "
        "them, at which the iteration ends: phonons may warm up long after electrons rest; "
        "0: any"),
    WEIR_OPT_INT(qt_scattering_opts, max_iterations, 200, 1, 1e6, "1",
                 "iterations after which a run that has not converged fails"),
    WEIR_OPT_ENUM(qt_scattering_opts, poisson, QT_SCATTERING_ONCE, "outside|inside",
                  "with electrostatics.enabled: scattering is iterated to self-consistency in each "
                  "potential (outside), or once, by simple mixing (inside), until both are"),
    WEIR_OPT_ENUM(qt_scattering_opts, fission, WEIR_FISSION_HOIST, "off|products|hoist|reassociate",
                  "sums of self-energies as written, or split: every product a step of its own; "
                  "hoist: made once for all loops that it does not depend on; reassociate: also in "
                  "the order of fewest flops. Results differ by rounding"),
    WEIR_OPT_BOOL(qt_scattering_opts, window, true,
                  "sums over emitted and absorbed phonons as products of matrices over sliding "
                  "windows of energies, with margins of zeros in place of borders"),
    WEIR_OPT_ENUM(qt_scattering_opts, precision, WEIR_PRODUCTS_F64, "f64|f32|bf16|f16|f16x2",
                  "numbers that operands of the largest products of these sums are rounded to, "
                  "which are added in f32 (f16x2: sums of two numbers of f16, three products in "
                  "place of one); Green's functions and self-energies stay f64"),
    WEIR_OPT_BOOL(qt_scattering_opts, normalise, true,
                  "scattering.precision: operands are multiplied by powers of two that bring their "
                  "largest elements into the range of f16"),
    WEIR_OPT_REAL(qt_scattering_opts, memory, 32, 0, 1e9, "MiB",
                  "arrays between the sums of self-energies: as many atoms at once as keep to it, "
                  "at least one; 0: all atoms at once"),
    WEIR_OPT_INT(
        qt_scattering_opts, tiles.atoms, 0, 0, 1e6, "1",
        "ranges of atoms by which several ranks share self-energies, each in (ranks / ranges) "
        "ranges of energies; a divisor of the number of ranks; 0: the one with which fewest bytes "
        "move, or 1 where scattering.memory splits the atoms"),
    WEIR_OPT_ENUM(qt_scattering_opts, tiles.scheme, QT_SCHEME_TILES, "tiles|points",
                  "where ranks compute self-energies: in tiles of atoms and energies, or where "
                  "their Green's functions are, which move for one phonon frequency after another; "
                  "points is slower, for comparison"),
    WEIR_OPT_INT(qt_scattering_opts, tiles.ranks, 0, 0, 1e6, "ranks",
                 "number of ranks that `describe` tells sizes and bytes of; a run has those of "
                 "mpiexec; 0: 1"),
    WEIR_OPT_ENUM(qt_scattering_opts, phonons.state, QT_PHONONS_COUPLED, "coupled|bath",
                  "phonons that electrons heat and cool, or in equilibrium with the leads"),
    WEIR_OPT_INT(
        qt_scattering_opts, phonons.frequencies, 10, 1, 1e5, "1",
        "number of phonon energies hbar omega = n (step of energy), n = 1, 2, ...; at least "
        "(highest phonon energy) / step; change it with energy.points"),
    WEIR_OPT_ONE_OF(
        qt_scattering_opts, phonons.device, qt_device_phonon_choice,
        "vibrations of the device: the same atoms at the same positions, in the same order"),
    WEIR_OPT_REAL(
        qt_scattering_opts, gradient.exponent, 2, 0, 100, "1",
        "n of H ~ distance^-n between two atoms, so that |nabla H| = n |H| / distance "
        "(Harrison: 2); not of silicon_wire and silicon_fin, whose derivatives are known"),
    WEIR_OPT_END,
};
