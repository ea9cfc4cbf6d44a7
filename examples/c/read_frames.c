/* Prints the samples of a binary link, read from standard input: sequence, label (or nothing), features.
 *
 *   cc -O2 -o read_frames read_frames.c && ./read_frames < captured.bin
 *
 * The layout is that of FORMATS.md, "Frame". Bytes before the first zero are discarded, and so is every frame whose CRC is
 * wrong. Memory is two buffers of a longest frame. The machine must be little-endian, as most are. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST = 65536, SAMPLE_F32 = 0x10, HAS_LABEL = 1, HAS_TIME = 2, HEADER = 8, CRC = 4 };

static uint32_t crc32(const uint8_t *bytes, size_t n) {
  uint32_t crc = 0xffffffffu;
  for (size_t i = 0; i < n; i++) {
    crc ^= bytes[i];
    for (int k = 0; k < 8; k++) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
  }
  return ~crc;
}

/* The length of the raw frame; 0 if the bytes between two zeros are no COBS. */
static size_t uncobs(const uint8_t *run, size_t n, uint8_t *raw) {
  size_t length = 0;
  for (size_t at = 0; at < n;) {
    size_t code = run[at];
    if (at + code > n) return 0;
    memcpy(raw + length, run + at + 1, code - 1);
    length += code - 1;
    at += code;
    if (code < 255 && at < n) raw[length++] = 0;
  }
  return length;
}

static void print_sample(const uint8_t *raw, size_t length) {
  uint32_t sequence;
  int16_t label;
  float feature;
  size_t at = HEADER + (raw[1] & HAS_TIME ? 4 : 0);
  memcpy(&sequence, raw + 4, sizeof sequence);
  printf("%lu,", (unsigned long)sequence);
  if (raw[1] & HAS_LABEL) {
    memcpy(&label, raw + at, sizeof label);
    printf("%d", label);
    at += 4;
  }
  for (; at + CRC < length; at += sizeof feature) {
    memcpy(&feature, raw + at, sizeof feature);
    printf(",%.9g", feature);
  }
  printf("\n");
}

static int valid(const uint8_t *raw, size_t length) {
  uint32_t crc;
  if (length < HEADER + CRC) return 0;
  memcpy(&crc, raw + length - CRC, sizeof crc);
  return crc == crc32(raw, length - CRC) && raw[0] == SAMPLE_F32 && raw[1] >> 4 == 1;
}

int main(void) {
  static uint8_t run[LONGEST], raw[LONGEST];
  size_t n = 0;
  int byte, listening = 0; /* not before the first zero */
  while ((byte = getchar()) != EOF) {
    if (byte != 0) {
      if (n < LONGEST) run[n] = (uint8_t)byte;
      n++;
      continue;
    }
    size_t length = listening && n <= LONGEST ? uncobs(run, n, raw) : 0;
    if (valid(raw, length)) print_sample(raw, length);
    listening = 1;
    n = 0;
  }
  return 0;
}
