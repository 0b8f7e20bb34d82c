//! A tagged message of 8 bytes by UCX, both ends in one thread: the figure to compare with.

use crate::budget::Figures;
use crate::callgrind;
use crate::dumps::{self, Dumps};
use crate::fabric::compiled;
use anyhow::{Context, Result};

const CLIENT: &str = include_str!("ucx.c");

/// Counts the steps of a client of UCX over its shared memory.
///
/// # Errors
/// UCX is not installed (`libucx-dev`), or cannot run here.
pub fn count() -> Result<Dumps> {
    let directory = tempfile::tempdir()?;
    let libraries = ["-lucp", "-lucs"];
    let client = compiled(directory.path(), "ucx", CLIENT, &libraries)
        .context("no program can be made with it (libucx-dev)")?;
    let out = directory.path().join("out");
    let options = callgrind::options("--toggle-collect=counted", "--dump-after=written", &out);
    let said = callgrind::run(&options, &client, &[])?;
    dumps::read(&said, &out)
}

/// Instructions of each step, and those of a message that are its transport's.
///
/// # Errors
/// A step is missing.
pub fn figures(dumps: &Dumps) -> Result<Figures> {
    let mut figures = dumps::averages(dumps)?;
    let message = dumps.get("ucx_tagged").context("a message is counted")?;
    let objects = message.dump.objects.iter();
    let transport = objects.filter(|(object, _)| object.contains("libuct"));
    let transport: u64 = transport.map(|(_, cost)| cost).sum();
    figures.insert("ucx_tagged_transport".into(), transport as f64 / message.rounds as f64);
    Ok(figures)
}
