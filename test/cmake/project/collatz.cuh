// A device function in a header, for every unit that includes it.
#pragma once

__device__ inline int collatzSteps(unsigned long value) {
  int steps = 0;
  while (value != 1) {
    if (value % 2)
      value = 3 * value + 1;
    else
      value /= 2;
    ++steps;
  }
  return steps;
}
