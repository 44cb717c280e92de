/* scipy_check.h - for tests that compare with scipy where /usr/bin/python3 has it. Tests only. */
#ifndef WEIR_SCIPY_CHECK_H
#define WEIR_SCIPY_CHECK_H
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include "base/weir_check.h"

enum { SCIPY_MISSING = 77, SCIPY_NO_PYTHON = 127 /* what the shell says */ };

static inline FILE *scipy_open_(const char *path, const char *mode)
{
  FILE *f = fopen(path, mode);

  assert_non_null(f);
  return f;
}

/* Runs `script`, which finds numpy as np, scipy.signal as s and the open file of cases as `cases`;
 * gives what it prints to `compare`, which has to read all of it. Without scipy the test is
 * skipped, with the reason. */
static inline void scipy_compare(const char *script, void (*write_cases)(FILE *cases),
                                 void (*compare)(FILE *answer))
{
  static const char prelude[] = "import sys\n"
                                "try:\n"
                                "  import numpy as np\n"
                                "  from scipy import signal as s\n"
                                "except ImportError:\n"
                                "  sys.exit(77)\n"
                                "cases = open(sys.argv[1])\n";
  char folder[256], path[3][300], command[1000], more;
  FILE *f;

  weir_check_mkdir(folder, sizeof folder);
  for (int i = 0; i < 3; i++) {
    (void)snprintf(path[i], sizeof path[i], "%s/%d", folder, i);
  }
  f = scipy_open_(path[0], "w");
  assert_true(fprintf(f, "%s%s", prelude, script) > 0);
  assert_int_equal(fclose(f), 0);
  f = scipy_open_(path[1], "w");
  write_cases(f);
  assert_int_equal(fclose(f), 0);
  (void)snprintf(command, sizeof command, "/usr/bin/python3 '%s' '%s' >'%s'", path[0], path[1],
                 path[2]);
  const int ended = system(command);

  assert_true(WIFEXITED(ended));
  if (WEXITSTATUS(ended) == SCIPY_MISSING || WEXITSTATUS(ended) == SCIPY_NO_PYTHON) {
    weir_check_rmdir(folder);
    print_message("skipped: /usr/bin/python3 has no scipy\n");
    skip();
  }
  assert_int_equal(WEXITSTATUS(ended), 0);
  f = scipy_open_(path[2], "r");
  compare(f);
  assert_int_equal(fscanf(f, " %c", &more), EOF);
  assert_int_equal(fclose(f), 0);
  weir_check_rmdir(folder);
}
#endif
