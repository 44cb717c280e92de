/* universe.h - the built-in data source: boxes of dark matter with random cosmological parameters,
 * counted in cells at several redshifts (docs/science/cosmoflow.md).
 *
 * A universe is a function of options, seed and its number: any one may be made at any time, in any
 * order and on any number of threads and ranks, and has the same bits. */
#ifndef CF_UNIVERSE_H
#define CF_UNIVERSE_H
#include "base/weir_dtype.h"
#include "conf/weir_opt.h"
#include "data/simulation/linear.h"
#include "data/simulation/slabs.h"
#include "data/simulation/tracers.h"

/* Parameters that are drawn; those with a range are labels, in this order. */
typedef enum cf_parameter { CF_OMEGA_M, CF_SIGMA_8, CF_N_S, CF_H, CF_PARAMETERS } cf_parameter;
/* Names as in namePar. */
extern const char *const cf_parameter_name[CF_PARAMETERS];

typedef enum cf_universe_preset {
  CF_PRESET_SC18,
  CF_PRESET_WIDE2,
  CF_PRESET_CUSTOM
} cf_universe_preset;
typedef enum cf_universe_method { CF_METHOD_1LPT, CF_METHOD_2LPT, CF_METHOD_PM } cf_universe_method;

typedef enum cf_universe_draws { CF_DRAW_UNIFORM, CF_DRAW_SOBOL } cf_universe_draws;
typedef enum cf_universe_counts { CF_COUNTS_NGP, CF_COUNTS_CIC } cf_universe_counts;
typedef enum cf_universe_values { CF_VALUES_I16, CF_VALUES_F32 } cf_universe_values;
/* Axis of the peculiar velocities that move particles to redshift space; CF_SIGHT_NONE: real space.
 */
typedef enum cf_sight { CF_SIGHT_NONE, CF_SIGHT_X, CF_SIGHT_Y, CF_SIGHT_Z } cf_sight;

typedef struct cf_universe_opts {
  int64_t universes, first, file, ranks;
  int64_t side, particles, block, steps, deflate;
  double box, start, baryons; /* Mpc/h, a, Omega_b h^2 */
  weir_real_list redshifts;
  int preset, draw, method, transfer, counts, values; /* of the enumerations above */
  int line_of_sight;                                  /* cf_sight */
  bool fixed;
  cf_feedback_opts feedback;
  double tracers; /* (h/Mpc)^3; 0: the matter itself */
  struct {
    weir_real_list omega_m, sigma_8, n_s, h; /* minimum and maximum */
  } range;
} cf_universe_opts;
extern const weir_opt cf_universe_options[];

/* Output of a generator. A universe is divided into `samples` cubes of `side` cells, numbered along
 * z, then y, then x. */
typedef struct cf_universe_facts {
  int64_t side, channels, samples, n_labels;
  weir_dtype dtype;
  int label[CF_PARAMETERS];                    /* [n_labels] cf_parameter */
  double lo[CF_PARAMETERS], hi[CF_PARAMETERS]; /* of every parameter      */
  int64_t bytes;                               /* of all samples of a universe */
  int64_t slab_bytes;      /* of these, at most those of one of opts->ranks ranks */
  int64_t workspace_bytes; /* of one of these ranks */
} cf_universe_facts;

/* Returns the axis of redshift space, 'x', 'y' or 'z'; 0: real space. */
char cf_universe_line_of_sight(const cf_universe_opts *o);

/* Whether voxels are whole numbers, particles or tracers; else a density. */
bool cf_universe_counts_whole(const cf_universe_opts *o);

typedef struct cf_generator cf_generator;
/* Workspace of one universe at a time. */
typedef struct cf_generator_workspace cf_generator_workspace;

/* Creates a generator; opts and its lists are borrowed until it is destroyed. Fails:
 * WEIR_ERR_CONFIG, naming the key; WEIR_ERR_MEMORY, WEIR_ERR_UNSUPPORTED (no FFTW). */
weir_status cf_generator_create(const cf_universe_opts *opts, uint64_t seed,
                                cf_generator **out) WEIR_CHECKED;
/* Creates a generator whose universes are each simulated by all ranks of comm, borrowed; NULL: by
 * this one alone. Local. Fails: likewise, WEIR_ERR_CONFIG also for more ranks than planes. */
weir_status cf_generator_create_shared(const cf_universe_opts *opts, uint64_t seed, weir_comm *comm,
                                       cf_generator **out) WEIR_CHECKED;
void cf_generator_destroy(cf_generator **g);
/* Checks options and computes the output properties, without FFTW. Fails: WEIR_ERR_CONFIG. */
weir_status cf_universe_check(const cf_universe_opts *opts, cf_universe_facts *out) WEIR_CHECKED;
/* Checks that so many ranks are groups of opts->ranks. Fails: WEIR_ERR_CONFIG. */
weir_status cf_universe_check_ranks(const cf_universe_opts *opts, int ranks) WEIR_CHECKED;
enum { CF_TEXT = 4096, CF_MAX_CHANNELS = 64 };
/* Writes the options and the seed that samples depend on as a line of text, without number and
 * storage of samples; less than CF_TEXT bytes. */
void cf_universe_text(const cf_universe_opts *opts, const cf_universe_facts *f, uint64_t seed,
                      char *text, size_t size);
/* Returns whether two such lines state one seed: universes of a number have the same initial phases
 * there. Also whether both are "". */
bool cf_universe_text_same_seed(const char *a, const char *b);
/* Writes what differs between two such lines, `"seed 0" and "seed 1", "2lpt of 32^3 particles" and
 * ..`; "" for equal ones, `nothing and "1 tracers in a (Mpc/h)^3"` where one has more. Always
 * terminated. */
void cf_universe_text_compare(const char *a, const char *b, char *text, size_t size);
/* Computes the rms displacement of particles along one axis at z, in sides of a cell of their
 * lattice, by linear theory, for the middle of the ranges. Fails: WEIR_ERR_CONFIG. */
weir_status cf_universe_motion(const cf_universe_opts *opts, const cf_universe_facts *f, double z,
                               double *cells) WEIR_CHECKED;
const cf_universe_facts *cf_generator_facts(const cf_generator *g);
weir_status cf_generator_workspace_create(const cf_generator *g,
                                          cf_generator_workspace **out) WEIR_CHECKED;
void cf_generator_workspace_destroy(cf_generator_workspace **r);

/* Draws the parameters of a universe; unit [n_labels]: 2 (p - lo) / (hi - lo) - 1 of its labels. */
void cf_generator_draw(const cf_generator *g, int64_t universe, cf_cosmology *c, double *unit);
/* Simulates a universe: counts [samples, side, side, side, channels] over x, y, z and the redshifts
 * of the options, in facts->dtype. Ranks that share it have the planes of x of their slab
 * (cf_slab), in the order of cf_universe_box. Collective. Fails on all ranks alike: WEIR_ERR_CONFIG
 * (an impossible cosmology), WEIR_ERR_MEMORY, WEIR_ERR_NUMERIC (a count outside the dtype),
 * WEIR_ERR_STOPPED. */
weir_status cf_generator_make(const cf_generator *g, cf_generator_workspace *r, int64_t universe,
                              void *out) WEIR_CHECKED;

/* Cells of one sample. */
typedef struct cf_universe_box {
  int64_t sample, x, planes; /* planes [x, x + planes) of the sample, all y and z */
  int64_t at;                /* of its first cell in an array of the slab, in cells */
} cf_universe_box;
/* Returns the number of boxes that the planes of a slab consist of, in the order of their arrays,
 * and box i of them. */
int64_t cf_universe_boxes(const cf_universe_opts *opts, const cf_universe_facts *f, cf_range slab);
cf_universe_box cf_universe_box_of(const cf_universe_opts *opts, const cf_universe_facts *f,
                                   cf_range slab, int64_t i);

/* Returns number `index` of a Sobol sequence of CF_PARAMETERS dimensions (direction numbers of Joe
 * and Kuo, ACM TOMS 29 (2003) 49), as a 32-bit fraction. */
uint32_t cf_sobol(int dimension, uint32_t index);
#endif
