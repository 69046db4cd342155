// What the libraries offer to C++.
#pragma once

constexpr int threads = 64;

// Static library: the sum over all threads of their Collatz steps.
long sumOfSteps();
// Shared library: how many threads are in a warp that voted yes.
int votesForYes();
// A kernel of the program itself: the sum of what half of the lanes wrote.
int sumOfHalves();
