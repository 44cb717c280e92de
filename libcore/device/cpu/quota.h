/* quota.h - the share of the processors that control groups leave to this process. */
#ifndef WEIR_DEVICE_QUOTA_H
#define WEIR_DEVICE_QUOTA_H

/* Returns the smallest limit on processor time (cpu.max of cgroup v2, cpu.cfs_quota_us of v1) of
 * the group of this process and the groups above it, in processors, rounded up; 0: no limit. root:
 * "" or, in tests, a folder that stands for the root of the file system. */
int quota_processors(const char *root);

#endif
