//! `make install` puts everything where C programs find it, and `make uninstall` takes it away.
//!
//! What is installed is built with the workspace (`make test` does that first).

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tempfile::TempDir;

/// Turns of installations: one of a debug build takes more than a gigabyte.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// An installation below a folder of its own.
struct Installation {
    root: TempDir,
    _turn: MutexGuard<'static, ()>,
}

impl Installation {
    fn new() -> Self {
        let turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let installation = Installation { root: tempfile::tempdir().unwrap(), _turn: turn };
        installation.make("install-files");
        installation
    }

    fn make(&self, target: &str) {
        let test = std::env::current_exe().unwrap();
        let built = test.ancestors().nth(2).unwrap();
        let mut make = Command::new("make");
        make.arg(target).arg("PREFIX=/opt/weft").arg(format!("RELEASE={}", built.display()));
        make.arg(format!("DESTDIR={}", self.root.path().display()));
        run(make.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")));
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join("opt/weft").join(name)
    }

    /// Answer of `pkg-config` about the installed library.
    fn ask(&self, questions: &[&str]) -> Vec<String> {
        let mut command = Command::new("pkg-config");
        command.args(questions).arg("weft");
        command.env("PKG_CONFIG_PATH", self.path("lib/pkgconfig"));
        command.env("PKG_CONFIG_SYSROOT_DIR", self.root.path());
        run(&mut command).split_whitespace().map(str::to_owned).collect()
    }

    /// Compiles an example with these flags behind it, and returns its path.
    fn compile(&self, flags: &[String]) -> PathBuf {
        let program = self.root.path().join("program");
        let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/hello.c");
        run(Command::new("cc").arg(example).arg("-o").arg(&program).args(flags));
        program
    }

    /// Runs a program on two ranks with the installed `weft`.
    fn run(&self, program: &Path) -> Vec<String> {
        let mut command = Command::new(self.path("bin/weft"));
        command.args(["run", "-n", "2", "--"]).arg(program);
        let text = run(command.env("LD_LIBRARY_PATH", self.path("lib")));
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    }
}

/// Runs a command and returns what it wrote; it has to succeed.
fn run(command: &mut Command) -> String {
    let output = command.stdin(Stdio::null()).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{errors}", output.status);
    String::from_utf8(output.stdout).unwrap()
}

const GREETINGS: [&str; 1] = ["rank 0 hears from rank 1: good morning"];

#[test]
fn an_installed_library_is_found_linked_and_run() {
    let installation = Installation::new();
    assert_eq!(installation.ask(&["--modversion"]), [env!("CARGO_PKG_VERSION")]);
    let program = installation.compile(&installation.ask(&["--cflags", "--libs"]));
    let needed = run(Command::new("readelf").arg("-d").arg(&program));
    assert!(needed.contains("Shared library: [libweft.so.0]"), "{needed}");
    assert_eq!(installation.run(&program), GREETINGS);
}

#[test]
fn a_program_links_statically_with_what_pkg_config_says() {
    let installation = Installation::new();
    let library = installation.path("lib/libweft.so");
    std::fs::remove_file(library).unwrap();
    let program = installation.compile(&installation.ask(&["--static", "--cflags", "--libs"]));
    let needed = run(Command::new("readelf").arg("-d").arg(&program));
    assert!(!needed.contains("libweft"), "{needed}");
    assert_eq!(installation.run(&program), GREETINGS);
}

#[test]
fn each_function_has_a_page() {
    let installation = Installation::new();
    let page = std::fs::read_to_string(installation.path("share/man/man3/weft_port_send.3"));
    assert!(page.unwrap().contains(".Dt WEFT_PORT 3"));
    let page = installation.path("share/man/man3/weft_port.3");
    assert!(page.symlink_metadata().unwrap().is_file());
}

#[test]
fn nothing_is_left_after_uninstalling() {
    let installation = Installation::new();
    installation.make("uninstall");
    let left = run(Command::new("find").arg(installation.path("")).args(["!", "-type", "d"]));
    assert_eq!(left, "");
}
