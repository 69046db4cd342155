#include "lanes.h"

#include <cstdio>

int main() {
  std::printf("steps %ld\nvotes %d\nhalves %d\n", sumOfSteps(), votesForYes(),
              sumOfHalves());
}
