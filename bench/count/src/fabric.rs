//! The steps of the libfabric provider: a client in C plays both ends.
//!
//! A process has one place in its job, so there are two of them, each under callgrind. They take
//! turns over pipes that are none of Weft's: a rank looks for a message when it is there, and finds
//! it.

use crate::callgrind;
use crate::dumps::{self, Dumps};
use anyhow::{Context, Result, bail, ensure};
use std::path::Path;
use std::process::Command;
use weft_launch::{JobSpec, Settings, Verdict};

const CLIENT: &str = include_str!("fabric.c");
/// Delay of interrupts, longer than the client takes: while one rank has its turn the upcall thread
/// of the other would take its messages.
const NO_INTERRUPTS_US: &str = "600000000";

/// Counts the steps of a client of the provider, which lies beside this program.
///
/// # Errors
/// There is no libfabric, or no provider.
pub fn count() -> Result<Dumps> {
    let directory = tempfile::tempdir()?;
    let client = compiled(directory.path(), "fabric", CLIENT, &["-lfabric"])?;
    let this = std::env::current_exe()?;
    let provider = this.with_file_name("libweft_fi.so");
    ensure!(provider.exists(), "{} is not there: `make count` builds it", provider.display());
    std::fs::copy(&provider, directory.path().join("libweft-fi.so"))?;
    for rank in 0..2 {
        let status =
            Command::new("mkfifo").arg(directory.path().join(format!("turn-{rank}"))).status();
        ensure!(status.context("mkfifo")?.success(), "a pipe can be made");
    }
    let out = directory.path().join("out-%q{WEFT_RANK}");
    let mut arguments =
        callgrind::options("--toggle-collect=counted", "--dump-after=written", &out);
    arguments.extend([client, directory.path().into()].map(Into::into));
    let mut spec = JobSpec::new(Settings::new(2), "valgrind");
    spec.arguments = arguments;
    spec.output.directory = Some(directory.path().into());
    spec.options.insert("interrupt-delay-us".into(), NO_INTERRUPTS_US.into());
    // Ranks that share cores yield them: at each look in vain, after a look at the system now and
    // then. What is counted must not depend on who else wants the cores here.
    spec.options.insert("own-cores".into(), "true".into());
    let outcome = weft_launch::run(&spec, || {})?;
    let said = |name| std::fs::read_to_string(directory.path().join(name));
    if let Verdict::Failed(failure) = &outcome.verdict {
        let words = said(format!("rank-{}.err", failure.rank));
        bail!("the client failed at rank {}:\n{}", failure.rank, words.unwrap_or_default());
    }
    dumps::read(&said("rank-0.out".into())?, &directory.path().join("out-0"))
}

/// Compiles a program in C.
///
/// # Errors
/// There is no compiler, or it misses a library.
pub fn compiled(
    directory: &Path,
    name: &str,
    source: &str,
    libraries: &[&str],
) -> Result<std::path::PathBuf> {
    let (file, program) = (directory.join(format!("{name}.c")), directory.join(name));
    std::fs::write(&file, source)?;
    let output = Command::new("cc")
        .args(["-O2", "-g", "-o"])
        .args([&program, &file])
        .args(libraries)
        .output()
        .context("there is no C compiler; `make setup` installs one")?;
    let said = String::from_utf8_lossy(&output.stderr);
    let first = said.lines().find(|line| line.contains("error")).unwrap_or("the compiler failed");
    ensure!(output.status.success(), "{first}");
    Ok(program)
}
