//! Place where peers run.

use anyhow::{Context, Result};
use std::ffi::OsStr;
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::process::Command;
use weft_netns::{Cluster, Options};

/// One host, or two.
pub enum Testbed {
    /// The memory of this host.
    Host,
    /// Ethernet: two network namespaces, `a` and `b`, at the ends of a veth pair.
    Ethernet(Box<Cluster>),
}

impl Testbed {
    /// Makes two hosts.
    ///
    /// # Errors
    /// This system does not let this process make network namespaces.
    pub fn ethernet() -> Result<Self> {
        let cluster = Cluster::new(2, Options::default()).context(
            "the two hosts of a comparison on Ethernet are network namespaces (--on host needs none)",
        )?;
        Ok(Testbed::Ethernet(Box::new(cluster)))
    }

    /// Its name in results.
    pub fn name(&self) -> &'static str {
        match self {
            Testbed::Host => "host",
            Testbed::Ethernet(_) => "ethernet",
        }
    }

    /// For a person.
    pub fn title(&self) -> &'static str {
        match self {
            Testbed::Host => "In the memory of one host",
            Testbed::Ethernet(_) => "On Ethernet, between two network namespaces",
        }
    }

    /// A command for the first process (0) or the second (1), or for what starts both (0).
    pub fn command(&self, number: usize, program: impl AsRef<OsStr>) -> Command {
        match self {
            Testbed::Host => Command::new(program),
            Testbed::Ethernet(cluster) => cluster.host(number).command(program),
        }
    }

    /// The address of the second process's host.
    pub fn second(&self) -> IpAddr {
        match self {
            Testbed::Host => Ipv4Addr::LOCALHOST.into(),
            Testbed::Ethernet(cluster) => cluster.host(1).ipv4(),
        }
    }

    /// Program that takes a command to either of two hosts, in the place of ssh.
    pub fn remote_shell(&self) -> Option<PathBuf> {
        match self {
            Testbed::Host => None,
            Testbed::Ethernet(cluster) => Some(cluster.remote_shell()),
        }
    }
}
