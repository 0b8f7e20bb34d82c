//! Peers that are compared, each at its best settings; `docs/internals/performance.md` says how
//! these were found.

mod fabric;
mod mpi;
mod own;
mod ucx;

use crate::compare::figures::Figures;
use crate::compare::testbed::Testbed;
use crate::compare::tool;
use anyhow::{Result, bail};
use std::path::Path;
use std::process::Command;

/// One of those that are compared.
pub trait Peer {
    /// Its name in results.
    fn name(&self) -> &'static str;

    /// Its name for a person.
    fn title(&self) -> &'static str;

    /// Settings of the peer at `testbed`.
    fn settings(&self, testbed: &Testbed) -> String;

    /// Makes it ready to run at `testbed`.
    ///
    /// # Errors
    /// It is not installed, or cannot run there.
    fn ready(&self, testbed: &Testbed) -> Result<()>;

    /// Runs it once, with so many samples of each figure where its program can be told.
    ///
    /// # Errors
    /// It fails, or says something else than it should.
    fn measure(&self, testbed: &Testbed, rounds: usize) -> Result<Figures>;
}

/// Names that users may say.
pub const NAMES: [&str; 8] =
    ["weft-udp", "weft-xdp", "open-mpi-on-weft", "tcp", "open-mpi", "mpich", "ucx", "libfabric"];

/// Those that can be compared at `testbed`, Weft first; of the others, if `only` names some, those.
/// `folder` is for what they need to compile, `preset` Weft's on Ethernet.
pub fn all(
    testbed: &Testbed,
    folder: &Path,
    only: &[String],
    preset: Option<&str>,
) -> Vec<Box<dyn Peer>> {
    let weft = |link| own::Weft { link, preset: preset.map(str::to_owned) };
    let mut peers: Vec<Box<dyn Peer>> = match testbed {
        Testbed::Host => vec![Box::new(weft(own::Link::Memory))],
        Testbed::Ethernet(_) => {
            vec![Box::new(weft(own::Link::Udp)), Box::new(weft(own::Link::Xdp))]
        }
    };
    peers.push(Box::new(mpi::Mpi::open_mpi_on_weft(folder)));
    peers.push(Box::new(own::Tcp));
    peers.push(Box::new(mpi::Mpi::open_mpi(folder)));
    peers.push(Box::new(mpi::Mpi::mpich(folder)));
    peers.push(Box::new(ucx::Ucx));
    peers.push(Box::new(fabric::Fabric));
    let wanted = |name: &str| only.is_empty() || only.iter().any(|wish| wish == name);
    let mut peers = peers.into_iter();
    let first = peers.next();
    first.into_iter().chain(peers.filter(|peer| wanted(peer.name()))).collect()
}

/// Checks that a command is installed.
///
/// # Errors
/// It is not; `package` is Debian's that has it.
pub fn installed(command: &str, package: &str) -> Result<()> {
    if tool::find(command).is_none() {
        bail!("no {command} here (Debian has it in {package})");
    }
    Ok(())
}

/// A command for the first process (0) or the second (1) that is ended when it takes too long, with
/// these words, of which those like `A=B` before the program are its environment.
pub fn limited(testbed: &Testbed, number: usize, words: &[&str]) -> Command {
    let mut command = testbed.command(number, tool::LIMITED[0]);
    command.args(&tool::LIMITED[1..]).args(words);
    command
}

#[cfg(test)]
mod tests;
