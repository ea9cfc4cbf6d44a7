/* The sketch's header as plain C99: writes what each function makes, for a test to compare.
 *
 *   frames     reads lines "label x x x" on stdin, writes the frames of a node that was said HELLO
 *   lines      the same as lines of text
 *   cobs       raw bytes on stdin, their COBS on stdout; uncobs the other way
 *   crc        the CRC-32 of stdin, as text
 */
#define ESVM_MAX_FEATURES 3
#define ESVM_DECIMALS 4
#include "edgesvm_node.h"

#include <stdio.h>
#include <stdlib.h>

static void write_out(const uint8_t *bytes, size_t n) { fwrite(bytes, 1, n, stdout); }

static void say_hello(esvm_node *node) {
  int byte;
  while ((byte = getchar()) != EOF) {
    esvm_receive(node, (uint8_t)byte);
    if (node->streaming) return;
  }
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  static uint8_t in[70000], out[71000];
  if (!strcmp(what, "frames") || !strcmp(what, "lines")) {
    int frames = !strcmp(what, "frames");
    esvm_node node;
    long label;
    float x[3];
    uint32_t i;
    esvm_begin(&node, write_out, 77, 3, 2, 1000);
    if (frames) say_hello(&node);
    for (i = 0; scanf("%ld %f %f %f", &label, x, x + 1, x + 2) == 4; i++) {
      esvm_tick(&node, 40 * i);
      if (label == 99999) label = ESVM_NO_LABEL;
      if (frames) {
        esvm_send_sample(&node, x, (int32_t)label);
      } else {
        char line[ESVM_LINE_MAX];
        fwrite(line, 1, esvm_line(line, i, x, 3, (int32_t)label), stdout);
      }
    }
    return 0;
  }
  {
    size_t n = fread(in, 1, sizeof in, stdin);
    if (!strcmp(what, "cobs")) fwrite(out, 1, esvm_cobs(in, n, out), stdout);
    else if (!strcmp(what, "uncobs")) fwrite(in, 1, esvm_uncobs(in, n), stdout);
    else if (!strcmp(what, "crc")) printf("%lu", (unsigned long)esvm_crc32(in, n));
    else return 2;
  }
  return 0;
}
