// REQUIRES: reconverge
// RUN: rm -rf %t && mkdir -p %t && cp %s %t/app.cu && cd %t

// What passes did to device code, and remedies: a file for LLVM's tools, named
// after the object, or of a program after the source.
// RUN: %reconverge cc --meld -fsave-optimization-record -c app.cu -o x.o
// RUN: llvm-remarkutil count --parser=yaml --group-by=function x.opt.yaml | FileCheck %s --check-prefix=COUNTED
// COUNTED: _Z4armsPf,
// RUN: %reconverge cc --meld -foptimization-record-passes=reconverge app.cu -o program
// RUN: FileCheck %s <app.opt.yaml
// CHECK: --- !Passed
// CHECK-NEXT: Pass: reconverge-meld
// CHECK: DebugLoc: { File: app.cu, Line: [[@LINE+23]]
// CHECK: Function: _Z4armsPf
// CHECK-NOT: Pass: inline
// RUN: opt-viewer --no-highlight -o pages app.opt.yaml >viewed.txt && FileCheck %s --check-prefix=VIEWED <pages/index.html
// VIEWED: reconverge-meld

// The same words, the same bytes.
// RUN: %reconverge cc --meld -foptimization-record-file=again.yaml -foptimization-record-passes=reconverge -c app.cu -o y.o
// RUN: diff app.opt.yaml again.yaml

// RUN: not %reconverge cc -fsave-optimization-record=bitstream -c app.cu 2>&1 | FileCheck %s --check-prefix=FORM
// FORM: error: -fsave-optimization-record=bitstream: remarks are written as YAML
// RUN: not %reconverge cc -foptimization-record-passes='(' -c app.cu 2>&1 | FileCheck %s --check-prefix=PATTERN
// PATTERN: error: -foptimization-record-passes=(:
// RUN: not %reconverge cc -dc -fsave-optimization-record app.cu 2>&1 | FileCheck %s --check-prefix=RDC
// RDC: error: -fsave-optimization-record: relocatable device code
// RUN: not %reconverge cc -foptimization-record-file=a.yaml app.cu app.cu 2>&1 | FileCheck %s --check-prefix=TWO
// TWO: error: cc: -foptimization-record-file=a.yaml names one file, but there are 2 sources
// RUN: not %reconverge profile -fsave-optimization-record app.cu 2>&1 | FileCheck %s --check-prefix=PROFILE
// PROFILE: error: -fsave-optimization-record is an option of reconverge cc

__global__ void arms(float *X) {
  int I = threadIdx.x;
  if (X[I] > 2)
    X[I] = sqrtf(X[I] + 4) / (X[I] + 3);
  else
    X[I] = sqrtf(X[I] * 2 + 9) / (X[I] + 5);
}

int main() {}
