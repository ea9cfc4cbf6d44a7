/* Scores samples with a saved model, without edgesvm: StreamSVM, alone or in Standardized, of two classes, in float32.
 *
 *   cc -O2 -o read_snapshot read_snapshot.c -lm && ./read_snapshot model.esvm < samples.csv
 *
 * The CSV has the features of one sample per line. Printed are decision values: positive stands for class index 1, the label
 * that came second. The layout is that of FORMATS.md, "Snapshots". The machine must be little-endian, as most are. To learn on
 * a microcontroller, take `edgesvm export` instead. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 1 << 20, MOST_FEATURES = 1024, HEADER = 56, NUMBER = 2, REAL = 3, TEXT = 4, LEARNER = 6 };

static uint8_t file[MOST_BYTES];

static void fail(const char *why) {
  fprintf(stderr, "read_snapshot: %s\n", why);
  exit(1);
}

static uint32_t crc32(const uint8_t *bytes, size_t n) {
  uint32_t crc = 0xffffffffu;
  for (size_t i = 0; i < n; i++) {
    crc ^= bytes[i];
    for (int k = 0; k < 8; k++) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
  }
  return ~crc;
}

static uint64_t number(const uint8_t *at, size_t n_bytes) {
  uint64_t value = 0;
  memcpy(&value, at, n_bytes);
  return value;
}

/* One value of the parameters; its length in bytes, and where its text begins if it is one. */
static size_t value_length(const uint8_t *at) {
  static const size_t fixed[] = {1, 2, 9, 9};
  if (at[0] < 4) return fixed[at[0]];
  if (at[0] == TEXT || at[0] == LEARNER) return 3 + number(at + 1, 2);
  fail("a parameter of a kind that this reader does not know");
  return 0;
}

static int is_text(const uint8_t *at, const char *text) {
  size_t n = strlen(text);
  return at[0] == TEXT && number(at + 1, 2) == n && memcmp(at + 3, text, n) == 0;
}

/* The value of a parameter: class name first, then names and values alternately. */
static const uint8_t *parameter(const uint8_t *at, const uint8_t *end, const char *name) {
  for (at += value_length(at); at < end;) {
    const uint8_t *value = at + value_length(at);
    if (is_text(at, name)) return value;
    at = value + value_length(value);
  }
  return NULL;
}

static int is_true(const uint8_t *value) { return value && value[0] == 1 && value[1] == 1; }

struct Plane { /* f(x) = w.z / |z| */
  size_t width;
  int constant, normalize, standardize;
  double mean[MOST_FEATURES], scale[MOST_FEATURES], clip;
  float w[MOST_FEATURES + 1];
};
static struct Plane model;

/* Arrays of the arena, each on a multiple of 8. */
static const uint8_t *take(const uint8_t **at, size_t n_bytes) {
  const uint8_t *here = *at;
  *at += (n_bytes + 7) / 8 * 8;
  return here;
}

static void read_model(size_t length) {
  size_t params_at = HEADER, labels_at = HEADER + number(file + 32, 4), arena_at = labels_at + number(file + 36, 4);
  if (length < HEADER + 4 || memcmp(file, "ESVMSNAP", 8) != 0 || number(file + length - 4, 4) != crc32(file, length - 4))
    fail("not a snapshot, or a damaged one");
  if (number(file + 8, 2) != 1 || arena_at + number(file + 24, 8) + 4 != length)
    fail("a snapshot of another version, or its lengths are wrong");
  const uint8_t *params = file + params_at, *end = file + labels_at, *at = file + arena_at;
  size_t width = model.width = number(file + 12, 4);
  if (width > MOST_FEATURES) fail("too many features");

  take(&at, 16);
  const uint8_t *counts = take(&at, 16);
  double n = (double)(number(counts, 8) + number(counts + 8, 8));
  model.standardize = is_text(params, "Standardized");
  if (model.standardize) {
    const uint8_t *mean = take(&at, 8 * width), *spread = take(&at, 8 * width);
    const uint8_t *clip = parameter(params, end, "clip"); /* none in files of earlier releases */
    model.clip = INFINITY;
    if (clip && clip[0] == REAL) memcpy(&model.clip, clip + 1, 8), take(&at, 8);
    take(&at, 4 * width);
    memcpy(model.mean, mean, 8 * width);
    memcpy(model.scale, spread, 8 * width);
    for (size_t j = 0; j < width; j++) model.scale[j] = sqrt(model.scale[j] / n);
    const uint8_t *inner = parameter(params, end, "learner");
    if (!inner || inner[0] != LEARNER) fail("no learner in the standardizer");
    params = inner + 3;
    end = params + number(inner + 1, 2);
  }
  if (!is_text(params, "StreamSVM") || !is_text(parameter(params, end, "dtype"), "float32"))
    fail("a learner that this reader does not know");

  model.constant = is_true(parameter(params, end, "fit_intercept"));
  model.normalize = is_true(parameter(params, end, "normalize"));
  size_t n_weights = width + model.constant;
  take(&at, 32);
  memcpy(model.w, take(&at, 4 * n_weights), 4 * n_weights);
  if (!is_true(parameter(params, end, "average"))) return;
  double s = (double)number(take(&at, 8), 8), error_rates[2];
  const uint8_t *average = take(&at, 4 * n_weights);
  memcpy(error_rates, take(&at, 16), 16);
  if (error_rates[1] > error_rates[0]) return;
  double b = (n - s) * (n + s + 1) / (n * (n + 1));
  for (size_t j = 0; j < n_weights; j++) {
    float mean;
    memcpy(&mean, average + 4 * j, 4);
    model.w[j] = (float)((1 - b) * mean + b * model.w[j]);
  }
}

static double decide(const double *x) {
  double product = 0, square = 0;
  for (size_t j = 0; j < model.width; j++) {
    double z = x[j];
    if (model.standardize) {
      z = model.scale[j] ? (z - model.mean[j]) / model.scale[j] : 0;
      z = fmin(fmax(z, -model.clip), model.clip);
    }
    z = (float)z;
    product += model.w[j] * z;
    square += z * z;
  }
  if (model.constant) product += model.w[model.width], square += 1;
  return model.normalize && square > 0 ? product / sqrt(square) : product;
}

int main(int argc, char **argv) {
  FILE *source = argc == 2 ? fopen(argv[1], "rb") : NULL;
  double x[MOST_FEATURES];
  if (!source) fail("usage: read_snapshot model.esvm < samples.csv");
  read_model(fread(file, 1, sizeof file, source));
  fclose(source);
  for (size_t j = 0; scanf(j ? ",%lf" : "%lf", &x[j]) == 1;)
    if (++j == model.width) printf("%.9g\n", decide(x)), j = 0;
  return 0;
}
