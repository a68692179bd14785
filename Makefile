# make demo    set up, compile rodinia/hotspot for the CPU, run and check it, show its kernel's parallel form and its
#              alternatives for sm_80, with what ptxas and the model say of them
# make check   set up, pass all tests, and hold what the repository declares of its sources
# make lint    the latter alone (tools/lint.sh)
# make install PREFIX=/usr/local    what is built, into $(DESTDIR)$(PREFIX), a tree that can be moved (packaging/install.sh)
# make deb     a package of it for Debian, in target (packaging/deb.sh)
# demo and check work from a fresh Debian 12 machine with a Rust toolchain (where make is missing: tools/bootstrap.sh demo), and do no work
# twice.

LLVM := /usr/lib/llvm-22/bin
REGRAIN := target/release/regrain
LIT_ARGS ?= -sv
PREFIX ?= /usr/local
export PATH := $(LLVM):$(PATH)

.PHONY: all bootstrap build demo check lint test lit install deb clean

all: build

bootstrap:
	@tools/bootstrap.sh

build: bootstrap
	@cargo build --release --quiet --workspace $(BUILD_ARGS)
	@tools/order.sh $(BUILD_ARGS)

demo: build
	@tools/demo.sh

# The tests' own dependencies change the features of others. Built with them from the start, nothing is compiled twice.
check: BUILD_ARGS := --all-targets
check: build lint test lit
	@tools/summary.sh

lint: bootstrap
	@tools/lint.sh

test: build
	@mkdir -p target/check
	@bash -o pipefail -c 'cargo test --release --quiet --workspace 2>&1 | tee target/check/cargo.log'

lit: build
	@mkdir -p target/check
	@bash -o pipefail -c '$(LLVM)/lit $(LIT_ARGS) test 2>&1 | tee target/check/lit.log'

install: build
	@packaging/install.sh "$(PREFIX)"

deb: build
	@packaging/deb.sh

clean:
	@cargo clean
