/* quantity.h - what a field is: a variable on a level, and what the tables of ECMWF and CF know of
 * it. */
#ifndef WX_QUANTITY_H
#define WX_QUANTITY_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WX_SHORT = 32, WX_LONG = 128 };
enum { WX_GRIB_GEOPOTENTIAL = 129, WX_GRIB_HEIGHT = 156 }; /* ECMWF's paramId */

typedef enum wx_level {
  WX_LEVEL_SURFACE,
  WX_LEVEL_PRESSURE, /* hPa */
  WX_LEVEL_HEIGHT,   /* m above the ground */
} wx_level;

/* What values are of the members of an ensemble. */
typedef enum wx_product {
  WX_PRODUCT_MEMBER, /* members, or a truth */
  WX_PRODUCT_MEAN,
  WX_PRODUCT_SPREAD, /* standard deviation; the variable is called "z_spread" */
} wx_product;

typedef struct wx_quantity {
  char name[WX_SHORT];         /* what configurations call it: variable and level, "z500", "2t" */
  char variable[WX_SHORT];     /* short name: "z"                                               */
  char units[WX_SHORT];        /* "m2 s-2"; "" where the files state none                       */
  char standard_name[WX_LONG]; /* CF; "" where it is not known                                 */
  int64_t param;               /* ECMWF's paramId; 0 where it is not known                     */
  wx_level kind;
  double level; /* hPa or m; 0 at the surface */
  wx_product product;
  char method[WX_SHORT]; /* what it is of the values in its period, in words of CF's cell_methods:
                            "sum", "mean", "maximum" ...; "": of an instant; WX_METHOD_UNKNOWN: a
                            period is stated, and not what was made of it */
} wx_quantity;

#define WX_METHOD_UNKNOWN "unstated"

/* Completes what a file says of a quantity: its variable, standard_name, units, param (each may be
 * empty), kind and level. Known by param, by name (ECMWF's short name, the name in NetCDF files
 * made of GRIB, or that of ERA5 and WeatherBench 2: "2m_temperature"; units have to be those of the
 * quantity, or convertible, which tells a geopotential in m2 s-2 from its height in m), by standard
 * name: then variable is
 * ECMWF's short name and param, standard_name, level ("2t": 2 m) are filled; else it keeps what it
 * has. Units are those of the file, in one spelling ("m**2 s**-2" as "m2 s-2"). Sets name. */
void wx_quantity_complete(wx_quantity *q);
/* Returns the method of a quantity over a period, by its paramId or standard_name: "sum" of
 * precipitation, "maximum" of gusts; NULL: they do not say. *hours: the length of the period where
 * the number says it ("10fg3": 3), else 0. */
const char *wx_quantity_method(const wx_quantity *q, double *hours);
/* Returns the word of CF's cell_methods for a stepType of GRIB: "accum" is "sum"; "": an instant;
 * the type itself where CF has none. */
const char *wx_quantity_step_method(const char *step_type);
/* Returns the name of a method in GRIB; NULL: it has none. */
const char *wx_quantity_step_type(const char *method);
/* Makes the mean ("z500") or standard deviation ("z_spread500") of a quantity. */
void wx_quantity_derive(const wx_quantity *q, wx_product product, wx_quantity *out);
/* Makes a parameter of the distribution of a quantity, by its ending, "_location" or
 * "_scale" ("ws_location500"), which no tables know. */
void wx_quantity_parameter(const wx_quantity *q, const char *ending, wx_quantity *out);
/* Sets only the name: from variable, kind and level. */
void wx_quantity_set_name(wx_quantity *q);
/* Returns the name of its variable in NetCDF files: "t2m" for "2t", for names there begin with a
 * letter. */
void wx_quantity_file_name(const wx_quantity *q, char *name, size_t size);
/* Returns whether they are two variables that are called the same there: units keep them apart. */
bool wx_quantity_confused(const wx_quantity *a, const wx_quantity *b);
/* Returns whether two texts of units, spelt as above, mean the same; "", none stated, is that of ""
 * only.
 */
bool wx_quantity_same_units(const char *a, const char *b);

/* value = stored * scale + offset */
typedef struct wx_conversion {
  double scale, offset;
} wx_conversion;
/* Converts from the units of a file, spelt as above, to those that the tables give a known
 * quantity: K of degC, Pa of hPa, m of mm; q->units is set to these. A standard deviation in degC
 * stays: that is no unit of a difference. Scale 1, offset 0 where the units are those already, or
 * nothing is known of the quantity or of its units, which then stay. */
wx_conversion wx_quantity_convert(wx_quantity *q);
/* Makes q the quantity of this short name: geopotential of a geopotential height by standard
 * gravity, 9.80665 m s-2, and the other way, else by the units as above. Values of a name that is
 * not in the tables keep their units. False: the units of the file are none of the quantity's. */
bool wx_quantity_rename(wx_quantity *q, const char *name, wx_conversion *out);
#endif
