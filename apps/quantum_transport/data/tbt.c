/* tbt.c - see tbt.h. Names and units as TBtrans writes them (Papior et al., Comput. Phys. Commun.
 * 212, 8, 2017). */
#include "data/tbt.h"

#include <string.h>

#include "base/weir_alloc.h"
#include "io/weir_netcdf.h"
#include "model/units.h"

static const char *const lead_name[QT_LEADS] = {"Left", "Right"};

/* A variable to define and write at once. */
typedef struct item {
  const char *name, *info, *unit; /* unit NULL: none */
  weir_dtype dtype;
  int n_dims;
  int dims[3];
  int64_t lengths[3];
  const void *data;
} item;

static weir_status put(weir_netcdf *nc, const item *v)
{
  const int64_t start[3] = {0, 0, 0};
  int var = 0;

  WEIR_TRY(weir_netcdf_var(nc, v->name, v->dtype, v->n_dims, v->dims, &var));
  WEIR_TRY(weir_netcdf_put_text(nc, var, "info", v->info));
  if (v->unit != NULL) {
    WEIR_TRY(weir_netcdf_put_text(nc, var, "unit", v->unit));
  }
  return weir_netcdf_write(nc, var, start, v->lengths, v->data);
}

/* The same, of doubles times `factor`. */
static weir_status put_scaled(weir_netcdf *nc, const item *v, double factor)
{
  item scaled = *v;
  int64_t count = 1;
  double *copy = NULL;

  for (int i = 0; i < v->n_dims; i++) {
    count *= v->lengths[i];
  }
  WEIR_TRY(weir_alloc(count, sizeof *copy, (void **)&copy));
  for (int64_t i = 0; i < count; i++) {
    copy[i] = factor * ((const double *)v->data)[i];
  }
  scaled.data = copy;
  const weir_status status = put(nc, &scaled);

  weir_free(&copy);
  return status;
}

/* Numbers of the dimensions of the file. */
typedef struct dims {
  int na_u, no_u, nkpt, xyz, one, na_d, no_d, ne, n_s, n_btd, nnz, neig;
} dims;

static weir_status define_dims(weir_netcdf *nc, const qt_tbt *t, dims *d)
{
  const qt_system *s = t->system;

  WEIR_TRY(weir_netcdf_dim(nc, "na_u", s->n_atoms, &d->na_u));
  WEIR_TRY(weir_netcdf_dim(nc, "no_u", s->n, &d->no_u));
  WEIR_TRY(weir_netcdf_dim(nc, "nkpt", t->n_k, &d->nkpt));
  WEIR_TRY(weir_netcdf_dim(nc, "xyz", 3, &d->xyz));
  WEIR_TRY(weir_netcdf_dim(nc, "one", 1, &d->one));
  WEIR_TRY(weir_netcdf_dim(nc, "na_d", s->n_atoms, &d->na_d));
  WEIR_TRY(weir_netcdf_dim(nc, "no_d", s->n, &d->no_d));
  WEIR_TRY(weir_netcdf_dim(nc, "ne", t->n_energies, &d->ne));
  WEIR_TRY(weir_netcdf_dim(nc, "n_s", 1, &d->n_s));
  if (t->n_channels > 0) {
    WEIR_TRY(weir_netcdf_dim(nc, "neig", t->n_channels, &d->neig));
  }
  return weir_netcdf_dim(nc, "n_btd", s->n_blocks, &d->n_btd);
}

/* first, first + 1, ... as a variable of 32 bits. */
static weir_status put_range(weir_netcdf *nc, const char *name, const char *info, int dim,
                             int64_t first, int64_t count)
{
  int32_t *index = NULL;

  WEIR_TRY(weir_alloc(count, sizeof *index, (void **)&index));
  for (int64_t i = 0; i < count; i++) {
    index[i] = (int32_t)(first + i);
  }
  const weir_status status =
      put(nc, &(item){name, info, NULL, WEIR_I32, 1, {dim, 0, 0}, {count, 0, 0}, index});

  weir_free(&index);
  return status;
}

static weir_status put_atoms(weir_netcdf *nc, const qt_system *s, const dims *d)
{
  int32_t *last = NULL;
  double *xa = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(weir_alloc(s->n_atoms, sizeof *last, (void **)&last), done);
  WEIR_TRY_GOTO(weir_alloc(3 * s->n_atoms, sizeof *xa, (void **)&xa), done);
  for (int64_t a = 0; a < s->n_atoms; a++) {
    last[a] = (int32_t)(s->atom[a].first + s->atom[a].n_orbitals);
    memcpy(&xa[3 * a], s->atom[a].position, sizeof s->atom[a].position);
  }
  WEIR_TRY_GOTO(put(nc, &(item){"lasto",
                                "Last orbital of each atom",
                                NULL,
                                WEIR_I32,
                                1,
                                {d->na_u, 0, 0},
                                {s->n_atoms, 0, 0},
                                last}),
                done);
  WEIR_TRY_GOTO(
      put_scaled(nc,
                 &(item){"xa",
                         s->is_schematic ? "Atomic coordinates, made up: 1 Angstrom a block"
                                         : "Atomic coordinates",
                         "Bohr",
                         WEIR_F64,
                         2,
                         {d->na_u, d->xyz, 0},
                         {s->n_atoms, 3, 0},
                         xa},
                 1 / QT_BOHR),
      done);
done:
  weir_free(&last);
  weir_free(&xa);
  return status;
}

static weir_status put_geometry(weir_netcdf *nc, const qt_system *s, const dims *d)
{
  const int32_t nsc[3] = {1, 1, 1}, offset[3] = {0, 0, 0};
  int32_t *sizes = NULL;

  WEIR_TRY(put_atoms(nc, s, d));
  WEIR_TRY(put_scaled(
      nc,
      &(item){"cell", "Unit cell", "Bohr", WEIR_F64, 2, {d->xyz, d->xyz, 0}, {3, 3, 0}, s->cell},
      1 / QT_BOHR));
  WEIR_TRY(put(nc, &(item){"nsc",
                           "Number of supercells in each direction",
                           NULL,
                           WEIR_I32,
                           1,
                           {d->xyz, 0, 0},
                           {3, 0, 0},
                           nsc}));
  WEIR_TRY(put(nc, &(item){"isc_off",
                           "Supercell offsets",
                           NULL,
                           WEIR_I32,
                           2,
                           {d->n_s, d->xyz, 0},
                           {1, 3, 0},
                           offset}));
  WEIR_TRY(put_range(nc, "pivot", "Device orbitals in the order of the blocks", d->no_d, 1, s->n));
  WEIR_TRY(put_range(nc, "a_dev", "Atoms of the device", d->na_d, 1, s->n_atoms));
  WEIR_TRY(weir_alloc(s->n_blocks, sizeof *sizes, (void **)&sizes));
  for (int64_t b = 0; b < s->n_blocks; b++) {
    sizes[b] = (int32_t)(s->block[b + 1] - s->block[b]);
  }
  const weir_status status = put(nc, &(item){"btd",
                                             "Sizes of the blocks of the device",
                                             NULL,
                                             WEIR_I32,
                                             1,
                                             {d->n_btd, 0, 0},
                                             {s->n_blocks, 0, 0},
                                             sizes});

  weir_free(&sizes);
  return status;
}

/* Wave vectors, energies, the density of states. */
static weir_status put_axes(weir_netcdf *nc, const qt_tbt *t, const dims *d)
{
  double *k = NULL;

  WEIR_TRY(weir_alloc(3 * t->n_k, sizeof *k, (void **)&k)); /* none along x */
  for (int64_t i = 0; i < t->n_k; i++) {
    k[3 * i + 1] = t->k[i][0];
    k[3 * i + 2] = t->k[i][1];
  }
  const weir_status status = put(
      nc, &(item){"kpt", "k points", "b", WEIR_F64, 2, {d->nkpt, d->xyz, 0}, {t->n_k, 3, 0}, k});

  weir_free(&k);
  WEIR_TRY(status);
  WEIR_TRY(put(nc, &(item){"wkpt",
                           "Weights of the k points",
                           NULL,
                           WEIR_F64,
                           1,
                           {d->nkpt, 0, 0},
                           {t->n_k, 0, 0},
                           t->weight}));
  WEIR_TRY(put_scaled(
      nc,
      &(item){"E", "Energy", "Ry", WEIR_F64, 1, {d->ne, 0, 0}, {t->n_energies, 0, 0}, t->energy},
      1 / QT_RYDBERG));
  if (t->dos == NULL) {
    return WEIR_OK;
  }
  return put_scaled(nc,
                    &(item){"DOS",
                            "Density of states by orbital",
                            "1/Ry",
                            WEIR_F64,
                            3,
                            {d->nkpt, d->ne, d->no_d},
                            {t->n_k, t->n_energies, t->system->n},
                            t->dos},
                    QT_RYDBERG);
}

/* A number of the dimension `one`. */
static weir_status put_one(weir_netcdf *nc, const dims *d, const char *name, const char *info,
                           const char *unit, double value)
{
  return put(nc, &(item){name, info, unit, WEIR_F64, 1, {d->one, 0, 0}, {1, 0, 0}, &value});
}

/* Broadening is an energy of electrons, and of phonons an energy squared. */
static weir_status put_eta(weir_netcdf *nc, const dims *d, const qt_tbt *t, double eta)
{
  const bool phonons = t->system->particle == QT_PHONONS;

  return put_one(nc, d, "eta", "Imaginary part", phonons ? "Ry**2" : "Ry",
                 eta / (phonons ? QT_RYDBERG * QT_RYDBERG : QT_RYDBERG));
}

/* Atoms of the block next to a lead, which stand for its cell. */
static void atoms_of_lead(const qt_system *s, int c, int64_t *first, int64_t *count)
{
  const int64_t b = c == QT_LEFT ? 0 : s->n_blocks - 1;

  *first = *count = 0;
  for (int64_t a = 0; a < s->n_atoms; a++) {
    if (s->atom[a].first >= s->block[b] && s->atom[a].first < s->block[b + 1]) {
      *first = *count == 0 ? a : *first;
      (*count)++;
    }
  }
}

/* Atoms, cell and orbitals of a lead's cell. */
static weir_status put_lead_geometry(weir_netcdf *group, const qt_system *s, int c, const dims *d,
                                     int64_t first, int64_t count)
{
  const qt_lead *lead = &s->lead[c];
  double cell[3][3], *xa = NULL;
  int32_t *last = NULL;
  weir_status status = WEIR_OK;
  int na_u;

  memcpy(cell, s->cell, sizeof cell);
  cell[0][0] = lead->length;
  cell[0][1] = cell[0][2] = 0;
  WEIR_TRY(weir_netcdf_dim(group, "na_u", count, &na_u));
  WEIR_TRY_GOTO(weir_alloc(count, sizeof *last, (void **)&last), done);
  WEIR_TRY_GOTO(weir_alloc(3 * count, sizeof *xa, (void **)&xa), done);
  for (int64_t i = 0; i < count; i++) {
    const qt_atom *atom = &s->atom[first + i];

    last[i] = (int32_t)(atom->first + atom->n_orbitals - s->atom[first].first);
    memcpy(&xa[3 * i], atom->position, sizeof atom->position);
  }
  const item items[] = {
      {"lasto", "Last orbital of each atom", NULL, WEIR_I32, 1, {na_u}, {count}, last},
      {"cell", "Unit cell", "Bohr", WEIR_F64, 2, {d->xyz, d->xyz}, {3, 3}, cell},
      {"xa", "Atomic coordinates", "Bohr", WEIR_F64, 2, {na_u, d->xyz}, {count, 3}, xa},
  };

  WEIR_TRY_GOTO(put(group, &items[0]), done);
  WEIR_TRY_GOTO(put_scaled(group, &items[1], 1 / QT_BOHR), done);
  WEIR_TRY_GOTO(put_scaled(group, &items[2], 1 / QT_BOHR), done);
done:
  weir_free(&last);
  weir_free(&xa);
  return status;
}

static weir_status put_lead_basis(weir_netcdf *group, const qt_tbt *t, int c, const dims *d)
{
  const qt_system *s = t->system;
  const int64_t n = s->lead[c].n, b = c == QT_LEFT ? 0 : s->n_blocks - 1;
  const int32_t bloch[3] = {1, 1, 1}, size = (int32_t)n;
  int na, na_down, no_e, no_down, n_btd;
  int64_t first, count;

  atoms_of_lead(s, c, &first, &count);
  WEIR_TRY(put_lead_geometry(group, s, c, d, first, count));
  WEIR_TRY(weir_netcdf_dim(group, "na", count, &na));
  WEIR_TRY(weir_netcdf_dim(group, "na_down", count, &na_down));
  WEIR_TRY(weir_netcdf_dim(group, "no_e", n, &no_e));
  WEIR_TRY(weir_netcdf_dim(group, "no_down", n, &no_down));
  WEIR_TRY(weir_netcdf_dim(group, "n_btd", 1, &n_btd));
  WEIR_TRY(put_range(group, "a", "Atoms of the electrode", na, first + 1, count));
  WEIR_TRY(put_range(group, "a_down", "Atoms of the electrode and of its downfolding", na_down,
                     first + 1, count));
  WEIR_TRY(put_range(group, "pivot", "Orbitals of the self-energy", no_e, s->block[b] + 1, n));
  WEIR_TRY(
      put_range(group, "pivot_down", "Orbitals of the downfolding", no_down, s->block[b] + 1, n));
  WEIR_TRY(put(group, &(item){"btd",
                              "Sizes of the blocks of the downfolding",
                              NULL,
                              WEIR_I32,
                              1,
                              {n_btd, 0, 0},
                              {1, 0, 0},
                              &size}));
  return put(
      group,
      &(item){"bloch", "Bloch expansion", NULL, WEIR_I32, 1, {d->xyz, 0, 0}, {3, 0, 0}, bloch});
}

/* Both directions of every bond, row by row: where its current lies, from 1, negative of those to
 * a lower orbital. [2 bonds] */
static weir_status make_map(const qt_sparse *bonds, int32_t *n_col, int32_t *list_col, int64_t *map)
{
  int64_t *next = NULL;

  WEIR_TRY(weir_alloc(bonds->rows + 1, sizeof *next, (void **)&next));
  for (int64_t i = 0; i < bonds->rows; i++) {
    for (int64_t at = bonds->start[i]; at < bonds->start[i + 1]; at++) {
      n_col[i]++;
      n_col[bonds->column[at]]++;
    }
  }
  for (int64_t i = 0; i < bonds->rows; i++) {
    next[i + 1] = next[i] + n_col[i];
  }
  for (int64_t i = 0; i < bonds->rows; i++) { /* in this order columns ascend */
    for (int64_t at = bonds->start[i]; at < bonds->start[i + 1]; at++) {
      const int64_t up = next[i]++, down = next[bonds->column[at]]++;

      list_col[up] = (int32_t)bonds->column[at] + 1;
      list_col[down] = (int32_t)i + 1;
      map[up] = at + 1;
      map[down] = -(at + 1);
    }
  }
  weir_free(&next);
  return WEIR_OK;
}

/* J of a lead, one wave vector and energy at a time. */
static weir_status put_lead_bonds(weir_netcdf *group, const qt_tbt *t, int c, const dims *d,
                                  const int64_t *map)
{
  const int64_t n_bonds = qt_sparse_count(t->bonds), lengths[3] = {1, 1, 2 * n_bonds};
  double *row = NULL;
  weir_status status = WEIR_OK;
  int var = 0;

  WEIR_TRY(weir_netcdf_var(group, "J", WEIR_F64, 3, (int[3]){d->nkpt, d->ne, d->nnz}, &var));
  WEIR_TRY(weir_netcdf_put_text(group, var, "info", "Orbital transmission"));
  WEIR_TRY(weir_alloc(2 * n_bonds, sizeof *row, (void **)&row));
  for (int64_t point = 0; point < t->n_k * t->n_energies && status == WEIR_OK; point++) {
    const int64_t start[3] = {point / t->n_energies, point % t->n_energies, 0};
    const double *from = t->lead[c].bond_current + point * n_bonds;

    for (int64_t i = 0; i < 2 * n_bonds; i++) {
      row[i] = map[i] > 0 ? from[map[i] - 1] : -from[-map[i] - 1];
    }
    status = weir_netcdf_write(group, var, start, lengths, row);
  }
  weir_free(&row);
  return status;
}

/* The pattern in the file, the values in the groups of the leads. */
static weir_status put_bonds(weir_netcdf *nc, const qt_tbt *t, dims *d,
                             weir_netcdf *const group[QT_LEADS])
{
  const int64_t n = t->system->n, count = t->bonds != NULL ? 2 * qt_sparse_count(t->bonds) : 0;
  int32_t *n_col = NULL, *list_col = NULL;
  int64_t *map = NULL;
  weir_status status = WEIR_OK;

  if (count == 0) {
    return WEIR_OK;
  }
  WEIR_TRY_GOTO(weir_alloc(n, sizeof *n_col, (void **)&n_col), done);
  WEIR_TRY_GOTO(weir_alloc(count, sizeof *list_col, (void **)&list_col), done);
  WEIR_TRY_GOTO(weir_alloc(count, sizeof *map, (void **)&map), done);
  WEIR_TRY_GOTO(make_map(t->bonds, n_col, list_col, map), done);
  WEIR_TRY_GOTO(weir_netcdf_dim(nc, "nnz", count, &d->nnz), done);
  const item items[] = {
      {"n_col", "Bonds of each orbital", NULL, WEIR_I32, 1, {d->no_u, 0, 0}, {n, 0, 0}, n_col},
      {"list_col",
       "Orbitals that they lead to",
       NULL,
       WEIR_I32,
       1,
       {d->nnz, 0, 0},
       {count, 0, 0},
       list_col},
  };

  for (int i = 0; i < 2; i++) {
    WEIR_TRY_GOTO(put(nc, &items[i]), done);
  }
  for (int c = 0; c < QT_LEADS; c++) {
    WEIR_TRY_GOTO(put_lead_bonds(group[c], t, c, d, map), done);
  }
done:
  weir_free(&n_col);
  weir_free(&list_col);
  weir_free(&map);
  return status;
}

/* Transmission of the perfect lead, and the eigenvalues of the device's. */
static weir_status put_lead_modes(weir_netcdf *group, const qt_tbt *t, int c, const dims *d)
{
  const int64_t n_k = t->n_k, n_e = t->n_energies;
  const char *name = c == QT_LEFT ? "Right.T.Eig" : "Left.T.Eig";
  double *modes = NULL;

  WEIR_TRY(weir_alloc(n_k * n_e, sizeof *modes, (void **)&modes));
  for (int64_t i = 0; i < n_k * n_e; i++) {
    modes[i] = (double)t->lead[c].modes[i];
  }
  const weir_status status = put(
      group,
      &(item){"T", "Bulk transmission", NULL, WEIR_F64, 2, {d->nkpt, d->ne}, {n_k, n_e}, modes});

  weir_free(&modes);
  WEIR_TRY(status);
  if (t->n_channels == 0) {
    return WEIR_OK;
  }
  return put(group, &(item){name,
                            "Transmission eigenvalues",
                            NULL,
                            WEIR_F64,
                            3,
                            {d->nkpt, d->ne, d->neig},
                            {n_k, n_e, t->n_channels},
                            t->channel});
}

static weir_status put_lead_results(weir_netcdf *group, const qt_tbt *t, int c, const dims *d)
{
  const qt_tbt_lead *lead = &t->lead[c];
  const int64_t n_k = t->n_k, n_e = t->n_energies, n = t->system->lead[c].n;
  const char *name = c == QT_LEFT ? "Right.T" : "Left.T";
  int no_u;

  WEIR_TRY(weir_netcdf_dim(group, "no_u", n, &no_u));
  WEIR_TRY(put(group, &(item){name,
                              "Transmission",
                              NULL,
                              WEIR_F64,
                              2,
                              {d->nkpt, d->ne, 0},
                              {n_k, n_e, 0},
                              t->transmission}));
  WEIR_TRY(put_lead_modes(group, t, c, d));
  if (lead->dos != NULL) {
    WEIR_TRY(put_scaled(group,
                        &(item){"ADOS",
                                "Spectral density of states by orbital",
                                "1/Ry",
                                WEIR_F64,
                                3,
                                {d->nkpt, d->ne, d->no_d},
                                {n_k, n_e, t->system->n},
                                lead->dos},
                        QT_RYDBERG));
  }
  return WEIR_OK;
}

static weir_status put_lead(weir_netcdf *group, const qt_tbt *t, int c, const dims *d)
{
  WEIR_TRY(put_lead_basis(group, t, c, d));
  WEIR_TRY(put_one(group, d, "mu", "Chemical potential", "Ry", t->lead[c].mu / QT_RYDBERG));
  WEIR_TRY(put_one(group, d, "kT", "Temperature", "Ry", t->lead[c].kT / QT_RYDBERG));
  WEIR_TRY(put_eta(group, d, t, t->lead[c].eta));
  return put_lead_results(group, t, c, d);
}

static weir_status put_all(weir_netcdf *nc, const qt_tbt *t)
{
  const bool gamma = t->n_k == 1 && t->k[0][0] == 0 && t->k[0][1] == 0;
  weir_netcdf *group[QT_LEADS];
  dims d;

  WEIR_TRY(weir_netcdf_put_text(nc, WEIR_NETCDF_FILE, "source", "Weir quantum_transport"));
  WEIR_TRY(weir_netcdf_put_text(nc, WEIR_NETCDF_FILE, "Gamma", gamma ? "true" : "false"));
  WEIR_TRY(define_dims(nc, t, &d));
  WEIR_TRY(put_geometry(nc, t->system, &d));
  WEIR_TRY(put_axes(nc, t, &d));
  WEIR_TRY(put_eta(nc, &d, t, t->eta));
  for (int c = 0; c < QT_LEADS; c++) {
    WEIR_TRY(weir_netcdf_group(nc, lead_name[c], &group[c]));
    WEIR_TRY(put_lead(group[c], t, c, &d));
  }
  return put_bonds(nc, t, &d, group);
}

weir_status qt_tbt_write(const char *path, const qt_tbt *t)
{
  weir_netcdf *nc = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_netcdf_create(path, &nc));
  WEIR_TRY_GOTO(put_all(nc, t), done);
  status = weir_netcdf_commit(&nc);
done:
  weir_netcdf_close(&nc);
  return status;
}
