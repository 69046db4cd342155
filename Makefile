# The front door: everything here works from a fresh checkout.
#
#   make run           set up, build the tool, profile the bitonic sort and
#                      optimise it
#   make test          set up, build with what trains nets, run every test
#   make test-slow     the lit tests that take minutes: all of CUB and Thrust
#   make bench         set up, build, measure the warp VM
#   make mutate        set up, build, feed 2,000 damaged inputs to every reader
#   make bundle        the archive to unpack and run elsewhere, in build/
#   make build         set up and build into build/: the tool and all tests
#   make tool          set up and build the tool alone
#   make format-check  is every C++ file as clang-format wants it?
#   make clean
JOBS ?= $(shell nproc)
BUILD := build
# What a build needs beyond the least; all else works without.
WITH :=

.PHONY: run test test-slow bench bundle mutate build tool configure setup format-check clean

run: tool
	$(BUILD)/bin/reconverge profile examples/bitonic/bitonic.cu
	$(BUILD)/bin/reconverge optimize examples/bitonic/bitonic.cu -o $(BUILD)/bitonic --decisions $(BUILD)/decisions.json

test: WITH := train
test: build
	-utils/setup.sh web-test
	utils/setup.sh bundle
	python3 utils/run-tests.py --jobs $(JOBS) $(BUILD)

test-slow: build
	LIT_OPTS="--param slow=1 --filter=-more" ctest --test-dir $(BUILD) -R '^lit-' --output-on-failure --timeout 3600

bench: build
	utils/setup.sh bench
	cmake --build $(BUILD) --target bench

bundle: build
	utils/setup.sh bundle
	utils/bundle.sh $(BUILD)

mutate: build
	python3 utils/mutate.py --reconverge $(BUILD)/bin/reconverge --jobs $(JOBS)

build: configure
	cmake --build $(BUILD) -j $(JOBS)

tool: configure
	cmake --build $(BUILD) -j $(JOBS) --target tool

configure: setup
	cmake --preset release -DRECONVERGE_CUDA_PATH="$$(utils/find-cuda.sh)" --log-level=WARNING \
	  $(if $(WITH),-DRECONVERGE_TRAIN=ON)

setup:
	utils/setup.sh build
	utils/setup.sh web
	$(if $(WITH),utils/setup.sh $(WITH))

format-check:
	utils/setup.sh format
	find src tools plugin unittests benchmarks examples include -name '*.cpp' -o -name '*.cuh' -o -name '*.h' -o -name '*.c' -o -name '*.cu' \
	  | grep -v /overlay/ | sort | xargs clang-format-19 --dry-run --Werror

clean:
	rm -rf $(BUILD) build-sanitize
