/* quota.c - see quota.h. */
#include "quota.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { PATH_SIZE = 4096, LINE_SIZE = 256 };

/* First line of a file; false where there is none. */
static bool read_line(const char *root, const char *folder, const char *group, const char *name,
                      char line[LINE_SIZE])
{
  char path[PATH_SIZE];
  const int length = snprintf(path, sizeof path, "%s%s%s/%s", root, folder, group, name);
  FILE *file = length > 0 && length < PATH_SIZE ? fopen(path, "re") : NULL;
  const bool got = file != NULL && fgets(line, LINE_SIZE, file) != NULL;

  if (file != NULL) {
    fclose(file);
  }
  return got;
}

static int smaller(int limit, double quota, double period)
{
  if (quota <= 0 || period <= 0 || quota / period > 1e6) {
    return limit;
  }
  const int whole = (int)(quota / period);
  const int up = whole + (whole < quota / period);

  return limit == 0 || up < limit ? up : limit;
}

/* Limit of one group, if it is smaller than `limit`. "max 100000" and -1 stand for none. */
static int limit_of(int limit, const char *root, const char *group, bool v2)
{
  char line[LINE_SIZE];
  double quota = 0, period = 0;

  if (v2) {
    return read_line(root, "/sys/fs/cgroup", group, "cpu.max", line) &&
                   sscanf(line, "%lf %lf", &quota, &period) == 2
               ? smaller(limit, quota, period)
               : limit;
  }
  if (!read_line(root, "/sys/fs/cgroup/cpu", group, "cpu.cfs_quota_us", line) ||
      sscanf(line, "%lf", &quota) != 1 ||
      !read_line(root, "/sys/fs/cgroup/cpu", group, "cpu.cfs_period_us", line) ||
      sscanf(line, "%lf", &period) != 1) {
    return limit;
  }
  return smaller(limit, quota, period);
}

/* The group and those above it; in a container the path may be one of its host, of which only the
 * end, the root, is visible. */
static int limit_of_all(int limit, const char *root, char *group, bool v2)
{
  for (;;) {
    char *slash = strrchr(group, '/');

    limit = limit_of(limit, root, slash != NULL && slash[1] == 0 ? "" : group, v2);
    if (slash == NULL) {
      return limit;
    }
    *slash = 0;
  }
}

/* True where the list of controllers, "cpu,cpuacct", holds cpu. */
static bool has_cpu(const char *list)
{
  while (*list != 0) {
    const size_t n = strcspn(list, ",");

    if (n == 3 && strncmp(list, "cpu", 3) == 0) {
      return true;
    }
    list += n + (list[n] == ',');
  }
  return false;
}

int quota_processors(const char *root)
{
  char path[PATH_SIZE], line[PATH_SIZE];
  const int length = snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
  FILE *file = length > 0 && length < PATH_SIZE ? fopen(path, "re") : NULL;
  int limit = 0;

  /* number:controllers:/group; cgroup v2 has number 0 and no controllers */
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    char *list = strchr(line, ':');
    char *group = list != NULL ? strchr(list + 1, ':') : NULL;

    if (group != NULL) {
      *list++ = 0;
      *group++ = 0;
      group[strcspn(group, "\n")] = 0;
      const bool v2 = strcmp(line, "0") == 0 && list[0] == 0;

      limit = v2 || has_cpu(list) ? limit_of_all(limit, root, group, v2) : limit;
    }
  }
  if (file != NULL) {
    fclose(file);
  }
  return limit;
}
