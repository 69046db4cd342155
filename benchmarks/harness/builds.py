# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The same CUDA source, built by each compiler that we compare, all over a
shared CUDA runtime, so that benchmarks/timer can stand before it.

Stock clang 19 does not know CUDA 13 (its headers and the command line of
`fatbinary` have changed), so its steps are run one by one here: its own -O3
makes the PTX; ptxas and fatbinary are the toolkit's, as in all builds.
"""

import os

from processes import call


class Compilers:
    """Where they are, for which architecture, and what they are told."""

    def __init__(self, prefix, cuda, arch, clang=None):
        self.prefix, self.cuda, self.arch = prefix, cuda, arch
        self.reconverge = os.path.join(prefix, "bin", "reconverge")
        bundled = os.path.join(prefix, "bin", "clang-19")
        self.clang = clang or (bundled if os.path.exists(bundled)
                               else "clang++-19")
        self.overlay = os.path.join(prefix, "share", "reconverge", "overlay")
        self.libraries = next(
            (folder for folder in (os.path.join(cuda, "lib64"),
                                   os.path.join(cuda, "lib"))
             if os.path.isdir(folder)), cuda)

    def flags(self):
        """For the environment of a result file."""
        return {"nvcc": " ".join(["-O3", f"-arch=sm_{self.arch}"]),
                "clang": f"-O3 --cuda-gpu-arch=sm_{self.arch}, its numerics, "
                         "-fno-strict-aliasing for the device",
                "reconverge": f"-O3 -arch=sm_{self.arch}"}

    def build(self, how, source, program):
        """Builds source as a suite.Build says; beside the program lie its
        machine code and PTX."""
        getattr(self, "_" + how.compiler)(source, program, list(how.flags))

    def _nvcc(self, source, program, extra):
        nvcc = os.path.join(self.cuda, "bin", "nvcc")
        common = ["-O3", f"-arch=sm_{self.arch}", "-std=c++17",
                  "-lineinfo", *extra]
        call([nvcc, *common, "-cudart", "shared", source, "-o", program,
                    "-Xlinker", "-rpath", "-Xlinker", self.libraries])
        call([nvcc, *common, "-cubin", source, "-o", program + ".cubin"])

    def _clang(self, source, program, extra):
        common = [self.clang, "--driver-mode=g++", "-x", "cuda",
                  f"--cuda-path={self.cuda}", f"--cuda-gpu-arch=sm_{self.arch}",
                  "-Wno-unknown-cuda-version", "-O3", "-std=c++17",
                  "-gline-tables-only", "-isystem",
                  os.path.join(self.overlay, "clang"), "-isystem", self.overlay,
                  "-isystem", os.path.join(self.cuda, "include", "cccl"),
                  *extra]
        ptx, cubin = program + ".ptx", program + ".cubin"
        fatbin = program + ".fatbin"
        # As nvcc: clang's default makes wrong code of CUDA's own libraries.
        call([*common, "--cuda-device-only", "-fno-strict-aliasing", "-S",
                    source, "-o", ptx])
        call([os.path.join(self.cuda, "bin", "ptxas"), "-m64", "-O3",
                    "-lineinfo", "--gpu-name", f"sm_{self.arch}", ptx, "-o",
                    cubin])
        call([os.path.join(self.cuda, "bin", "fatbinary"), "-64",
                    "--create", fatbin, *self._images(cubin, ptx)])
        call([*common, "--cuda-host-only", "-Xclang",
                    "-fcuda-include-gpubinary", "-Xclang", fatbin, "-c", source,
                    "-o", program + ".o"])
        call([self.clang, "--driver-mode=g++", program + ".o", "-o",
                    program, "-L" + self.libraries, "-lcudart",
                    "-Wl,-rpath," + self.libraries])

    def _images(self, cubin, ptx):
        release = call([os.path.join(self.cuda, "bin", "nvcc"),
                              "--version"])
        if "release 12." in release:
            return [f"--image=profile=sm_{self.arch},file={cubin}",
                    f"--image=profile=compute_{self.arch},file={ptx}"]
        return [f"--image3=kind=elf,sm={self.arch},file={cubin}",
                f"--image3=kind=ptx,sm={self.arch},file={ptx}"]

    def _plain(self, source, program, extra):
        """`reconverge cc` as a user types it."""
        call([self.reconverge, "cc", *extra, source, "-o", program])

    def _reconverge(self, source, program, extra):
        keep = program + ".keep"
        os.makedirs(keep, exist_ok=True)
        call([self.reconverge, "cc", "-O3", f"-arch=sm_{self.arch}",
                    "-std=c++17", f"--cuda-path={self.cuda}", *extra,
                    f"--keep={keep}", source, "-o", program])
        stem = os.path.splitext(os.path.basename(source))[0]
        for extension in (".cubin", ".ptx"):
            made = os.path.join(keep, stem + extension)
            if os.path.exists(made):
                os.replace(made, program + extension)
