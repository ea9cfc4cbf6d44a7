// Features of a vibration: what an analogue accelerometer (ADXL335 and the like), a piezo disc or a microphone on A0
// does in a quarter of a second, as a line of text. Start with this sketch: most machines can be told by it.
//
//   edgesvm run /dev/ttyACM0 --answers --save pump.esvm      learns from the button
//   edgesvm watch /dev/ttyACM0 --label last --learn 5m       learns what is normal, without one
//
// Hold the button (pin 2 to ground) while the machine is in the state to recognise: label 1. Connect pin 3 to ground
// when the button should not count: the line then ends without a label and is only predicted. The answer to each line
// is "!SEQUENCE LABEL FLAGS SCORE"; the LED shows its label.
//
// A line has, in steps of the converter: mean, RMS about the mean, peak about the mean, crest factor (peak / RMS), and
// crossings of the mean per second, which follow the frequency. Nothing is stored but a few sums.

const uint8_t SENSOR = A0, LABEL_PIN = 2, QUIET_PIN = 3;
const uint16_t WINDOW = 250;     // readings in a line
const uint32_t PERIOD_US = 1000;  // between two readings

struct Window {
  uint16_t n;
  uint32_t sum, squares;  // WINDOW readings of 10 bits: squares stay below 2^32 up to 4,100 readings
  int16_t low, high;
  uint16_t crossings;
  bool above;
};

Window window;
int16_t middle;  // the mean of the window before, which crossings are counted about
uint32_t next_us;
uint8_t column;  // of the answer that is being read

void begin_window() {
  window.n = window.crossings = 0;
  window.sum = window.squares = 0;
  window.low = 32767;
  window.high = -32768;
}

void setup() {
  Serial.begin(115200);
  pinMode(LABEL_PIN, INPUT_PULLUP);
  pinMode(QUIET_PIN, INPUT_PULLUP);
  pinMode(LED_BUILTIN, OUTPUT);
  Serial.print("\n");  // the host discards what comes before the first line end
  middle = analogRead(SENSOR);
  window.above = false;
  begin_window();
  next_us = micros();
}

void take(int16_t reading) {
  window.n++;
  window.sum += (uint32_t)reading;
  window.squares += (uint32_t)reading * (uint32_t)reading;
  if (reading < window.low) window.low = reading;
  if (reading > window.high) window.high = reading;
  bool above = reading > middle;
  window.crossings += above != window.above;
  window.above = above;
}

void send_window() {
  float mean = (float)window.sum / window.n;
  // sum of (x - mean)^2 = squares - sum^2 / n, from whole numbers: nothing is lost where the mean is large
  uint64_t spread = (uint64_t)window.squares * window.n - (uint64_t)window.sum * window.sum;
  float rms = sqrt((float)spread) / window.n;
  float peak = window.high - mean > mean - window.low ? window.high - mean : mean - window.low;
  float seconds = 1e-6f * PERIOD_US * window.n;
  Serial.print(mean);
  Serial.print(",");
  Serial.print(rms);
  Serial.print(",");
  Serial.print(peak);
  Serial.print(",");
  Serial.print(rms > 0 ? peak / rms : 0.0f);
  Serial.print(",");
  Serial.print(window.crossings / seconds);
  if (digitalRead(QUIET_PIN) == LOW) Serial.print(",\n");
  else Serial.print(digitalRead(LABEL_PIN) == LOW ? ",1\n" : ",0\n");
  middle = (int16_t)mean;
}

// The label is the second column of an answer, and here one digit.
void read_answer(char c) {
  if (c == '\n') column = 0;
  else if (c == ' ') column++;
  else if (column == 1) digitalWrite(LED_BUILTIN, c == '1' ? HIGH : LOW);
}

void loop() {
  while (Serial.available() > 0) read_answer((char)Serial.read());
  if ((int32_t)(micros() - next_us) < 0) return;
  next_us += PERIOD_US;  // on the beat: a late turn is made up for, not passed on
  take(analogRead(SENSOR));
  if (window.n < WINDOW) return;
  send_window();
  begin_window();
}
