/* codes.c - leads, pressures and annotations in the codes of DICOM (PS3.16 2024): leads of CID
 * 3001, annotations of CID 3335, both of ISO/IEEE 11073 (scheme MDC), pressures of CID 3003 (SNOMED
 * CT).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "io/dicom/dicom_priv.h"
#include "io/weir_annotation.h"

/* Of leads with one number, the first names it. 2:NUMBER of MDC is 5.6.3-9-NUMBER of SCPECG up to
 * V6 and the limb leads, which both take from EN 1064. */
static const struct {
  int number;
  const char *name, *meaning;
} leads[] = {
    {1, "I", "Lead I"},
    {2, "II", "Lead II"},
    {61, "III", "Lead III"},
    {62, "aVR", "aVR, augmented voltage, right"},
    {63, "aVL", "aVL, augmented voltage, left"},
    {64, "aVF", "aVF, augmented voltage, foot"},
    {3, "V1", "Lead V1"},
    {4, "V2", "Lead V2"},
    {5, "V3", "Lead V3"},
    {6, "V4", "Lead V4"},
    {7, "V5", "Lead V5"},
    {8, "V6", "Lead V6"},
    {9, "V7", "Lead V7"},
    {66, "V8", "Lead V8"},
    {67, "V9", "Lead V9"},
    {10, "V2R", "Lead V2R"},
    {11, "V3R", "Lead V3R"},
    {12, "V4R", "Lead V4R"},
    {13, "V5R", "Lead V5R"},
    {14, "V6R", "Lead V6R"},
    {15, "V7R", "Lead V7R"},
    {68, "V8R", "Lead V8R"},
    {69, "V9R", "Lead V9R"},
    {16, "X", "Lead X"},
    {17, "Y", "Lead Y"},
    {18, "Z", "Lead Z"},
    {16, "VX", "Lead X"},
    {17, "VY", "Lead Y"},
    {18, "VZ", "Lead Z"},
    {91, "MCL", "Modified chest lead (left arm indifferent)"},
    {92, "MCL1", "Modified chest lead per V1 placement"},
    {93, "MCL2", "Modified chest lead per V2 placement"},
    {94, "MCL3", "Modified chest lead per V3 placement"},
    {95, "MCL4", "Modified chest lead per V4 placement"},
    {96, "MCL5", "Modified chest lead per V5 placement"},
    {97, "MCL6", "Modified chest lead per V6 placement"},
    {126, "ML", "Modified limb lead"},
    {126, "MLI", "Modified limb lead"},
    {126, "MLII", "Modified limb lead"},
    {126, "MLIII", "Modified limb lead"},
};
enum { N_LEADS = sizeof leads / sizeof leads[0], STANDARD = 12 };

static const struct {
  const char *name, *value, *meaning;
} pressures[] = {
    {"ABP", "128446002", "Arterial pressure waveform"},
    {"ART", "128446002", "Arterial pressure waveform"},
    {"AoP", "128444004", "Aortic pressure waveform"},
    {"FAP", "128442000", "Femoral artery pressure waveform"},
    {"CVP", "128445003", "Central venous pressure waveform"},
    {"PAP", "128443005", "Pulmonary artery pressure waveform"},
    {"PAWP", "128449009", "Pulmonary artery wedge pressure waveform"},
    {"PCWP", "128448001", "Pulmonary capillary wedge pressure waveform"},
    {"LAP", "128441007", "Left atrium pressure waveform"},
    {"RAP", "128440008", "Right atrium pressure waveform"},
    {"LVP", "128438003", "Left ventricle pressure waveform"},
    {"RVP", "128439006", "Right ventricle pressure waveform"},
};

/* Codes of WFDB that have one of CID 3335. Two numbers of it are of two meanings (paced beat and
 * bundle branch block are those of defibrillation spikes too). */
static const struct {
  int code, number;
  const char *meaning;
} marks[] = {
    {WEIR_ANN_NORMAL, 8208, "Normal beat (sinus beat, normal conduction)"},
    {WEIR_ANN_LBBB, 8464, "Left bundle branch block beat"},
    {WEIR_ANN_RBBB, 8496, "Right bundle branch block beat"},
    {WEIR_ANN_ABERR, 8304, "Aberrated atrial premature beat (Ashman beat)"},
    {WEIR_ANN_PVC, 8336, "Ventricular premature contraction beat"},
    {WEIR_ANN_FUSION, 8352, "Fusion of ventricular and normal beat"},
    {WEIR_ANN_NPC, 8288, "Junctional (nodal) premature contraction"},
    {WEIR_ANN_APC, 8272, "Atrial premature contraction (beat)"},
    {WEIR_ANN_SVPB, 8256, "Supraventricular premature contraction"},
    {WEIR_ANN_VESC, 8432, "Ventricular escape beat"},
    {WEIR_ANN_NESC, 8416, "Junctional (nodal) escape beat"},
    {WEIR_ANN_PACE, 8704, "Paced beat"},
    {WEIR_ANN_UNKNOWN, 8736, "Unclassifiable beat"},
    {WEIR_ANN_ARFCT, 2176, "Isolated QRS-like artifact"},
    {WEIR_ANN_STCH, 2304, "ST change"},
    {WEIR_ANN_TCH, 2368, "T-wave change"},
    {WEIR_ANN_PWAVE, 256, "P wave"},
    {WEIR_ANN_BBB, 8448, "Bundle branch block beat"},
    {WEIR_ANN_TWAVE, 1024, "T wave"},
    {WEIR_ANN_UWAVE, 1152, "U wave"},
    {WEIR_ANN_LEARN, 8752, "Pacemaker Learning beat"},
    {WEIR_ANN_FLWAV, 1728, "Ventricular flutter wave"},
    {WEIR_ANN_AESC, 8400, "Atrial escape beat"},
    {WEIR_ANN_SVESC, 8384, "Supraventricular escape beat"},
    {WEIR_ANN_NAPC, 8320, "Non-conducted p-wave (blocked)"},
    {WEIR_ANN_PFUS, 8720, "Pacemaker Fusion beat"},
    {WEIR_ANN_RONT, 8368, "R-on-T premature ventricular beat"},
};
enum { N_MARKS = sizeof marks / sizeof marks[0] };

/* Bytes of a name without the "_2" that tells it from an equal one. */
static size_t stem_of(const char *name)
{
  const char *const mark = strrchr(name, '_');

  return mark != NULL && mark[1] != 0 && strspn(mark + 1, "0123456789") == strlen(mark + 1)
             ? (size_t)(mark - name)
             : strlen(name);
}

/* The number that follows `head` in a code; -1 for another one. */
static int number_after(const char *value, const char *head)
{
  const size_t n = strlen(head);
  const char *const digits = value + n;

  return strncmp(value, head, n) == 0 && digits[0] != 0 && strlen(digits) <= 5 &&
                 strspn(digits, "0123456789") == strlen(digits)
             ? atoi(digits)
             : -1;
}

const char *weir_dicom_lead_name(const weir_dicom_code *c)
{
  const bool scp = strcmp(c->scheme, "SCPECG") == 0;
  const int number = scp                             ? number_after(c->value, "5.6.3-9-")
                     : strcmp(c->scheme, "MDC") == 0 ? number_after(c->value, "2:")
                                                     : -1;

  for (int i = 0; i < (scp ? (int)STANDARD : (int)N_LEADS); i++) {
    if (leads[i].number == number) {
      return leads[i].name;
    }
  }
  return NULL;
}

static void set_code(weir_dicom_code *c, const char *head, int number, const char *meaning)
{
  (void)snprintf(c->value, sizeof c->value, "%s:%d", head, number);
  (void)snprintf(c->scheme, sizeof c->scheme, "MDC");
  (void)snprintf(c->meaning, sizeof c->meaning, "%s", meaning);
}

int weir_dicom_lead_code(const char *name, weir_dicom_code *out)
{
  const bool said = strncasecmp(name, "ECG", 3) == 0 || strncasecmp(name, "EKG", 3) == 0;
  const char *const rest = said ? name + 3 + strspn(name + 3, " ") : name;
  const size_t n = stem_of(rest);

  *out = (weir_dicom_code){.value = ""};
  for (int i = 0; i < N_LEADS; i++) {
    if (strlen(leads[i].name) == n && strncasecmp(leads[i].name, rest, n) == 0) {
      set_code(out, "2", leads[i].number, leads[i].meaning);
      return i < STANDARD ? i : STANDARD;
    }
  }
  if (said) {
    set_code(out, "2", 0, "Unspecified lead");
  }
  return said ? STANDARD : -1;
}

bool weir_dicom_pressure_code(const char *name, weir_dicom_code *out)
{
  const size_t n = stem_of(name);

  *out = (weir_dicom_code){.scheme = "SCT"};
  for (size_t i = 0; i < sizeof pressures / sizeof pressures[0]; i++) {
    if (strlen(pressures[i].name) == n && strncasecmp(pressures[i].name, name, n) == 0) {
      (void)snprintf(out->value, sizeof out->value, "%s", pressures[i].value);
      (void)snprintf(out->meaning, sizeof out->meaning, "%s", pressures[i].meaning);
      return true;
    }
  }
  return false;
}

int weir_dicom_mark(const weir_dicom_code *c)
{
  if (strcmp(c->scheme, "MDC") == 0) {
    const int number = number_after(c->value, "10:");

    for (int i = 0; i < N_MARKS && strstr(c->meaning, "efibrillation") == NULL; i++) {
      if (marks[i].number == number) {
        return marks[i].code;
      }
    }
  } else if (strcmp(c->scheme, WEIR_DICOM_OWN_SCHEME) == 0) {
    const int number = number_after(c->value, "");

    for (int code = 1; code <= WEIR_ANNOTATION_MAX; code++) {
      const char *const mnemonic = weir_annotation_mnemonic(code);

      if (mnemonic[0] != 0 ? strcmp(mnemonic, c->value) == 0 : code == number) {
        return code;
      }
    }
  }
  return 0;
}

void weir_dicom_mark_code(int code, weir_dicom_code *out)
{
  static const char *const meanings[WEIR_ANNOTATION_MAX + 1] = {
#define X(id, number, mnemonic, beat, text) [number] = text,
      WEIR_ANNOTATION_LIST(X)
#undef X
  };
  const bool known = code > 0 && code <= WEIR_ANNOTATION_MAX && meanings[code] != NULL;

  *out = (weir_dicom_code){.value = ""};
  for (int i = 0; i < N_MARKS; i++) {
    if (marks[i].code == code) {
      set_code(out, "10", marks[i].number, marks[i].meaning);
      return;
    }
  }
  if (known) {
    (void)snprintf(out->value, sizeof out->value, "%s", weir_annotation_mnemonic(code));
  } else {
    (void)snprintf(out->value, sizeof out->value, "%d", code);
  }
  (void)snprintf(out->scheme, sizeof out->scheme, WEIR_DICOM_OWN_SCHEME);
  (void)snprintf(out->meaning, sizeof out->meaning, "%s",
                 known ? meanings[code] : "annotation of a code without a name");
}
