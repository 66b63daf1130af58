# The front door: installs missing packages and calls CMake and Ninja, which do the work.
BUILD ?= build
PREFIX ?= /usr/local
CMAKE_FLAGS ?=
export BUILD CMAKE_FLAGS

all: build

help:
	@echo "make            build build/rejfilt and the libraries"
	@echo "make demo       watch a filter track a drifting frequency; leaves demo.svg"
	@echo "make test       build and run the tests; CTEST=\"-R '^live$$'\" passes options on"
	@echo "make check      lists more looks at the code: sanitizers, fuzzing, valgrind, coverage, faults, ...; KIND=fuzz WORDS=\"SECONDS=600 records\" is one"
	@echo "make bench      how fast it is; writes build/bench.json; WHICH=python, cuda: beside QInfer, on a GPU"
	@echo "make evidence   the figures of the book: WHICH=accuracy, beliefs, calibration, chips, compare, trust (hours) or mnist DATA=directory"
	@echo "make reproduce  the paper's claims, checked: reproduce/report.html; WHICH=\"kappa theory\": some, MODE=--list, MODE=--full for all trials, DATA=directory of MNIST"
	@echo "make ports      firmwares on simulated chips, the wasm module and hardware, against their budgets; WHICH=avr, cortex-m, riscv, wasm, hdl, hdl-demo: one"
	@echo "make amalgamation  the cores as pairs of files to copy into a firmware, in dist/"
	@echo "make site       the playground page in build/site; tools/serve.py shows it"
	@echo "make python     the Python package: a wheel in dist/"
	@echo "make install    install under PREFIX ($(PREFIX)); DESTDIR is honoured; make uninstall removes it"
	@echo "make deb        a Debian package, in dist/; make dist: the last commit as a source tarball, the same bytes each time"
	@echo "make book       the book as a website with search and the API reference, in $(BUILD)/book"
	@echo "make pictures   draw the pictures of docs/ again, minutes; WHICH=gallery: those of docs/gallery/"
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

check:
	@tools/check $(KIND) $(WORDS)

mutants:
	@tools/check mutants $(ONLY)

bench evidence ports pictures:
	@tools/measure $@ $(WHICH)

reproduce: build python
	@tools/python lab $(BUILD) dist reproduce $(WHICH) $(MODE) $(if $(DATA),--data $(DATA))

site:
	@tools/need build wasm serve
	@cmake -S . -B $(BUILD) -G Ninja $(CMAKE_FLAGS) -DRF_WASM=ON > /dev/null
	@cmake --build $(BUILD) --target rejfilt_site

amalgamation:
	@tools/need amalgamation
	@python3 tools/amalgamate.py dist

# the library already in $(BUILD) is used: its kernels take most of the compile time
python: configure
	@tools/need python
	@cmake --build $(BUILD) --target rejfilt_static rejfilt
	@tools/python wheel $(BUILD) dist

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

book:
	@tools/need docs book
	@python3 tools/book.py $(BUILD)/book-pages $(BUILD)/book
	@echo $(BUILD)/book/index.html

clean:
	@rm -rf build build-* dist demo.svg reproduce

.PHONY: all help configure build demo test check mutants bench evidence ports pictures reproduce site amalgamation python install uninstall deb dist book clean
