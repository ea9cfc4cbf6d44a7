// Raw signals of an analogue accelerometer (ADXL335 and the like on A0 to A2), 250 samples a second, as lines of text.
//
//   edgesvm run /dev/ttyUSB0 --window 250 --rate 250 --bands 2-20,20-60 --answers --save pump.esvm
//
// The host cuts the samples into windows and learns their features. Hold the button (pin 2 to ground) while the machine
// is in the state to recognise: label 1. The answer, once per window, is a line "!SEQUENCE LABEL FLAGS SCORE"; the LED
// shows its label.

const uint8_t AXES[] = {A0, A1, A2};
const uint8_t LABEL_PIN = 2;
const uint32_t PERIOD_MS = 4;

uint32_t next_ms;
uint8_t column;  // of the answer that is being read

void setup() {
  Serial.begin(115200);
  pinMode(LABEL_PIN, INPUT_PULLUP);
  pinMode(LED_BUILTIN, OUTPUT);
  Serial.print("\n");  // the host discards what comes before the first line end
  next_ms = millis();
}

void send_sample() {
  for (uint8_t j = 0; j < sizeof AXES; j++) {
    Serial.print(analogRead(AXES[j]));
    Serial.print(",");
  }
  Serial.print(digitalRead(LABEL_PIN) == LOW ? "1\n" : "0\n");
}

// The label is the second column of an answer, and here one digit.
void read_answer(char c) {
  if (c == '\n') column = 0;
  else if (c == ' ') column++;
  else if (column == 1) digitalWrite(LED_BUILTIN, c == '1' ? HIGH : LOW);
}

void loop() {
  while (Serial.available() > 0) read_answer((char)Serial.read());
  if ((int32_t)(millis() - next_ms) < 0) return;
  next_ms += PERIOD_MS;  // on the beat: a late turn is made up for, not passed on
  send_sample();
}
