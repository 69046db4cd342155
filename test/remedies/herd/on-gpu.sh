#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What stop.cu tests on the warp VM, on a GPU, and what counting costs there:
#
#   test/remedies/herd/on-gpu.sh PREFIX
#
# PREFIX is an installation or an unpacked archive (make bundle); stop.cu stands
# beside this script. Needs a driver, a CUDA toolkit and a host g++, no LLVM and no
# network. Ends with "as on the warp VM" and exit code 0, or says what differs.
set -eu
prefix=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

build() { "$prefix/bin/reconverge" cc --fatbin "$@" "$here/stop.cu"; }
build -o plain
build -o herded --herd=every=1
build -o app '--herd=every=1;stop=0.1;recheck=4'
export RECONVERGE_DEVICE=gpu

failed=0
check() { # how, what it has to print
  expected=$2
  for run in 1 2 3; do
    # shellcheck disable=SC2086
    printed=$(RECONVERGE_VERBOSE=1 ./app $1 2>said)
    if [ "$printed" != "$expected" ]; then
      printf '%s, run %s: printed\n%s\nin place of\n%s\n' "$1" $run "$printed" "$expected"
      cat said
      failed=1
    fi
  done
}
changes=HHHHHHHHHHHHHH...H...H...H...H...H...HHHHHHHHHHHHHHHHHHHHHHH
within=HHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHH
check changes "$changes"
grep -q "dropped 12.5 % at most: stopped 1 times, went on again 1 times" said || {
  cat said
  failed=1
}
check "changes wait" "$changes"
check within "$within"
check streams "$changes
$within"
check threads "$changes
$within"
check graph HHHHHHHHH...

# The worst case: kernels of a few microseconds, for which nobody waits.
for program in plain herded app plain herded app; do
  printf '%s: %s\n' $program "$(./$program time)"
done
[ $failed = 0 ] && echo "as on the warp VM"
exit $failed
