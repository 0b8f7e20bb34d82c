//! Stock MPI libraries on Weft: their commands, and programs for them.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;
use weft_netns::{Cluster, INTERFACE};

const OPTIMIZED: &[&str] = &["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O2"];

/// Variables that direct a program on Weft: none of them may come from the environment of the
/// tests.
const SETTINGS: [&str; 8] = [
    "FI_PROVIDER",
    "FI_PROVIDER_PATH",
    "OMPI_MCA_pml",
    "OMPI_MCA_mtl",
    "OMPI_MCA_mtl_ofi_provider_include",
    "OMPI_MCA_mtl_ofi_provider_exclude",
    "LD_LIBRARY_PATH",
    "WEFT_QUIET",
];

/// A command of Open MPI's: where several packages have one of that name, Debian keeps this one
/// under its full name.
pub fn open_mpis(command: &str) -> String {
    let full = format!("{command}.openmpi");
    if Path::new("/usr/bin").join(&full).exists() { full } else { command.into() }
}

/// Words by which Open MPI starts two ranks on each of two hosts.
pub fn between(cluster: &Cluster) -> String {
    let shell = cluster.remote_shell();
    format!(
        "--host a:2,b:2 --mca oob_tcp_if_include {INTERFACE} --mca plm_rsh_agent {}",
        shell.display()
    )
}

pub fn weft(words: &str) -> Command {
    let weft = Path::new(env!("CARGO_BIN_EXE_weft"));
    let provider = weft.with_file_name("libweft_fi.so");
    assert!(provider.exists(), "{} is not built: cargo build --workspace", provider.display());
    let mut command = Command::new(weft);
    command.env_remove("WEFT_QUIET");
    command.args(words.split_whitespace()).stdin(Stdio::null());
    for setting in SETTINGS {
        command.env_remove(setting);
    }
    command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    // What is made and set for the user who runs the tests is none of theirs.
    let own = env!("CARGO_TARGET_TMPDIR");
    command.env("HOME", own).env("XDG_CACHE_HOME", own);
    command
}

/// `weft mpirun`, whose Open MPI keeps its files in a folder of the test's.
pub fn mpirun(words: &str, folder: &TempDir) -> Command {
    let mut command = weft("mpirun");
    command.args(words.split_whitespace()).env("OMPI_MCA_orte_tmpdir_base", folder.path());
    command
}

pub fn compile(compiler: &str, sources: &[PathBuf], flags: &[&str], out: &Path) {
    let mut command = Command::new(compiler);
    command.args(OPTIMIZED).args(sources).args(flags).arg("-o").arg(out);
    finish(compiler, command);
}

pub fn compile_fortran(compiler: &str, source: &Path, out: &Path) {
    let mut command = Command::new(compiler);
    command.args(["-Wall", "-Wextra", "-Werror", "-O2"]).arg(source).arg("-o").arg(out);
    finish(compiler, command);
}

fn finish(compiler: &str, mut command: Command) {
    let output = command.output().unwrap_or_else(|error| {
        panic!("{compiler}: {error}; ./setup installs what is missing");
    });
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}
