# What people type. Everything else is Cargo's: see README.md.

CARGO := cargo
RELEASE := target/release
# What is measured, and what is installed, is built with more care, which takes minutes.
MEASURED := target/measured
MEASURE := $(CARGO) build --locked --profile measured
INSTALLED := target/installed
# Without the paths of whoever builds: the same sources give the same programs in any folder.
REMAP = --remap-path-prefix=$(CURDIR)=weft --remap-path-prefix=$(or $(CARGO_HOME),$(HOME)/.cargo)/registry/src=crates
INSTALL = RUSTFLAGS="$$RUSTFLAGS $(REMAP)" $(CARGO) build --locked --profile installed

# What the demo builds; `cargo run -p xtask -- demo` counts its crates and its seconds.
DEMO := --package weft-command --package weft-asp --bin weft --bin asp --features weft-command/pure-rust

# What people run, which lies in one folder: there `weft` finds all else. `weft-net` is what it has AF_XDP by: it is the one
# that may be given capabilities (docs/guide/hosts.md). All others are one file of many names, which are hard links.
COMMANDS := weft weft-net weft-programs
PROGRAMS := weft-inspect weft-sim weft-bench weft-compare weft-application orcac asp awari qr sor leq tsp puzzle weft-game fft radix lu barnes water weft-example
HEADERS := weft.h weft-objects.h weft-sim.h weft-game.h
BINS := $(addprefix --package ,weft-command weft-net weft-programs) $(addprefix --bin ,$(COMMANDS))
# Gives the file its names.
LINK = for program in $(PROGRAMS); do ln -f $(1)/weft-programs $(1)/$$program || exit; done

# How long `make fuzz` runs each target, and which targets: all of them unless some are named.
FUZZ_SECONDS := 60
FUZZ_TARGETS := $(patsubst testing/fuzz/corpus/%,%,$(sort $(wildcard testing/fuzz/corpus/*)))
FUZZ_FOLDERS := --fuzz-dir testing/fuzz/cargo-fuzz --target-dir target/fuzz

# Tests that Miri runs, a hundred to a thousand times slower than they are: docs/internals/unsafe.md says why these.
MIRI := PROPTEST_CASES=4 MIRIFLAGS='-Zmiri-disable-isolation -Zmiri-permissive-provenance' \
    $(CARGO) +nightly miri test --locked --target-dir target/miri
MIRI_PACKETS := packets::a_full_pool_is packets::a_job_of_one packets::a_rank_that_computes packets::a_waiting_rank \
    packets::kept_packets puts::a_rank_may_be puts::buffers_and

# Tests with threads, for the thread sanitizer. Its ranks have their shared memory at one address, and so no heap that others map.
TSAN := RUSTFLAGS='-Zsanitizer=thread --cfg tsan' $(CARGO) +nightly test --locked -Zbuild-std --target-dir target/tsan \
    --target $(shell rustc -vV 2>/dev/null | sed -n 's/^host: //p')

# How often `make soak` runs the tests that race.
SOAK_RUNS := 100

# Where `make dist` puts what is given to others.
DIST := target/dist

# Where `make install` puts things, and below which other root.
PREFIX := /usr/local
DESTDIR :=
VERSION := $(shell sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
BINDIR := $(PREFIX)/bin
LIBDIR := $(PREFIX)/lib
# Where `weft mpirun` looks for the libfabric provider: in `lib` beside the folder of the commands.
PROVIDERS := $(patsubst %/bin,%/lib,$(BINDIR))/libfabric
SHARE := $(DESTDIR)$(PREFIX)/share
MAN3 := $(SHARE)/man/man3
CMAKE := $(LIBDIR)/cmake/Weft
# Crates that programs in Rust depend on, which come as sources: those of a registry, but for what commands are made of.
CRATES := $(filter-out report apps/common cli cli/inspect,$(patsubst %/Cargo.toml,%,$(shell grep -sL '^publish' */Cargo.toml */*/Cargo.toml)))
SOURCE := $(SHARE)/weft/source
# Says where it is to what other people's builds find it by.
FILL = sed -e 's|@prefix@|$(PREFIX)|' -e 's|@libdir@|$(patsubst $(PREFIX)/%,$${prefix}/%,$(LIBDIR))|' -e 's|@version@|$(VERSION)|' \
    -e "s|@include@|$$(realpath -m --relative-to=$(CMAKE) $(PREFIX)/include)|"
PAGES := $(wildcard bindings/c/man/*.3)
# A page has a link for each function that it describes.
PAGE_LINKS = $(foreach page,$(PAGES),$(shell sed -n 's/^\.Nm \([a-z_]*\).*/\1:$(notdir $(page))/p' $(page)))

# Where `make mpi-apps` puts MPI programs, and the compiler that makes them.
MPI_APPS := target/mpi
MPICC := mpicc

# What counts instructions.
COUNT := target/measured/weft-count

.PHONY: help setup build demo mpi-apps bench-collectives test test-loom test-lints test-mpi bench count count-keep count-build compare paper study study-ranks study-hosts soak miri tsan fuzz fuzz-keep clean install build-installed install-files dist dist-files test-dist uninstall

help:
	@echo 'make demo    build what it takes, and run the main example on 4 ranks; needs a C compiler and cargo'
	@echo 'make build   build all commands and programs in $(RELEASE)'
	@echo 'make mpi-apps   build ten MPI programs (asp, cg, is, mg, qr, sor, transpose, wave, and in Fortran sparse, sweep) in target/mpi, and what they need to run on Weft'
	@echo 'make test    set up what is missing, and run every test'
	@echo 'make test-mpi  MPI programs on Weft, with the MPICH, the Open MPI and the Intel MPI of PyPI, tests of libfabric, MPICH and mpi4py that others publish, and LAMMPS, mpi4py-fft, h5py and PETSc; installs all of it below target/mpi'
	@echo 'make bench   measure this machine: each figure beside its floor (leave it alone meanwhile); builds in $(MEASURED), as all that measures'
	@echo 'make bench-collectives   collectives of 4 and 8 ranks by Weft and by Open MPI itself, in turns'
	@echo 'make count   instructions of each step of a packet, a message, a call ..., counted by callgrind, beside those of bench/instructions.toml; count-keep writes them there'
	@echo 'make compare   the same beside Open MPI, MPICH, UCX, libfabric and TCP, in memory and on Ethernet; draws compare.svg'
	@echo 'make paper   measure the tables and figures of the papers again, in the simulator and some here; writes docs/paper'
	@echo 'make study   ten applications under six protocols on 64 simulated ranks, checked (chapter 8 of the thesis); writes docs/paper/applications.md'
	@echo 'make study-ranks   the ten under four protocols on up to 1,024 simulated ranks; its part of that page'
	@echo 'make study-hosts   the ten on two and four network namespaces over udp and xdp, as root; its part of that page'
	@echo 'make soak    the long tests, some hours: a billion packets on bad simulated networks, ranks killed 200 times, three of eight in each of 1,000 farms that go on and of 1,000 jobs that do a bit of everything, any process of a job 10,000 times, jobs on two hosts ended in seven ways, 1,024 ranks started and ended on 256 hosts, 100 million frames past a man in the middle, all states of larger worlds, 7,000 programs on simulated regions, ten million messages over bad UDP, races run a hundred times, storms of all systems of a rank by a thousand seeds in the simulator and on real links, histories of shared objects of a thousand random programs, ten million objects made and deleted, tuple spaces of a thousand whose ranks are killed, databases of Awari of up to 13 stones, published instances of the 15-puzzle'
	@echo 'make miri    modules with unsafe code under Miri, which finds undefined behaviour; make tsan: tests with threads under the thread sanitizer (both take the nightly compiler, and soak runs them)'
	@echo 'make fuzz    everything that reads foreign bytes, fed with what libFuzzer makes up (nightly compiler)'
	@echo 'make fuzz-keep   add to the corpus what reached new code'
	@echo 'make install put commands, libweft, its headers, manual pages, completions for shells and the libfabric provider below PREFIX (/usr/local); uninstall removes them'
	@echo 'make dist    packages in target/dist: Debian, a tarball, sources, and what RPM, Spack and Docker need, with checksums, licences and a bill of materials; builds as install does. dist-files RELEASE=$(RELEASE) only packages, test-dist tries the packages in a root of their own'
	@echo 'make setup   only set up what is missing for everything; ./setup demo, build, bench, compare, mpi-apps, paper, dist, fuzz, miri or tsan for so much'
	@echo 'make clean   remove what was built'
	@echo
	@echo 'then: make build; $(RELEASE)/weft run --help, $(RELEASE)/weft sim --help'

setup:
	@./setup

build:
	@./setup build
	@$(CARGO) build --locked --release $(BINS)
	@$(call LINK,$(RELEASE))

# Only what the demo runs.
demo:
	@./setup demo
	@bash -c 'TIMEFORMAT="built in %R s, by %U + %S s of processor time"; time $(CARGO) build --locked --profile demo $(DEMO)'
	@target/demo/weft run -n 4 -- asp --from AMS --to HBA --speedup --map asp-map.svg

# Plain MPI programs, and the provider by which they run on Weft: target/release/weft mpirun -n 4 target/mpi/asp
mpi-apps:
	@MPICC="$(MPICC)" ./setup mpi-apps
	@$(CARGO) build --locked --release --bin weft
	@$(CARGO) build --locked --release --package weft-libfabric --package weft-libfabric-host
	@$(MAKE) --no-print-directory -C apps/mpi MPICC="$(MPICC)" OUT="$(CURDIR)/$(MPI_APPS)"

# Tests wait more than they compute. On what they leave of the cores, the other checks are built. Tests interrupt launchers, which
# leave ignored what whoever started them ignores, as shells do for what they start in the background.
test: setup
	$(CARGO) build --locked --workspace --all-targets
	env --default-signal=INT,QUIT target/debug/xtask test --beside make --no-print-directory --jobs 2 --output-sync CARGO='MAKEFLAGS= $(CARGO)' \
	    test-lints test-loom count-build
	$(COUNT) --check

# What threads share without a lock is checked once more under loom, in all orders in which cores may see it. It is built
# apart from all else.
test-loom:
	RUSTFLAGS='--cfg loom' $(CARGO) test --locked --package weft-link-shm --package weft-endpoint --package weft-collective \
	    --lib --target-dir target/loom loom_checks

test-lints:
	@if $(CARGO) clippy --version >/dev/null 2>&1; then \
	    $(CARGO) clippy --locked --workspace --all-targets -- --deny warnings; \
	else echo 'lints not checked: cargo has no clippy here (rustup component add clippy)'; fi
	$(CARGO) run --locked --quiet --package xtask -- deny

# The libfabric 2.x that is inside PyPI's MPICH.
WITH_TODAYS_LIBFABRIC := WEFT_LIBFABRIC=$(CURDIR)/target/mpi/mpich/lib/mpich/libfabric.so.1

# Not among the tests of CI: it installs what other people have published. docs/internals/suites.md says what there is.
test-mpi: setup
	bindings/libfabric/tests/install-suites
	$(CARGO) build --locked --package weft-command --package weft-libfabric --package weft-libfabric-host
	$(CARGO) test --locked --package weft-libfabric --features pypi --test programs \
	    -- pypi:: suites:: applications:: --test-threads 1 --nocapture
	$(CARGO) build --locked --workspace --bins
	$(WITH_TODAYS_LIBFABRIC) $(CARGO) test --locked --package weft-link-conformance --features pypi --test it -- fabric::
	$(WITH_TODAYS_LIBFABRIC) $(CARGO) test --locked --package weft-command --features pypi --test it -- fabric:: --test-threads 1

bench:
	@./setup bench
	@$(MEASURE) --bin weft --bin weft-bench --bin weft-net
	@$(MEASURED)/weft bench latency
	@$(MEASURED)/weft bench rate
	@$(MEASURED)/weft bench bandwidth
	@$(MEASURED)/weft bench fetch-add
	@$(MEASURED)/weft bench multicast
	@$(MEASURED)/weft bench barrier
	@$(MEASURED)/weft bench all-reduce
	@$(MEASURED)/weft bench message
	@$(MEASURED)/weft bench stream
	@for link in shm udp; do $(MEASURED)/weft bench rendezvous --link $$link --rounds 101 || exit; done
	@$(MEASURED)/weft bench upcalls
	@$(MEASURED)/weft bench rpc
	@$(MEASURED)/weft bench rpc-rate
	@$(MEASURED)/weft bench order
	@$(MEASURED)/weft bench linda
	@$(MEASURED)/weft bench region
	@$(MEASURED)/weft bench region -n 6
	@$(MEASURED)/weft bench loggp
	@$(MEASURED)/weft bench poll -n 2
	@$(MEASURED)/weft bench poll -n 64
	@$(MEASURED)/weft bench fairness
	@for size in 8 64 1400; do $(MEASURED)/weft bench message --link udp --size $$size || exit; done
	@$(MEASURED)/weft bench latency --link udp
	@$(MEASURED)/weft bench rate --link udp --size 64
	@$(MEASURED)/weft bench bandwidth --link udp
	@$(MEASURED)/weft bench rpc --link udp
	@for link in udp xdp; do $(MEASURED)/weft bench region --link $$link || exit; done
	@for link in udp xdp; do $(MEASURED)/weft bench fairness --link $$link || exit; done
	@for link in udp xdp; do $(MEASURED)/weft bench authentication --link $$link || exit; done
	@for link in udp xdp; do $(MEASURED)/weft bench after-pause --link $$link || exit; done
	@$(MEASURED)/weft bench coexist --link udp
	@$(MEASURED)/weft bench coexist --link xdp
	@$(MEASURED)/weft bench hostile
	@$(MEASURED)/weft bench congestion

# No machine disturbs these: they may be counted beside anything else.
count: count-build
	@$(COUNT)

count-keep: count-build
	@$(COUNT) --write

# The libfabric provider is counted, too. Both are built at once and as wholes: pieces that are kept from the last time make
# other figures.
count-build:
	@./setup test
	@CARGO_INCREMENTAL=0 $(CARGO) build --locked --quiet --profile measured --package weft-count --package weft-libfabric

bench-collectives:
	@./setup compare
	@$(MEASURE) --bin weft
	@$(MEASURE) --package weft-libfabric --package weft-libfabric-host
	@for ranks in 4 8; do bench/peers/collectives.sh $$ranks || exit; done

# Network namespaces make the Ethernet, which takes root.
compare:
	@./setup compare
	@$(MEASURE) --bin weft --bin weft-compare --bin weft-net
	@$(MEASURE) --package weft-libfabric --package weft-libfabric-host
	@$(MEASURED)/weft compare --plot compare.svg

paper:
	@./setup paper
	@$(MEASURE) --quiet $(BINS)
	@$(call LINK,$(MEASURED))
	@$(CARGO) run --locked --profile measured --quiet --package weft-paper

# The applications of the thesis's chapter 8 on 64 simulated ranks, some minutes on two cores.
study:
	@./setup paper
	@$(CARGO) run --locked --release --quiet --package weft-paper -- --applications

# The same on more ranks, and under other protocols.
study-ranks:
	@./setup paper
	@$(CARGO) run --locked --release --quiet --package weft-paper -- --beyond

# The same on two and four network namespaces over UDP and AF_XDP, which takes root.
study-hosts:
	@./setup paper
	@$(MEASURE) --quiet $(BINS)
	@$(call LINK,$(MEASURED))
	@$(CARGO) run --locked --profile measured --quiet --package weft-paper -- --on-hosts

soak:
	@./setup bench
	@$(MEASURE) --quiet --package weft-soak
	@$(MEASURED)/weft-soak --packets 1000000000 --faults 300000000 --minutes 25
	@$(MEASURED)/weft-soak --adaptive --packets 1 --faults 0
	WEFT_LOSS_RUNS=200 $(CARGO) test --locked --release --package weft-command --test it -- loss:: --nocapture
	$(CARGO) build --locked --release --package weft-examples
	WEFT_FARM_RUNS=1000 $(CARGO) test --locked --release --package weft-command --test it \
	    -- farm::three_of_eight_are_lost_whoever --nocapture
	WEFT_SURVIVORS_RUNS=1000 $(CARGO) test --locked --release --package weft-command --test it \
	    -- --exact survivors::three_of_eight_are_lost_and_all_that_are_left_say_the_same --nocapture
	$(CARGO) test --locked --release --package weft-world --features soak
	WEFT_LOSS_SEEDS=1000 $(CARGO) test --locked --release --package weft-simulator --test it -- losses:: --nocapture
	$(CARGO) test --locked --release --package weft-region --features soak
	WEFT_OBJECTS_MADE=10000000 $(CARGO) test --locked --release --package weft-object --test memory
	$(CARGO) test --locked --release --package weft-messaging --features soak --test it exploration
	$(CARGO) test --locked --release --package weft-collective --features soak --lib agreement
	$(CARGO) build --locked --release --package weft-net --bin weft-net --package weft-apps --bin water
	$(CARGO) build --locked --release --package weft-libfabric --package weft-libfabric-host
	WEFT_END_RUNS=20 $(CARGO) test --locked --release --package weft-command --test it \
	    -- across::ends:: --nocapture --test-threads 1
	$(CARGO) test --locked --release --package weft-launch --test it -- tree:: --ignored --nocapture
	WEFT_STOP_S=60 $(CARGO) test --locked --release --package weft-command --test it \
	    -- resources::a_rank_that_is_stopped resources::a_rank_that_stays_stopped --nocapture
	WEFT_KILLS=10000 $(CARGO) test --locked --release --package weft-command --test it -- across::kills:: --nocapture
	WEFT_FRAMES=100000000 $(CARGO) test --locked --release --package weft-command --test it -- middle:: --nocapture
	WEFT_SYSTEM_SEEDS=1000 $(CARGO) test --locked --release --package weft-simulator --test it systems
	WEFT_OBJECT_SEEDS=1000 $(CARGO) test --locked --release --package weft-simulator --test it objects
	WEFT_OBJECT_SEEDS=1000 $(CARGO) test --locked --release --package weft-simulator --test it linda
	WEFT_SYSTEM_SEEDS=1000 $(CARGO) test --locked --release --package weft-soak --test it \
	    -- links:: --test-threads 1
	ORCA_CASES=20000 $(CARGO) test --locked --release --package weft-orca --test it robustness
	WEFT_MESSAGES=10000000 $(CARGO) test --locked --release --package weft-messaging --test it \
	    -- exactly_once::with_all_faults --nocapture
	$(CARGO) build --locked --release --package weft-command --package weft-apps
	AWARI_STONES=13 AWARI_SLOW=10 $(CARGO) test --locked --release --package weft-apps --test it \
	    -- awari::processes:: awari::values:: --nocapture
	KORF_INSTANCES=10 $(CARGO) test --locked --release --package weft-apps --test it puzzle::slow -- --nocapture
	@$(MAKE) --no-print-directory miri tsan
	@for run in $$(seq $(SOAK_RUNS)); do \
	    $(CARGO) test --locked --release --quiet --package weft-endpoint --package weft-messaging \
	        --package weft-link-conformance >target/soak.log 2>&1 || { cat target/soak.log; exit 1; }; \
	    printf '\rraces: run %d of $(SOAK_RUNS)' $$run; \
	done; echo

miri:
	@./setup miri
	$(MIRI) --package weft-link-shm --lib -- ring
	$(MIRI) --package weft-endpoint --lib -- biased
	$(MIRI) --package weft-endpoint --test it -- $(MIRI_PACKETS)
	$(MIRI) --package weft-libfabric --lib -- memory:: object::

tsan:
	@./setup tsan
	$(TSAN) --lib --tests --package weft-link-shm --package weft-endpoint --package weft-collective -- --skip puts::a_heap

# What is new goes into target/fuzz-corpus; docs/internals/fuzzing.md says what to do with it.
fuzz:
	@./setup fuzz
	@$(CARGO) +nightly --version >/dev/null 2>&1 || \
	    { echo 'fuzzing needs the nightly compiler: rustup toolchain install nightly' >&2; exit 1; }
	@$(CARGO) fuzz --version >/dev/null 2>&1 || \
	    { echo 'fuzzing needs cargo-fuzz: cargo install cargo-fuzz' >&2; exit 1; }
	$(CARGO) +nightly fuzz build $(FUZZ_FOLDERS)
	@set -e; for target in $(FUZZ_TARGETS); do \
	    echo "fuzz: $$target for $(FUZZ_SECONDS) s"; \
	    mkdir -p target/fuzz-corpus/$$target; \
	    $(CARGO) +nightly fuzz run $(FUZZ_FOLDERS) $$target target/fuzz-corpus/$$target \
	        testing/fuzz/corpus/$$target -- -max_total_time=$(FUZZ_SECONDS) -timeout=10 -max_len=2048 -verbosity=0; \
	done

# Adds to the corpus what reaches code that nothing there reaches; deletes nothing.
fuzz-keep:
	@set -e; for target in $(FUZZ_TARGETS); do \
	    mkdir -p target/fuzz-corpus/$$target; \
	    $(CARGO) +nightly fuzz run $(FUZZ_FOLDERS) $$target testing/fuzz/corpus/$$target \
	        target/fuzz-corpus/$$target -- -set_cover_merge=1 -use_counters=0 -verbosity=0; \
	done

install: build-installed
	@$(MAKE) --no-print-directory install-files RELEASE=$(INSTALLED)

# What is installed, and packaged.
build-installed:
	@./setup build
	@$(INSTALL) $(BINS)
	# By itself, or what weft bench alone can switch off in protocols would be in the libraries.
	@$(INSTALL) --package weft-c --package weft-libfabric --package weft-libfabric-host

# Only copies what is built in $(RELEASE), and writes what it says of itself: pages of commands, and completions for shells.
install-files:
	@install -d $(addprefix $(DESTDIR),$(BINDIR) $(PREFIX)/include $(LIBDIR)/pkgconfig $(CMAKE) $(PROVIDERS)/host) $(MAN3) $(SOURCE)
	@install -m 755 $(addprefix $(RELEASE)/,$(COMMANDS)) $(DESTDIR)$(BINDIR)
	@$(call LINK,$(DESTDIR)$(BINDIR))
	@install -m 644 $(addprefix bindings/c/include/,$(HEADERS)) $(DESTDIR)$(PREFIX)/include
	@cp -r --parents Cargo.toml Cargo.lock $(foreach crate,$(CRATES),$(crate)/Cargo.toml $(crate)/src $(wildcard $(crate)/machines)) $(SOURCE)
	@install -m 644 $(RELEASE)/libweft.a $(DESTDIR)$(LIBDIR)
	@install -m 755 $(RELEASE)/libweft.so $(DESTDIR)$(LIBDIR)/libweft.so.$(VERSION)
	@ln -sf libweft.so.$(VERSION) $(DESTDIR)$(LIBDIR)/libweft.so.0
	@ln -sf libweft.so.0 $(DESTDIR)$(LIBDIR)/libweft.so
	@install -m 755 $(RELEASE)/libweft_fi.so $(DESTDIR)$(PROVIDERS)/libweft-fi.so
	@install -m 755 $(RELEASE)/libweft_host.so $(DESTDIR)$(PROVIDERS)/host/libfabric.so.1
	@$(FILL) bindings/c/weft.pc.in >$(DESTDIR)$(LIBDIR)/pkgconfig/weft.pc
	@for file in WeftConfig WeftConfigVersion; do \
	    $(FILL) packaging/cmake/$$file.cmake.in >$(DESTDIR)$(CMAKE)/$$file.cmake || exit; done
	@for link in $(PAGE_LINKS); do ln -sf "$${link#*:}" "$(MAN3)/$${link%:*}.3"; done
	@rm -f $(addprefix $(MAN3)/,$(notdir $(PAGES)))
	@install -m 644 $(PAGES) $(MAN3)
	@$(RELEASE)/weft-programs pages $(SHARE)

# Packages of all kinds, with checksums, a bill of materials and licences; builds for half an hour.
dist:
	@./setup dist
	@$(MAKE) --no-print-directory build-installed
	@$(MAKE) --no-print-directory dist-files RELEASE=$(INSTALLED)

# Only packages what is built in $(RELEASE).
dist-files:
	@packaging/dist $(RELEASE) $(DIST)

# Installs what lies in $(DIST) where nothing else of Weft is, and tries it there, and builds with its crates; takes root, and
# leaves nothing.
test-dist:
	@./setup dist
	@packaging/test-dist $(DIST)
	@packaging/test-crates $(DIST)

# What is installed knows its pages.
uninstall:
	@! [ -x $(DESTDIR)$(BINDIR)/weft-programs ] || \
	    for page in $$($(DESTDIR)$(BINDIR)/weft-programs pages); do rm -f "$(SHARE)/$$page"; done
	@rm -f $(addprefix $(DESTDIR),$(addprefix $(BINDIR)/,$(COMMANDS) $(PROGRAMS)) \
	    $(addprefix $(PREFIX)/include/,$(HEADERS)) \
	    $(addprefix $(LIBDIR)/,libweft.a libweft.so libweft.so.0 libweft.so.$(VERSION) pkgconfig/weft.pc) \
	    $(addprefix $(CMAKE)/,WeftConfig.cmake WeftConfigVersion.cmake) \
	    $(PROVIDERS)/libweft-fi.so $(PROVIDERS)/host/libfabric.so.1)
	@for link in $(PAGE_LINKS); do rm -f "$(MAN3)/$${link%:*}.3"; done
	@rm -rf $(SOURCE)

clean:
	$(CARGO) clean
