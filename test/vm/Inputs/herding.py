# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What herding has done to the counts of herding.cu."""

import json
import sys

policies = [json.load(open(path))["policy"] for path in sys.argv[1:]]
assert policies == ["frontier", "herd-both"], policies
plain, herded = ({kernel["name"]: kernel for kernel in json.load(open(path))["kernels"]}
                 for path in sys.argv[1:])


def splits(kernel):
    return sum(branch["splits"] for branch in kernel["branches"])


def sectors(kernel):
    return [access["sectors"] for access in kernel["accesses"]
            if access["use"] == "load"]


def of(kernels, name):
    return next(kernel for key, kernel in kernels.items() if name in key)


for name in ("rounds", "unsafe"):
    assert splits(of(plain, name)) > 0, name
assert splits(of(herded, "rounds")) < splits(of(plain, "rounds"))
assert splits(of(herded, "arms")) < splits(of(plain, "arms"))
assert splits(of(herded, "unsafe")) == splits(of(plain, "unsafe"))
assert of(herded, "rounds")["cost"]["slots"] < of(plain, "rounds")["cost"]["slots"]
# Two warps; the first load of safe() decides an address.
index, table = sectors(of(herded, "safe"))
assert index == sectors(of(plain, "safe"))[0]
assert 2 <= table <= 2 * 4 < sectors(of(plain, "safe"))[1], table
assert sectors(of(herded, "unsafe")) == sectors(of(plain, "unsafe"))
