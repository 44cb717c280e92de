/* options.c - the option table of quantum_transport: keys, defaults, ranges, units and help. */
#include "options.h"

#include "train/weir_checkpoint.h"

const weir_opt qt_options[] = {
    WEIR_OPT_INT(qt_cfg, seed, 1, 0, 0x1p62, "1", "seed of disorder"),
    WEIR_OPT_ONE_OF(qt_cfg, device, qt_device_choice,
                    "the device between two leads; none named: chain"),
    WEIR_OPT_REAL(qt_cfg, tolerance, 1e-6, 0, 1, "1",
                  "largest deviation from a Hermitian matrix that is accepted, relative to its "
                  "largest element"),
    WEIR_OPT_ENUM(
        qt_cfg, transport.method, QT_TRANSPORT_RGF, "rgf|qtbm",
        "recursive Green's functions (RGF), or wave functions by the quantum transmitting "
        "boundary method (QTBM), for long devices; QTBM needs a build with PETSc and "
        "lead.method: modes, contour or slepc"),
    WEIR_OPT_TABLE(qt_cfg, lead, qt_lead_options, "how self-energies of the leads are computed"),
    WEIR_OPT_REAL(qt_cfg, energy.min, -2.5, -1e6, 1e6, "eV",
                  "lowest energy of the spectra; phonons: hbar omega, above 0"),
    WEIR_OPT_REAL(qt_cfg, energy.max, 2.5, -1e6, 1e6, "eV", "highest energy of the spectra"),
    WEIR_OPT_INT(qt_cfg, energy.points, 201, 1, 1e7, "1",
                 "energies, at equal distances; energy.tolerance adds others"),
    WEIR_OPT_REAL(
        qt_cfg, energy.shift, 1e-6, 0, 1, "eV",
        "distance by which an energy is shifted up where no Green's function can be "
        "computed, as on a band edge or a localized (bound or surface) state; 0: refused"),
    WEIR_OPT_REAL(
        qt_cfg, energy.tolerance, 0, 0, 1, "1",
        "largest change of current and conductance, relative to either, that halving all intervals "
        "of the energies would make: intervals are halved until then, and spectra have the "
        "energies that are added; 0: energies at equal distances"),
    WEIR_OPT_INT(qt_cfg, energy.max_points, 10000, 2, 1e7, "1",
                 "maximum energies of a grid that energy.tolerance refines"),
    WEIR_OPT_INT(
        qt_cfg, k.ny, 1, 1, 10000, "1",
        "wave vectors along y, where the device is periodic along it: a uniform mesh about 0 "
        "that holds it where the number is odd"),
    WEIR_OPT_INT(qt_cfg, k.nz, 1, 1, 10000, "1", "the same along z"),
    WEIR_OPT_REAL(
        qt_cfg, contact.mu, 0, -1e6, 1e6, "eV",
        "mean of the chemical potentials of the leads; with electrostatics.enabled that of "
        "the left lead, read where electrostatics.fermi_level is given alone: the right "
        "one is lower by the drain voltage"),
    WEIR_OPT_REAL(qt_cfg, contact.bias, 0.1, -100, 100, "V",
                  "bias (mu_L - mu_R)/e; with electrostatics.enabled the drain voltage where "
                  "sweep.drain gives none"),
    WEIR_OPT_REAL(qt_cfg, contact.temperature, 300, 0, 1e5, "K", "mean temperature of the leads"),
    WEIR_OPT_REAL(qt_cfg, contact.difference, 10, -1e5, 1e5, "K",
                  "phonons: temperature of the left lead less that of the right"),
    WEIR_OPT_REAL_LIST(qt_cfg, contact.conductance_temperatures, "50, 100, 200, 300, 500", 0.01,
                       1e5, "K", "phonons: temperatures at which the thermal conductance is given"),
    WEIR_OPT_TABLE(qt_cfg, electrostatics, qt_electrostatics_options,
                   "the self-consistent electrostatic potential of the device"),
    WEIR_OPT_TABLE(qt_cfg, sweep, qt_sweep_options,
                   "voltages at which the self-consistent device is computed, with the left lead "
                   "grounded; none: drain contact.bias, gates as given"),
    WEIR_OPT_TABLE(qt_cfg, scattering, qt_scattering_options, "scattering of electrons by phonons"),
    WEIR_OPT_BOOL(qt_cfg, output.tbt, true,
                  "write results as transport.TBT.nc (phonons: .PHT.nc), which sisl reads"),
    WEIR_OPT_BOOL(qt_cfg, output.dos, true, "compute and write the local density of states"),
    WEIR_OPT_BOOL(qt_cfg, output.bond_currents, false,
                  "compute and write the transmission along every bond between orbitals: 16 bytes "
                  "in memory for each bond, energy and wave vector"),
    WEIR_OPT_BOOL(qt_cfg, output.channels, false,
                  "compute and write the eigenvalues of the transmission; transport.method: qtbm"),
    WEIR_OPT_INT(qt_cfg, output.bands, 61, 0, 10001, "1",
                 "wave vectors along x of the leads' band structure in the report; below 2: none"),
    WEIR_OPT_INT(qt_cfg, output.bands_orbitals, 1000, 0, 1e6, "1",
                 "maximum orbitals of a lead's cell for which bands are computed"),
    WEIR_OPT_STRING_LIST(
        qt_cfg, petsc, "",
        "options of PETSc for its solvers, each with its value, such as "
        "\"-qtbm_mat_mumps_icntl_7 5\" (transport.method: qtbm has the prefix qtbm_, lead.method: "
        "slepc lead_, scattering.method: anderson, ngmres born_); the command line of the program "
        "is not "
        "read for them"),
    WEIR_OPT_INT(
        qt_cfg, parallel.slabs, 1, 1, 1e6, "1",
        "slabs (runs of blocks) of a long device that the threads of a rank share at each point, "
        "at most its blocks: as many as threads, where there are fewer points than threads or no "
        "memory for a point on each; 1: each thread computes points of its own; of "
        "transport.method: rgf"),
    WEIR_OPT_INT(qt_cfg, parallel.ranks_per_point, 1, 1, 1e6, "ranks",
                 "ranks of mpiexec or srun that share each point of a long device, each with slabs "
                 "and blocks of "
                 "its own (with parallel.slabs=1: one slab each): where a device does not fit in "
                 "the memory of a "
                 "rank, or there are fewer points than ranks; divides the number of ranks, at most "
                 "the blocks; 1: each rank computes points of its own"),
    WEIR_OPT_REAL(
        qt_cfg, parallel.slab_error, QT_SLABS_ERROR, 1e-15, 1e-3, "1",
        "maximum relative rounding error of slabs, which grows near bound states of a slab "
        "between two others and near states of the surface in which a lead would end: a point "
        "beyond it goes through the slabs one after another, as on one thread; the default keeps "
        "spectra within 1e-12 of those of one slab, relative to their largest value; 1e-10: "
        "fewer such points"),
    WEIR_OPT_REAL(
        qt_cfg, memory.budget, 0, 0, 1e9, "MiB",
        "memory that a rank may hold: fewer points are computed at once, on fewer threads, "
        "where more would take more; results in memory count, and the sparse factors of QTBM as "
        "MUMPS estimates them; 0: no limit"),
    WEIR_OPT_REAL(qt_cfg, checkpoint.interval, 600, 0, 1e9, "s",
                  "seconds between two checkpoints, to resume a run that was killed; 0: one is "
                  "written when the run is stopped (Ctrl-C), no other"),
    WEIR_OPT_INT(qt_cfg, checkpoint.iterations, 0, 0, 1e6, "1",
                 "iterations of scattering between two checkpoints; 0: checkpoint.interval alone"),
    WEIR_OPT_INT(qt_cfg, checkpoint.keep, 2, 1, 1000000, "1", "newest checkpoints that are kept"),
    WEIR_OPT_ENUM(qt_cfg, checkpoint.format, 0, WEIR_CHECKPOINT_FORMATS,
                  "auto: NetCDF-4 where the build has it, else the raw dump"),
    WEIR_OPT_BOOL(
        qt_cfg, checkpoint.resume, true,
        "resume from the latest checkpoint in the folder; false: a folder that has one is "
        "refused"),
    WEIR_OPT_TABLE(qt_cfg, exec, qt_exec_options, "execution"),
    WEIR_OPT_TABLE(qt_cfg, comm, weir_comm_opts, "messages between the ranks of mpiexec or srun"),
    WEIR_OPT_REAL(qt_cfg, prepare.ky, 0, -1e3, 1e3, "1",
                  "transverse wave vector of the matrices that prepare writes, in reciprocal "
                  "lattice vectors, along y"),
    WEIR_OPT_REAL(qt_cfg, prepare.kz, 0, -1e3, 1e3, "1", "the same along z"),
    WEIR_OPT_TABLE(qt_cfg, eval, qt_compare_options, "what the command eval compares"),
    WEIR_OPT_INT(qt_cfg, bench.repeats, 5, 1, 1000, "1",
                 "measured repeats of each phase; the median counts"),
    WEIR_OPT_REAL(qt_cfg, bench.zgemm, 0.2, 1e-3, 100, "s",
                  "time of the products of matrices; of a run at most a tenth of its time"),
    WEIR_OPT_BOOL(
        qt_cfg, bench.papers, false,
        "also count flops, memory and time of the published data-centric solver's devices "
        "as this program computes them, next to the published numbers (papers.csv), and "
        "measure self-energies and, with scattering.kind: born, one iteration"),
    WEIR_OPT_BOOL(
        qt_cfg, bench.recipe, false,
        "also measure self-energies of scattering.kind: born after each step of the data-centric "
        "recipe: time, flops, bytes and memory, predicted and counted (recipe.csv)"),
    WEIR_OPT_INT(qt_cfg, bench.recipe_atoms, 2, 1, 1e6, "1",
                 "bench.recipe: first atoms of the device whose self-energies are computed, at all "
                 "wave vectors, energies and frequencies; the sums as written take (orbitals of an "
                 "atom)^4 operations a pair"),
    WEIR_OPT_REAL(qt_cfg, bench.link, 1e10, 1, 1e15, "bytes/s",
                  "bench.papers: rate at which a rank sends in predicted exchanges"),
    WEIR_OPT_REAL(qt_cfg, bench.latency, 2e-6, 0, 1, "s",
                  "bench.papers: time of a message of no bytes in predicted exchanges"),
    WEIR_OPT_END,
};
