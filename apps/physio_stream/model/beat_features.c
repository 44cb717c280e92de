/* beat_features.c - see beat_features.h. */
#include "model/beat_features.h"

const char *const ps_feature_name[PS_FEATURES] = {
    [PS_FEATURE_PRE] = "pre",     [PS_FEATURE_POST] = "post",   [PS_FEATURE_BEFORE] = "before",
    [PS_FEATURE_WIDTH] = "width", [PS_FEATURE_SHAPE] = "shape", [PS_FEATURE_HEIGHT] = "height",
    [PS_FEATURE_P] = "p"};
