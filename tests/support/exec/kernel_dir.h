/* kernel_dir.h - where plans of tests write the texts of kernels, for conform/device_kernels.sh to
 * compile. Tests only. */
#ifndef KERNEL_DIR_H
#define KERNEL_DIR_H
#include <stdlib.h>

/* "": nowhere. */
static inline const char *draw_kernel_dir(void)
{
  const char *dir = getenv("WEIR_TEST_KERNEL_DIR");

  return dir == NULL ? "" : dir;
}
#endif
