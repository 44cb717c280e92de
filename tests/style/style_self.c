/* style_self.c - the rules themselves under test: each planted violation is found, and nothing
 * else. */
#include "style.h"
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file that breaks `check` once; check NULL: a file that looks wrong but is right. */
static const struct plant {
  const char *check, *path, *text;
} plants[] = {
    {"layers", "libcore/base/weir_a.c", "#include \"conf/weir_opt.h\"\n"},
    {"layers", "libcore/graph/a.c", "#include \"io/weir_wfdb.h\"\n"},
    {"layers", "libcore/graph/a.c", "#include \"../base/weir_file.h\"\n"},
    {"layers", "libcore/attic/README.md", "a\n"},
    {"layers", "apps/demo/a.c", "#include \"apps/other/b.h\"\n"},
    {"layers", "apps/demo/a.c", "#include \"support/demo/a.h\"\n"},
    {"layers", "libcore/graph/a.c", "#include \"support/graph/a.h\"\n"},
    {NULL, "libcore/graph/a.c", "#include \"base/weir_file.h\"\n#include \"a_priv.h\"\n"},
    {NULL, "libcore/base/a_test.c", "#include \"conf/weir_opt.h\"\n"},
    {NULL, "libcore/base/a_cases.c", "#include \"conf/weir_opt.h\"\n"},
    {"layers", "docs/tour.md",
     "| 0 | `base`: `a` |\n| 2 | `conf`: b |\n| 4 | `graph`: c |\n| 5 | `ops`: d |\n"},
    {"layers", "docs/tour.md", "| 0 | `base`: a |\n| 1 | `conf`: b |\n| 5 | `ops`: d |\n"},
    {NULL, "docs/tour.md",
     "| 0 | `base`: a; `conf` |\n| 1 | `conf`: b |\n| 4 | `graph`: c |\n| 5 | `ops`: d |\n"},
    {"cycles", "libcore/graph/chain_priv.h", "#include \"graph/ring.h\"\n"},
    {"cycles", "libcore/graph/chain.c", "#include \"ring.h\"\n"},
    {"cycles", "apps/demo/model/link.h", "#include \"model/loop.h\"\n"},
    {NULL, "libcore/graph/chain_test.c", "#include \"graph/ring.h\"\n"},
    {NULL, "libcore/graph/ring_priv.h", "#include \"graph/chain.h\"\n"},
    {"support", "libcore/graph/lone_test.c", "#include \"graph/lone.h\"\n"},
    {NULL, "libcore/graph/lone_test.c", "#include \"graph/chain.h\"\n"},
    {NULL, "tests/conform/a.c", "#include \"graph/a_cases.h\"\n"},
    {"external", "libcore/base/a.c", "#include <yaml.h>\n"},
    {"external", "libcore/base/a.c", "#include <zlib.h>\n"},
    {"external", "apps/demo/a.c", "#include <netcdf.h>\n"},
    {NULL, "libcore/conf/a.c", "#include <yaml.h>\n#include <sys/stat.h>\n"},
    {"printing", "libcore/conf/a.c", "void f(void)\n{\n  printf(\"x\");\n}\n"},
    {"printing", "libcore/conf/a.c", "#define SAY() puts(\"x\")\n"},
    {"printing", "libcore/conf/a.c", "void f(void)\n{\n  fprintf(stderr, \"x\");\n}\n"},
    {NULL, "libcore/conf/a.c",
     "void f(FILE *o)\n{\n  fprintf(o, \"printf( stderr\");\n} /* puts(x) */\n"},
    {"exits", "libcore/conf/a.c", "void f(void)\n{\n  exit(1);\n}\n"},
    {"exits", "apps/demo/a.c", "void f(void)\n{\n  abort();\n}\n"},
    {NULL, "apps/demo/main.c", "int main(void)\n{\n  exit(1);\n}\n"},
    {"environment", "libcore/base/a.c", "char *f(void)\n{\n  return getenv(\"A\");\n}\n"},
    {"threads", "libcore/ops/a.c", "void f(void)\n{\n#pragma omp parallel\n  g();\n}\n"},
    {"variables", "libcore/ops/a.c", "static int count;\n"},
    {"variables", "libcore/ops/a.c", "static const char *names[] = {\"a\"};\n"},
    {"variables", "libcore/ops/a.c", "void (*hook)(int);\n"},
    {"variables", "libcore/ops/a.c", "static struct {\n  int n;\n} all;\n"},
    {"variables", "libcore/ops/a.c",
     "int f(void)\n{\n  static int calls = 0;\n  return ++calls;\n}\n"},
    {NULL, "libcore/ops/a.c",
     "static const char *const names[] = {\"a\"};\nstruct s {\n  int n;\n};\nstruct t;\n"
     "typedef int (*g)(int);\nint f(int (*h)(int));\nextern int e;\n"
     "const struct s rows[2] = {\n    {.n = 1},\n};\nenum { A, B };\n"},
    {"columns", "libcore/base/a.c",
     "#define A 1000000000 + 1000000000 + 1000000000 + 1000000000 + 1000000000 + 1000000000 + "
     "1000000000 + 1\n"},
    {NULL, "libcore/base/a.c",
     "const char *const a =\n    \"1000000000 1000000000 1000000000 1000000000 1000000000 "
     "1000000000 "
     "1000000000 1000000000\";\n"},
    {"terms", "libcore/base/a.c", "void f(void)\n{\n  weir_bell_ring();\n}\n"},
    {"terms", "libcore/base/a.c", "/* A value that\n * is no number. */\n"},
    {"terms", "libcore/base/a.c", "const char *const a = \"which is no \"\n    \"number\";\n"},
    {"terms", "docs/a.md", "A gradient that Is no\nnumber ends it.\n"},
    {NULL, "libcore/base/a.c", "int my_weir_bell(void); /* this no number */\n"},
    {NULL, "libcore/conf/a.c", "const char *const a = \"is no number\";\n"},
    {NULL, "docs/changes/a.md", "It is no number.\n"},
    {"names", "libcore/base/weir_util.c", "int a(void);\n"},
    {"names", "libcore/base/helpers/a.c", "int a(void);\n"},
    {"names", "libcore/base/a.c", "typedef int size_type_t;\n"},
    {NULL, "libcore/base/commonality.c", "int a(void);\n"},
    {"unfinished", "libcore/base/a.c",
     "/* TO"
     "DO: later */\n"},
    {"unfinished", "workflows/a.sh",
     "# FIX"
     "ME\n"},
    {"paths", "docs/a.md",
     "cd /wo"
     "rk/weir\n"},
    {"paths", "README.md", "data are in ../shared/data\n"},
    {NULL, "docs/a.md",
     "libcore/wo"
     "rk/a.c and https://x.org/ho"
     "me/\n"},
    {"records", "apps/demo/a.c", "const char *const n = \"208\";\n"},
    {NULL, "apps/demo/a.c", "const char *const n = \"2080\";\nconst char *const m = \"%03d\";\n"},
    {"links", "docs/a.md", "See `libcore/base/` and `libcore/base/gone.c`.\n"},
    {NULL, "docs/a.md", "`libcore/conf`, `libcore/conf/yaml.c`, `docs/*.md`, `tests/<noun>.c`\n"},
    {"assertions", "libcore/base/a_test.c", "static void f(void **state)\n{\n  (void)state;\n}\n"},
    {NULL, "libcore/base/a_test.c",
     "static void g(void)\n{\n  assert_true(1);\n}\nstatic void h(void)\n{\n  g();\n}\n"
     "static void f(void **state)\n{\n  h();\n}\n"},
    {"contracts", "libcore/base/weir_a.h", "#define A 1\n\nint weir_a(void);\n"},
    {"contracts", "libcore/base/weir_a.h",
     "/* Of a. */\nstruct a {\n  int n; /* inside */\n};\n\nint weir_a(void);\n"},
    {"prefix", "libcore/base/weir_a.h", "/* Does a. */\nint other_a(void);\n"},
    {NULL, "libcore/base/weir_a.h",
     "#ifdef __cplusplus\nextern \"C\" {\n#endif\n/* Does a and b. */\nint weir_a(void);\n"
     "int weir_b(int x,\n           int y);\nint weir_c(void);\n#ifdef __cplusplus\n}\n#endif\n"},
    {"callers", "libcore/base/weir_b.h", "/* Does d. */\nint weir_d(void);\n"},
    {NULL, "libcore/base/weir_b.h",
     "/* Does a and b. */\nint weir_a(void);\n/* Does d. */\nstatic inline int weir_d(void)\n{\n  "
     "return 0;\n}\n"},
    {"callers", "libcore/base/weir_b.h",
     "/* Does e. */\nint weir_e_at(int x);\n#define weir_e() \\\n  weir_e_at(1)\n"},
    {NULL, "libcore/base/weir_b.h",
     "/* Does e. */\nint weir_e_at(int x);\n#define weir_e() weir_e_at(1)\n"
     "/* Does f. */\nstatic inline int weir_f(void)\n{\n  return weir_e();\n}\n"},
    {"dtypes", "libcore/ops/a.c",
     "int f(int d)\n{\n  switch (d) {\n  case WEIR_F32:\n  case WEIR_F64:\n    return 1;\n  "
     "default:\n"
     "    return 0;\n  }\n}\n"},
    {NULL, "libcore/base/a.c",
     "int f(int d)\n{\n  switch (d) {\n  case WEIR_F32:\n    return 1;\n  default:\n    return "
     "0;\n  }\n}\n"},
    {NULL, "libcore/ops/a.c",
     "int f(int d)\n{\n  switch (d) {\n  case WEIR_KIND_REAL:\n    return 1;\n  default:\n    "
     "return 0;\n  }\n}\n"},
    {"help", "libcore/conf/a.c", "const weir_opt t[] = {WEIR_OPT_BOOL(struct s, b, 0, \"\")};\n"},
    {NULL, "libcore/conf/a.c",
     "const weir_opt t[] = {WEIR_OPT_BOOL(struct s, b, 0, \"says what\")};\n"},
    {"readmes", "libcore/comm/weir_a.h", "\n"},
    {"have", "libcore/base/b.c", "#ifdef WEIR_HAVE_YAML\n#endif\n"},
};

static char scratch[] = "/tmp/weir-style-XXXXXX";

static void make_folders(const char *path)
{
  char folder[700];

  for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
    mkdir(folder, 0777);
  }
}

static void write_file(const char *path, const char *text)
{
  char full[700];

  snprintf(full, sizeof full, "%s/%s", scratch, path);
  make_folders(full);
  FILE *out = fopen(full, "w");
  if (!out || fputs(text, out) < 0 || fclose(out) != 0) {
    perror(full);
    exit(1);
  }
}

/* A tree without a finding, into which each violation is planted alone. */
static void write_clean_tree(void)
{
  static const char *const modules[] = {"libcore/base", "libcore/conf", "libcore/graph",
                                        "libcore/ops",  "apps/demo",    NULL};
  char path[100];

  for (const char *const *module = modules; *module; module++) {
    snprintf(path, sizeof path, "%s/README.md", *module);
    write_file(path, "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n");
  }
  write_file("libcore/base/weir_dtype.h", "#define LIST(X) X(WEIR_F32, 1) X(WEIR_F64, 2)\n");
  write_file("libcore/conf/yaml.c", "#ifdef WEIR_HAVE_YAML\n#endif\n");
  write_file("apps/demo/calls.c", "#include \"base/weir_a.h\"\n#include \"base/weir_b.h\"\n"
                                  "#include \"graph/ring.h\"\n"
                                  "int f(void)\n{\n  return weir_a() + weir_b(1, 2) + weir_c() + "
                                  "other_a();\n}\n");
  write_file("libcore/graph/chain.h", "");
  write_file("libcore/graph/lone.h", "");
  write_file("libcore/graph/a_cases.h", "");
  write_file("libcore/graph/ring.h", "#include \"graph/chain.h\"\n");
  write_file("apps/demo/model/loop.c", "#include \"model/link.h\"\n");
  write_file("README.md", "Weir\n");
  write_file("tests/style/terms.csv",
             "term,scope,standard term,exceptions,note\n"
             "weir_bell*,identifier,weir_cond,,\n"
             "is no number,help+comment+docs,is NaN,libcore/conf/,text that is not a number\n");
}

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *where)
{
  (void)info;
  (void)kind;
  (void)where;
  return remove(path);
}

static void remove_tree(void)
{
  nftw(scratch, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

/* Findings of each check in the scratch tree. */
static void count_findings(int *found)
{
  style_tree tree;
  style_report report = {.found = found};

  memset(found, 0, (size_t)style_check_count() * sizeof *found);
  style_tree_read(&tree, scratch);
  style_run(&tree, &report);
  style_tree_free(&tree);
}

/* Removes the scratch tree; 1 when something else than expected was found in it. */
static int judge(const struct plant *p, int *found)
{
  int wrong = 0;

  count_findings(found);
  for (int c = 0; style_checks[c].name; c++) {
    const int expected = p->check && strcmp(style_checks[c].name, p->check) == 0;
    if (found[c] != expected) {
      printf("%s: %s: %d findings, expected %d, in:\n%s", p->path, style_checks[c].name, found[c],
             expected, p->text);
      wrong = 1;
    }
  }
  remove_tree();
  return wrong;
}

/* Plants one file. */
static int try_plant(const struct plant *p, int *found)
{
  write_clean_tree();
  write_file(p->path, p->text);
  return judge(p, found);
}

/* A folder with one file too many, and with as many as may be. */
static int try_folder(bool crowded, int *found)
{
  const int files = crowded ? 33 : 32;

  write_clean_tree();
  for (int i = 0; i < files; i++) {
    char path[100];

    snprintf(path, sizeof path, "libcore/graph/access/file_%d.c", i);
    write_file(path, "\n");
    snprintf(path, sizeof path, "libcore/graph/access/file_%d_test.c", i);
    write_file(path, "\n");
  }
  return judge(&(struct plant){crowded ? "folders" : NULL, "libcore/graph/access/", "files\n"},
               found);
}

/* The two limits of length, which are too long to write down. */
static int try_length(bool function, int *found)
{
  static char text[1 << 14];
  size_t n = 0;

  n += (size_t)snprintf(text, sizeof text, "%s", function ? "int f(void)\n{\n" : "");
  for (int i = 0; i < (function ? 119 : 1001); i++) {
    n += (size_t)snprintf(text + n, sizeof text - n, function ? "  g();\n" : "\n");
  }
  snprintf(text + n, sizeof text - n, "%s", function ? "}\n" : "");
  return try_plant(&(struct plant){"length", "libcore/base/a.c", text}, found);
}

int style_self_test(void)
{
  int *found = calloc((size_t)style_check_count(), sizeof *found);
  int wrong = 0;

  if (!found || !mkdtemp(scratch)) {
    perror("style");
    free(found);
    return 1;
  }
  for (size_t i = 0; i < sizeof plants / sizeof plants[0]; i++) {
    wrong += try_plant(&plants[i], found);
  }
  wrong += try_length(false, found) + try_length(true, found);
  wrong += try_folder(false, found) + try_folder(true, found);
  free(found);
  printf("%zu files planted, %d judged wrongly\n", sizeof plants / sizeof plants[0] + 4, wrong);
  return wrong != 0;
}
