/* parse_dcmtk.cc - a DICOM data set by DCMTK: the only file that includes it, and C++. The bytes
 * were walked before; exceptions end here. */
#include <dcmtk/config/osconfig.h>
#include <dcmtk/dcmdata/dctk.h>
#include <dcmtk/dcmdata/dcistrmb.h>
#include <dcmtk/dcmdata/dcspchrs.h>
#include <dcmtk/dcmdata/dcvrds.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "io/dicom/dicom_priv.h"

static const char waveforms[] =
    "1.2.840.10008.5.1.4.1.1.9."; /* Waveform Storage (PS3.4, table B.5-1) */

/* What DCMTK would write to stderr is told by the status. */
static void silence()
{
  static const bool once = (OFLog::configure(OFLogger::OFF_LOG_LEVEL), true);

  (void)once;
}

struct parser {
  parser(const char *of, weir_dicom *to) : path(of), out(to), converts(false)
  {
  }
  const char *path;
  weir_dicom *out;
  DcmSpecificCharacterSet charset;
  bool converts; /* texts to UTF-8 */
};

static bool is_ascii(const OFString &text)
{
  for (size_t i = 0; i < text.length(); i++) {
    if (static_cast<unsigned char>(text[i]) >= 0x80) {
      return false;
    }
  }
  return true;
}

/* The first value of an element as UTF-8; empty where it is not there or of an unknown character
 * set. */
static OFString text_of(parser &p, DcmItem &item, const DcmTagKey &tag)
{
  OFString text, utf8;

  if (item.findAndGetOFString(tag, text).bad()) {
    return "";
  }
  if (!is_ascii(text)) {
    if (!p.converts || p.charset.convertString(text, utf8).bad()) {
      return "";
    }
    text = utf8;
  }
  for (size_t i = 0; i < text.length(); i++) { /* a text of one line */
    text[i] = static_cast<unsigned char>(text[i]) < 0x20 ? ' ' : text[i];
  }
  return text;
}

template <size_t N>
static weir_status take(parser &p, DcmItem &item, const DcmTagKey &tag, char (&to)[N])
{
  const OFString text = text_of(p, item, tag);

  if (text.length() >= N) {
    return weir_fail(WEIR_ERR_DATA, "%s: (%04x,%04x) has %d characters: expected at most %d",
                     p.path, tag.getGroup(), tag.getElement(), static_cast<int>(text.length()),
                     static_cast<int>(N) - 1);
  }
  OFStandard::strlcpy(to, text.c_str(), N);
  return WEIR_OK;
}

/* The first item of a sequence of codes. */
static weir_status take_code(parser &p, DcmItem &item, const DcmTagKey &tag, weir_dicom_code &to)
{
  DcmItem *code = NULL;

  if (item.findAndGetSequenceItem(tag, code, 0).bad() || code == NULL) {
    return WEIR_OK;
  }
  WEIR_TRY(take(p, *code, DCM_CodeValue, to.value));
  WEIR_TRY(take(p, *code, DCM_CodingSchemeDesignator, to.scheme));
  return take(p, *code, DCM_CodeMeaning, to.meaning);
}

/* Bytes of OB and OW values, of words the lower byte first; the caller frees *out. */
static weir_status take_bytes(DcmItem &item, const DcmTagKey &tag, uint8_t **out, int64_t *size)
{
  DcmElement *element = NULL;
  Uint16 *words = NULL;
  Uint8 *bytes = NULL;
  void *memory = NULL;

  *size = 0;
  if (item.findAndGetElement(tag, element).bad() || element == NULL) {
    return WEIR_OK;
  }
  const bool has_words = element->getUint16Array(words).good() && words != NULL;

  if (!has_words && (element->getUint8Array(bytes).bad() || bytes == NULL)) {
    return WEIR_OK;
  }
  const int64_t n = element->getLength();

  WEIR_TRY(weir_alloc(n + 1, 1, &memory));
  *out = static_cast<uint8_t *>(memory);
  *size = n;
  for (int64_t i = 0; i < n; i++) {
    (*out)[i] = has_words ? static_cast<uint8_t>(words[i / 2] >> (i % 2 * 8)) : bytes[i];
  }
  return WEIR_OK;
}

/* The number of bytes of an element, without its values. */
static int64_t length_of(DcmItem &item, const DcmTagKey &tag)
{
  DcmElement *element = NULL;

  return item.findAndGetElement(tag, element).good() && element != NULL
             ? static_cast<int64_t>(element->getLength())
             : 0;
}

static weir_status take_channel(parser &p, DcmItem &item, weir_dicom_channel &c)
{
  WEIR_TRY(take_code(p, item, DCM_ChannelSourceSequence, c.source));
  WEIR_TRY(take_code(p, item, DCM_ChannelSensitivityUnitsSequence, c.unit));
  WEIR_TRY(take(p, item, DCM_ChannelLabel, c.label));
  WEIR_TRY(take(p, item, DCM_ChannelSensitivity, c.sensitivity));
  WEIR_TRY(take(p, item, DCM_ChannelSensitivityCorrectionFactor, c.correction));
  WEIR_TRY(take(p, item, DCM_ChannelBaseline, c.baseline));
  WEIR_TRY(take(p, item, DCM_ChannelTimeSkew, c.time_skew));
  WEIR_TRY(take(p, item, DCM_ChannelSampleSkew, c.sample_skew));
  WEIR_TRY(take(p, item, DCM_FilterLowFrequency, c.low));
  WEIR_TRY(take(p, item, DCM_FilterHighFrequency, c.high));
  return take(p, item, DCM_NotchFilterFrequency, c.notch);
}

static weir_status take_padding(parser &p, DcmItem &item, weir_dicom_group &g)
{
  uint8_t *bytes = NULL;
  int64_t n = 0;

  WEIR_TRY(take_bytes(item, DCM_WaveformPaddingValue, &bytes, &n));
  if (n >= g.bits / 8) {
    g.padding_bytes = g.bits / 8;
    memcpy(g.padding, bytes, static_cast<size_t>(g.padding_bytes));
  }
  weir_free(&bytes);
  return n == 0 || g.padding_bytes > 0
             ? WEIR_OK
             : weir_fail(WEIR_ERR_DATA, "%s: a padding value of %d bytes for samples of %d bits",
                         p.path, static_cast<int>(n), static_cast<int>(g.bits));
}

static weir_status take_group(parser &p, DcmItem &item)
{
  const int64_t index = p.out->n_groups;
  weir_dicom_group *g = NULL;
  DcmSequenceOfItems *channels = NULL;
  Uint16 n_channels = 0, bits = 0;
  Uint32 samples = 0;

  WEIR_TRY(weir_dicom_group_add(p.path, p.out, &g));
  (void)item.findAndGetUint16(DCM_NumberOfWaveformChannels, n_channels);
  (void)item.findAndGetUint32(DCM_NumberOfWaveformSamples, samples);
  (void)item.findAndGetUint16(DCM_WaveformBitsAllocated, bits);
  WEIR_TRY(take(p, item, DCM_WaveformOriginality, g->originality));
  WEIR_TRY(take(p, item, DCM_WaveformSampleInterpretation, g->interpretation));
  WEIR_TRY(take(p, item, DCM_SamplingFrequency, g->frequency));
  WEIR_TRY(take(p, item, DCM_MultiplexGroupTimeOffset, g->offset));
  g->channels = n_channels;
  g->samples = samples;
  g->bits = bits;
  g->data_bytes = length_of(item, DCM_WaveformData);
  WEIR_TRY(weir_dicom_group_check(p.path, index, g));
  if (weir_dicom_is_derived(g)) {
    return WEIR_OK;
  }
  if (item.findAndGetSequence(DCM_ChannelDefinitionSequence, channels).bad() || channels == NULL ||
      static_cast<int64_t>(channels->card()) != g->channels) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: multiplex group %d: %d channel definitions for %d channels", p.path,
                     static_cast<int>(index) + 1,
                     channels == NULL ? 0 : static_cast<int>(channels->card()), n_channels);
  }
  void *memory = NULL;

  WEIR_TRY(weir_alloc(g->channels, sizeof *g->items, &memory));
  g->items = static_cast<weir_dicom_channel *>(memory);
  DcmObject *channel = NULL;

  for (int64_t k = 0; k < g->channels; k++) {
    channel = channels->nextInContainer(channel);
    WEIR_TRY(take_channel(p, *static_cast<DcmItem *>(channel), g->items[k]));
  }
  WEIR_TRY(take_padding(p, item, *g));
  const int64_t expected = g->data_bytes;

  WEIR_TRY(take_bytes(item, DCM_WaveformData, &g->data, &g->data_bytes));
  if (g->data_bytes != expected) {
    return weir_fail(WEIR_ERR_DATA, "%s: multiplex group %d: its data is not OB or OW", p.path,
                     static_cast<int>(index) + 1);
  }
  return WEIR_OK;
}

/* The code of WFDB of an annotation that states nothing but a code; 0: none. */
static weir_status take_mark(parser &p, DcmItem &item, int &mark)
{
  weir_dicom_code name = {};

  WEIR_TRY(take_code(p, item, DCM_ConceptNameCodeSequence, name));
  mark = item.tagExists(DCM_NumericValue) || item.tagExists(DCM_ConceptCodeSequence) ||
                 item.tagExists(DCM_UnformattedTextValue)
             ? 0
             : weir_dicom_mark(&name);
  return WEIR_OK;
}

/* Text of an annotation: what it is about, and its value. */
static OFString note_text(parser &p, DcmItem &item)
{
  OFString text = text_of(p, item, DCM_UnformattedTextValue);
  DcmItem *code = NULL;

  if (item.findAndGetSequenceItem(DCM_ConceptNameCodeSequence, code, 0).good() && code != NULL) {
    const OFString value = text_of(p, item, DCM_NumericValue);
    const OFString name = text_of(p, *code, DCM_CodeMeaning);

    text = text.empty() ? name : name + " " + text;
    if (!value.empty()) {
      text += " " + value;
      if (item.findAndGetSequenceItem(DCM_MeasurementUnitsCodeSequence, code, 0).good() &&
          code != NULL) {
        text += " " + text_of(p, *code, DCM_CodeValue);
      }
    } else if (item.findAndGetSequenceItem(DCM_ConceptCodeSequence, code, 0).good() &&
               code != NULL) {
      text += " " + text_of(p, *code, DCM_CodeMeaning);
    }
  }
  return text;
}

static weir_status take_note(parser &p, DcmItem &item)
{
  weir_dicom_note note = {};
  const Uint32 *positions = NULL;
  unsigned long count = 0;
  Uint16 group = 0, channel = 0, number = 0;
  OFVector<Float64> seconds;
  DcmElement *offsets = NULL;

  WEIR_TRY(take(p, item, DCM_TemporalRangeType, note.range));
  if (note.range[0] == 0) {
    p.out->skipped_notes++;
    return WEIR_OK;
  }
  WEIR_TRY(take_mark(p, item, note.mark));
  const OFString text = note.mark != 0 ? OFString() : note_text(p, item);

  (void)item.findAndGetUint16(DCM_AnnotationGroupNumber, number);
  note.number = number;
  (void)item.findAndGetUint16(DCM_ReferencedWaveformChannels, group, 0);
  (void)item.findAndGetUint16(DCM_ReferencedWaveformChannels, channel, 1);
  note.group = static_cast<int64_t>(group) - 1;
  note.channel = static_cast<int64_t>(channel) - 1;
  note.text = text.c_str();
  if (item.findAndGetUint32Array(DCM_ReferencedSamplePositions, positions, &count).good() &&
      positions != NULL) {
    note.positions = positions;
    note.count = static_cast<int64_t>(count);
    return weir_dicom_note_add(p.path, p.out, &note);
  }
  if (item.findAndGetElement(DCM_ReferencedTimeOffsets, offsets).good() && offsets != NULL) {
    DcmDecimalString *const numbers = dynamic_cast<DcmDecimalString *>(offsets);

    if (numbers == NULL || numbers->getFloat64Vector(seconds).bad()) {
      return weir_fail(WEIR_ERR_DATA, "%s: annotation '%.40s': its time offsets are not numbers",
                       p.path, note.text);
    }
    note.seconds = seconds.empty() ? NULL : &seconds[0];
    note.count = static_cast<int64_t>(seconds.size());
  }
  return weir_dicom_note_add(p.path, p.out, &note);
}

static weir_status take_items(parser &p, DcmItem &set, const DcmTagKey &tag,
                              weir_status (*one)(parser &, DcmItem &))
{
  DcmSequenceOfItems *list = NULL;

  if (set.findAndGetSequence(tag, list).bad() || list == NULL) {
    return WEIR_OK;
  }
  for (DcmObject *item = NULL; (item = list->nextInContainer(item)) != NULL;) {
    WEIR_TRY(one(p, *static_cast<DcmItem *>(item)));
  }
  return WEIR_OK;
}

static weir_status parse(parser &p, const uint8_t *data, int64_t size, E_TransferSyntax syntax)
{
  DcmInputBufferStream stream;
  DcmDataset set;

  if (syntax == EXS_LittleEndianImplicit && !dcmDataDict.isDictionaryLoaded()) {
    return weir_fail(WEIR_ERR_EXTERNAL,
                     "%s: DCMTK finds no data dictionary (dicom.dic): DCMDICTPATH names it",
                     p.path);
  }
  stream.setBuffer(data, size);
  stream.setEos();
  set.transferInit();
  const OFCondition read = set.read(stream, syntax, EGL_noChange, DCM_MaxReadLength);

  set.transferEnd();
  if (read.bad()) {
    return weir_fail(WEIR_ERR_DATA, "%s: %s", p.path, read.text());
  }
  OFString charset;

  p.converts = set.findAndGetOFStringArray(DCM_SpecificCharacterSet, charset).good() &&
               p.charset.selectCharacterSet(charset).good();
  WEIR_TRY(take(p, set, DCM_SOPClassUID, p.out->sop_class));
  if (strncmp(p.out->sop_class, waveforms, sizeof waveforms - 1) != 0) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: an object of SOP class '%s', not a waveform (%s*): nothing to read",
                     p.path, p.out->sop_class, waveforms);
  }
  WEIR_TRY(take(p, set, DCM_AcquisitionDateTime, p.out->acquired));
  WEIR_TRY(take(p, set, DCM_TimezoneOffsetFromUTC, p.out->zone));
  WEIR_TRY(take_items(p, set, DCM_WaveformSequence, take_group));
  return take_items(p, set, DCM_WaveformAnnotationSequence, take_note);
}

static weir_status inflate(const char *path, const uint8_t *data, int64_t size, uint8_t **out,
                           int64_t *out_size)
{
  DcmInputBufferStream stream;
  int64_t capacity = 0;

  stream.setBuffer(data, size);
  stream.setEos();
  if (stream.installCompressionFilter(ESC_zlib).bad()) {
    return weir_fail(WEIR_ERR_UNSUPPORTED, "%s: a DCMTK without zlib reads no deflated data set",
                     path);
  }
  while (stream.good() && !stream.eos()) {
    if (*out_size >= WEIR_DICOM_INFLATED) {
      return weir_fail(WEIR_ERR_DATA, "%s: more than %lld bytes when inflated", path,
                       static_cast<long long>(WEIR_DICOM_INFLATED));
    }
    WEIR_TRY(weir_reserve(out, &capacity, *out_size + 65536, 1));
    const int64_t got = stream.read(*out + *out_size, 65536);

    if (got <= 0) {
      break;
    }
    *out_size += got;
  }
  return stream.good() && stream.eos() && *out_size > 0
             ? WEIR_OK
             : weir_fail(WEIR_ERR_DATA, "%s: the deflated data set is damaged", path);
}

weir_status weir_dicom_parse(const char *path, const uint8_t *data, int64_t size,
                             weir_dicom_syntax syntax, weir_dicom *out)
{
  *out = weir_dicom();
  try {
    silence();
    parser p(path, out);

    return parse(p, data, size,
                 syntax == WEIR_DICOM_IMPLICIT     ? EXS_LittleEndianImplicit
                 : syntax == WEIR_DICOM_BIG_ENDIAN ? EXS_BigEndianExplicit
                                                   : EXS_LittleEndianExplicit);
  } catch (const std::bad_alloc &) {
    return weir_fail(WEIR_ERR_MEMORY, "%s: no memory for its data set", path);
  } catch (...) {
    return weir_fail(WEIR_ERR_EXTERNAL, "%s: DCMTK failed", path);
  }
}

weir_status weir_dicom_inflate(const char *path, const uint8_t *data, int64_t size, uint8_t **out,
                               int64_t *out_size)
{
  *out = NULL;
  *out_size = 0;
  try {
    silence();
    return inflate(path, data, size, out, out_size);
  } catch (...) {
    return weir_fail(WEIR_ERR_EXTERNAL, "%s: DCMTK failed to inflate it", path);
  }
}
