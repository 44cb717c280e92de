/* channels.h - names and units of channels as texts with commas between. */
#ifndef WX_CHANNELS_H
#define WX_CHANNELS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WX_CHANNELS = 256, WX_NAME = 96, WX_LIST = WX_CHANNELS * (WX_NAME + 2) };

/* A field of a sample. */
typedef struct wx_channel {
  char name[WX_NAME], units[WX_NAME];
  bool plain;    /* a coordinate or a mask: it goes to the network as it is */
  bool unstated; /* its file states no units: they are "1" here             */
} wx_channel;

/* Writes "t, z" or, units, "K, m2 s-2" of n <= WX_CHANNELS channels into text[WX_LIST]. */
void wx_channels_text(const wx_channel *channel, int64_t n, bool units, char *text);
#endif
