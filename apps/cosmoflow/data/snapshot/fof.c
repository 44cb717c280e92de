/* fof.c - see fof.h. Particles are sorted into cells whose diagonal is the linking length, so that
 * all of a cell are friends; cells within `reach` are joined at the first pair of friends. */
#include "data/snapshot/fof.h"
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include "base/weir_alloc.h"

/* A particle in the order of the cells. */
typedef struct placed {
  int64_t cell, particle;
} placed;

typedef struct finder {
  double box, link;
  const double *position, *mass;
  int64_t n, side, cells;       /* cells along an axis; that have particles */
  int64_t reach;                /* cells along an axis that the linking length spans, rounded up */
  placed *at;                   /* [n] */
  int64_t *cell, *first, *root; /* [cells]; first [cells + 1] of at */
} finder;

static int by_cell(const void *a, const void *b)
{
  const placed *const x = a, *const y = b;

  return x->cell != y->cell ? (x->cell < y->cell ? -1 : 1) : (x->particle > y->particle) * 2 - 1;
}

static int64_t along(const finder *f, double x)
{
  const int64_t i = (int64_t)(x / f->box * (double)f->side);

  return i < f->side ? i : f->side - 1;
}

/* Sorts the particles, and lists the cells that have any. */
static weir_status sort(finder *f)
{
  WEIR_TRY(weir_alloc(f->n, sizeof *f->at, (void **)&f->at));
  for (int64_t i = 0; i < f->n; i++) {
    const double *const x = f->position + 3 * i;

    f->at[i].cell = (along(f, x[0]) * f->side + along(f, x[1])) * f->side + along(f, x[2]);
    f->at[i].particle = i;
  }
  qsort(f->at, (size_t)f->n, sizeof *f->at, by_cell);
  for (int64_t i = 0; i < f->n; i++) {
    f->cells += i == 0 || f->at[i].cell != f->at[i - 1].cell;
  }
  WEIR_TRY(weir_alloc(f->cells, sizeof *f->cell, (void **)&f->cell));
  WEIR_TRY(weir_alloc(f->cells + 1, sizeof *f->first, (void **)&f->first));
  WEIR_TRY(weir_alloc(f->cells, sizeof *f->root, (void **)&f->root));
  int64_t c = 0;

  for (int64_t i = 0; i < f->n; i++) {
    if (i == 0 || f->at[i].cell != f->at[i - 1].cell) {
      f->cell[c] = f->at[i].cell;
      f->root[c] = c;
      f->first[c++] = i;
    }
  }
  f->first[c] = f->n;
  return WEIR_OK;
}

/* The first cell in the list that is not before that number. */
static int64_t seek(const finder *f, int64_t cell)
{
  int64_t lo = 0, hi = f->cells;

  while (lo < hi) {
    const int64_t middle = lo + (hi - lo) / 2;

    if (f->cell[middle] < cell) {
      lo = middle + 1;
    } else {
      hi = middle;
    }
  }
  return lo;
}

/* The first cell of a group; paths are halved on the way. */
static int64_t root_of(const finder *f, int64_t c)
{
  while (f->root[c] != c) {
    f->root[c] = f->root[f->root[c]];
    c = f->root[c];
  }
  return c;
}

/* The way from a to b through the nearest face. */
static inline double apart(double a, double b, double box)
{
  const double d = b - a;

  return d > 0.5 * box ? d - box : d < -0.5 * box ? d + box : d;
}

static bool are_friends(const finder *f, int64_t a, int64_t b)
{
  const double limit = f->link * f->link;

  for (int64_t i = f->first[a]; i < f->first[a + 1]; i++) {
    const double *const x = f->position + 3 * f->at[i].particle;

    for (int64_t j = f->first[b]; j < f->first[b + 1]; j++) {
      const double *const y = f->position + 3 * f->at[j].particle;
      const double d0 = apart(x[0], y[0], f->box), d1 = apart(x[1], y[1], f->box),
                   d2 = apart(x[2], y[2], f->box);

      if (d0 * d0 + d1 * d1 + d2 * d2 <= limit) {
        return true;
      }
    }
  }
  return false;
}

/* Joins cell c with those of a row, [z0, z1]. */
static void join_row(finder *f, int64_t c, int64_t row, int64_t z0, int64_t z1)
{
  const int64_t end = row * f->side + z1;

  for (int64_t b = seek(f, row * f->side + z0); b < f->cells && f->cell[b] <= end; b++) {
    const int64_t one = root_of(f, c), two = root_of(f, b);

    if (one != two && are_friends(f, c, b)) {
      f->root[one > two ? one : two] = one > two ? two : one;
    }
  }
}

/* The same where the row may go on at its other end. */
static void join_range(finder *f, int64_t c, int64_t row, int64_t z0, int64_t z1)
{
  const int64_t n = f->side;

  if (z1 - z0 + 1 >= n) {
    join_row(f, c, row, 0, n - 1);
  } else if (z0 < 0) {
    join_row(f, c, row, z0 + n, n - 1);
    join_row(f, c, row, 0, z1);
  } else if (z1 >= n) {
    join_row(f, c, row, z0, n - 1);
    join_row(f, c, row, 0, z1 - n);
  } else {
    join_row(f, c, row, z0, z1);
  }
}

/* Joins a cell with those that follow it within reach: of each pair, one is the other's follower.
 */
static void join_cell(finder *f, int64_t c)
{
  const int64_t n = f->side, x = f->cell[c] / n / n, y = f->cell[c] / n % n, z = f->cell[c] % n;
  const int64_t r = f->reach;

  join_range(f, c, x * n + y, z + 1, z + r);
  for (int64_t dx = 0; dx <= r; dx++) {
    for (int64_t dy = dx == 0 ? 1 : -r; dy <= r; dy++) {
      join_range(f, c, (x + dx) % n * n + (y + dy + 2 * n) % n, z - r, z + r);
    }
  }
}

/* ---- Groups ---- */

static int by_mass(const void *a, const void *b)
{
  const cf_halo *const x = a, *const y = b;

  if (x->mass != y->mass) {
    return x->mass > y->mass ? -1 : 1;
  }
  for (int d = 0; d < 3; d++) {
    if (x->centre[d] != y->centre[d]) {
      return x->centre[d] < y->centre[d] ? -1 : 1;
    }
  }
  return 0;
}

/* Adds the particles of cell c to its group, whose centre is a sum of ways from its first particle.
 */
static void add_cell(const finder *f, int64_t c, cf_halo *of)
{
  const double *const from = f->position + 3 * f->at[f->first[root_of(f, c)]].particle;

  for (int64_t i = f->first[c]; i < f->first[c + 1]; i++) {
    const int64_t p = f->at[i].particle;

    of->particles++;
    of->mass += f->mass[p];
    for (int d = 0; d < 3; d++) {
      of->centre[d] += f->mass[p] * apart(from[d], f->position[3 * p + d], f->box);
    }
  }
}

/* Gathers the groups into all [cells], by their first cells; keeps the large ones. */
static int64_t gather(const finder *f, int64_t least, cf_halo *all)
{
  int64_t n = 0;

  for (int64_t c = 0; c < f->cells; c++) {
    add_cell(f, c, &all[root_of(f, c)]);
  }
  for (int64_t c = 0; c < f->cells; c++) {
    cf_halo h = all[c];
    const double *const from = f->position + 3 * f->at[f->first[c]].particle;

    if (h.particles < least) { /* also cells that are not the first */
      continue;
    }
    for (int d = 0; d < 3; d++) {
      const double x = from[d] + (h.mass > 0 ? h.centre[d] / h.mass : 0);
      const double inside = x - f->box * floor(x / f->box);

      h.centre[d] = inside < f->box ? inside : 0;
    }
    all[n++] = h;
  }
  qsort(all, (size_t)n, sizeof *all, by_mass);
  return n;
}

weir_status cf_fof(double box, double link, int64_t n, const double *position, const double *mass,
                   int64_t least, cf_halo **haloes, int64_t *n_haloes)
{
  finder f = {.box = box, .link = link, .position = position, .mass = mass, .n = n};
  cf_halo *all = NULL;
  weir_status status = WEIR_OK;

  *haloes = NULL;
  *n_haloes = 0;
  if (n == 0) {
    return WEIR_OK;
  }
  const double side = ceil(box / link * sqrt(3));

  WEIR_ASSERT(side >= 1 && side <= 1 << 20);
  f.side = (int64_t)side;
  f.reach = (int64_t)ceil(link / box * side); /* 2; 3 for some lengths above 0.28 boxes */
  WEIR_TRY_GOTO(sort(&f), done);
  for (int64_t c = 0; c < f.cells; c++) {
    join_cell(&f, c);
  }
  WEIR_TRY_GOTO(weir_alloc(f.cells, sizeof *all, (void **)&all), done);
  *n_haloes = gather(&f, least < 1 ? 1 : least, all);
  *haloes = all;
done:
  weir_free(&f.at);
  weir_free(&f.cell);
  weir_free(&f.first);
  weir_free(&f.root);
  return status;
}
