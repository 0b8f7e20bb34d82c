//! Stacks of ranks, which a launcher or an agent takes, and `weft-inspect` puts into words.

use std::io::{Read, Write};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use weft_launch::Naming;
use weft_launch::stack::{NAMING, TakenStacks, take};

use crate::beside::{INSPECT, find};

/// Takes the stacks of these threads. Names are found later: functions that each is in, or the
/// reason why nobody knows, which is said once; `None` if it has ended, or has no names.
pub fn of_threads(threads: &[u32]) -> Naming {
    let taken = take(threads);
    Box::new(move || {
        let count = taken.len();
        in_words(&taken).unwrap_or_else(|error| {
            let mut words = vec![None; count];
            words.iter_mut().take(1).for_each(|first| *first = Some(format!("({error:#})")));
            words
        })
    })
}

/// Stacks in words.
///
/// # Errors
/// `weft-inspect` is not there, or does not do its work.
fn in_words(taken: &TakenStacks) -> Result<Vec<Option<String>>> {
    if taken.is_empty() {
        return Ok(Vec::new());
    }
    let stacks = postcard::to_stdvec(taken)?;
    let mut command = Command::new(find(INSPECT)?);
    command.arg(NAMING).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut inspect = command.spawn().with_context(|| format!("cannot run {INSPECT}"))?;
    // It reads all before it writes. One that has ended says nothing, which is an error below.
    let _ = inspect.stdin.take().map(|mut stdin| stdin.write_all(&stacks));
    let mut words = Vec::new();
    let read = inspect.stdout.take().map(|mut stdout| stdout.read_to_end(&mut words));
    // An agent may have reaped it before.
    let _ = inspect.wait();
    read.transpose().context("no names of functions")?;
    let words: Vec<_> = postcard::from_bytes(&words).context("no names of functions")?;
    ensure!(words.len() == taken.len(), "no names of functions");
    Ok(words)
}
