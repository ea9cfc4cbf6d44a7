/* Of ST's HAL and of what CubeMX writes, what the example calls. */
#include <stdint.h>
typedef enum { HAL_OK, HAL_ERROR } HAL_StatusTypeDef;
typedef enum { GPIO_PIN_RESET, GPIO_PIN_SET } GPIO_PinState;
typedef struct { int unused; } ADC_HandleTypeDef;
typedef struct { int unused; } GPIO_TypeDef;
extern GPIO_TypeDef GPIOA[1], GPIOC[1];
#define GPIO_PIN_0 ((uint16_t)1)
#define GPIO_PIN_13 ((uint16_t)0x2000)
HAL_StatusTypeDef HAL_ADC_Start(ADC_HandleTypeDef *adc);
HAL_StatusTypeDef HAL_ADC_PollForConversion(ADC_HandleTypeDef *adc, uint32_t timeout);
uint32_t HAL_ADC_GetValue(ADC_HandleTypeDef *adc);
GPIO_PinState HAL_GPIO_ReadPin(GPIO_TypeDef *port, uint16_t pin);
void HAL_GPIO_WritePin(GPIO_TypeDef *port, uint16_t pin, GPIO_PinState state);
