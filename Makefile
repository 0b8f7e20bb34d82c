# What people type. Everything else is Cargo's: see README.md.

CARGO := cargo
RELEASE := target/release

.PHONY: help setup build demo test bench soak clean

help:
	@echo 'make demo    set up what is missing, build, and run the main example on 4 ranks'
	@echo 'make test    set up what is missing, and run every test'
	@echo 'make bench   measure this machine: each figure beside its floor (leave it alone meanwhile)'
	@echo 'make soak    the long tests: ranks killed 200 times, all states of larger worlds, races run a hundred times'
	@echo 'make setup   only set up what is missing'

setup:
	@./setup

build: setup
	@$(CARGO) build --locked --release --bin weft --bin asp --bin sor

demo: build
	@$(RELEASE)/weft run -n 4 -- asp --from AMS --to HBA --speedup --map asp-map.svg

# The ring is checked once more under loom, against all orders in which two cores may see it.
test: setup
	$(CARGO) build --locked --workspace --all-targets
	$(CARGO) test --locked --workspace
	RUSTFLAGS='--cfg loom' $(CARGO) test --locked --package weft-link-shm --lib --target-dir target/loom
	@if $(CARGO) clippy --version >/dev/null 2>&1; then \
	    $(CARGO) clippy --locked --workspace --all-targets -- --deny warnings; \
	else echo 'lints not checked: cargo has no clippy here (rustup component add clippy)'; fi

bench: build
	@$(RELEASE)/weft bench latency
	@$(RELEASE)/weft bench rate
	@$(RELEASE)/weft bench bandwidth
	@$(RELEASE)/weft bench fetch-add
	@$(RELEASE)/weft bench multicast
	@$(RELEASE)/weft bench barrier
	@$(RELEASE)/weft bench poll -n 2
	@$(RELEASE)/weft bench poll -n 64

soak: setup
	WEFT_LOSS_RUNS=200 $(CARGO) test --locked --release --package weft-cli --test loss -- --nocapture
	$(CARGO) test --locked --release --package weft-world -- --ignored
	@for run in $$(seq 100); do \
	    $(CARGO) test --locked --release --quiet --package weft-packet --package weft-messaging \
	        --package weft-link-conformance --package weft-node >target/soak.log 2>&1 || { cat target/soak.log; exit 1; }; \
	    printf '\rraces: run %d of 100' $$run; \
	done; echo

clean:
	$(CARGO) clean
