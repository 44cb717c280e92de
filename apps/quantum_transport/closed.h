/* closed.h - leads through which nothing passes at the energies of a study. */
#ifndef QT_CLOSED_H
#define QT_CLOSED_H
#include "study.h"

/* Warns of each lead that has no propagating mode at any wave vector and energy: a study that ran
 * then holds nothing but zeros for the transmission. */
void qt_closed_warn(const qt_study *s);

#endif
