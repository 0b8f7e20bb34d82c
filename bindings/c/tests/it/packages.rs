//! Packages that `make dist-files` makes, and C programs that are built and run with what is in
//! them: the short form of `make test-dist`, of a debug build, in a folder instead of a root.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// Packages, and a file of each, without its folder's part that is this machine's.
const PACKAGES: [(&str, &str); 5] = [
    ("weft", "./usr/share/man/man1/weft-run.1.gz"),
    ("libweft0", "libweft.so.0"),
    ("libweft-dev", "cmake/Weft/WeftConfig.cmake"),
    ("weft-mpi", "./usr/lib/weft/lib/libfabric/libweft-fi.so"),
    ("weft-doc", "./usr/share/doc/weft-doc/guide/1-ping.md"),
];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Folder where Cargo left programs.
fn built() -> PathBuf {
    std::env::current_exe().unwrap().ancestors().nth(2).unwrap().to_path_buf()
}

/// Runs a command and returns what it wrote; it has to succeed.
fn run(command: &mut Command) -> String {
    let output = command.stdin(Stdio::null()).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{errors}", output.status);
    String::from_utf8(output.stdout).unwrap()
}

/// Packages everything, compressed little, and of whatever size.
fn package(folder: &Path) {
    let mut make = Command::new("make");
    make.arg("dist-files").arg(format!("RELEASE={}", built().display()));
    make.arg(format!("DIST={}", folder.display())).current_dir(repository());
    make.env("WITHOUT_CRATES", "yes")
        .env("XZ_LEVEL", "0")
        .env("LIMIT_MB", "4000")
        .env("XTASK", built().join("xtask"));
    let _ = run(&mut make);
}

/// Files in a folder, by name.
fn files(folder: &Path) -> BTreeMap<String, PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), path)).collect()
}

/// A root into which all packages are unpacked.
struct Root(TempDir);

impl Root {
    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Folder of libraries.
    fn libraries(&self) -> PathBuf {
        let triplet = run(Command::new("cc").arg("-print-multiarch"));
        self.path("usr/lib").join(triplet.trim())
    }

    /// Runs the greeting on two ranks.
    fn greet(&self, program: &Path) {
        let mut command = Command::new(self.path("usr/bin/weft"));
        command.args(["run", "-n", "2", "--"]).arg(program);
        let text = run(command.env("LD_LIBRARY_PATH", self.libraries()));
        assert_eq!(text, "rank 0 hears from rank 1: good morning\n");
    }

    fn build_by_pkg_config(&self) {
        let mut ask = Command::new("pkg-config");
        ask.args(["--cflags", "--libs", "weft"]).env("PKG_CONFIG_SYSROOT_DIR", self.0.path());
        ask.env("PKG_CONFIG_LIBDIR", self.libraries().join("pkgconfig"));
        let flags = run(&mut ask);
        let program = self.path("hello");
        let example = repository().join("bindings/c/examples/hello.c");
        let mut cc = Command::new("cc");
        let _ = run(cc.arg(example).arg("-o").arg(&program).args(flags.split_whitespace()));
        self.greet(&program);
    }

    fn build_by_cmake(&self) {
        let (sources, build) = (self.path("sources"), self.path("build"));
        fs::create_dir(&sources).unwrap();
        for file in ["packaging/trial/CMakeLists.txt", "bindings/c/examples/hello.c"] {
            let file = repository().join(file);
            let _ = fs::copy(&file, sources.join(file.file_name().unwrap())).unwrap();
        }
        let mut cmake = Command::new("cmake");
        let prefix = format!("-DCMAKE_PREFIX_PATH={}", self.path("usr").display());
        let _ = run(cmake.arg("-S").arg(&sources).arg("-B").arg(&build).arg(prefix));
        let _ = run(Command::new("cmake").arg("--build").arg(&build));
        self.greet(&build.join("shared"));
        self.greet(&build.join("static"));
    }
}

/// A field of a package.
fn field(package: &Path, name: &str) -> String {
    run(Command::new("dpkg-deb").arg("--field").arg(package).arg(name)).trim().to_owned()
}

fn assert_control(name: &str, package: &Path) {
    assert_eq!(field(package, "Package"), name);
    assert_eq!(field(package, "Version"), env!("CARGO_PKG_VERSION"));
    let depends = field(package, "Depends");
    match name {
        "weft-doc" => assert_eq!(field(package, "Architecture"), "all"),
        "libweft-dev" => assert!(depends.starts_with("libweft0 (= "), "{depends}"),
        _ => assert!(depends.contains("libc6 (>= "), "{name}: {depends}"),
    }
    let size: u64 = field(package, "Installed-Size").parse().unwrap();
    assert!(size > 50, "{name}: {size} KiB");
    let text = run(Command::new("dpkg-deb").arg("--info").arg(package));
    // Nothing that was to be filled in.
    assert_eq!(text.matches('@').count(), text.matches("<weft@localhost>").count(), "{text}");
}

#[test]
fn packages_are_complete_and_c_programs_are_built_with_them() {
    let folder = tempfile::tempdir().unwrap();
    package(folder.path());
    let files = files(folder.path());
    let root = Root(tempfile::tempdir().unwrap());
    for (name, content) in PACKAGES {
        let package = files.iter().find(|(file, _)| file.starts_with(&format!("{name}_")));
        let (_, package) = package.unwrap_or_else(|| panic!("no {name} in {files:?}"));
        assert_control(name, package);
        let listed = run(Command::new("dpkg-deb").arg("--contents").arg(package));
        assert!(listed.contains(content), "{name}: {listed}");
        assert!(listed.lines().all(|line| line.contains(" root/root ")), "{listed}");
        let _ = run(Command::new("dpkg-deb").arg("-x").arg(package).arg(root.0.path()));
    }
    root.build_by_pkg_config();
    root.build_by_cmake();
    let mut example = Command::new(root.path("usr/bin/weft"));
    let said = run(example.args(["run", "-n", "2", "--", "weft-example", "hello"]));
    assert!(said.contains("good morning"), "{said}");
    let _ = run(Command::new("sha256sum")
        .args(["--quiet", "--strict", "--check", "SHA256SUMS"])
        .current_dir(folder.path()));
    let version = env!("CARGO_PKG_VERSION");
    for name in [&*format!("weft-{version}.cdx.json"), "third-party-licences.txt"] {
        assert!(files.contains_key(name), "no {name} in {files:?}");
    }
}
