//! Projects of `weft new`: each is made in a folder outside of this repository, built against what
//! is built here, run on 4 ranks and on 64 simulated ones, and its own tests pass.
//!
//! `weft`, `libweft` and `orcac` are built with the workspace (`make test` does that first).

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

use crate::common::built;
use crate::common::mpi::{self, open_mpis};

/// Warnings are errors: who begins with a project wants to see none.
const STRICT: &str = "CFLAGS=-std=gnu11 -O2 -Wall -Wextra -Werror -pedantic";

/// Line that a program writes on so many ranks.
fn said_on(ranks: u32) -> String {
    format!("9592 primes below 100000, the widest gap is 72 (ranks: {ranks})\n")
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

/// True if a page of the guide says that this is written.
fn is_in_guide(page: &str, written: &str) -> bool {
    fs::read_to_string(root().join("docs/guide").join(page)).unwrap().contains(written)
}

/// A folder for projects, beside a prefix in which what is built here is installed.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        let place = Place(tempfile::tempdir().unwrap());
        let prefix = place.prefix();
        for folder in ["pkgconfig", "cmake/Weft"] {
            fs::create_dir_all(prefix.join("lib").join(folder)).unwrap();
        }
        symlink(root().join("bindings/c/include"), prefix.join("include")).unwrap();
        let version = env!("CARGO_PKG_VERSION");
        for name in ["libweft.so", "libweft.so.0", &format!("libweft.so.{version}")] {
            symlink(built("libweft.so"), prefix.join("lib").join(name)).unwrap();
        }
        for (template, file) in [
            ("bindings/c/weft.pc.in", "pkgconfig/weft.pc"),
            ("packaging/cmake/WeftConfig.cmake.in", "cmake/Weft/WeftConfig.cmake"),
            ("packaging/cmake/WeftConfigVersion.cmake.in", "cmake/Weft/WeftConfigVersion.cmake"),
        ] {
            let text = fs::read_to_string(root().join(template)).unwrap();
            let text = text.replace("@prefix@", prefix.to_str().unwrap());
            let text = text.replace("@libdir@", "${prefix}/lib");
            let text = text.replace("@include@", "../../../include");
            let text = text.replace("@version@", version);
            fs::write(prefix.join("lib").join(file), text).unwrap();
        }
        place
    }

    fn prefix(&self) -> PathBuf {
        self.0.path().join("prefix")
    }

    /// Makes a project called `two-words`, and returns the lines that say what to type next.
    fn make(&self, words: &[&str]) -> Vec<String> {
        let output = weft(self.0.path(), &[&["new", "two-words"], words].concat());
        let (said, errors) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success(), "{words:?}: {errors}");
        said.lines().map(str::to_owned).collect()
    }

    /// A command in the project, which finds what is built here as if it were installed.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.0.path().join("two-words")).stdin(Stdio::null());
        command.env("PATH", path()).env("WEFT_QUIET", "1");
        command.env("PKG_CONFIG_PATH", self.prefix().join("lib/pkgconfig"));
        // Not as a make below the one that runs the tests, which says where it is.
        command.env_remove("MAKEFLAGS").env_remove("MAKELEVEL").env_remove("LD_LIBRARY_PATH");
        command
    }

    /// Runs a command in the project, which has to succeed, and returns what it wrote.
    fn run(&self, program: &str, words: &[&str]) -> String {
        succeeds(self.command(program).args(words))
    }
}

/// Folders in which commands are found, those that are built here first.
fn path() -> OsString {
    let own = built("weft").parent().unwrap().to_owned();
    let others = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths(std::iter::once(own).chain(std::env::split_paths(&others))).unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn succeeds(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let (said, errors) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{command:?}: {}\n{said}{errors}", output.status);
    said
}

fn weft(folder: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_weft"));
    command.args(words).current_dir(folder).stdin(Stdio::null());
    command.env_remove("WEFT_SOURCE").output().unwrap()
}

#[test]
fn a_program_in_c_runs_on_ranks_and_on_simulated_ones() {
    let place = Place::new();
    let next = place.make(&["--c"]);
    let expected = [
        "made two-words in C; next:",
        "  cd two-words",
        "  make",
        "  weft run -n 4 -- ./two-words",
        "  ./simulated 64",
        "  make test",
    ];
    assert_eq!(next, expected);
    place.run("make", &[STRICT]);
    assert_eq!(place.run("weft", &["run", "-n", "4", "--", "./two-words"]), said_on(4));
    assert_eq!(place.run("weft", &["run", "-n", "1", "--", "./two-words"]), said_on(1));
    let simulated = place.run("./simulated", &["64", "7", "0.01"]);
    assert!(simulated.starts_with(&said_on(64)) && simulated.contains("\ntrace "), "{simulated}");
    assert_eq!(place.run("./simulated", &["64", "7", "0.01"]), simulated);
    let on_good_network = place.run("./simulated", &["64"]);
    assert!(is_in_guide("1-ping.md", &simulated), "{simulated}");
    assert!(is_in_guide("simulating-your-own.md", &simulated), "{simulated}");
    assert!(is_in_guide("simulating-your-own.md", &on_good_network), "{on_good_network}");
    assert_ne!(place.run("./simulated", &["64", "8", "0.01"]), simulated);
    let tested = place.run("make", &["test", STRICT]);
    assert!(tested.contains(&said_on(4)), "{tested}");
    assert_eq!(tested.matches(&said_on(64)).count(), 2, "{tested}");
    place.run("make", &["clean"]);
    assert!(!place.0.path().join("two-words/simulated").exists());
}

#[test]
fn who_has_no_weft_pc_is_told_how_it_is_found() {
    let place = Place::new();
    place.make(&["--c"]);
    let mut command = place.command("make");
    let output = command.env("PKG_CONFIG_PATH", "/nowhere").env("PKG_CONFIG_LIBDIR", "/nowhere");
    let output = output.output().unwrap();
    let said = text(&output.stderr);
    assert!(!output.status.success());
    assert!(said.contains("pkg-config does not find weft: name the folder of weft.pc"), "{said}");
}

#[test]
fn cmake_and_meson_build_and_test_it() {
    let place = Place::new();
    place.make(&["--c"]);
    let prefix = format!("-DCMAKE_PREFIX_PATH={}", place.prefix().display());
    place.run("cmake", &["-B", "build", "-DCMAKE_C_FLAGS=-Werror", &prefix]);
    let found = place.run("grep", &["^Weft_DIR:", "build/CMakeCache.txt"]);
    assert!(found.trim().ends_with("lib/cmake/Weft"), "{found}");
    place.run("cmake", &["--build", "build"]);
    let tested = place.run("ctest", &["--test-dir", "build", "--verbose"]);
    assert!(tested.contains("100% tests passed, 0 tests failed out of 3"), "{tested}");
    assert!(tested.contains(&said_on(4)) && tested.contains(&said_on(64)), "{tested}");
    place.run("meson", &["setup", "meson", "--werror"]);
    let tested = place.run("meson", &["test", "-C", "meson", "--verbose"]);
    assert!(tested.contains(&said_on(4)) && tested.contains(&said_on(64)), "{tested}");
}

/// The project takes the crates from this checkout, and all others that these need from where cargo
/// has them, in the releases that are locked here. What is built of all these is kept, without what
/// debuggers want, for the next time.
#[test]
fn a_program_in_rust_runs_on_ranks_and_on_simulated_ones() {
    let place = Place::new();
    let checkout = root();
    place.make(&["--rust", "--weft", checkout.to_str().unwrap()]);
    let kept = built("weft").ancestors().nth(2).unwrap().join("new");
    let cargo = |words: &[&str]| {
        let mut command = place.command(env!("CARGO"));
        command.env("CARGO_TARGET_DIR", &kept).env("RUSTFLAGS", "-Dwarnings");
        command.env("CARGO_INCREMENTAL", "0").env("CARGO_PROFILE_DEV_DEBUG", "0");
        succeeds(command.args(words))
    };
    cargo(&["build", "--offline", "--all-targets"]);
    let program = kept.join("debug/two-words");
    let program = program.to_str().unwrap();
    assert_eq!(place.run("weft", &["run", "-n", "4", "--", program]), said_on(4));
    let simulated = kept.join("debug/examples/simulated");
    let simulated = place.run(simulated.to_str().unwrap(), &["64", "7", "0.01"]);
    assert!(is_in_guide("1-ping.md", &simulated), "{simulated}");
    assert!(is_in_guide("simulating-your-own.md", &simulated), "{simulated}");
    let found = "\nFound { primes: 9592, widest_gap: 72 } (ranks: 64)\n";
    assert!(simulated.ends_with(found), "{simulated}");
    let tested = cargo(&["test", "--offline"]);
    assert!(tested.contains("test result: ok. 3 passed; 0 failed"), "{tested}");
    cargo(&["clean", "--offline", "-p", "two-words"]);
}

#[test]
fn a_project_in_rust_takes_the_sources_that_are_named_or_installed_or_else_those_of_crates_io() {
    let folder = tempfile::tempdir().unwrap();
    // A weft that lies in no checkout, as one that is installed.
    let bin = folder.path().join("bin");
    fs::create_dir(&bin).unwrap();
    let installed = bin.join("weft");
    fs::copy(env!("CARGO_BIN_EXE_weft"), &installed).unwrap();
    let manifest = |name: &str, source: Option<PathBuf>| {
        let mut command = Command::new(&installed);
        command.args(["new", name, "--rust"]).current_dir(folder.path());
        command.env_remove("WEFT_SOURCE").envs(source.map(|source| ("WEFT_SOURCE", source)));
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        let said = text(&output.stdout).contains("are to come from crates.io; --weft PATH");
        assert_eq!(said, name == "published");
        fs::read_to_string(folder.path().join(name).join("Cargo.toml")).unwrap()
    };
    let by_path =
        |path: PathBuf| format!("weft = {{ package = \"weft-parallel\", path = {path:?} }}");
    let text = manifest("named", Some(root()));
    assert!(text.contains(&by_path(root().join("bindings/rust"))), "{text}");
    let text = manifest("published", None);
    let version = env!("CARGO_PKG_VERSION");
    let expected = format!("weft = {{ package = \"weft-parallel\", version = \"={version}\" }}");
    assert!(text.contains(&expected), "{text}");
    let source = folder.path().canonicalize().unwrap().join("share/weft/source");
    for part in ["bindings/rust", "simulator"] {
        fs::create_dir_all(source.join(part)).unwrap();
        fs::write(source.join(part).join("Cargo.toml"), "").unwrap();
    }
    let text = manifest("installed", None);
    assert!(text.contains(&by_path(source.join("bindings/rust"))), "{text}");
}

#[test]
fn a_program_in_mpi_runs_on_weft() {
    let place = Place::new();
    place.make(&["--mpi"]);
    let mut command = mpi::weft("");
    command.env("OMPI_MCA_orte_tmpdir_base", place.0.path());
    let set: Vec<_> =
        command.get_envs().map(|(name, value)| (name, value.map(OsString::from))).collect();
    let make = |goal: &str| {
        let mut make = place.command("make");
        for (name, value) in &set {
            match value {
                Some(value) => make.env(name, value),
                None => make.env_remove(name),
            };
        }
        succeeds(make.arg(goal).arg(STRICT).arg(format!("MPICC={}", open_mpis("mpicc"))))
    };
    assert!(make("run").ends_with(&said_on(4)));
    let tested = make("test");
    assert!(tested.contains(&said_on(1)) && tested.contains(&said_on(4)), "{tested}");
}

#[test]
fn a_program_in_orca_runs_on_ranks_and_on_simulated_ones() {
    let place = Place::new();
    place.make(&["--orca"]);
    let _ = built("orcac"); // Says how it is built, if it is not.
    let tested = place.run("make", &["test"]);
    for ranks in [4, 64, 16] {
        assert!(tested.contains(&said_on(ranks)), "{tested}");
    }
    place.run("make", &[]);
    assert_eq!(place.run("weft", &["run", "-n", "3", "--", "./two-words"]), said_on(3));
}

/// Words, status, and the line.
const MISTAKES: [(&[&str], i32, &str); 9] = [
    (
        &["there"],
        2,
        "the following required arguments were not provided: <--rust|--c|--mpi|--orca> (weft new --help shows examples)",
    ),
    (&["there", "--c"], 1, "there is there already: take another name, or remove it"),
    (&["a-file", "--c"], 1, "a-file is there already: take another name, or remove it"),
    (
        &["9lives", "--c"],
        1,
        "'9lives' is no name for a program: it begins with a small letter, and has up to 64 small letters, digits, - and _",
    ),
    (
        &["struct", "--rust"],
        1,
        "'struct' means something else to compilers or build tools: take another name",
    ),
    (
        &["..", "--c"],
        1,
        "'..' has no name for a program: write one such as primes, or projects/primes",
    ),
    (
        &["no/such/place", "--c"],
        1,
        "cannot make the folder no/such/place: take one that can be written: No such file or directory (os error 2)",
    ),
    (
        &["primes", "--rust", "--weft", "there"],
        1,
        "there has no sources of Weft: there is no bindings/rust/Cargo.toml; name the folder of its README.md",
    ),
    (
        &["primes", "--c", "--mpi"],
        2,
        "the argument '--c' cannot be used with '--mpi' (weft new --help shows examples)",
    ),
];

#[test]
fn a_mistake_is_one_line_and_nothing_is_made() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("there")).unwrap();
    fs::write(folder.path().join("a-file"), "").unwrap();
    for (words, status, line) in MISTAKES {
        let output = weft(folder.path(), &[&["new"], words].concat());
        assert_eq!(text(&output.stderr), format!("weft: {line}\n"), "{words:?}");
        assert_eq!((output.status.code(), &output.stdout[..]), (Some(status), &b""[..]));
    }
    assert_eq!(folder.path().read_dir().unwrap().count(), 2);
}

#[test]
fn help_has_examples_of_all_four() {
    let output = weft(Path::new("/"), &["new", "--help"]);
    let said = text(&output.stdout);
    for language in ["--rust", "--c", "--mpi", "--orca"] {
        assert!(said.contains(&format!("  weft new primes {language}")), "{said}");
    }
}
