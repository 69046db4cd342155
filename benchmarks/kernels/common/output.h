//===- benchmarks/kernels/common/output.h - For a judge ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a program that tolerates small errors leaves in the file of its argument
// output, so that a metric of quality can judge it: a picture (binary PGM if
// grey, PPM if coloured) or floats, four bytes each, the least significant
// first. Nothing is written if no file is named.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_BENCHMARKS_OUTPUT_H
#define RECONVERGE_BENCHMARKS_OUTPUT_H

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

inline void writeFile(const std::string &Path, const std::string &Head,
                      const void *Data, size_t Size) {
  if (Path.empty())
    return;
  std::FILE *File = std::fopen(Path.c_str(), "wb");
  bool Fine =
      File && std::fwrite(Head.data(), 1, Head.size(), File) == Head.size();
  Fine = Fine && std::fwrite(Data, 1, Size, File) == Size;
  if (File && std::fclose(File))
    Fine = false;
  if (Fine)
    return;
  std::fprintf(stderr, "output=%s: %s: name a file that can be written\n",
               Path.c_str(), std::strerror(errno));
  std::exit(2);
}

inline void writeFloats(const std::string &Path,
                        const std::vector<float> &Values) {
  writeFile(Path, "", Values.data(), Values.size() * sizeof(float));
}

/// A grey picture, row by row from the top.
inline void writePicture(const std::string &Path,
                         const std::vector<unsigned char> &Pixels, int Width,
                         int Height) {
  writeFile(Path,
            "P5\n" + std::to_string(Width) + " " + std::to_string(Height) +
                "\n255\n",
            Pixels.data(), Pixels.size());
}

/// A coloured one; what is in w is left out.
inline void writePicture(const std::string &Path,
                         const std::vector<uchar4> &Pixels, int Width,
                         int Height) {
  std::vector<unsigned char> Bytes;
  for (const uchar4 &P : Pixels)
    Bytes.insert(Bytes.end(), {P.x, P.y, P.z});
  writeFile(Path,
            "P6\n" + std::to_string(Width) + " " + std::to_string(Height) +
                "\n255\n",
            Bytes.data(), Bytes.size());
}

#endif
