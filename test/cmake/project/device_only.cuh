// Only the device's reading of votes.cu includes this.
#pragma once

__device__ inline bool isFirstHalf(int thread) { return thread < 32; }
