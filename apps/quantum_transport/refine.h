/* refine.h - energies that energy.tolerance adds to a run. */
#ifndef QT_REFINE_H
#define QT_REFINE_H
#include "study.h"

/* Adds energies to those that are computed, by the same spec, where current and conductances need
 * them; nothing where energy.tolerance is 0. Collective over s->comm. Fails: as
 * qt_energies_refine. */
weir_status qt_refine(qt_study *s, const qt_transport_spec *spec) WEIR_CHECKED;

#endif
