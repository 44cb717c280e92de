/* compile_test.c - libraries of texts, what compilers refuse, what is kept, and folders that are
 * left over. */
#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/weir_check.h"
#include "device/weir_compile.h"

enum { TEXTS = 3 };
static const char *const flags[] = {"-no-such-flag-of-a-compiler", "-w", "-fPIC", "-shared", "-lm"};

/* The value of the function in library k. */
static double call(const char *folder, int k, double x)
{
  char path[4096];
  double (*function)(double);

  weir_compiled_path(folder, k, path);
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  assert_non_null(library);
  void *address = dlsym(library, "function");
  assert_non_null(address);
  memcpy(&function, &address, sizeof address);
  const double value = function(x);
  dlclose(library);
  return value;
}

/* The user's folder of compiled objects of these tests. */
static char cache[256];

static int make_cache(void **state)
{
  weir_check_mkdir(cache, sizeof cache);
  return setenv("XDG_CACHE_HOME", cache, 1);
}

static int drop_cache(void **state)
{
  weir_check_rmdir(cache);
  return 0;
}

/* Flags of one compiler that another refuses are left out; libraries are found. */
static void texts_become_libraries(void **state)
{
  const char *const texts[TEXTS] = {
      "double function(double x) { return x + 1; }",
      "#include <math.h>\ndouble function(double x) { return cbrt(x); }",
      "double function(double x) { return x * x; }"};
  const weir_compiler compiler = {"cc", flags, 5, 1, false};
  char folder[4096];

  assert_ok(weir_compile(&compiler, texts, TEXTS, folder));
  assert_true(call(folder, 0, 8) == 9);
  assert_float_equal(call(folder, 1, 8), 2, 1e-15);
  assert_true(call(folder, 2, 8) == 64);
  weir_compile_remove(folder, TEXTS);
  assert_int_equal(access(folder, F_OK), -1);
}

static void refused(const weir_compiler *compiler, const char *text, const char *message)
{
  const char *const texts[] = {"int right;", text};
  char folder[4096];

  assert_int_equal(weir_compile(compiler, texts, 2, folder), WEIR_ERR_UNSUPPORTED);
  assert_non_null(strstr(weir_last_message(), message));
  weir_compile_remove(folder, 2);
  assert_int_equal(access(folder, F_OK), -1);
}

static void what_the_compiler_says_is_told(void **state)
{
  const weir_compiler tuned = {"cc", flags, 5, 1, false}, plain = {"cc", flags + 1, 4, 0, false},
                      wrong = {"cc", flags, 5, 0, false},
                      absent = {"no-such-compiler", flags, 5, 1, false},
                      other = {"sh", (const char *const[]){"-c"}, 1, 0, false};

  refused(&tuned, "int wrong = undeclared_thing;", "undeclared_thing");
  refused(&plain, "int wrong = undeclared_thing;", "undeclared_thing");
  refused(&wrong, "int right;", "no-such-flag");
  refused(&absent, "int right;", "no-such-compiler does not start");
  refused(&other, "int right;", "sh ended with status");
}

/* No compiler is asked for a text that this process has compiled; for another one it is. */
static void kept_libraries_are_not_compiled_again(void **state)
{
  const weir_compiler first = {"cc", flags, 5, 1, .keep = true},
                      later = {"no-such-compiler", flags, 5, 1, .keep = true},
                      other = {"no-such-compiler", flags + 1, 4, 0, .keep = true};
  const char *const texts[] = {"double function(double x) { return 3 * x; }",
                               "double function(double x) { return 4 * x; }"};
  char folder[4096];

  for (int k = 0; k < 2; k++) {
    assert_ok(weir_compile(k == 0 ? &first : &later, texts, 1, folder));
    assert_true(call(folder, 0, 8) == 24);
    weir_compile_remove(folder, 1);
    assert_int_equal(access(folder, F_OK), -1);
  }
  assert_int_equal(weir_compile(&later, &texts[1], 1, folder), WEIR_ERR_UNSUPPORTED);
  weir_compile_remove(folder, 1);
  assert_int_equal(weir_compile(&other, texts, 1, folder), WEIR_ERR_UNSUPPORTED);
  weir_compile_remove(folder, 1);
}

/* In a child, which has compiled nothing: 0 when the function of the text gives 8 `factor`. */
static int child_calls(const weir_compiler *compiler, const char *text, double factor)
{
  int status;

  fflush(NULL);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    char folder[4096];
    int code = 2;

    if (weir_compile(compiler, &text, 1, folder) == WEIR_OK) {
      code = call(folder, 0, 8) == 8 * factor ? 0 : 1;
    }
    weir_compile_remove(folder, 1);
    _exit(code);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  return WEXITSTATUS(status);
}

/* A compiler that is cc, and writes a byte to a file at every start. */
static void put_compiler(const char *path, const char *counter)
{
  char text[1024];
  const int n = snprintf(text, sizeof text, "#!/bin/sh\necho >>%s\nexec cc \"$@\"\n", counter);

  weir_check_write(path, text, (size_t)n);
  assert_int_equal(chmod(path, 0700), 0);
}

static int starts(const char *counter)
{
  struct stat info;

  return stat(counter, &info) == 0 ? (int)info.st_size : 0;
}

/* Changes one byte of every object of a folder. */
static void damage(const char *folder)
{
  char path[8192];
  struct dirent *e;
  DIR *d = opendir(folder);

  assert_non_null(d);
  while ((e = readdir(d)) != NULL) {
    if (strstr(e->d_name, ".so") != NULL) {
      snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
      FILE *f = fopen(path, "r+");
      assert_non_null(f);
      assert_int_equal(fseek(f, 200, SEEK_SET), 0);
      const int byte = fgetc(f);
      assert_int_equal(fseek(f, 200, SEEK_SET), 0);
      fputc(byte ^ 1, f);
      assert_int_equal(fclose(f), 0);
    }
  }
  closedir(d);
}

/* Other programs find what one has compiled, unless a byte of it has changed. */
static void later_programs_find_what_was_compiled(void **state)
{
  char folder[256], cc[512], counter[512], objects[512];

  weir_check_mkdir(folder, sizeof folder);
  snprintf(cc, sizeof cc, "%s/cc", folder);
  snprintf(counter, sizeof counter, "%s/starts", folder);
  snprintf(objects, sizeof objects, "%s/weir", folder);
  put_compiler(cc, counter);
  assert_int_equal(setenv("XDG_CACHE_HOME", folder, 1), 0);
  const weir_compiler kept = {cc, flags + 1, 4, 0, .keep = true};
  const char *const text = "double function(double x) { return 5 * x; }";

  assert_int_equal(child_calls(&kept, text, 5), 0);
  assert_int_equal(starts(counter), 1);
  assert_int_equal(child_calls(&kept, text, 5), 0);
  assert_int_equal(starts(counter), 1);
  assert_int_equal(child_calls(&kept, "double function(double x) { return 6 * x; }", 6), 0);
  assert_int_equal(starts(counter), 2);
  damage(objects);
  assert_int_equal(child_calls(&kept, text, 5), 0);
  assert_int_equal(starts(counter), 3);
  assert_int_equal(child_calls(&kept, text, 5), 0);
  assert_int_equal(starts(counter), 3);
  assert_int_equal(setenv("XDG_CACHE_HOME", cache, 1), 0);
  weir_check_rmdir(folder);
}

static weir_status make(void *context)
{
  const weir_compiler compiler = {"cc", flags + 1, 4, 0, .keep = true};
  const char *text = context;
  char folder[4096];
  const weir_status status = weir_compile(&compiler, &text, 1, folder);

  weir_compile_remove(folder, 1);
  return status;
}

static void exhausted_memory_is_reported(void **state)
{
  char text[] = "int right;";

  assert_true(weir_check_faults(make, text) > 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(texts_become_libraries),
      cmocka_unit_test(what_the_compiler_says_is_told),
      cmocka_unit_test(kept_libraries_are_not_compiled_again),
      cmocka_unit_test(later_programs_find_what_was_compiled),
      cmocka_unit_test(exhausted_memory_is_reported),
  };
  return cmocka_run_group_tests(tests, make_cache, drop_cache);
}
