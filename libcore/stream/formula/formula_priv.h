/* formula_priv.h - what the sources of expressions share: operations, nodes, units. */
#ifndef WEIR_FORMULA_PRIV_H
#define WEIR_FORMULA_PRIV_H
#include "stream/weir_formula.h"

/* What an operation takes and gives. */
typedef enum formula_kind {
  FORMULA_NUMBERS,  /* numbers -> number          */
  FORMULA_COMPARE,  /* numbers -> truth           */
  FORMULA_EQUAL,    /* both alike -> truth        */
  FORMULA_TRUTHS,   /* truths -> truth            */
  FORMULA_CHOOSE,   /* truth, both alike -> those */
  FORMULA_PRESENCE, /* a name -> truth            */
  FORMULA_LEAF      /* no arguments               */
} formula_kind;

// clang-format off
/* X(name, text, kind, arguments at least, at most). A text of letters is called as a function; more
 * than the two arguments of min and max are taken in pairs. */
#define FORMULA_LIST(X)                          \
  X(NUMBER,   "",         LEAF,     0, 0)        \
  X(NAME,     "",         LEAF,     0, 0)        \
  X(TIME,     "",         LEAF,     0, 0)        \
  X(OR,       "or",       TRUTHS,   2, 2)        \
  X(AND,      "and",      TRUTHS,   2, 2)        \
  X(NOT,      "not",      TRUTHS,   1, 1)        \
  X(LT,       "<",        COMPARE,  2, 2)        \
  X(LE,       "<=",       COMPARE,  2, 2)        \
  X(GT,       ">",        COMPARE,  2, 2)        \
  X(GE,       ">=",       COMPARE,  2, 2)        \
  X(EQ,       "==",       EQUAL,    2, 2)        \
  X(NE,       "!=",       EQUAL,    2, 2)        \
  X(ADD,      "+",        NUMBERS,  2, 2)        \
  X(SUB,      "-",        NUMBERS,  2, 2)        \
  X(MUL,      "*",        NUMBERS,  2, 2)        \
  X(DIV,      "/",        NUMBERS,  2, 2)        \
  X(NEG,      "-",        NUMBERS,  1, 1)        \
  X(POWER,    "^",        NUMBERS,  2, 2)        \
  X(POW,      "pow",      NUMBERS,  2, 2)        \
  X(IF,       "if",       CHOOSE,   3, 3)        \
  X(PRESENT,  "present",  PRESENCE, 1, 1)        \
  X(ABS,      "abs",      NUMBERS,  1, 1)        \
  X(SQRT,     "sqrt",     NUMBERS,  1, 1)        \
  X(EXP,      "exp",      NUMBERS,  1, 1)        \
  X(LOG,      "log",      NUMBERS,  1, 1)        \
  X(LOG10,    "log10",    NUMBERS,  1, 1)        \
  X(SIN,      "sin",      NUMBERS,  1, 1)        \
  X(COS,      "cos",      NUMBERS,  1, 1)        \
  X(TANH,     "tanh",     NUMBERS,  1, 1)        \
  X(FLOOR,    "floor",    NUMBERS,  1, 1)        \
  X(CEIL,     "ceil",     NUMBERS,  1, 1)        \
  X(ROUND,    "round",    NUMBERS,  1, 1)        \
  X(SIGN,     "sign",     NUMBERS,  1, 1)        \
  X(ISFINITE, "isfinite", COMPARE,  1, 1)        \
  X(HYPOT,    "hypot",    NUMBERS,  2, 2)        \
  X(MOD,      "mod",      NUMBERS,  2, 2)        \
  X(MIN,      "min",      NUMBERS,  2, 99)       \
  X(MAX,      "max",      NUMBERS,  2, 99)       \
  X(CLAMP,    "clamp",    NUMBERS,  3, 3)
// clang-format on

typedef enum formula_op {
#define X(id, text, kind, min_args, max_args) FORMULA_##id,
  FORMULA_LIST(X)
#undef X
      FORMULA_OPS
} formula_op;

typedef struct formula_row {
  const char *text;
  formula_kind kind;
  int min_args, max_args;
} formula_row;
extern const formula_row formula_table[FORMULA_OPS];

/* Arguments are earlier nodes. text: offset of a name or unit in weir_formula.text, -1 none. */
typedef struct formula_node {
  formula_op op;
  int arg[3];
  int column;
  bool truth;
  bool bare; /* a number with a unit that stands without brackets */
  double number;
  int64_t text;
} formula_node;

struct weir_formula {
  char *source; /* as it was written                                 */
  formula_node *node;
  int64_t n, capacity; /* the last node is the result                */
  char *text;          /* names and units, each with its 0           */
  int64_t text_size, text_capacity;
};

/* "expression TEXT, column N: reason" as a failure. */
weir_status formula_refuse(const char *source, int column, const char *format, ...)
    WEIR_PRINTF(3, 4);

/* What a node has become. */
typedef struct formula_operand {
  bool constant; /* then `number`, truths being 0 and 1; else `value`     */
  bool implied;  /* it is present only where some input is                */
  double number;
  weir_value value;   /* bool, or the dtype of the computation               */
  weir_value present; /* node < 0: everywhere                                */
} formula_operand;

/* Sets constant and number, or value, of the operation's result. */
void formula_compute(weir_graph *g, weir_dtype dtype, formula_op op,
                     const formula_operand *const *arg, formula_operand *out);
/* As a value of the graph. */
weir_value formula_value(weir_graph *g, weir_dtype dtype, const formula_operand *p, bool truth);

#define FORMULA_UNIT_FACTORS 6

/* A unit as a product of symbols with whole powers. */
typedef enum formula_unit_kind {
  FORMULA_UNIT_ANY,   /* not stated: agrees with all, and so do results computed from it    */
  FORMULA_UNIT_PLAIN, /* of a plain number: agrees with all, is left out of products */
  FORMULA_UNIT_STATED
} formula_unit_kind;
typedef struct formula_unit {
  formula_unit_kind kind;
  int n;
  struct {
    char name[WEIR_SERIES_UNIT];
    int power;
  } factor[FORMULA_UNIT_FACTORS];
} formula_unit;

/* "mmHg/s", "mV2", "1/min", "1", "": symbols followed by an integer power, between * and /. False
 * when there are more than FORMULA_UNIT_FACTORS symbols. */
bool formula_unit_parse(const char *text, formula_unit *out);
/* As a stream states it; "1" for a plain number. False when it does not fit. */
bool formula_unit_text(const formula_unit *u, char *out, size_t size);
/* a * b^power; false when it has too many symbols or powers beyond 99. */
bool formula_unit_times(const formula_unit *a, const formula_unit *b, int power, formula_unit *out);
/* u^power / 2; false where half a power would be left. */
bool formula_unit_half_power(const formula_unit *u, int power, formula_unit *out);
/* Whether the two may be added; *out is then what both are in. */
bool formula_unit_agree(const formula_unit *a, const formula_unit *b, formula_unit *out);
/* As weir_unit_factor, for two stated units. */
bool formula_unit_factor(const formula_unit *from, const formula_unit *to, double *factor);
/* Writes each symbol of *u, of which `met` has another of the same quantity or its inverse, as that
 * one: ms as s, bpm as 1/s. *factor: what a number in the old unit is multiplied by. False, and
 * nothing done, where no symbol changes or the result has too many. */
bool formula_unit_meet(formula_unit *u, const formula_unit *met, double *factor);
/* Whether it is that of a pure number: exp takes it. */
bool formula_unit_is_none(const formula_unit *u);
#endif
