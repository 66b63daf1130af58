# The front door. CMake and Ninja do the work; this installs what is missing and calls them.
BUILD ?= build
PREFIX ?= /usr/local
CMAKE_FLAGS ?=

all: build

help:
	@echo "make            build build/rejfilt and the libraries"
	@echo "make demo       watch a filter track a drifting frequency; leaves demo.svg"
	@echo "make test       build and run the tests"
	@echo "make sanitize   the tests under the address and undefined-behaviour sanitizers"
	@echo "make warnings   build with gcc and clang, every warning an error"
	@echo "make bench      measure speed; writes build/bench.json"
	@echo "make accuracy   measure accuracy against targets; writes build/accuracy.json"
	@echo "make reproduce  the paper's claims, checked: reproduce/report.html; MODE=--full for all trials, DATA=directory of MNIST"
	@echo "make mnist      every MNIST figure of docs/cloud.md, an hour; DATA=directory of its four files"
	@echo "make install    install under PREFIX ($(PREFIX)); DESTDIR is honoured"
	@echo "make clean      remove what was built"
	@echo "Missing Debian packages are installed by the command that needs them."

build:
	@tools/need build
	@cmake -S . -B $(BUILD) -G Ninja $(CMAKE_FLAGS) > $(BUILD).log 2>&1 || { cat $(BUILD).log; rm -f $(BUILD).log; exit 1; }; rm -f $(BUILD).log
	@cmake --build $(BUILD)

demo: build
	@tools/need plot
	@$(BUILD)/rejfilt track --simulate --steps 400 --plot demo.svg

test: build
	@tools/need test plot
	@cmake -S . -B $(BUILD) -DRF_TESTS=ON > /dev/null
	@cmake --build $(BUILD)
	@ctest --test-dir $(BUILD) --output-on-failure -j 2

sanitize:
	@tools/need build test plot
	@cmake -S . -B build-sanitize -G Ninja -DRF_TESTS=ON -DRF_SANITIZE=ON > /dev/null
	@cmake --build build-sanitize
	@ctest --test-dir build-sanitize --output-on-failure -j 2 $(CTEST)

COMPILERS ?= gcc clang

warnings:
	@tools/need build test clang
	@for cc in $(COMPILERS); do \
	  cmake -S . -B build-$$cc -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_COMPILER=$$cc -DRF_TESTS=ON -DRF_EXPERIMENTS=ON -DRF_WERROR=ON > /dev/null && cmake --build build-$$cc || exit 1; done

bench: build
	@tools/need bench
	@cmake -S . -B $(BUILD) -DRF_BENCH=ON > /dev/null
	@cmake --build $(BUILD)
	@$(BUILD)/rejfilt-bench $(BUILD)/bench.json

accuracy: build
	@cmake -S . -B $(BUILD) -DRF_EXPERIMENTS=ON > /dev/null
	@cmake --build $(BUILD)
	@$(BUILD)/rejfilt-tracking $(BUILD)/accuracy.json

reproduce: build
	@tools/need plot
	@$(BUILD)/rejfilt reproduce $(MODE) $(if $(DATA),--data $(DATA))

mnist: build
	@test -n "$(DATA)" || { echo "make mnist DATA=directory of the four files of MNIST" >&2; exit 2; }
	@tools/need test
	@python3 tools/mnist.py $(BUILD)/rejfilt $(DATA) $(BUILD)/mnist
	@cat $(BUILD)/mnist.md

install: build
	@cmake -S . -B $(BUILD) -DCMAKE_INSTALL_PREFIX=$(PREFIX) > /dev/null
	@cmake --build $(BUILD) && cmake --install $(BUILD)

clean:
	@rm -rf build build-* demo.svg reproduce

.PHONY: all help build demo test sanitize warnings bench accuracy reproduce mnist install clean
