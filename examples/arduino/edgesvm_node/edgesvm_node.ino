// A node for edgesvm: four analogue inputs, read 50 times a second and labelled by a button. The LED shows the prediction.
//
//   edgesvm run /dev/ttyUSB0
//
// With ESVM_TEXT 0 it sends binary frames, and predictions come back; with 1 lines of text, for the eye and the plotter too.
//
// Hold the button (pin 2 to ground) while the machine is in the state to recognise: label 1. Otherwise the label is 0.
// Connect pin 3 to ground when the button should not count: samples then have no label and are only predicted.

// To authenticate the link, remove the slashes, and put in what `edgesvm key node.key` prints; then
//   edgesvm run /dev/ttyUSB0 --key node.key
// #define ESVM_KEY 0x00, 0x01, ...

#include "edgesvm_node.h"

#ifndef ESVM_TEXT
#define ESVM_TEXT 0
#endif

const uint8_t INPUTS[] = {A0, A1, A2, A3};
const uint8_t N_INPUTS = sizeof INPUTS;
const uint8_t LABEL_PIN = 2, QUIET_PIN = 3;
const uint32_t PERIOD_MS = 20;

esvm_node node;
uint32_t next_ms;
#if ESVM_TEXT
uint32_t n_lines;
char line[ESVM_LINE_MAX];
#endif

void write_bytes(const uint8_t *bytes, size_t n) { Serial.write(bytes, n); }

// From the noise of an open input and the time since reset: a different number at nearly every boot.
uint32_t boot_number() {
  uint32_t number = micros();
  for (uint8_t k = 0; k < 16; k++) number = (number << 2 | number >> 30) ^ (uint32_t)analogRead(A5);
  return number;
}

void setup() {
  Serial.begin(115200);
  pinMode(LABEL_PIN, INPUT_PULLUP);
  pinMode(QUIET_PIN, INPUT_PULLUP);
  pinMode(LED_BUILTIN, OUTPUT);
  esvm_begin(&node, write_bytes, boot_number(), N_INPUTS, 2, 1000 * PERIOD_MS);
#if ESVM_TEXT
  Serial.print("\n");  // the host discards what comes before the first line end
  Serial.write((const uint8_t *)line, esvm_announce(line, N_INPUTS));
#endif
  next_ms = millis();
}

void send_sample() {
#if !ESVM_TEXT
  if (!node.streaming) return;  // no host has asked yet: nothing to measure for
#endif
  float volts[N_INPUTS];
  for (uint8_t j = 0; j < N_INPUTS; j++) volts[j] = analogRead(INPUTS[j]) * (5.0f / 1023.0f);
  int32_t label = ESVM_NO_LABEL;
  if (digitalRead(QUIET_PIN) == HIGH) label = digitalRead(LABEL_PIN) == LOW;
#if ESVM_TEXT
  Serial.write((const uint8_t *)line, esvm_line(line, n_lines++, volts, N_INPUTS, label));
#else
  esvm_send_sample(&node, volts, label);
#endif
}

void loop() {
  uint32_t now = millis();
#if !ESVM_TEXT
  esvm_tick(&node, now);
  while (Serial.available() > 0) {
    // With `edgesvm watch`, (node.answer_flags & ESVM_ALARM) is what to light the LED by.
    if (esvm_receive(&node, (uint8_t)Serial.read()) == ESVM_PREDICTION)
      digitalWrite(LED_BUILTIN, node.answer_class == 1 ? HIGH : LOW);
  }
#endif
  if ((int32_t)(now - next_ms) >= 0) {
    next_ms += PERIOD_MS;  // on the beat: a late turn is made up for, not passed on
    send_sample();
  }
}
