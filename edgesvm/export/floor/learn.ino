/* Learns from analogue inputs, with two buttons to ground as labels: pin 2 says class 1, pin 3 class 0. The LED
 * shows the prediction. Features are read from A0 on; put others into x where a board has fewer inputs. */
#include <name.h>

name_t model;

void setup() {
    pinMode(LED_BUILTIN, OUTPUT);
    pinMode(2, INPUT_PULLUP);
    pinMode(3, INPUT_PULLUP);
    name_begin(&model);
}

void loop() {
    float x[NAME_N_FEATURES];
    double score;
    for (int i = 0; i < NAME_N_FEATURES; i++) x[i] = analogRead(A0 + i);
    digitalWrite(LED_BUILTIN, name_predict(&model, x, &score) == 1);
    if (digitalRead(2) == LOW) name_learn(&model, x, 1);
    if (digitalRead(3) == LOW) name_learn(&model, x, 0);
    delay(20);
}
