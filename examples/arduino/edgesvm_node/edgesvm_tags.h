/* Keyed tags of a node's frames, protocol 1.1: docs/keyed-link.md. Included by edgesvm_node.h
 * if ESVM_KEY is defined. About 150 bytes of RAM; a tag takes less than a millisecond at 16 MHz.
 */
#ifndef EDGESVM_TAGS_H
#define EDGESVM_TAGS_H

enum { ESVM_TAGGED = 8 }; /* in a header */

typedef struct {
  uint64_t highest, seen; /* bit k of seen: highest - k has been used */
  uint8_t started;
} esvm_counter;

typedef struct {
  uint64_t key[2], hello[2], in[2], out[2];
  uint64_t nonce;
  uint32_t session; /* 0: none yet */
  esvm_counter arrived[2], sent[2]; /* all others; samples or predictions */
} esvm_tags;

static inline uint64_t esvm_get64(const uint8_t *from) {
  return esvm_get32(from) | (uint64_t)esvm_get32(from + 4) << 32;
}

static inline void esvm_put64(uint8_t *to, uint64_t value) {
  esvm_put32(to, (uint32_t)value);
  esvm_put32(to + 4, (uint32_t)(value >> 32));
}

#define ESVM_TURN(x, by) ((x) << (by) | (x) >> (64 - (by)))

static inline void esvm_sip_rounds(uint64_t v[4], uint8_t n) {
  while (n--) {
    v[0] += v[1];
    v[2] += v[3];
    v[1] = ESVM_TURN(v[1], 13) ^ v[0];
    v[3] = ESVM_TURN(v[3], 16) ^ v[2];
    v[0] = ESVM_TURN(v[0], 32);
    v[2] += v[1];
    v[0] += v[3];
    v[1] = ESVM_TURN(v[1], 17) ^ v[2];
    v[3] = ESVM_TURN(v[3], 21) ^ v[0];
    v[2] = ESVM_TURN(v[2], 32);
  }
}

/* SipHash-2-4 of n bytes. */
static inline uint64_t esvm_siphash(const uint64_t key[2], const uint8_t *data, size_t n) {
  uint64_t v[4];
  size_t at;
  v[0] = key[0] ^ 0x736f6d6570736575ULL;
  v[1] = key[1] ^ 0x646f72616e646f6dULL;
  v[2] = key[0] ^ 0x6c7967656e657261ULL;
  v[3] = key[1] ^ 0x7465646279746573ULL;
  for (at = 0; at <= n; at += 8) {
    uint8_t word[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    memcpy(word, data + at, n - at < 8 ? n - at : 8);
    if (n - at < 8) word[7] = (uint8_t)n;
    v[3] ^= esvm_get64(word);
    esvm_sip_rounds(v, 2);
    v[0] ^= esvm_get64(word);
  }
  v[2] ^= 0xff;
  esvm_sip_rounds(v, 4);
  return v[0] ^ v[1] ^ v[2] ^ v[3];
}

static inline void esvm_derive(const esvm_tags *tags, uint8_t purpose, uint32_t boot_id, uint64_t key[2]) {
  uint8_t context[17], half;
  esvm_put64(context + 1, tags->nonce);
  esvm_put32(context + 9, boot_id);
  esvm_put32(context + 13, tags->session);
  for (half = 0; half < 2; half++) {
    context[0] = (uint8_t)(purpose + half);
    key[half] = esvm_siphash(tags->key, context, sizeof context);
  }
}

static inline void esvm_tags_begin(esvm_tags *tags, const uint8_t key[16]) {
  memset(tags, 0, sizeof *tags);
  tags->key[0] = esvm_get64(key);
  tags->key[1] = esvm_get64(key + 8);
  esvm_derive(tags, 0, 0, tags->hello);
}

/* The tag of raw[0..n), with the high half of the frame's number behind it, which is not sent. */
static inline uint64_t esvm_tag(const uint64_t key[2], uint8_t *raw, size_t n, uint64_t number) {
  esvm_put32(raw + n, (uint32_t)(number >> 32));
  return esvm_siphash(key, raw, n + 4);
}

/* The number nearest to the highest so far that ends in these 32 bits. */
static inline uint64_t esvm_extended(const esvm_counter *counter, uint32_t low) {
  int64_t step = (int32_t)(low - (uint32_t)counter->highest);
  if (!counter->started) return low;
  if (step < 0 && counter->highest < (uint64_t)-step) step += 0x100000000LL;
  return counter->highest + (uint64_t)step;
}

/* Enter a number; 0 if it was entered before or is behind the window. */
static inline int esvm_enter(esvm_counter *counter, uint64_t number) {
  uint64_t by;
  if (!counter->started || number > counter->highest) {
    by = number - counter->highest;
    counter->seen = counter->started && by < 64 ? counter->seen << by | 1 : 1;
    counter->started = 1;
    counter->highest = number;
    return 1;
  }
  by = counter->highest - number;
  if (by >= 64 || counter->seen >> by & 1) return 0;
  counter->seen |= 1ULL << by;
  return 1;
}

/* Tag the header and body in raw[0..n); the new length. The buffer has ESVM_TAG_MAX bytes more. */
static inline size_t esvm_seal(esvm_tags *tags, uint8_t *raw, size_t n) {
  esvm_counter *sent = &tags->sent[raw[0] == 0x10];
  uint64_t number = esvm_extended(sent, esvm_get32(raw + 4));
  esvm_enter(sent, number);
  raw[1] |= ESVM_TAGGED;
  if (raw[0] == 0x02) { /* SCHEMA */
    esvm_put32(raw + n, tags->session);
    n += 4;
  }
  esvm_put64(raw + n, esvm_tag(tags->out, raw, n, number));
  return n + 8;
}

/* Check the frame in raw[0..n), without its CRC. Returns the length of header and body, or 0. */
static inline size_t esvm_admit(esvm_tags *tags, uint32_t boot_id, uint8_t *raw, size_t n) {
  esvm_counter *arrived = &tags->arrived[raw[0] == 0x20];
  uint64_t number = esvm_extended(arrived, esvm_get32(raw + 4)), tag;
  if (n < 16 || !(raw[1] & ESVM_TAGGED)) return 0;
  n -= 8;
  tag = esvm_get64(raw + n);
  if (raw[0] != 0x01) { /* not a HELLO */
    if (!tags->session || tag != esvm_tag(tags->in, raw, n, number)) return 0;
    return esvm_enter(arrived, number) ? n : 0;
  }
  if (n != 24 || tag != esvm_tag(tags->hello, raw, n, 0)) return 0;
  number = esvm_get32(raw + 8) | (uint64_t)esvm_get32(raw + 20) << 32;
  if (!tags->session || number != tags->nonce) { /* not a repetition: a new session */
    tags->nonce = number;
    tags->session++;
    esvm_derive(tags, 2, boot_id, tags->out);
    esvm_derive(tags, 4, boot_id, tags->in);
    memset(tags->arrived, 0, sizeof tags->arrived);
    memset(tags->sent, 0, sizeof tags->sent);
  }
  return 20;
}

#endif
