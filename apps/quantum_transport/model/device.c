/* device.c - see device.h. */
#include "model/device.h"

#include <string.h>

bool qt_device_choice(int64_t i, weir_opt_choice *entry)
{
  int64_t n = 0;

  while (qt_device_table[n] != NULL) {
    n++;
  }
  if (i < 0 || i >= n) {
    return false;
  }
  const qt_device *d = qt_device_table[i];

  *entry =
      (weir_opt_choice){.name = d->name, .help = d->help, .table = d->opts, .size = d->opts_size};
  return true;
}

const qt_device *qt_device_find(const char *name)
{
  for (int64_t i = 0; name != NULL && qt_device_table[i] != NULL; i++) {
    if (strcmp(qt_device_table[i]->name, name) == 0) {
      return qt_device_table[i];
    }
  }
  return NULL;
}
