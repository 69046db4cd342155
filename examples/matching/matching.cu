//===- examples/matching/matching.cu - Lesson 20: string matching ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds all occurrences of many words in a text at once (A. Aho, M. Corasick,
// 1975). The words form a tree; where the text leaves the tree, a link leads to
// the longest end of what was read that is in the tree too:
//
//      (root)--h--(.)--e--(HE)--r--(.)--s--(HERS)
//          \       \-i--(.)--s--(HIS)                 links: HIS -> s,
//           \--s--(.)--h--(.)--e--(SHE)                      SHE -> HE
//
// A thread takes a piece of the text and begins as far before it as the longest
// word reaches, so that no occurrence on the border is lost or counted twice.
//
// Each letter is one step down the tree, after none, one or many steps along
// links: a loop in a loop, whose trip counts hang on what each lane has read.
// Every node has its children in a short list, which is searched: another loop.
// And where a word ends, all words that are its ends are counted: a third.
//
//===----------------------------------------------------------------------===//
#include "../common/check.h"
#include "../common/checksum.h"
#include "../common/options.h"
#include "../common/random.h"
#include "../histogram/text.h"

#include <algorithm>
#include <string>
#include <vector>

static constexpr int None = -1, Root = 0;

struct Node {
  int FirstChild = None; ///< a list: children are linked by Sibling
  int Sibling = None;
  int Link = Root;    ///< the longest proper end of this node's string
  int Word = None;    ///< that ends here
  int Shorter = None; ///< the next node along the links with a word
  unsigned char Letter = 0;
};

__device__ inline int childOf(const Node *Tree, int From,
                              unsigned char Letter) {
  int Child = Tree[From].FirstChild;
  while (Child != None && Tree[Child].Letter != Letter)
    Child = Tree[Child].Sibling;
  return Child;
}

__global__ void match(const unsigned char *Text, int Length, int Piece,
                      int Overlap, const Node *Tree, unsigned *Counts) {
  const int First = int(blockIdx.x * blockDim.x + threadIdx.x) * Piece;
  const int End = min(First + Piece, Length);
  int State = Root;
  for (int At = max(0, First - Overlap); At < End; ++At) {
    const unsigned char Letter = Text[At];
    int Child = childOf(Tree, State, Letter);
    while (Child == None && State != Root) {
      State = Tree[State].Link;
      Child = childOf(Tree, State, Letter);
    }
    State = Child == None ? Root : Child;
    if (At < First)
      continue; // an occurrence that ends here is the neighbour's
    for (int Found = Tree[State].Word != None ? State : Tree[State].Shorter;
         Found != None; Found = Tree[Found].Shorter)
      atomicAdd(&Counts[Tree[Found].Word], 1u);
  }
}

/// The tree of \p Words, with links, breadth first.
static std::vector<Node> makeTree(const std::vector<std::string> &Words) {
  std::vector<Node> Tree(1);
  auto Child = [&](int From, unsigned char Letter) {
    int C = Tree[From].FirstChild;
    while (C != None && Tree[C].Letter != Letter)
      C = Tree[C].Sibling;
    return C;
  };
  for (size_t W = 0; W < Words.size(); ++W) {
    int At = Root;
    for (const char Letter : Words[W]) {
      int Next = Child(At, (unsigned char)Letter);
      if (Next == None) {
        Next = int(Tree.size());
        Node N;
        N.Letter = (unsigned char)Letter;
        N.Sibling = Tree[At].FirstChild;
        Tree.push_back(N);
        Tree[At].FirstChild = Next;
      }
      At = Next;
    }
    Tree[At].Word = int(W);
  }
  std::vector<int> Queue = {Root};
  for (size_t Q = 0; Q < Queue.size(); ++Q)
    for (int C = Tree[Queue[Q]].FirstChild; C != None; C = Tree[C].Sibling) {
      Queue.push_back(C);
      int Link = Queue[Q];
      int To = None;
      while (Link != Root && To == None) {
        Link = Tree[Link].Link;
        To = Child(Link, Tree[C].Letter);
      }
      Tree[C].Link = To == None ? Root : To;
      const Node &End = Tree[Tree[C].Link];
      Tree[C].Shorter = End.Word != None ? Tree[C].Link : End.Shorter;
    }
  return Tree;
}

/// Pieces of the text itself, short and long, so that there is something to
/// find; sorted and distinct.
static std::vector<std::string>
makeWords(long Count, const std::vector<unsigned char> &Text, long Seed) {
  Random Draw(uint64_t(Seed), 21);
  std::vector<std::string> Words;
  for (long W = 0; W < Count; ++W) {
    const uint32_t Length =
        std::min<uint32_t>(2 + Draw.below(9), uint32_t(Text.size()));
    const uint32_t At = Draw.below(uint32_t(Text.size()) - Length + 1);
    Words.emplace_back(Text.begin() + At, Text.begin() + At + Length);
  }
  std::sort(Words.begin(), Words.end());
  Words.erase(std::unique(Words.begin(), Words.end()), Words.end());
  return Words;
}

/// The reference: Knuth, Morris and Pratt's search (1977), word by word.
static unsigned countOnHost(const std::vector<unsigned char> &Text,
                            const std::string &Word) {
  std::vector<size_t> Border(Word.size() + 1, 0);
  for (size_t I = 1, K = 0; I < Word.size(); ++I) {
    while (K && Word[I] != Word[K])
      K = Border[K];
    K += Word[I] == Word[K];
    Border[I + 1] = K;
  }
  unsigned Count = 0;
  size_t Read = 0;
  for (const unsigned char Letter : Text) {
    while (Read && (Read == Word.size() || (unsigned char)Word[Read] != Letter))
      Read = Border[Read];
    Read += (unsigned char)Word[Read] == Letter;
    Count += Read == Word.size();
  }
  return Count;
}

int main(int argc, char **argv) {
  Options Args(argc, argv);
  const long Length = Args.integer("bytes", 1000000, 1, 1 << 28);
  const long Wanted = Args.integer("words", 100, 1, 100000);
  const long Piece = Args.integer("piece", 64, 1, 1 << 20); // a thread's bytes
  const long Threads = Args.integer("block", 128, 1, 1024);
  const long Seed = Args.integer("seed", 1, 0, 1 << 30);
  const long Check = Args.integer("check", 1, 0, 1);
  Args.done();

  const std::vector<unsigned char> Text = makeText(Length, uint64_t(Seed));
  const std::vector<std::string> Words = makeWords(Wanted, Text, Seed);
  const std::vector<Node> Tree = makeTree(Words);
  size_t Longest = 0;
  for (const std::string &Word : Words)
    Longest = std::max(Longest, Word.size());

  unsigned char *DeviceText = nullptr;
  Node *DeviceTree = nullptr;
  unsigned *DeviceCounts = nullptr;
  const size_t CountBytes = Words.size() * sizeof(unsigned);
  CHECK_CUDA(cudaMalloc(&DeviceText, Length));
  CHECK_CUDA(cudaMalloc(&DeviceTree, Tree.size() * sizeof(Node)));
  CHECK_CUDA(cudaMalloc(&DeviceCounts, CountBytes));
  CHECK_CUDA(
      cudaMemcpy(DeviceText, Text.data(), Length, cudaMemcpyHostToDevice));
  CHECK_CUDA(cudaMemcpy(DeviceTree, Tree.data(), Tree.size() * sizeof(Node),
                        cudaMemcpyHostToDevice));
  CHECK_CUDA(cudaMemset(DeviceCounts, 0, CountBytes));
  const long Pieces = (Length + Piece - 1) / Piece;
  match<<<unsigned((Pieces + Threads - 1) / Threads), unsigned(Threads)>>>(
      DeviceText, int(Length), int(Piece), int(Longest) - 1, DeviceTree,
      DeviceCounts);
  CHECK_LAUNCH();
  CHECK_CUDA(cudaDeviceSynchronize());
  std::vector<unsigned> Counts(Words.size());
  CHECK_CUDA(cudaMemcpy(Counts.data(), DeviceCounts, CountBytes,
                        cudaMemcpyDeviceToHost));
  CHECK_CUDA(cudaFree(DeviceText));
  CHECK_CUDA(cudaFree(DeviceTree));
  CHECK_CUDA(cudaFree(DeviceCounts));

  long Wrong = 0;
  unsigned long long Total = 0;
  for (size_t W = 0; W < Words.size(); ++W) {
    Total += Counts[W];
    if (Check)
      Wrong += Counts[W] != countOnHost(Text, Words[W]);
  }
  std::printf("matching: %zu words, %zu nodes, %ld bytes, %llu occurrences: ",
              Words.size(), Tree.size(), Length, Total);
  if (Wrong)
    std::printf("%ld WRONG\n", Wrong);
  else
    std::printf(Check ? "right\n" : "not checked\n");
  std::printf("checksum: %016llx\n",
              static_cast<unsigned long long>(checksum(Counts)));
  return Wrong ? 1 : 0;
}
