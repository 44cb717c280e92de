/* native_cache_test.c - the cache of compiled loops under attack: whatever stands in it, the result
 * is right, and what was wrong is said. */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "device/weir_compile.h"
#include "exec/backend/native/native_priv.h"

enum { COUNT = 100, MANY = 40 };

/* y = x * factor for n elements, the factor in the source, their number not. */
static weir_loop scale_loop_of(double factor, int64_t n)
{
  weir_loop l;
  weir_access *a = &l.access;

  memset(&l, 0, sizeof l);
  assert_ok(weir_access_resize(a, 1, 1, 0));
  a->n_dims = a->n_values = 1;
  a->dim[0] = (weir_dim){WEIR_PARALLEL, 0, n, false};
  a->in[0] = (weir_operand){.dtype = WEIR_F32, .rank = 1, .extent = {n}};
  a->in[0].index[0].coef[0] = 1;
  a->out[0] = a->in[0];
  const int32_t x = weir_body_load(&a->body, 0, WEIR_F32);
  a->value[0] =
      weir_body_binary(&a->body, WEIR_CODE_MUL, x, weir_body_real(&a->body, WEIR_F32, factor));
  return l;
}

static weir_loop scale_loop(double factor)
{
  return scale_loop_of(factor, COUNT);
}

static weir_status prepare(double factor, const char *folder, const char *compiler, void **context)
{
  weir_loop l = scale_loop(factor);
  const weir_loop *loop = &l;
  const weir_engine_opts opts = {.compiler = compiler, .cache_dir = folder, .threads = 1};
  const weir_status status = weir_engine_native.prepare(&loop, 1, &opts, context);

  weir_access_fini(&l.access);
  return status;
}

static bool is_right(void *context, double factor)
{
  float x[COUNT], y[COUNT];
  const weir_view in = {.data = x, .dtype = WEIR_F32, .rank = 1, .stride = {1}, .extent = {COUNT}};
  weir_view out = in;
  const weir_loop_run run = {{1, {0}, {COUNT}}, &in, &out, NULL, 0};

  out.data = y;
  for (int i = 0; i < COUNT; i++) {
    x[i] = (float)i;
  }
  weir_engine_native.run(context, &run);
  for (int i = 0; i < COUNT; i++) {
    if (y[i] != (float)i * (float)factor) {
      return false;
    }
  }
  return true;
}

static void expect_right(double factor, const char *folder)
{
  void *context;

  assert_ok(prepare(factor, folder, "", &context));
  assert_true(is_right(context, factor));
  weir_engine_native.release(context);
}

/* The same, and the events it made: each of `events` (a list that ends in NULL) must be there. */
static void expect_events(double factor, const char *folder, const char *const *events)
{
  char dir[256], path[300], *text = NULL;
  int64_t size;

  weir_check_mkdir(dir, sizeof dir);
  snprintf(path, sizeof path, "%s/run.jsonl", dir);
  assert_ok(weir_events_open(path));
  expect_right(factor, folder);
  weir_events_close();
  assert_ok(weir_file_read(path, 1 << 20, &text, &size));
  for (int i = 0; events[i] != NULL; i++) {
    if (strstr(text, events[i]) == NULL) {
      fail_msg("no '%s' in: %s", events[i], text);
    }
  }
  weir_free(&text);
  weir_check_rmdir(dir);
}

/* Path of the only object in the folder. */
static void find_object(const char *folder, char path[512])
{
  DIR *dir = opendir(folder);
  const struct dirent *entry;
  int found = 0;

  assert_non_null(dir);
  while ((entry = readdir(dir)) != NULL) {
    if (strstr(entry->d_name, ".so") != NULL) {
      snprintf(path, 512, "%.200s/%.250s", folder, entry->d_name);
      found++;
    }
  }
  closedir(dir);
  assert_int_equal(found, 1);
}

/* Loops of these factors and lengths prepared together: the events that it makes, which the caller
 * frees. */
static char *events_of(const double *factors, const int64_t *counts, int n, const char *folder,
                       int threads)
{
  weir_loop loops[MANY];
  const weir_loop *list[MANY];
  void *contexts[MANY];
  char dir[256], path[300], *text = NULL;
  int64_t size;
  const weir_engine_opts opts = {.compiler = "", .cache_dir = folder, .threads = threads};

  for (int k = 0; k < n; k++) {
    loops[k] = scale_loop_of(factors[k], counts[k]);
    list[k] = &loops[k];
  }
  weir_check_mkdir(dir, sizeof dir);
  snprintf(path, sizeof path, "%s/run.jsonl", dir);
  assert_ok(weir_events_open(path));
  assert_ok(weir_engine_native.prepare(list, n, &opts, contexts));
  weir_events_close();
  for (int k = 0; k < n; k++) {
    assert_true(counts[k] < COUNT || is_right(contexts[k], factors[k]));
    weir_engine_native.release(contexts[k]);
    weir_access_fini(&loops[k].access);
  }
  assert_ok(weir_file_read(path, 1 << 20, &text, &size));
  weir_check_rmdir(dir);
  return text;
}

static void expect_text(char *text, const char *substring, bool there)
{
  if ((strstr(text, substring) != NULL) != there) {
    fail_msg("%s '%s' in: %s", there ? "no" : "there is", substring, text);
  }
}

/* Path of some file of the folder whose name ends so. */
static void find_file(const char *folder, const char *end, char path[512])
{
  DIR *dir = opendir(folder);
  const struct dirent *entry;

  assert_non_null(dir);
  path[0] = 0;
  while ((entry = readdir(dir)) != NULL) {
    const size_t n = strlen(entry->d_name), m = strlen(end);

    if (n > m && strcmp(entry->d_name + n - m, end) == 0) {
      snprintf(path, 512, "%.200s/%.250s", folder, entry->d_name);
    }
  }
  closedir(dir);
  assert_int_not_equal(path[0], 0);
}

static const char *const hit[] = {"cache_hit", NULL};
static const char *const compiled[] = {"cache_compiled", NULL};
static const char *const rebuilt[] = {"cache_refused", "cache_compiled", NULL};

static void quiet(void *context, weir_log_level level, const char *module, const char *text)
{
}

/* Tests that start the compiler need one. */
static int set_up(void **state)
{
  char *folder = malloc(256);

  weir_check_mkdir(folder, 256);
  weir_log_set_sink(quiet, NULL);
  *state = folder;
  return 0;
}

static int tear_down(void **state)
{
  weir_log_set_sink(NULL, NULL);
  weir_check_rmdir(*state);
  free(*state);
  return 0;
}

static void what_was_compiled_is_found_again(void **state)
{
  char folder[300], path[512];
  struct stat info;

  snprintf(folder, sizeof folder, "%s/a/b", (const char *)*state);
  expect_events(3, folder, compiled);
  expect_events(3, folder, hit);
  assert_int_equal(stat(folder, &info), 0);
  assert_int_equal(info.st_mode & 07777, 0700);
  find_object(folder, path);
  assert_int_equal(stat(path, &info), 0);
  assert_int_equal(info.st_mode & 07777, 0600);
}

static void flip(const char *path, int64_t at)
{
  const int fd = open(path, O_RDWR);
  char byte;

  assert_true(fd >= 0);
  at = at < 0 ? lseek(fd, 0, SEEK_END) + at : at;
  assert_int_equal(pread(fd, &byte, 1, at), 1);
  byte = (char)(byte ^ 16);
  assert_int_equal(pwrite(fd, &byte, 1, at), 1);
  close(fd);
}

static void a_flipped_byte_is_rebuilt(void **state)
{
  const int64_t offsets[] = {1, 24, 4096 + 100, -30, -70};
  char path[512];

  expect_right(3, *state);
  find_object(*state, path);
  for (size_t i = 0; i < sizeof offsets / sizeof offsets[0]; i++) {
    flip(path, offsets[i]);
    expect_events(3, *state, rebuilt);
    expect_events(3, *state, hit);
  }
}

static void a_wrong_length_is_rebuilt(void **state)
{
  const int64_t lengths[] = {0, 72, -1, 8};
  char path[512];
  struct stat info;

  expect_right(3, *state);
  find_object(*state, path);
  assert_int_equal(stat(path, &info), 0);
  for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
    const off_t size = lengths[i] < 0 ? info.st_size + lengths[i]
                       : i == 3       ? info.st_size + 8
                                      : lengths[i];
    assert_int_equal(truncate(path, size), 0);
    expect_events(3, *state, rebuilt);
  }
  /* A sparse file of 100 GB asks for no memory. */
  assert_int_equal(truncate(path, (off_t)100 << 30), 0);
  expect_events(3, *state, rebuilt);
}

static void objects_that_others_could_write_are_rebuilt(void **state)
{
  const mode_t modes[] = {0777, 0644, 04600};
  char path[512], other[512];

  expect_right(3, *state);
  find_object(*state, path);
  for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
    assert_int_equal(chmod(path, modes[i]), 0);
    expect_events(3, *state, rebuilt);
    expect_events(3, *state, hit);
  }
  snprintf(other, sizeof other, "%s/moved", (const char *)*state);
  assert_int_equal(rename(path, other), 0);
  assert_int_equal(symlink(other, path), 0);
  expect_events(3, *state, rebuilt);
  expect_events(3, *state, hit);
  assert_int_equal(unlink(path), 0);
  assert_int_equal(mkdir(path, 0700), 0); /* cannot be replaced: every run compiles */
  expect_events(3, *state, rebuilt);
  expect_events(3, *state, rebuilt);
}

static void another_owner_is_refused(void **state)
{
  char path[512];

  expect_right(3, *state);
  find_object(*state, path);
  if (chown(path, 1, (gid_t)-1) != 0) {
    fprintf(stderr, "skipped: only root can give files away\n");
    skip();
  }
  expect_events(3, *state, rebuilt);
  expect_events(3, *state, hit);
  assert_int_equal(chown(*state, 1, (gid_t)-1), 0);
  expect_events(3, *state, rebuilt);
  assert_int_equal(chown(*state, geteuid(), (gid_t)-1), 0);
}

static void folders_that_others_could_write_are_not_used(void **state)
{
  char folder[300], link[300], below[600];
  const mode_t modes[] = {0770, 0702};

  snprintf(folder, sizeof folder, "%s/real", (const char *)*state);
  snprintf(link, sizeof link, "%s/link", (const char *)*state);
  assert_int_equal(mkdir(folder, 0700), 0);
  for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
    assert_int_equal(chmod(folder, modes[i]), 0);
    expect_events(3, folder, rebuilt);
    assert_false(weir_dir_has_entries(folder));
  }
  assert_int_equal(chmod(folder, 0700), 0);
  assert_int_equal(symlink(folder, link), 0);
  expect_events(3, link, rebuilt);
  assert_false(weir_dir_has_entries(folder));
  /* No folder can be made below a file. */
  expect_right(3, folder);
  find_object(folder, below);
  expect_events(3, below, rebuilt);
}

static void an_object_under_another_key_is_rebuilt(void **state)
{
  char first[300], second[300], a[512], b[512];

  snprintf(first, sizeof first, "%s/1", (const char *)*state);
  snprintf(second, sizeof second, "%s/2", (const char *)*state);
  expect_right(3, first);
  expect_right(5, second);
  find_object(first, a);
  find_object(second, b);
  assert_int_equal(rename(a, b), 0);
  expect_events(5, second, rebuilt);
}

static void one_kernel_serves_all_loops_that_have_it(void **state)
{
  const double factors[] = {3, 5, 3, 3, 5, 7};
  const int64_t counts[] = {COUNT, COUNT, COUNT, COUNT - 1, COUNT - 50, COUNT};
  char *text = events_of(factors, counts, 5, *state, 1);

  expect_text(text, "\"cache_compiled\"", true);
  expect_text(text, "\"kernels\": 2, \"objects\": 1", true);
  weir_free(&text);
  text = events_of(factors, counts, 6, *state, 1); /* another set: what is new alone is compiled */
  expect_text(text, "\"kernels\": 2, \"of\": 3", true);
  expect_text(text, "\"kernels\": 1, \"objects\": 1", true);
  weir_free(&text);
  text = events_of(factors + 4, counts + 4, 2, *state, 1); /* of two objects */
  expect_text(text, "\"kernels\": 2, \"of\": 2", true);
  expect_text(text, "cache_compiled", false);
  weir_free(&text);
}

static void pieces_are_compiled_side_by_side(void **state)
{
  double factors[MANY];
  int64_t counts[MANY];

  for (int k = 0; k < MANY; k++) {
    factors[k] = 2 + k;
    counts[k] = COUNT;
  }
  char *text = events_of(factors, counts, MANY, *state, 3);
  expect_text(text, "\"kernels\": 40, \"objects\": 3", true);
  weir_free(&text);
  text = events_of(factors, counts, MANY, *state, 1);
  expect_text(text, "\"kernels\": 40, \"of\": 40", true);
  weir_free(&text);
}

/* Kernels that lie in ever so many objects come together again. */
static void scattered_kernels_are_gathered(void **state)
{
  double factors[MANY];
  int64_t counts[MANY];

  for (int k = 0; k < MANY; k++) {
    factors[k] = 2 + k;
    counts[k] = COUNT;
    expect_right(factors[k], *state);
  }
  char *text = events_of(factors, counts, MANY, *state, 1);
  expect_text(text, "\"kernels\": 32, \"of\": 40", true);
  expect_text(text, "\"kernels\": 8, \"objects\": 1", true);
  weir_free(&text);
  text = events_of(factors + 32, counts + 32, MANY - 32, *state, 1);
  expect_text(text, "cache_compiled", false);
  weir_free(&text);
}

static void notes_that_say_something_else_are_rebuilt(void **state)
{
  const char *const texts[] = {"", "../../../../etc/passwd\n", "0123"};
  char path[512], other[512], name[66];
  int64_t size;
  char *text = NULL;

  expect_right(3, *state);
  find_file(*state, ".in", path);
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(texts[i], f);
    fclose(f);
    expect_events(3, *state, rebuilt);
    expect_events(3, *state, hit);
  }
  /* The name of an object that holds another kernel. */
  assert_ok(weir_file_read(path, 100, &text, &size));
  assert_int_equal(size, 65);
  memcpy(name, text, sizeof name);
  weir_free(&text);
  snprintf(other, sizeof other, "%s/other", (const char *)*state);
  expect_right(5, other);
  find_file(other, ".in", other);
  snprintf(path, sizeof path, "%s/%s", (const char *)*state, strrchr(other, '/') + 1);
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  fputs(name, f);
  fclose(f);
  expect_events(5, *state, rebuilt);
  expect_events(5, *state, hit);
}

/* The loader knows objects by the number of their descriptor; numbers come back. */
static void objects_in_turn_do_not_stand_for_each_other(void **state)
{
  void *one, *two, *three;

  for (int i = 0; i < 2; i++) {
    expect_right(3, *state);
    expect_right(5, *state);
    expect_right(7, *state);
  }
  assert_ok(prepare(3, *state, "", &one));
  assert_ok(prepare(3, *state, "", &two)); /* the same object, a second number */
  weir_engine_native.release(one);
  assert_ok(prepare(5, *state, "", &three)); /* takes the first number */
  assert_true(is_right(two, 3));
  assert_true(is_right(three, 5));
  weir_engine_native.release(two);
  expect_right(7, *state);
  assert_true(is_right(three, 5));
  weir_engine_native.release(three);
}

static void processes_at_once_all_get_it_right(void **state)
{
  pid_t children[6];

  for (int i = 0; i < 6; i++) {
    children[i] = fork();
    if (children[i] == 0) {
      void *context = NULL;
      const bool right = prepare(11, *state, "", &context) == WEIR_OK && is_right(context, 11);
      _exit(right ? 0 : 1);
    }
  }
  for (int i = 0; i < 6; i++) {
    int code = -1;
    assert_int_equal(waitpid(children[i], &code, 0), children[i]);
    assert_int_equal(code, 0);
  }
  expect_events(11, *state, hit);
}

/* Moves what is kept in one folder to another. */
static void move_kept(const char *from, const char *to)
{
  DIR *dir = opendir(from);
  const struct dirent *entry;

  assert_non_null(dir);
  while ((entry = readdir(dir)) != NULL) {
    if (strstr(entry->d_name, ".so") != NULL || strstr(entry->d_name, ".in") != NULL) {
      char old[512], new[512];
      snprintf(old, sizeof old, "%.200s/%.250s", from, entry->d_name);
      snprintf(new, sizeof new, "%.200s/%.250s", to, entry->d_name);
      assert_int_equal(rename(old, new), 0);
    }
  }
  closedir(dir);
}

/* Another has the turn of every key, and what it compiles comes meanwhile. */
static void what_another_compiles_is_awaited(void **state)
{
  char other[256], once[300], script[512], path[300];
  int turns[256], code = -1;
  struct stat info;
  void *context = NULL;

  weir_check_mkdir(other, sizeof other);
  snprintf(once, sizeof once, "%s/once", (const char *)*state);
  snprintf(script, sizeof script, "#!/bin/sh\necho >>%s.log\nexec cc \"$@\"\n", once);
  weir_check_write(once, script, strlen(script));
  assert_int_equal(chmod(once, 0700), 0);
  assert_ok(prepare(11, other, once, &context));
  weir_engine_native.release(context);
  const int folder = open(*state, O_RDONLY | O_DIRECTORY);
  for (int i = 0; i < 256; i++) {
    char key[8];
    snprintf(key, sizeof key, "%02x", i);
    assert_false(native_cache_turn(folder, key, &turns[i]));
    assert_true(turns[i] >= 0);
  }
  const pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < 256; i++) { /* a lock lasts as long as any descriptor of it */
      close(turns[i]);
    }
    _exit(prepare(11, *state, once, &context) == WEIR_OK && is_right(context, 11) ? 0 : 1);
  }
  (void)nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL); /* most likely it waits now */
  move_kept(other, *state);
  for (int i = 0; i < 256; i++) {
    native_cache_turn_end(&turns[i]);
    assert_int_equal(turns[i], -1);
  }
  close(folder);
  assert_int_equal(waitpid(child, &code, 0), child);
  assert_int_equal(code, 0);
  snprintf(path, sizeof path, "%.250s.log", once);
  assert_int_equal(stat(path, &info), 0);
  assert_int_equal(info.st_size, 1); /* a line for each start of the compiler */
  weir_check_rmdir(other);
}

static void without_a_compiler_the_reason_is_said(void **state)
{
  const char *const commands[] = {"no-such-compiler", "/no/such/compiler", "/bin/false"};
  const char *const reasons[] = {"'no-such-compiler' is not in a folder of PATH",
                                 "'/no/such/compiler' is not a program", "ended with status 1"};

  for (int i = 0; i < 3; i++) {
    void *context = *state;
    assert_int_equal(prepare(3, *state, commands[i], &context), WEIR_ERR_UNSUPPORTED);
    assert_null(context);
    assert_non_null(strstr(weir_last_message(), reasons[i]));
  }
}

/* What the k-th allocation fails in: the loop is made before. */
typedef struct faulty {
  weir_loop loop;
  const char *folder;
} faulty;

static weir_status make_once(void *context)
{
  faulty *f = context;
  const weir_loop *loop = &f->loop;
  const weir_engine_opts opts = {.compiler = "", .cache_dir = f->folder, .threads = 1};
  void *made;
  const weir_status status = weir_engine_native.prepare(&loop, 1, &opts, &made);

  if (status == WEIR_OK) {
    weir_engine_native.release(made);
  }
  return status;
}

static void every_allocation_may_fail(void **state)
{
  faulty f = {scale_loop(3), *state};
  char path[512];

  expect_right(3, f.folder);
  assert_true(weir_check_faults(make_once, &f) > 3);
  find_object(f.folder, path);
  f.folder = path; /* no folder: compiled every time */
  assert_true(weir_check_faults(make_once, &f) > 3);
  weir_access_fini(&f.loop.access);
}

int main(void)
{
  char compiler[4096], identity[256];

  if (weir_compiler_find("", compiler, identity) != WEIR_OK) {
    fprintf(stderr, "skipped: %s\n", weir_last_message());
    return 77;
  }
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(what_was_compiled_is_found_again),
      TEST(a_flipped_byte_is_rebuilt),
      TEST(a_wrong_length_is_rebuilt),
      TEST(objects_that_others_could_write_are_rebuilt),
      TEST(another_owner_is_refused),
      TEST(folders_that_others_could_write_are_not_used),
      TEST(an_object_under_another_key_is_rebuilt),
      TEST(one_kernel_serves_all_loops_that_have_it),
      TEST(pieces_are_compiled_side_by_side),
      TEST(scattered_kernels_are_gathered),
      TEST(notes_that_say_something_else_are_rebuilt),
      TEST(objects_in_turn_do_not_stand_for_each_other),
      TEST(processes_at_once_all_get_it_right),
      TEST(what_another_compiles_is_awaited),
      TEST(without_a_compiler_the_reason_is_said),
      TEST(every_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
