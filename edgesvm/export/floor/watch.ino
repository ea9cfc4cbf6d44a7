/* Learns what is normal at the analogue inputs for its first LEARN samples; then the LED shows what is strange. With a
 * model that has learned on the host, make LEARN 0. Put other numbers into x where a board has fewer inputs. */
#include <name.h>

const unsigned LEARN = 3000; /* at 50 a second, a minute */
name_t model;
unsigned learned;

void setup() {
    pinMode(LED_BUILTIN, OUTPUT);
    name_begin(&model);
}

void loop() {
    float x[NAME_N_FEATURES];
    double score;
    for (int i = 0; i < NAME_N_FEATURES; i++) x[i] = analogRead(A0 + i);
    if (learned < LEARN) learned++, name_learn(&model, x, 1);
    else digitalWrite(LED_BUILTIN, name_predict(&model, x, &score) == 0);
    delay(20);
}
