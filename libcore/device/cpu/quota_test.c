/* quota_test.c - limits of control groups, v1 and v2, from files as the kernel writes them. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/weir_check.h"
#include "quota.h"

/* Writes `text` to root/path, making the folders on the way. */
static void put(const char *root, const char *path, const char *text)
{
  char whole[1024];

  snprintf(whole, sizeof whole, "%s/%s", root, path);
  for (char *slash = whole + strlen(root) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
    *slash = 0;
    (void)mkdir(whole, 0700);
    *slash = '/';
  }
  weir_check_write(whole, text, strlen(text));
}

static void the_smallest_limit_of_the_groups_above_counts(void **state)
{
  char root[256];

  weir_check_mkdir(root, sizeof root);
  assert_int_equal(quota_processors(root), 0); /* no control groups */
  put(root, "proc/self/cgroup", "0::/user/job\n");
  assert_int_equal(quota_processors(root), 0); /* no limit is visible */
  put(root, "sys/fs/cgroup/user/job/cpu.max", "max 100000\n");
  assert_int_equal(quota_processors(root), 0);
  put(root, "sys/fs/cgroup/user/cpu.max", "350000 100000\n");
  assert_int_equal(quota_processors(root), 4); /* rounded up */
  put(root, "sys/fs/cgroup/user/job/cpu.max", "600000 100000\n");
  assert_int_equal(quota_processors(root), 4);
  put(root, "sys/fs/cgroup/cpu.max", "50000 100000\n"); /* as in a container */
  assert_int_equal(quota_processors(root), 1);
  weir_check_rmdir(root);
}

static void limits_of_version_1_count(void **state)
{
  char root[256];

  weir_check_mkdir(root, sizeof root);
  put(root, "proc/self/cgroup", "9:name=systemd:/\n3:cpuset:/x\n1:cpu,cpuacct:/job\n0::/\n");
  put(root, "sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "-1\n");
  put(root, "sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
  assert_int_equal(quota_processors(root), 0);
  put(root, "sys/fs/cgroup/cpu/cpu.cfs_quota_us", "200000\n");
  put(root, "sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  assert_int_equal(quota_processors(root), 2);
  put(root, "sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "garbage\n");
  assert_int_equal(quota_processors(root), 2);
  weir_check_rmdir(root);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_smallest_limit_of_the_groups_above_counts),
      cmocka_unit_test(limits_of_version_1_count),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
