/* style_modules.c - modules that one can read alone: no files of one include one another in a
 * cycle, no folder is crowded or contains support of tests, and the tour's levels are those that
 * are checked. */
#include "style.h"
#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Files that a folder of production code may contain; README.md and CMakeLists.txt do not count. */
enum { FILES_OF_FOLDER = 32, NAME = 512 };

static bool is_production(const style_file *f)
{
  return f->is_c && !style_is_test(f) &&
         (style_starts(f->path, "libcore/") || style_starts(f->path, "apps/"));
}

/* ---- Cycles ---- */

/* x.c, x.h and x_priv.h are one node, FOLDER/x; a public header weir_x.h is one of its own. */
typedef struct node {
  char name[NAME];
  int first; /* edge */
  int state; /* 0: not visited, 1: on the path, 2: done */
} node;

/* A file of one node includes one of another. */
typedef struct edge {
  int from, to;
  const style_file *file;
  int line;
} edge;

typedef struct web {
  node *nodes; /* ascending names */
  int n_nodes;
  edge *edges; /* ascending `from` */
  int n_edges;
  int *path; /* nodes that are being visited */
  int depth;
} web;

static void name_of(const char *path, char name[NAME])
{
  snprintf(name, NAME, "%s", path);
  char *dot = strrchr(name, '.');

  if (dot) {
    *dot = 0;
  }
  if (style_ends(name, "_priv")) {
    name[strlen(name) - strlen("_priv")] = 0;
  }
}

static int by_name(const void *a, const void *b)
{
  return strcmp(((const node *)a)->name, ((const node *)b)->name);
}

static int by_from(const void *a, const void *b)
{
  const edge *x = a, *y = b;

  return x->from != y->from ? x->from - y->from
         : x->to != y->to   ? x->to - y->to
                            : x->line - y->line;
}

static int find_node(const web *w, const char *path)
{
  node key;

  name_of(path, key.name);
  const node *found = bsearch(&key, w->nodes, (size_t)w->n_nodes, sizeof *w->nodes, by_name);

  return found ? (int)(found - w->nodes) : -1;
}

static void add_nodes(web *w, const style_tree *t)
{
  int kept = 0;

  for (int i = 0; i < t->n_files; i++) {
    if (is_production(&t->files[i])) {
      w->nodes = style_grow(w->nodes, w->n_nodes, sizeof *w->nodes);
      name_of(t->files[i].path, w->nodes[w->n_nodes++].name);
    }
  }
  qsort(w->nodes, (size_t)w->n_nodes, sizeof *w->nodes, by_name);
  for (int i = 0; i < w->n_nodes; i++) {
    if (i == 0 || strcmp(w->nodes[i].name, w->nodes[kept - 1].name) != 0) {
      w->nodes[kept++] = w->nodes[i];
    }
  }
  w->n_nodes = kept;
}

/* Length of the name of the module or the app of a path, with its slash. */
static size_t module_of(const char *path)
{
  const char *slash = strchr(path, '/');

  slash = slash ? strchr(slash + 1, '/') : NULL;
  return slash ? (size_t)(slash - path) + 1 : 0;
}

/* The node of the file that an include line of f means, within f's module or app; -1: none. */
static int target_of(const web *w, const style_file *f, const char *target)
{
  const int folder = (int)(style_base(f->path) - f->path), module = (int)module_of(f->path);
  const int roots[] = {folder, style_starts(f->path, "apps/") ? module : (int)strlen("libcore/")};

  for (size_t i = 0; i < sizeof roots / sizeof roots[0]; i++) {
    char path[2 * NAME];

    snprintf(path, sizeof path, "%.*s%s", roots[i], f->path, target);
    const int found = strlen(path) < NAME ? find_node(w, path) : -1;

    if (found >= 0 && strncmp(path, f->path, (size_t)module) == 0) {
      return found;
    }
  }
  return -1;
}

static void add_edges(web *w, const style_tree *t)
{
  for (int i = 0; i < t->n_files; i++) {
    const style_file *f = &t->files[i];
    const int from = is_production(f) ? find_node(w, f->path) : -1;

    for (int k = 0; from >= 0 && k < f->n_includes; k++) {
      const int to = f->includes[k].angled ? -1 : target_of(w, f, f->includes[k].target);

      if (to >= 0 && to != from) {
        w->edges = style_grow(w->edges, w->n_edges, sizeof *w->edges);
        w->edges[w->n_edges++] = (edge){from, to, f, f->includes[k].line};
      }
    }
  }
  if (w->n_edges > 0) {
    qsort(w->edges, (size_t)w->n_edges, sizeof *w->edges, by_from);
  }
  for (int i = w->n_edges - 1; i >= 0; i--) {
    w->nodes[w->edges[i].from].first = i;
  }
}

/* The edge leads back to a node of the path: the nodes from there on are the cycle. */
static void report_cycle(const web *w, style_report *r, const edge *e)
{
  char text[4 * NAME];
  size_t n = 0;
  int at = w->depth - 1;

  while (w->path[at] != e->to) {
    at--;
  }
  for (; at < w->depth && n < sizeof text; at++) {
    n +=
        (size_t)snprintf(text + n, sizeof text - n, "%s, ", style_base(w->nodes[w->path[at]].name));
  }
  style_find(r, e->file, e->line, "a cycle of files, each of which includes the next: %s%s", text,
             style_base(w->nodes[e->to].name));
}

static void visit(web *w, style_report *r, int from)
{
  w->nodes[from].state = 1;
  w->path[w->depth++] = from;
  for (int i = w->nodes[from].first; i < w->n_edges && w->edges[i].from == from; i++) {
    const edge *e = &w->edges[i];

    if (i > 0 && e[-1].from == from && e[-1].to == e->to) {
      continue;
    }
    if (w->nodes[e->to].state == 1) {
      report_cycle(w, r, e);
    } else if (w->nodes[e->to].state == 0) {
      visit(w, r, e->to);
    }
  }
  w->depth--;
  w->nodes[from].state = 2;
}

void style_cycles(const style_tree *t, style_report *r)
{
  web w = {.n_nodes = 0};

  add_nodes(&w, t);
  for (int i = 0; i < w.n_nodes; i++) {
    w.nodes[i].first = INT_MAX;
    w.path = style_grow(w.path, i, sizeof *w.path);
  }
  add_edges(&w, t);
  for (int i = 0; i < w.n_nodes; i++) {
    if (w.nodes[i].state == 0) {
      visit(&w, r, i);
    }
  }
  free(w.nodes);
  free(w.edges);
  free(w.path);
}

/* ---- Folders ---- */

static bool same_folder(const style_file *a, const style_file *b)
{
  const size_t n = (size_t)(style_base(a->path) - a->path);

  return n == (size_t)(style_base(b->path) - b->path) && memcmp(a->path, b->path, n) == 0;
}

void style_folders(const style_tree *t, style_report *r)
{
  for (int i = 0; i < t->n_files; i++) {
    const style_file *f = &t->files[i];
    int count = 0;

    for (int k = 0; is_production(f) && k < t->n_files; k++) {
      if (is_production(&t->files[k]) && same_folder(f, &t->files[k])) {
        if (k < i) { /* counted before */
          count = 0;
          break;
        }
        count++;
      }
    }
    r->fullest_folder = count > r->fullest_folder ? count : r->fullest_folder;
    if (count > FILES_OF_FOLDER) {
      style_find(r, f, 1, "its folder contains %d files, at most %d: sort them by subject", count,
                 FILES_OF_FOLDER);
    }
  }
}

/* ---- Support of tests ---- */

/* The runner of tests is a library of base; *_cases.h goes with the *_cases.c of its registry. */
static bool may_stay(const style_file *f)
{
  return style_starts(f->path, "tests/") || style_starts(f->path, "docs/") ||
         style_starts(f->path, "libcore/base/weir_check") || style_ends(f->path, "_cases.h");
}

static const style_file *includer_of(const style_tree *t, const style_file *header)
{
  for (int i = 0; i < t->n_files; i++) {
    const style_file *f = &t->files[i];

    for (int k = 0; style_is_test(f) && k < f->n_includes; k++) {
      if (style_can_mean(f->includes[k].target, header->path)) {
        return f;
      }
    }
  }
  return NULL;
}

void style_support(const style_tree *t, style_report *r)
{
  bool *used = calloc((size_t)t->n_files + 1, sizeof *used);

  if (!used) {
    exit(1);
  }
  style_mark_programs(t, used);
  for (int i = 0; i < t->n_files; i++) {
    const style_file *f = &t->files[i];
    const bool asks = style_ends(f->path, ".h") && !used[i] && !may_stay(f);
    const style_file *test = asks ? includer_of(t, f) : NULL;

    if (test) {
      style_find(r, f, 1, "no program includes it, but %s: move it to tests/support", test->path);
    }
  }
  free(used);
}

/* ---- Levels ---- */

/* A row of the table says `| LEVEL | `module`: what it is; `other`: ... |`. */
static void check_row(const style_file *f, style_report *r, int line, const char *row, bool *listed)
{
  const char *end = row + strcspn(row, "\n");
  const int level = atoi(row + 2);

  for (const char *tick = memchr(row, '`', (size_t)(end - row)); tick && tick < end;) {
    const char *name = tick + 1, *close = strchr(name, '`');

    if (!close || close >= end) {
      return;
    }
    const int stated = close[1] == ':' ? style_level(name, (size_t)(close - name), listed) : level;

    if (stated != level) {
      style_find(r, f, line, "`%.*s` on level %d: the style test checks level %d",
                 (int)(close - name), name, level, stated);
    }
    tick = strchr(close + 1, '`');
  }
}

void style_levels(const style_tree *t, style_report *r)
{
  for (int i = 0; i < t->n_files; i++) {
    const style_file *f = &t->files[i];
    bool listed[STYLE_MODULES] = {false};
    int line = 1;

    if (strcmp(f->path, "docs/tour.md") != 0) {
      continue;
    }
    for (const char *p = f->text; p; p = strchr(p, '\n'), p = p ? p + 1 : NULL, line++) {
      if (style_starts(p, "| ") && isdigit((unsigned char)p[2])) {
        check_row(f, r, line, p, listed);
      }
    }
    for (int k = 0; k < t->n_files; k++) {
      const char *module = t->files[k].path + strlen("libcore/");
      const size_t n = strcspn(module, "/");
      bool now[STYLE_MODULES] = {false};

      if (!style_starts(t->files[k].path, "libcore/") || style_level(module, n, now) < 0) {
        continue;
      }
      for (int m = 0; m < STYLE_MODULES; m++) {
        if (now[m] && !listed[m]) {
          listed[m] = true;
          style_find(r, f, 1, "the table of levels lacks `%.*s`", (int)n, module);
        }
      }
    }
  }
}
