//! The part of `weft run` that is about several hosts.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use weft_launch::{HostWish, HostsSpec, Layout, parse_hosts};

use super::{Link, many};

/// Hosts, and how to get there.
#[derive(Args)]
#[command(next_help_heading = "Several hosts")]
pub struct Hosts {
    /// Run on these hosts: names as the remote shell knows them, each with :N ranks or its share
    #[arg(long, value_name = "A,B:N", value_parser = list, conflicts_with = "hostfile")]
    hosts: Option<List>,
    /// The same from a file: a host a line, # begins a comment
    #[arg(long, value_name = "FILE")]
    hostfile: Option<PathBuf>,
    /// The remote shell; it is given a host and a command [default: ssh -o BatchMode=yes -o ConnectTimeout=10]
    #[arg(long, env = "WEFT_RSH", value_name = "COMMAND")]
    rsh: Option<String>,
    /// Where weft is on the other hosts [default: where it is on this one]
    #[arg(long, value_name = "PATH")]
    remote_weft: Option<OsString>,
    /// By which interface, or in the network of which address, hosts reach one another
    #[arg(long, value_name = "NAME|ADDRESS")]
    interface: Option<String>,
}

#[derive(Clone)]
struct List(Vec<HostWish>);

fn list(text: &str) -> std::result::Result<List, String> {
    parse_hosts(text).map(List)
}

impl Hosts {
    /// Whether several hosts, or others than this, were asked for.
    pub fn are_given(&self) -> bool {
        self.hosts.is_some() || self.hostfile.is_some()
    }

    /// The hosts, if any were given.
    pub fn spec(&self, ranks: Option<u16>) -> Result<Option<HostsSpec>> {
        let hosts = match (&self.hosts, &self.hostfile) {
            (Some(List(hosts)), _) => hosts.clone(),
            (None, Some(path)) => {
                let name = path.display();
                let text =
                    fs::read_to_string(path).with_context(|| format!("cannot read {name}"))?;
                parse_hosts(&text).map_err(anyhow::Error::msg).context(name.to_string())?
            }
            (None, None) => return Ok(None),
        };
        let mut spec = HostsSpec::new(hosts);
        spec.ranks = ranks;
        spec.remote_weft.clone_from(&self.remote_weft);
        spec.interface.clone_from(&self.interface);
        if let Some(shell) = &self.rsh {
            spec.remote_shell = shell.split_whitespace().map(OsString::from).collect();
        }
        Ok(Some(spec))
    }
}

/// What runs where: `4 ranks on 2 hosts (a: 2 on 2 cores, b: 2 on 4 cores), shm within hosts, udp between
/// (xdp is not built yet), irx-imc`.
pub fn first_line(layout: &Layout, link: Link, preset: impl std::fmt::Display) -> String {
    let hosts: Vec<String> = layout
        .hosts
        .iter()
        .map(|host| {
            let cores = many(host.cores.into(), "core");
            format!("{}: {} on {cores}, {} {}", host.name, host.ranks, host.interface, host.address)
        })
        .collect();
    let (ranks, count) = (many(layout.ranks().into(), "rank"), many(hosts.len(), "host"));
    let links = links(layout.hosts.len(), link);
    format!("{ranks} on {count} ({}), {links}, {preset}", hosts.join("; "))
}

/// Which pairs of ranks use which link, and why.
fn links(hosts: usize, link: Link) -> &'static str {
    match (hosts, link) {
        (_, Link::Udp) => "udp between all ranks (asked for)",
        (1, _) => "shm",
        _ => "shm within hosts, udp between (xdp is not built yet)",
    }
}

#[cfg(test)]
mod tests;
