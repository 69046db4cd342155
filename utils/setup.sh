#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Makes sure that what the build needs is there.
#
#   utils/setup.sh [build|train|web|web-test|bench|bundle|format]
#
# `web` gets what the report's page is built from, by npm. Without npm, or
# without its registry, it says that the page is left out, and is content.
#
# Missing Debian packages are installed if we are root, saying so; otherwise the
# one line to run is printed. Exit code 2 if something is still missing.
set -u
cd "$(dirname "$0")/.." || exit 2

case ${1:-build} in
build) packages="clang-19 llvm-19 llvm-19-dev llvm-19-tools libclang-19-dev
  libclang-rt-19-dev lld-19 binutils cmake ninja-build make ccache python3 libeigen3-dev googletest
  libgtest-dev libbenchmark-dev libomp-dev zlib1g-dev libzstd-dev" ;;
train) packages="libdlib-dev" ;;
web) packages="" ;;
web-test) packages="chromium-headless-shell" ;;
bench) packages="pocl-opencl-icd ocl-icd-opencl-dev opencl-c-headers" ;;
bundle) packages="patchelf xz-utils" ;;
format) packages="clang-format-19" ;;
*)
  echo "usage: utils/setup.sh [build|train|web|web-test|bench|bundle|format]" >&2
  exit 2
  ;;
esac

missing_packages() {
  for package in $packages; do
    case $(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) in
    installed) ;;
    *) printf '%s ' "$package" ;;
    esac
  done
}

if command -v dpkg-query >/dev/null && command -v apt-get >/dev/null; then
  missing=$(missing_packages)
  if [ -n "$missing" ]; then
    install="apt-get -o DPkg::Lock::Timeout=300 install -y --no-install-recommends ${missing% }"
    if [ "$(id -u)" -ne 0 ]; then
      cat >&2 <<END
reconverge: error: packages are missing
  Run: sudo apt-get update && sudo $install
END
      exit 2
    fi
    echo "reconverge: installing ${missing% }"
    export DEBIAN_FRONTEND=noninteractive
    # Quiet unless it fails: then its own words say why.
    log=$(mktemp)
    # Lists of packages that are there will do, until they do not.
    if ! { $install || { apt-get update && $install; }; } >"$log" 2>&1; then
      tail -n 20 "$log" >&2
      rm -f "$log"
      cat >&2 <<END
reconverge: error: apt-get failed
  Run: apt-get update && $install
END
      exit 2
    fi
    rm -f "$log"
  fi
elif [ "${1:-build}" = build ]; then
  # Not Debian: the programs are what can be checked.
  for program in clang++-19 llvm-config-19 ld.lld-19 cmake ninja python3; do
    command -v "$program" >/dev/null && continue
    cat >&2 <<END
reconverge: error: $program is missing
  Reconverge is built on Debian 12's packages: $(echo $packages)
END
    exit 2
  done
fi

if [ "${1:-build}" = build ]; then
  utils/find-cuda.sh >/dev/null || exit 2
fi

if [ "${1:-build}" = web ]; then
  # npm writes that file last, so it says that all of the packages are there.
  if [ web/package-lock.json -ot web/node_modules/.package-lock.json ]; then
    exit 0
  fi
  why="npm is missing (Node.js 20 or later has it)"
  if command -v npm >/dev/null; then
    echo "reconverge: installing the packages of the report's page"
    log=$(mktemp)
    if npm ci --prefix web --no-audit --no-fund >"$log" 2>&1; then
      why=
      touch web/node_modules/.package-lock.json
    else
      why="npm failed: $(grep -m1 'npm error' "$log")"
    fi
    rm -f "$log"
  fi
  if [ -n "$why" ]; then
    echo "reconverge: report --format html will be off: $why" >&2
  fi
fi
