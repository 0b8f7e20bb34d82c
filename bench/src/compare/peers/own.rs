//! Weft, and TCP sockets without anything above.

use super::{Peer, limited};
use crate::compare::RANK;
use crate::compare::figures::Figures;
use crate::compare::testbed::Testbed;
use crate::compare::tool;
use anyhow::Result;
use std::path::{Path, PathBuf};
use weft_xdp::permitted;

/// The executable that this is, which is the pair program if it is told so.
fn this() -> Result<PathBuf> {
    Ok(std::env::current_exe()?)
}

fn word(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Weft's messages.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Weft {
    /// Link that they travel over.
    pub link: Link,
    /// By which protocol on Ethernet, if not the usual one.
    pub preset: Option<String>,
}

/// Link that messages travel over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Link {
    /// Shared memory.
    Memory,
    /// UDP.
    Udp,
    /// AF_XDP.
    Xdp,
}

impl Peer for Weft {
    fn name(&self) -> &'static str {
        match self.link {
            Link::Memory => "weft",
            Link::Udp => "weft-udp",
            Link::Xdp => "weft-xdp",
        }
    }

    fn title(&self) -> &'static str {
        match self.link {
            Link::Memory => "Weft",
            Link::Udp => "Weft (udp)",
            Link::Xdp => "Weft (xdp)",
        }
    }

    fn settings(&self, _testbed: &Testbed) -> String {
        let run = match self.link {
            Link::Memory => "weft run -n 2 --bind core",
            Link::Udp => "weft run --hosts a,b -n 2 --silence 10 --link udp",
            Link::Xdp => "weft run --hosts a,b -n 2 --silence 10 --link xdp",
        };
        match &self.preset {
            Some(preset) if self.link != Link::Memory => format!("{run} --preset {preset}"),
            _ => run.to_owned(),
        }
    }

    fn ready(&self, _testbed: &Testbed) -> Result<()> {
        match self.link {
            Link::Xdp => Ok(permitted()?),
            Link::Memory | Link::Udp => Ok(()),
        }
    }

    fn measure(&self, testbed: &Testbed, rounds: usize) -> Result<Figures> {
        let (this, rounds) = (this()?, rounds.to_string());
        let (weft, this) = (word(&this.with_file_name("weft")), word(&this));
        let mut words = vec![weft.as_str(), "run", "-n", "2"];
        let shell = testbed.remote_shell().map(|shell| shell.to_string_lossy().into_owned());
        match &shell {
            None => words.extend(["--bind", "core"]),
            Some(shell) => {
                let link = if self.link == Link::Xdp { "xdp" } else { "udp" };
                words.extend(["--hosts", "a,b", "--rsh", shell, "--silence", "10", "--link", link]);
            }
        }
        if let (Some(preset), true) = (&self.preset, shell.is_some()) {
            words.extend(["--preset", preset]);
        }
        words.extend(["--", &this, RANK, "--rounds", &rounds, "weft"]);
        Figures::of_pair(&tool::output(&mut limited(testbed, 0, &words))?)
    }
}

/// A TCP connection that both ends look at again and again.
pub struct Tcp;

impl Peer for Tcp {
    fn name(&self) -> &'static str {
        "tcp"
    }

    fn title(&self) -> &'static str {
        "plain TCP"
    }

    fn settings(&self, _testbed: &Testbed) -> String {
        "one connection, TCP_NODELAY, not blocking, spinning, a core each".into()
    }

    fn ready(&self, _testbed: &Testbed) -> Result<()> {
        Ok(())
    }

    fn measure(&self, testbed: &Testbed, rounds: usize) -> Result<Figures> {
        let (this, rounds) = (word(&this()?), rounds.to_string());
        let port = tool::free_port()?.to_string();
        let address = testbed.second().to_string();
        let program = [this.as_str(), RANK, "--rounds", &rounds];
        let second = [&program[..], &["tcp-second", &port]].concat();
        let first = [&program[..], &["tcp-first", &address, &port]].concat();
        let text =
            tool::client_of(&mut limited(testbed, 1, &second), || limited(testbed, 0, &first))?;
        Figures::of_pair(&text)
    }
}
