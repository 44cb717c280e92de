/* run_structure.c - see run_structure.h. */
#include "page/run_structure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/weir_alloc.h"

enum { KINDS = 12 };

/* Colours of elements, after Corey, Pauling and Koltun where they have one. */
static const struct {
  const char *symbol, *color;
  double radius;
} elements[] = {
    {"H", "#e8e8e8", 0.6}, {"C", "#505050", 1},    {"N", "#3050f0", 1},   {"O", "#e02020", 1},
    {"B", "#e0a0a0", 1},   {"F", "#70c050", 1},    {"Al", "#a0a8b0", 1},  {"Si", "#d8a868", 1},
    {"P", "#f08000", 1},   {"S", "#e0c820", 1},    {"Ga", "#b08080", 1},  {"Ge", "#609090", 1},
    {"As", "#b070d0", 1},  {"Mo", "#40a0a0", 1},   {"In", "#a06070", 1},  {"Sb", "#9060a0", 1},
    {"W", "#2080c0", 1},   {"Au", "#f0c030", 1.2}, {"Bi", "#8040a0", 1.2}};
static const char *const others[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7"};

/* What is drawn; owns its arrays. */
typedef struct picture {
  double (*position)[3];
  int *kind;
  weir_structure_kind kinds[KINDS];
  int n_kinds;
  int64_t (*bond)[2];
  int64_t n_bonds, capacity;
} picture;

static void fini(picture *p)
{
  weir_free(&p->position);
  weir_free(&p->kind);
  weir_free(&p->bond);
}

static weir_structure_kind kind_of(const char *symbol, int number)
{
  weir_structure_kind kind = {symbol, others[number % 4], 1};

  for (size_t i = 0; i < sizeof elements / sizeof *elements; i++) {
    if (strcmp(elements[i].symbol, symbol) == 0) {
      kind.color = elements[i].color;
      kind.radius = elements[i].radius;
    }
  }
  return kind;
}

/* Number of a symbol among the kinds; those beyond KINDS share the last. */
static int find_kind(picture *p, const char *symbol)
{
  const char *const name = strcmp(symbol, "X") == 0 || symbol[0] == 0 ? "site" : symbol;

  for (int k = 0; k < p->n_kinds; k++) {
    if (strcmp(p->kinds[k].name, name) == 0) {
      return k;
    }
  }
  if (p->n_kinds == KINDS) {
    p->kinds[KINDS - 1].name = "others";
    return KINDS - 1;
  }
  p->kinds[p->n_kinds] = kind_of(name, p->n_kinds);
  return p->n_kinds++;
}

/* Sites of a model without positions stand above one another in each block. */
static void set_positions(const qt_system *s, picture *p)
{
  for (int64_t a = 0; a < s->n_atoms; a++) {
    const double *from = s->atom[a].position;
    const bool above = s->is_schematic && a > 0 && fabs(from[0] - p->position[a - 1][0]) < 1e-9;

    memcpy(p->position[a], from, sizeof p->position[a]);
    if (s->is_schematic) {
      p->position[a][1] = above ? p->position[a - 1][1] + 1 : 0;
      p->position[a][2] = 0;
    }
    p->kind[a] = find_kind(p, s->atom[a].symbol);
  }
}

/* The couplings of atom a to later ones: square [n_atoms] is 0 and stays so; visit(.., b, norm) for
 * each. */
typedef struct couplings {
  const qt_system *s;
  const qt_sparse *h;
  int64_t *atom_of, *found; /* [n], [n_atoms] */
  double *square;           /* [n_atoms]      */
  double strongest;
} couplings;

static int64_t find_couplings(const couplings *c, int64_t a)
{
  const qt_atom *atom = &c->s->atom[a];
  int64_t n = 0;

  for (int64_t row = atom->first; row < atom->first + atom->n_orbitals; row++) {
    for (int64_t at = c->h->start[row]; at < c->h->start[row + 1]; at++) {
      const int64_t b = c->atom_of[c->h->column[at]];
      const weir_c128 z = c->h->value[at];

      if (b <= a || (z.re == 0 && z.im == 0)) {
        continue;
      }
      if (c->square[b] == 0) {
        c->found[n++] = b;
      }
      c->square[b] += z.re * z.re + z.im * z.im;
    }
  }
  return n;
}

static weir_status add_bonds(couplings *c, picture *p)
{
  for (int pass = 0; pass < 2; pass++) {
    for (int64_t a = 0; a < c->s->n_atoms; a++) {
      const int64_t n = find_couplings(c, a);

      for (int64_t i = 0; i < n; i++) {
        const int64_t b = c->found[i];
        const double norm = sqrt(c->square[b]);

        c->square[b] = 0;
        if (pass == 0) {
          c->strongest = fmax(c->strongest, norm);
        } else if (norm >= c->strongest / 4) {
          WEIR_TRY(weir_reserve(&p->bond, &p->capacity, p->n_bonds + 1, sizeof *p->bond));
          p->bond[p->n_bonds][0] = a;
          p->bond[p->n_bonds++][1] = b;
        }
      }
    }
  }
  return WEIR_OK;
}

/* Bonds within the cell across: those of the image (0, 0). */
static weir_status find_bonds(const qt_system *s, picture *p)
{
  const int64_t home = qt_bloch_find(&s->h, 0, 0);
  couplings c = {.s = s, .h = home >= 0 ? &s->h.matrix[home] : NULL};
  weir_status status = WEIR_OK;

  if (c.h == NULL) {
    return WEIR_OK;
  }
  WEIR_TRY_GOTO(weir_alloc(s->n, sizeof *c.atom_of, (void **)&c.atom_of), done);
  WEIR_TRY_GOTO(weir_alloc(s->n_atoms, sizeof *c.found, (void **)&c.found), done);
  WEIR_TRY_GOTO(weir_alloc(s->n_atoms, sizeof *c.square, (void **)&c.square), done);
  for (int64_t a = 0; a < s->n_atoms; a++) {
    for (int64_t o = 0; o < s->atom[a].n_orbitals; o++) {
      c.atom_of[s->atom[a].first + o] = a;
    }
  }
  WEIR_TRY_GOTO(add_bonds(&c, p), done);
done:
  weir_free(&c.atom_of);
  weir_free(&c.found);
  weir_free(&c.square);
  return status;
}

weir_status qt_run_structure(weir_report *r, const qt_system *s)
{
  picture p = {.n_kinds = 0};
  weir_status status = WEIR_OK;
  char title[120];

  WEIR_TRY_GOTO(weir_alloc(s->n_atoms, sizeof *p.position, (void **)&p.position), done);
  WEIR_TRY_GOTO(weir_alloc(s->n_atoms, sizeof *p.kind, (void **)&p.kind), done);
  set_positions(s, &p);
  WEIR_TRY_GOTO(find_bonds(s, &p), done);
  (void)snprintf(title, sizeof title, "Device: %lld %s; lines join those that couple",
                 (long long)s->n_atoms,
                 s->is_schematic                        ? "sites, not to scale"
                 : strcmp(p.kinds[0].name, "site") == 0 ? "sites"
                                                        : "atoms");
  status = weir_report_structure(
      r, "structure",
      &(weir_structure){.title = title,
                        .axis = {s->is_schematic ? "block" : "x (Angstrom)",
                                 s->is_schematic ? "orbital of the block" : "y (Angstrom)",
                                 "z (Angstrom)"},
                        .end = {"left lead", "right lead"},
                        .n_points = s->n_atoms,
                        .position = (const double(*)[3])p.position,
                        .kind = p.kind,
                        .n_kinds = p.n_kinds,
                        .kinds = p.kinds,
                        .n_bonds = p.n_bonds,
                        .bond = (const int64_t(*)[2])p.bond});
done:
  fini(&p);
  return status;
}
