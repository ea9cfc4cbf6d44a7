/* The sums over rows, lanes and tiles, compiled once for all modules. */
#define EDGESVM_SUM
#include "sums.h"

#include "lanes_block.h"
