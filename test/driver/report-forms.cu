// REQUIRES: reconverge
// RUN: rm -rf %t && mkdir -p %t && cd %t
// RUN: cp %s app.cu && %reconverge profile --raw app.cu -o old.json 2>&1 | FileCheck %s --check-prefix=DONE
// DONE: report: old.json

// The forms of other tools, by name or by the output's ending.
// RUN: %reconverge report old.json -o x.md && FileCheck %s --check-prefix=MARKDOWN <x.md
// MARKDOWN: ## Divergence of app.cu
// MARKDOWN: | self | total |
// MARKDOWN-NEXT: | ---: | ---: |
// MARKDOWN-NEXT: % | app.cu:{{[0-9]+}} T % 3 == 0 | thirds |
// MARKDOWN-NEXT: % | app.cu:{{[0-9]+}} A\[T\] \> 7 | halves |
// RUN: %reconverge report old.json --format csv | FileCheck %s --check-prefix=CSV
// CSV: self,total,recoverable_in_warp
// CSV-NEXT: app.cu",{{[0-9]+}},{{[0-9]+}},"T % 3 == 0",1,"thirds",
// CSV-NEXT: app.cu",{{[0-9]+}},{{[0-9]+}},"A[T] > 7",1,"halves",
// RUN: %reconverge report old.json -o x.speedscope.json && FileCheck %s --check-prefix=FLAMES <x.speedscope.json
// FLAMES: "$schema": "https://www.speedscope.app/file-format-schema.json"
// FLAMES: app.cu:{{[0-9]+}} A[T] > 7
// RUN: %reconverge report old.json --format sarif | FileCheck %s --check-prefix=SARIF
// SARIF: "version": "2.1.0"
// SARIF: "ruleId": "divergent-branch"
// SARIF: "uri": "app.cu"

// Remarks, as LLVM's own tools read them.
// RUN: %reconverge report old.json -o x.opt.yaml && FileCheck %s --check-prefix=REMARK <x.opt.yaml
// REMARK: --- !Missed
// REMARK-NEXT: Pass: reconverge
// REMARK-NEXT: Name: DivergentBranch
// REMARK: Function: _Z6thirdsPi
// REMARK-NEXT: Hotness: {{[1-9]}}
// REMARK-NEXT: Args:
// REMARK-NEXT: - Condition: 'T % 3 == 0
// RUN: llvm-remarkutil count --parser=yaml --group-by=function x.opt.yaml | FileCheck %s --check-prefix=COUNTED
// COUNTED: _Z6thirdsPi,{{[1-9]}}
// RUN: opt-viewer --no-highlight -o pages x.opt.yaml >viewed.txt
// RUN: FileCheck %s --check-prefix=VIEWED <pages/index.html
// VIEWED: app.cu.html#L
// VIEWED: thirds(int*)

// A report that is written anew is the report, and the raw form stays.
// RUN: %reconverge report old.json -o again.json && diff old.json again.json
// RUN: grep -c '"vectors"' old.json && grep -c '"trace"' old.json

// The source with its margin, by any name of the file.
// RUN: %reconverge report old.json --annotate %t/app.cu | FileCheck %s --check-prefix=MARGIN
// MARGIN: self total slots lanes line
// MARGIN: {{^ +[0-9.]+% +[0-9.]+% +[0-9]+}} if (A[T] > 7)
// MARGIN-NEXT: {{^ +[0-9.]+% +24.0 +[0-9]+}} A[T] =
// RUN: not %reconverge report old.json --annotate %S/Inputs/../report-forms.cu --kernel none 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: --kernel=none: no kernel of old.json matches

// As many as were asked for, and the kernels that were.
// RUN: %reconverge report old.json --top 1 | FileCheck %s --check-prefix=TOP
// TOP-NOT: halves
// TOP: app.cu:{{[0-9]+}} T % 3 == 0
// TOP: and 1 more place
// RUN: %reconverge report old.json --kernel 'thi' | FileCheck %s --check-prefix=KERNEL
// KERNEL-NOT: halves
// KERNEL: 100.0% {{.*}}
// KERNEL: note: shares are of the 1 of 2 kernels that match thi

// Before and after: lines have moved, one kernel is new, one branch is gone.
// RUN: sed -e '1s/^/\n/' -e 's/A.T. > 7/A[T] > 15/' -e 's/thirds/fresh/' app.cu > new.cu && mv new.cu app.cu
// RUN: %reconverge profile app.cu -o new.json 2>/dev/null
// RUN: %reconverge diff old.json new.json | FileCheck %s --check-prefix=DIFF
// DIFF: Divergence of app.cu, before and after
// DIFF: slots before after change CFE before after model kernel
// DIFF-NEXT: same {{.*}} halves
// DIFF-NEXT: - {{.*}} new {{.*}} fresh
// DIFF-NEXT: {{.*}} - gone {{.*}} thirds
// DIFF: lost before after change self before after branch
// DIFF-DAG: new {{.*}} app.cu:{{[0-9]+}} A[T] > 15
// DIFF-DAG: gone {{.*}} app.cu:{{[0-9]+}} A[T] > 7
// DIFF: and 1 branch as before
// RUN: %reconverge diff old.json old.json -o same.txt && FileCheck %s --check-prefix=SAME <same.txt
// SAME: Every branch loses what it lost.
// The same in other forms, by name or by the output's ending.
// RUN: %reconverge diff old.json new.json -o diff.md && FileCheck %s --check-prefix=DIFFMD <diff.md
// DIFFMD: ## Divergence of app.cu, before and after
// DIFFMD: | gone | {{.*}} | thirds |
// DIFFMD: | new | {{.*}} | app.cu:{{[0-9]+}} A\[T\] \> 15 |
// RUN: %reconverge diff old.json new.json --format json >diff.json && FileCheck %s --check-prefix=DIFFJSON <diff.json
// DIFFJSON: "schema": "reconverge-diff/1"
// DIFFJSON: "display": "halves
// RUN: not %reconverge diff old.json new.json -o diff.html 2>&1 | FileCheck %s --check-prefix=DIFFHTML
// DIFFHTML: error: diff: no form that diff.html would have
// DIFFHTML-NEXT: It writes text, .md and .json; or say --format.
// RUN: not %reconverge diff old.json new.json --format csv 2>&1 | FileCheck %s --check-prefix=DIFFCSV
// DIFFCSV: error: 'csv' is no value of --format
// DIFFCSV-NEXT: Write one of text, markdown, json.
// RUN: not %reconverge diff old.json new.json --from json 2>&1 | FileCheck %s --check-prefix=DIFFSLIP
// DIFFSLIP: error: unknown option --from
// DIFFSLIP-NEXT: reconverge diff --help lists the options.

// RUN: not %reconverge diff old.json app.cu 2>&1 | FileCheck %s --check-prefix=BAD
// BAD: error: app.cu:{{.*}}

// Nothing is written where it cannot be whole.
// RUN: not %reconverge report old.json --annotate nowhere.cu -o x.txt 2>&1 | FileCheck %s --check-prefix=GONE
// RUN: not ls x.txt
// GONE: error: {{.*}}nowhere.cu

#include <cuda_runtime.h>

__global__ void halves(int *A) {
  const int T = threadIdx.x;
  if (A[T] > 7)
    A[T] = A[T] * A[T] / 3 + A[T] / 5;
}

__global__ void thirds(int *A) {
  const int T = threadIdx.x;
  if (T % 3 == 0)
    A[T] = A[T] * A[T] / 7 + A[T] / 11;
}

int main() {
  int Host[32], *A;
  for (int I = 0; I < 32; ++I)
    Host[I] = I;
  cudaMalloc(&A, sizeof(Host));
  cudaMemcpy(A, Host, sizeof(Host), cudaMemcpyHostToDevice);
  halves<<<1, 32>>>(A);
  thirds<<<1, 32>>>(A);
  return cudaDeviceSynchronize();
}
