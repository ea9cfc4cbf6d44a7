/* The device's side of the edgesvm link, version 1: binary frames with COBS and CRC-32, or lines of text.
 *
 * Plain C99, no allocation, no library but <string.h>. One esvm_node is about 120 bytes; sending takes
 * about 2 * ESVM_RAW_MAX bytes of stack. Every byte on the wire is in FORMATS.md.
 *
 *     esvm_begin(&node, write, boot_id, d, n_classes, period_us);
 *     esvm_tick(&node, millis());                  in each loop: keeps time, sends the heartbeat
 *     esvm_receive(&node, byte);                   each byte received
 *     esvm_send_sample(&node, x, ESVM_NO_LABEL);   each sample; returns 0 until a host has sent HELLO
 *
 * With ESVM_KEY defined as the 16 bytes that `edgesvm key FILE` prints, frames have keyed tags, and
 * frames without are not read (`edgesvm run --key FILE`): edgesvm_tags.h.
 */
#ifndef EDGESVM_NODE_H
#define EDGESVM_NODE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifndef ESVM_MAX_FEATURES
#define ESVM_MAX_FEATURES 16 /* at most 59: a frame of 254 bytes before COBS */
#endif
#ifndef ESVM_DECIMALS
#define ESVM_DECIMALS 4 /* decimals of a number in a line, 1 to 6 */
#endif

#define ESVM_HEADER_BYTES 8
#define ESVM_CRC_BYTES 4
#define ESVM_HEARTBEAT_BYTES 32 /* the longest body except a sample's */
#define ESVM_SAMPLE_BYTES (4 + 4 * ESVM_MAX_FEATURES)
#define ESVM_BODY_MAX \
  (ESVM_SAMPLE_BYTES > ESVM_HEARTBEAT_BYTES ? ESVM_SAMPLE_BYTES : ESVM_HEARTBEAT_BYTES)
#ifdef ESVM_KEY
#define ESVM_TAG_MAX 12
#else
#define ESVM_TAG_MAX 0
#endif
#define ESVM_RAW_MAX (ESVM_HEADER_BYTES + ESVM_BODY_MAX + ESVM_TAG_MAX + ESVM_CRC_BYTES)
#define ESVM_RX_BYTES (32 + ESVM_TAG_MAX) /* HELLO and PREDICTION need 25, with tags 37; others are skipped */
#define ESVM_NO_LABEL 0x10000L
#define ESVM_HEARTBEAT_MS 1000u
#define ESVM_IDLE_MS 100u

typedef char esvm_frames_of_a_sample_fit[ESVM_RAW_MAX <= 254 ? 1 : -1];

enum { ESVM_HELLO = 0x01, ESVM_SCHEMA = 0x02, ESVM_SAMPLE = 0x10, ESVM_PREDICTION = 0x20,
       ESVM_HEARTBEAT = 0x30 };
enum { ESVM_HAS_LABEL = 1 };                                    /* in a header */
enum { ESVM_ABSTAIN = 1, ESVM_TRAINED = 2, ESVM_REJECTED = 4, ESVM_ALARM = 8 }; /* in a PREDICTION */

static inline void esvm_put16(uint8_t *to, uint16_t value) {
  to[0] = (uint8_t)value;
  to[1] = (uint8_t)(value >> 8);
}

static inline void esvm_put32(uint8_t *to, uint32_t value) {
  esvm_put16(to, (uint16_t)value);
  esvm_put16(to + 2, (uint16_t)(value >> 16));
}

static inline uint16_t esvm_get16(const uint8_t *from) {
  return (uint16_t)(from[0] | (uint16_t)from[1] << 8);
}

static inline uint32_t esvm_get32(const uint8_t *from) {
  return esvm_get16(from) | (uint32_t)esvm_get16(from + 2) << 16;
}

#ifdef ESVM_KEY
#include "edgesvm_tags.h"
#endif

typedef struct {
  void (*write)(const uint8_t *bytes, size_t n);
  uint32_t boot_id, period_us, nonce;
  uint32_t samples, control; /* next sequence numbers */
  uint32_t ok, bad;          /* frames received */
  uint32_t now_ms, wrote_ms, heartbeat_ms;
  uint16_t schema_id;
  uint8_t n_features, n_classes;
  uint8_t streaming, wrote; /* a host knows the schema; something was sent */
  uint8_t rx_length, rx_spoilt;
  uint8_t rx[ESVM_RX_BYTES];
  uint32_t answer_sequence; /* the last PREDICTION */
  float answer_score;
  int16_t answer_class;
  uint16_t answer_flags;
#ifdef ESVM_KEY
  esvm_tags tags;
#endif
} esvm_node;

/* CRC-32/ISO-HDLC, four bits at a time: the table has 64 bytes; a byte at a time would need 1,024. */
static inline uint32_t esvm_crc32(const uint8_t *data, size_t n) {
  static const uint32_t table[16] = {
      0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
      0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
  uint32_t crc = 0xffffffff;
  while (n--) {
    crc ^= *data++;
    crc = crc >> 4 ^ table[crc & 15];
    crc = crc >> 4 ^ table[crc & 15];
  }
  return ~crc;
}

/* Encode n bytes by COBS into out, which has room for n + n / 254 + 1. Returns the length. */
static inline size_t esvm_cobs(const uint8_t *raw, size_t n, uint8_t *out) {
  size_t code_at = 0, at = 1, i;
  uint8_t code = 1;
  for (i = 0; i < n; i++) {
    if (raw[i]) {
      out[at++] = raw[i];
      code++;
    }
    if (raw[i] == 0 || (code == 0xff && i + 1 < n)) {
      out[code_at] = code;
      code_at = at++;
      code = 1;
    }
  }
  out[code_at] = code;
  return at;
}

/* Decode COBS in place. Returns the length, or 0 if these bytes are not valid COBS. */
static inline size_t esvm_uncobs(uint8_t *data, size_t n) {
  size_t from = 0, to = 0;
  while (from < n) {
    uint8_t code = data[from++], k;
    if (code == 0 || from + code - 1 > n) return 0;
    for (k = 1; k < code; k++) data[to++] = data[from++];
    if (code < 0xff && from < n) data[to++] = 0;
  }
  return to;
}

static inline void esvm_send(esvm_node *node, uint8_t type, uint8_t flags, uint16_t schema_id,
                             uint32_t sequence, const uint8_t *body, size_t n) {
  uint8_t raw[ESVM_RAW_MAX], frame[ESVM_RAW_MAX + 3];
  size_t length = 0;
  raw[0] = type;
  raw[1] = (uint8_t)(0x10 | flags); /* protocol version 1 */
  esvm_put16(raw + 2, schema_id);
  esvm_put32(raw + 4, sequence);
  memcpy(raw + ESVM_HEADER_BYTES, body, n);
  n += ESVM_HEADER_BYTES;
#ifdef ESVM_KEY
  n = esvm_seal(&node->tags, raw, n);
#endif
  esvm_put32(raw + n, esvm_crc32(raw, n));
  /* After silence there may be noise on the line: a 0x00 keeps it out of this frame. */
  if (!node->wrote || node->now_ms - node->wrote_ms >= ESVM_IDLE_MS) frame[length++] = 0;
  length += esvm_cobs(raw, n + ESVM_CRC_BYTES, frame + length);
  frame[length++] = 0;
  node->write(frame, length);
  node->wrote = 1;
  node->wrote_ms = node->now_ms;
}

static inline void esvm_put_schema(const esvm_node *node, uint32_t nonce, uint8_t body[26]) {
  memset(body, 0, 26);
  esvm_put32(body, nonce);
  esvm_put32(body + 4, node->boot_id);
  esvm_put16(body + 8, node->n_features);
  body[10] = 1; /* float32 */
  body[11] = 1; /* labels, if any, come with the sample */
  esvm_put16(body + 12, node->n_classes);
  esvm_put16(body + 14, ESVM_RAW_MAX);
  esvm_put32(body + 18, node->period_us);
}

static inline void esvm_send_schema(esvm_node *node) {
  uint8_t body[26];
  esvm_put_schema(node, node->nonce, body);
  esvm_send(node, ESVM_SCHEMA, 0, node->schema_id, node->control++, body, sizeof body);
}

/* n_features is at most ESVM_MAX_FEATURES; n_classes is 0 if not stated, period_us 0 if it varies.
 * boot_id has to be another number at each boot: it tells the host that counting began anew. */
static inline void esvm_begin(esvm_node *node, void (*write)(const uint8_t *, size_t),
                              uint32_t boot_id, uint8_t n_features, uint8_t n_classes,
                              uint32_t period_us) {
  uint8_t body[26];
  memset(node, 0, sizeof *node);
  node->write = write;
  node->boot_id = boot_id;
  node->n_features = n_features < ESVM_MAX_FEATURES ? n_features : ESVM_MAX_FEATURES;
  node->n_classes = n_classes;
  node->period_us = period_us;
  esvm_put_schema(node, 0, body); /* the nonce does not count in the id */
  node->schema_id = (uint16_t)esvm_crc32(body, sizeof body);
  if (node->schema_id == 0) node->schema_id = 1;
#ifdef ESVM_KEY
  {
    static const uint8_t key[16] = {ESVM_KEY};
    esvm_tags_begin(&node->tags, key);
  }
#endif
}

static inline void esvm_send_heartbeat(esvm_node *node) {
  uint8_t body[ESVM_HEARTBEAT_BYTES];
  memset(body, 0, sizeof body);
  esvm_put32(body, node->boot_id);
  esvm_put32(body + 4, node->now_ms);
  esvm_put32(body + 8, node->samples);
  esvm_put32(body + 16, node->ok);
  esvm_put32(body + 20, node->bad);
  esvm_send(node, ESVM_HEARTBEAT, 0, node->schema_id, node->control++, body, sizeof body);
}

static inline void esvm_tick(esvm_node *node, uint32_t now_ms) {
  node->now_ms = now_ms;
  if (node->streaming && now_ms - node->heartbeat_ms >= ESVM_HEARTBEAT_MS) {
    node->heartbeat_ms = now_ms;
    esvm_send_heartbeat(node);
  }
}

/* Send one sample; label is a class index or ESVM_NO_LABEL. Returns 0 until a host has sent HELLO. */
static inline int esvm_send_sample(esvm_node *node, const float *x, int32_t label) {
  uint8_t body[ESVM_BODY_MAX];
  uint8_t flags = 0, j;
  size_t n = 0;
  if (!node->streaming) return 0;
  if (label != ESVM_NO_LABEL) {
    flags = ESVM_HAS_LABEL;
    esvm_put16(body, (uint16_t)(int16_t)label);
    esvm_put16(body + 2, 256); /* weight 1 */
    n = 4;
  }
  for (j = 0; j < node->n_features; j++, n += 4) {
    uint32_t bits;
    memcpy(&bits, x + j, 4);
    esvm_put32(body + n, bits);
  }
  esvm_send(node, ESVM_SAMPLE, flags, node->schema_id, node->samples++, body, n);
  return 1;
}

/* A whole frame is in node->rx. Returns its type, or 0 if it is not for this node. */
static inline uint8_t esvm_take_frame(esvm_node *node) {
  const uint8_t *body = node->rx + ESVM_HEADER_BYTES;
  size_t n = esvm_uncobs(node->rx, node->rx_length);
  if (n < ESVM_HEADER_BYTES + ESVM_CRC_BYTES ||
      esvm_crc32(node->rx, n - ESVM_CRC_BYTES) != esvm_get32(node->rx + n - ESVM_CRC_BYTES)) {
    node->bad++;
    return 0;
  }
#ifdef ESVM_KEY
  n = esvm_admit(&node->tags, node->boot_id, node->rx, n - ESVM_CRC_BYTES);
  if (n == 0) {
    node->bad++;
    return 0;
  }
  n += ESVM_CRC_BYTES;
#endif
  node->ok++;
  if (node->rx[1] >> 4 != 1 || n != ESVM_HEADER_BYTES + 12 + ESVM_CRC_BYTES) return 0;
  if (node->rx[0] == ESVM_HELLO) {
    node->nonce = esvm_get32(body);
    if (!node->streaming) node->heartbeat_ms = node->now_ms;
    node->streaming = 1;
    esvm_send_schema(node);
    return ESVM_HELLO;
  }
  if (node->rx[0] == ESVM_PREDICTION) {
    uint32_t bits = esvm_get32(body + 8);
    node->answer_sequence = esvm_get32(body);
    node->answer_class = (int16_t)esvm_get16(body + 4);
    node->answer_flags = esvm_get16(body + 6);
    memcpy(&node->answer_score, &bits, 4);
    return ESVM_PREDICTION;
  }
  return 0;
}

/* Take in one byte. Returns ESVM_PREDICTION when node->answer_... is new, ESVM_HELLO after a HELLO. */
static inline uint8_t esvm_receive(esvm_node *node, uint8_t byte) {
  uint8_t type = 0;
  if (byte) {
    if (node->rx_length == ESVM_RX_BYTES) node->rx_spoilt = 1;
    else node->rx[node->rx_length++] = byte;
    return 0;
  }
  if (node->rx_length && !node->rx_spoilt) type = esvm_take_frame(node);
  node->rx_length = 0;
  node->rx_spoilt = 0;
  return type;
}

/* Lines of text: "#esvm 1 d=2 label=last*05\n", then "@12 0.1250,3.4000,1*5C\n" and others. */

static inline char *esvm_put_decimal(char *to, uint32_t value, uint8_t least) {
  char digits[10];
  uint8_t n = 0;
  do digits[n++] = (char)('0' + value % 10);
  while ((value /= 10) || n < least);
  while (n) *to++ = digits[--n];
  return to;
}

/* Like Serial.print: ESVM_DECIMALS decimals, "ovf" and "nan" for values that a host refuses. */
static inline char *esvm_put_number(char *to, float x) {
  uint32_t whole, scale = 1, rest;
  uint8_t k;
  for (k = 0; k < ESVM_DECIMALS; k++) scale *= 10;
  if (x != x) return (char *)memcpy(to, "nan", 3) + 3;
  if (x < 0) {
    *to++ = '-';
    x = -x;
  }
  if (x > 4294967040.0f) return (char *)memcpy(to, "ovf", 3) + 3;
  whole = (uint32_t)x;
  rest = (uint32_t)((x - (float)whole) * (float)scale + 0.5f);
  if (rest >= scale) {
    whole++;
    rest -= scale;
  }
  to = esvm_put_decimal(to, whole, 1);
  *to++ = '.';
  return esvm_put_decimal(to, rest, ESVM_DECIMALS);
}

#define ESVM_LINE_MAX (28 + (13 + ESVM_DECIMALS) * ESVM_MAX_FEATURES)
typedef char esvm_lines_are_short_enough[ESVM_LINE_MAX <= 512 ? 1 : -1];

/* End the line from out to to with its checksum. Returns the length. */
static inline size_t esvm_end_line(char *out, char *to) {
  static const char hex[] = "0123456789ABCDEF";
  uint8_t sum = 0;
  char *at;
  for (at = out; at < to; at++) sum ^= (uint8_t)*at;
  *to++ = '*';
  *to++ = hex[sum >> 4];
  *to++ = hex[sum & 15];
  *to++ = '\n';
  return (size_t)(to - out);
}

/* Write the line that announces the columns of the others, at most 28 bytes. Returns the length. */
static inline size_t esvm_announce(char *out, uint8_t n_features) {
  static const char head[] = "#esvm 1 d=", tail[] = " label=last";
  char *to = (char *)memcpy(out, head, sizeof head - 1) + (sizeof head - 1);
  to = esvm_put_decimal(to, n_features, 1);
  to = (char *)memcpy(to, tail, sizeof tail - 1) + (sizeof tail - 1);
  return esvm_end_line(out, to);
}

/* Write one line, numbered and with its checksum, into out of ESVM_LINE_MAX bytes. Returns the length. */
static inline size_t esvm_line(char *out, uint32_t sequence, const float *x, uint8_t n_features,
                               int32_t label) {
  char *to = out;
  uint8_t j;
  *to++ = '@';
  to = esvm_put_decimal(to, sequence, 1);
  *to++ = ' ';
  for (j = 0; j < n_features; j++) {
    to = esvm_put_number(to, x[j]);
    *to++ = ',';
  }
  if (label == ESVM_NO_LABEL) *to++ = '?';
  else {
    if (label < 0) *to++ = '-';
    to = esvm_put_decimal(to, (uint32_t)(label < 0 ? -label : label), 1);
  }
  return esvm_end_line(out, to);
}

#endif
