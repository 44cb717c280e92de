/* device.c - see device.h. */
#include "model/device.h"

#include <string.h>

static void describe(const qt_device *d, weir_opt_choice *entry)
{
  *entry =
      (weir_opt_choice){.name = d->name, .help = d->help, .table = d->opts, .size = d->opts_size};
}

bool qt_device_choice(int64_t i, weir_opt_choice *entry)
{
  int64_t n = 0;

  while (qt_device_table[n] != NULL) {
    n++;
  }
  if (i < 0 || i >= n) {
    return false;
  }
  describe(qt_device_table[i], entry);
  return true;
}

bool qt_device_phonon_choice(int64_t i, weir_opt_choice *entry)
{
  int64_t met = 0;

  for (int64_t n = 0; i >= 0 && qt_device_table[n] != NULL; n++) {
    if (qt_device_table[n]->has_phonons && met++ == i) {
      describe(qt_device_table[n], entry);
      return true;
    }
  }
  return false;
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
