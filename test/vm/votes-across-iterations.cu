// REQUIRES: reconverge
// RUN: %reconverge cc %s -o %t
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=tier=fused %t
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=tier=blocks %t
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=seed=3 %t

// All lanes vote 18 times in one place, but in other iterations: lanes that leave
// the inner loop early come back to it in the outer loop's next iteration, and
// vote with those that are still in the one before. So what the outer loop
// carries differs among the lanes of a vote. The result is that of the host,
// which goes from vote to vote, and of an H100.
#include <cstdio>

static constexpr int Votes = 18;

__global__ void across(unsigned *Out, int Votes) {
  const int Lane = threadIdx.x, Inner = Lane % 3 + 1;
  unsigned Sum = 0;
  for (int I = 0; I < Votes / Inner; ++I) {
    const int V = I * I + 7;
    for (int J = 1;; ++J) {
      const bool Last = J == Inner;
      Sum = Sum * 31 + __ballot_sync(~0u, !Last) + V;
      if (Last)
        break;
    }
  }
  Out[Lane] = Sum;
}

// The same in one loop, of which lanes vote in every other iteration.
__global__ void sometimes(unsigned *Out, int Votes) {
  const int Lane = threadIdx.x;
  unsigned Sum = 0;
  for (int I = 0; I < 2 * Votes; ++I)
    if (I % 2 == Lane % 2)
      Sum = Sum * 31 + __ballot_sync(~0u, I % 4 < 2 && Lane < 20) + I;
  Out[Lane] = Sum;
}

int main() {
  unsigned *Out, Is[32], Should[32] = {};
  int Wrong = 0, I[32] = {}, J[32];
  cudaMalloc(&Out, sizeof(Is));
  across<<<1, 32>>>(Out, Votes);
  cudaMemcpy(Is, Out, sizeof(Is), cudaMemcpyDeviceToHost);
  for (int &Each : J)
    Each = 1;
  for (int Vote = 0; Vote < Votes; ++Vote) {
    unsigned Ballot = 0;
    for (int L = 0; L < 32; ++L)
      Ballot |= unsigned(J[L] != L % 3 + 1) << L;
    for (int L = 0; L < 32; ++L) {
      Should[L] = Should[L] * 31 + Ballot + I[L] * I[L] + 7;
      if (J[L]++ == L % 3 + 1) {
        J[L] = 1;
        ++I[L];
      }
    }
  }
  for (int L = 0; L < 32; ++L)
    Wrong += Is[L] != Should[L];
  printf("across: %d wrong\n", Wrong);

  sometimes<<<1, 32>>>(Out, Votes);
  cudaMemcpy(Is, Out, sizeof(Is), cudaMemcpyDeviceToHost);
  for (int L = 0; L < 32; ++L) {
    unsigned Sum = 0;
    for (int Vote = 0; Vote < Votes; ++Vote) {
      unsigned Ballot = 0;
      for (int Other = 0; Other < 20; ++Other)
        Ballot |= unsigned((2 * Vote + Other % 2) % 4 < 2) << Other;
      Sum = Sum * 31 + Ballot + 2 * Vote + L % 2;
    }
    Wrong += Is[L] != Sum;
  }
  printf("both: %d wrong\n", Wrong);
  return Wrong != 0;
}
