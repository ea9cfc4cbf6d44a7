/* Of Zephyr, what the example calls. */
struct device { const char *name; };
struct sensor_value { int32_t val1, val2; };
enum sensor_channel { SENSOR_CHAN_ACCEL_XYZ = 3 };
#define DT_ALIAS(alias) alias
#define DEVICE_DT_GET(node) (&node)
extern const struct device accel0;
int sensor_sample_fetch(const struct device *dev);
int sensor_channel_get(const struct device *dev, enum sensor_channel which, struct sensor_value *v);
float sensor_value_to_float(const struct sensor_value *v);
