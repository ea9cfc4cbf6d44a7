/* Forecasts what is read at A0 from the inputs behind it, A1 on, once a second, and learns what came. The LED shines
 * when that was outside of the interval. Put other numbers into x where a board has fewer inputs. */
#include <name.h>

name_t model;

void setup() {
    pinMode(LED_BUILTIN, OUTPUT);
    name_begin(&model);
}

void loop() {
    float x[NAME_N_FEATURES];
    double said[3], target; /* the forecast, and the ends of its interval */
    for (int i = 0; i < NAME_N_FEATURES; i++) x[i] = analogRead(A1 + i);
    int known = name_forecast(&model, x, said) == ESVM_UNCHANGED;
    delay(1000);
    target = analogRead(A0);
    digitalWrite(LED_BUILTIN, known && (target < said[1] || target > said[2]));
    name_learn(&model, x, target, 1.0);
}
