/* iv_state.c - bias points in files, from which an interrupted sweep is resumed. */
#include <stdio.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "io/weir_npy.h"
#include "iv.h"
#include "model/ranks.h"

/* Numbers in front of the arrays: the version of the layout, the digest in eight pieces, and the
 * rest. */
enum {
  VERSION = 2,
  DIGEST = 1,
  PIECES = 8,
  DRAIN = 9,
  GATE,
  CURRENT,
  ELECTRONS,
  DONORS,
  GATE_CHARGE,
  END_FIELD,
  SCATTERED,
  POWER,
  TEMPERATURE,
  SCATTERINGS,
  NODES,
  ATOMS,
  STEPS,
  HEAD,
  STEP = 6
};

enum { PATH = 4096 };

static weir_status path_of(const char *dir, int64_t number, char path[PATH])
{
  char name[64];

  (void)snprintf(name, sizeof name, "bias/%04lld.npy", (long long)number);
  return weir_path_join(dir, name, path, PATH);
}

bool qt_iv_is_begun(const char *dir)
{
  char path[PATH];

  return path_of(dir, 0, path) == WEIR_OK && weir_file_exists(path);
}

bool qt_iv_is_complete(const char *dir)
{
  char path[PATH];

  return qt_iv_is_begun(dir) && weir_path_join(dir, "report.html", path, PATH) == WEIR_OK &&
         weir_file_exists(path);
}

static void fill_digest(const char digest[65], double *out)
{
  for (int i = 0; i < PIECES; i++) {
    unsigned int piece = 0;

    (void)sscanf(digest + 8 * i, "%8x", &piece);
    out[i] = piece;
  }
}

/* Where a number of a step stands. */
static double *step_value(qt_scf_step *s, int which, double *integer)
{
  double *const reals[] = {&s->change, &s->electrons, &s->current, &s->seconds};

  return which < 4 ? reals[which] : integer;
}

weir_status qt_iv_save(const qt_iv *iv, int64_t number, const char *dir)
{
  const qt_bias *b = &iv->bias[number];
  const int64_t nodes = qt_grid_nodes(&iv->scf.grid), atoms = iv->flat.n_atoms;
  const int64_t count = HEAD + nodes + 2 * atoms + STEP * b->n_steps;
  const weir_npy_shape shape = {.dtype = WEIR_F64, .n_dims = 1, .lengths = {count}};
  double *value = NULL;
  char path[PATH];

  WEIR_TRY(weir_path_join(dir, "bias", path, sizeof path));
  WEIR_TRY(weir_dir_create(path));
  WEIR_TRY(path_of(dir, number, path));
  WEIR_TRY(weir_alloc(count, sizeof *value, (void **)&value));
  const qt_scattered *with = &b->scattered;
  const double head[] = {b->drain,
                         b->gate,
                         b->current,
                         b->electrons,
                         b->donors,
                         b->gate_charge,
                         b->end_field,
                         with->current,
                         with->power,
                         with->temperature,
                         (double)with->iterations,
                         (double)nodes,
                         (double)atoms,
                         (double)b->n_steps};
  double *at = value + HEAD;

  value[0] = VERSION;
  fill_digest(iv->digest, value + DIGEST);
  memcpy(value + DRAIN, head, sizeof head);
  memcpy(at, b->u, (size_t)nodes * sizeof *at);
  memcpy(at += nodes, b->atom_u, (size_t)atoms * sizeof *at);
  memcpy(at += atoms, b->atom_electrons, (size_t)atoms * sizeof *at);
  at += atoms;
  for (int64_t i = 0; i < b->n_steps; i++) {
    for (int k = 0; k < STEP; k++) {
      double integer = (double)(k == 4 ? b->step[i].newton : b->step[i].energies);

      *at++ = *step_value(&b->step[i], k, &integer);
    }
  }
  const weir_status status = weir_npy_write(path, &shape, value);

  weir_free(&value);
  return status;
}

/* Whether the numbers in front are those of this point of this configuration. */
static weir_status check(const qt_iv *iv, int64_t number, const double *value, int64_t count,
                         const char *path)
{
  double digest[PIECES];

  fill_digest(iv->digest, digest);
  if (count < HEAD || value[0] != VERSION) {
    return weir_fail(WEIR_ERR_DATA, "%s is no bias point of this program: remove it", path);
  }
  if (memcmp(digest, value + DIGEST, sizeof digest) != 0) {
    return weir_fail(
        WEIR_ERR_CONFIG,
        "%s is a bias point of another configuration, or of another device in the same "
        "files: give --overwrite, or another --out",
        path);
  }
  if (value[DRAIN] != iv->drain[number / iv->n_gate] ||
      value[GATE] != iv->gate[number % iv->n_gate] ||
      value[NODES] != (double)qt_grid_nodes(&iv->scf.grid) ||
      value[ATOMS] != (double)iv->flat.n_atoms || !(value[STEPS] >= 1 && value[STEPS] < 1e6) ||
      (double)count != HEAD + value[NODES] + 2 * value[ATOMS] + STEP * value[STEPS]) {
    return weir_fail(WEIR_ERR_DATA, "%s does not hold what its numbers say: remove it", path);
  }
  return WEIR_OK;
}

static weir_status take(const qt_iv *iv, const double *value, qt_bias *b)
{
  const int64_t nodes = qt_grid_nodes(&iv->scf.grid), atoms = iv->flat.n_atoms;
  const double *at = value + HEAD;

  *b = (qt_bias){.drain = value[DRAIN],
                 .gate = value[GATE],
                 .current = value[CURRENT],
                 .electrons = value[ELECTRONS],
                 .donors = value[DONORS],
                 .gate_charge = value[GATE_CHARGE],
                 .end_field = value[END_FIELD],
                 .scattered = {value[SCATTERED], value[POWER], value[TEMPERATURE],
                               (int64_t)value[SCATTERINGS]},
                 .n_steps = (int64_t)value[STEPS]};
  WEIR_TRY(weir_alloc(nodes, sizeof *at, (void **)&b->u));
  WEIR_TRY(weir_alloc(atoms, sizeof *at, (void **)&b->atom_u));
  WEIR_TRY(weir_alloc(atoms, sizeof *at, (void **)&b->atom_electrons));
  WEIR_TRY(weir_alloc(b->n_steps, sizeof *b->step, (void **)&b->step));
  memcpy(b->u, at, (size_t)nodes * sizeof *at);
  memcpy(b->atom_u, at += nodes, (size_t)atoms * sizeof *at);
  memcpy(b->atom_electrons, at += atoms, (size_t)atoms * sizeof *at);
  at += atoms;
  for (int64_t i = 0; i < b->n_steps; i++) {
    for (int k = 0; k < STEP; k++) {
      double integer = 0;

      *step_value(&b->step[i], k, &integer) = *at;
      *(k == 4 ? &b->step[i].newton : &b->step[i].energies) = (int64_t)*at++;
    }
  }
  return WEIR_OK;
}

/* The numbers of a file; *count 0: there is none. Local. */
static weir_status read(const qt_iv *iv, int64_t number, const char *dir, double **value,
                        int64_t *count)
{
  weir_npy *file = NULL;
  weir_status status = WEIR_OK;
  char path[PATH];

  *count = 0;
  if (dir == NULL) {
    return WEIR_OK;
  }
  WEIR_TRY(path_of(dir, number, path));
  if (!weir_file_exists(path)) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_npy_open(path, &file));
  const weir_npy_shape *shape = weir_npy_get(file);

  *count = shape->dtype == WEIR_F64 && shape->n_dims == 1 ? shape->lengths[0] : 0;
  WEIR_TRY_GOTO(weir_alloc(*count, sizeof **value, (void **)value), done);
  WEIR_TRY_GOTO(weir_npy_read(file, 0, *count, *value), done);
  status = check(iv, number, *value, *count, path);
done:
  weir_npy_close(&file);
  return status;
}

weir_status qt_iv_load(qt_iv *iv, int64_t number, const char *dir, bool *found)
{
  const bool reads = qt_ranks_rank(iv->comm) == 0;
  const int64_t size = sizeof(double);
  double *value = NULL;
  int64_t count = 0;
  weir_status status = reads ? read(iv, number, dir, &value, &count) : WEIR_OK;

  *found = false;
  WEIR_TRY_GOTO(qt_ranks_agree(iv->comm, status), done);
  WEIR_TRY_GOTO(qt_ranks_broadcast(iv->comm, "bias point", &count, sizeof count), done);
  if (count == 0) {
    goto done;
  }
  status = reads ? WEIR_OK : weir_alloc(count, sizeof *value, (void **)&value);
  WEIR_TRY_GOTO(qt_ranks_agree(iv->comm, status), done);
  WEIR_TRY_GOTO(qt_ranks_broadcast(iv->comm, "bias point", value, count * size), done);
  WEIR_TRY_GOTO(qt_ranks_agree(iv->comm, take(iv, value, &iv->bias[number])), done);
  *found = true;
done:
  weir_free(&value);
  if (status != WEIR_OK) {
    qt_bias_fini(&iv->bias[number]);
  }
  return status;
}
