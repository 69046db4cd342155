// REQUIRES: reconverge
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: %reconverge cc %s -o app

// Each policy leaves what the host's code makes of the same votes, in each tier
// and however well it is compiled.
// RUN: env RECONVERGE_DEVICE=cpu ./app - 32 | FileCheck %s
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=policy=herd-branch ./app branch 32 | FileCheck %s
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=policy=herd-data ./app data 32 | FileCheck %s
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=policy=herd-both ./app branch+data 32 | FileCheck %s
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=policy=herd-both,tier=blocks ./app branch+data 32 | FileCheck %s
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=policy=herd-both,compile=fast,check=on ./app branch+data 32 | FileCheck %s
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=policy=herd-both,warp=64,races=on ./app branch+data 64 2>&1 | FileCheck %s --implicit-check-not=race
// CHECK: as expected: rounds, arms, safe loads, unsafe ones

// The profile has what became of it: fewer warps part, and a herded load is of
// one block of four sectors at most.
// RUN: %reconverge profile --device cpu ./app -o plain.json -- - 32
// RUN: %reconverge profile --device cpu --policy herd-both ./app -o herded.json -- branch+data 32 2>&1 | FileCheck %s --check-prefix=NOTE
// NOTE: note: warps were herded (herd-both): what the program computed is something else
// RUN: python3 %S/Inputs/herding.py plain.json herded.json

// NOTE: note: herded in rounds(int const*, int*): branches
// NOTE: note: herded in safe(int const*, int const*, int*): loads 5
// NOTE: note: herded in unsafe(int const*, int const*, int*): nothing

// Some of it alone, and what is said to be safe. The program then finds that it
// is wrong, as it is told of no policy.
// RUN: not env RECONVERGE_VM=branches=99,loads=4:7 %reconverge profile --device cpu --policy herd-both ./app -o some.json -- branch 32 2>&1 | FileCheck %s --check-prefix=SOME
// SOME: note: herded in rounds(int const*, int*): nothing
// RUN: not env RECONVERGE_VM=loads=4:5,trust=on %reconverge profile --device cpu --policy herd-data ./app -o trust.json -- - 32 2>&1 | FileCheck %s --check-prefix=TRUST
// TRUST: note: herded in safe(int const*, int const*, int*): loads 4, 5
// RUN: not env RECONVERGE_DEVICE=cpu RECONVERGE_VM=policy=herd-both,trust=on ./app - 32 2>&1 | FileCheck %s --check-prefix=NAMED
// NAMED: trust without branches or loads

// RUN: not env RECONVERGE_DEVICE=cpu RECONVERGE_VM=policy=herd ./app - 32 2>&1 | FileCheck %s --check-prefix=POLICY
// POLICY: RECONVERGE_VM: policy is 'herd'
// POLICY: policy wants frontier, ipdom, herd-branch, herd-data or herd-both
// RUN: not %reconverge profile --device cpu --policy herd ./app -- - 32 2>&1 | FileCheck %s --check-prefix=WORD
// WORD: herd-branch
// RUN: not env RECONVERGE_DEVICE=cpu RECONVERGE_VM=policy=herd-data,block=48 ./app - 32 2>&1 | FileCheck %s --check-prefix=BLOCK
// BLOCK: block is '48'
// BLOCK: block wants 32, 64 or 128
// RUN: not env RECONVERGE_DEVICE=cpu RECONVERGE_VM=policy=herd-branch,threshold=32 ./app - 32 2>&1 | FileCheck %s --check-prefix=THRESHOLD
// THRESHOLD: threshold wants a whole number from 0 to 31
// RUN: not env RECONVERGE_DEVICE=cpu RECONVERGE_VM=policy=herd-branch,branches=1:x ./app - 32 2>&1 | FileCheck %s --check-prefix=NUMBERS
// NUMBERS: branches is '1:x'
// NUMBERS: branches wants numbers from divergence.json with colons between them
// RUN: not env RECONVERGE_DEVICE=cpu RECONVERGE_VM=policy=herd-branch,loads=1 ./app - 32 2>&1 | FileCheck %s --check-prefix=WITHOUT
// WITHOUT: loads without a policy that herds them
// RUN: not env RECONVERGE_DEVICE=cpu RECONVERGE_VM=policy=herd-branch,seed=3 ./app - 32 2>&1 | FileCheck %s --check-prefix=SEED
// SEED: a policy that herds together with seed

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

constexpr int Threads = 64, Most = 40;

// Lanes may leave the loop early; none may be held back, as one condition both
// counts and looks at the data.
__global__ void rounds(const int *Start, int *Out) {
  const int I = threadIdx.x;
  int X = Start[I], N = 0;
#pragma unroll 1
  while (N < Most && X < 1000) {
    X = X * 3 + N;
    ++N;
  }
  Out[I] = X + N;
}

// Arms that write: lanes may be dropped from one, and sent into none.
__global__ void arms(const int *Start, int *Out) {
  const int I = threadIdx.x;
  const int X = Start[I];
  if (X & 4)
    Out[I] = X * 5 + 1;
}

__global__ void safe(const int *Where, const int *Table, int *Out) {
  const int I = threadIdx.x;
  Out[I] = Table[Where[I]] * 2;
}

// What is loaded decides a divisor and whether a loop ends, and the source says
// that lanes are not to leave that early.
__global__ void unsafe(const int *Where, const int *Table, int *Out) {
  const int I = threadIdx.x;
  int X = 1000 / Table[Where[I] + 1];
  const int Until = Table[Where[I] + 2];
#pragma unroll 1
#pragma reconverge herd off
  for (int K = 0; K != Until; ++K)
    X = X * 3 + 1;
  Out[I] = X;
}

static int Warp = 32;
static bool Branches, Loads;

template <typename Function> static void eachWarp(Function F) {
  for (int First = 0; First < Threads; First += Warp)
    F(First);
}

/// Whether most of the lanes that are there want it.
static bool most(const std::vector<bool> &There, const std::vector<bool> &Want) {
  int Lanes = 0, For = 0;
  for (size_t L = 0; L < There.size(); ++L) {
    Lanes += There[L];
    For += There[L] && Want[L];
  }
  return 2 * For > Lanes;
}

static std::vector<int> hostRounds(const std::vector<int> &Start) {
  std::vector<int> Out(Threads);
  eachWarp([&](int First) {
    std::vector<bool> In(Warp, true), Want(Warp);
    std::vector<int> X(Start.begin() + First, Start.begin() + First + Warp);
    auto Leave = [&](int N) {
      for (int L = 0; L < Warp; ++L)
        if (In[L] && !Want[L]) {
          Out[First + L] = X[L] + N;
          In[L] = false;
        }
    };
    for (int N = 0; N <= Most; ++N) {
      for (int L = 0; L < Warp; ++L)
        Want[L] = N < Most && X[L] < 1000;
      if (Branches && !most(In, Want))
        Want.assign(Warp, false);
      Leave(N);
      for (int L = 0; L < Warp; ++L)
        if (In[L])
          X[L] = int(unsigned(X[L]) * 3 + N);
    }
  });
  return Out;
}

static std::vector<int> hostArms(const std::vector<int> &Start) {
  std::vector<int> Out(Threads, -1);
  eachWarp([&](int First) {
    std::vector<bool> Want(Warp);
    for (int L = 0; L < Warp; ++L)
      Want[L] = Start[First + L] & 4;
    if (Branches && !most(std::vector<bool>(Warp, true), Want))
      Want.assign(Warp, false);
    for (int L = 0; L < Warp; ++L)
      if (Want[L])
        Out[First + L] = Start[First + L] * 5 + 1;
  });
  return Out;
}

/// Where lanes load, if blocks have 32 words: 32 lanes together in any warp.
static std::vector<int> sent(std::vector<int> Where) {
  for (int First = 0; Loads && First < Threads; First += 32) {
    int Best = 0, BestLanes = 0;
    for (int L = First; L < First + 32; ++L) {
      int Lanes = 0;
      for (int K = First; K < First + 32; ++K)
        Lanes += Where[K] / 32 == Where[L] / 32;
      if (Lanes > BestLanes) {
        Best = Where[L] / 32;
        BestLanes = Lanes;
      }
    }
    for (int L = First; L < First + 32; ++L)
      Where[L] = Best * 32 + Where[L] % 32;
  }
  return Where;
}

static int *onDevice(const std::vector<int> &Values) {
  int *P;
  cudaMalloc(&P, Values.size() * sizeof(int));
  cudaMemcpy(P, Values.data(), Values.size() * sizeof(int),
             cudaMemcpyHostToDevice);
  return P;
}

static void compare(const char *What, const int *Device,
                    const std::vector<int> &Want) {
  std::vector<int> Got(Threads);
  cudaMemcpy(Got.data(), Device, Threads * sizeof(int), cudaMemcpyDeviceToHost);
  for (int I = 0; I < Threads; ++I)
    if (Got[I] != Want[I]) {
      printf("%s: thread %d has %d and not %d\n", What, I, Got[I], Want[I]);
      exit(1);
    }
}

int main(int, char **Words) {
  Branches = strstr(Words[1], "branch");
  Loads = strstr(Words[1], "data");
  Warp = atoi(Words[2]);
  std::vector<int> Start(Threads), Where(Threads), Table(900), None(Threads, -1);
  for (int I = 0; I < Threads; ++I) {
    Start[I] = I * I % 37 + (I % 5 == 0) * 400;
    Where[I] = I % 3 ? 320 + I * 7 % 29 : I * 11;
  }
  for (int I = 0; I < 900; ++I)
    Table[I] = I % 13 + 1;
  int *S = onDevice(Start), *W = onDevice(Where), *T = onDevice(Table);
  int *Out = onDevice(None);

  rounds<<<1, Threads>>>(S, Out);
  compare("rounds", Out, hostRounds(Start));
  cudaMemcpy(Out, None.data(), Threads * sizeof(int), cudaMemcpyHostToDevice);
  arms<<<1, Threads>>>(S, Out);
  compare("arms", Out, hostArms(Start));
  safe<<<1, Threads>>>(W, T, Out);
  std::vector<int> Want(Threads);
  const std::vector<int> To = sent(Where);
  for (int I = 0; I < Threads; ++I)
    Want[I] = Table[To[I]] * 2;
  compare("safe", Out, Want);
  unsafe<<<1, Threads>>>(W, T, Out);
  for (int I = 0; I < Threads; ++I) {
    Want[I] = 1000 / Table[Where[I] + 1];
    for (int K = 0; K != Table[Where[I] + 2]; ++K)
      Want[I] = int(unsigned(Want[I]) * 3 + 1);
  }
  compare("unsafe", Out, Want);
  puts("as expected: rounds, arms, safe loads, unsafe ones");
}
