//! The part of `weft run` that is about several hosts.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use weft_launch::{
    Between, Copies, FarLink, HostLayout, HostWish, HostsSpec, LongPackets, Multicast, Protection,
    RankLayout, RemoteShell, parse_hosts,
};
use weft_xdp::Mode;

use super::{Link, many};

/// Hosts, and how to get there.
#[derive(Args)]
#[command(next_help_heading = "Several hosts")]
pub struct Hosts {
    /// Run on these hosts: names as the remote shell knows them, each with :N ranks or its share
    #[arg(long, value_name = "A,B:N", value_parser = list, conflicts_with = "hostfile")]
    hosts: Option<List>,
    /// A file of hosts: a host a line, # begins a comment
    #[arg(long, value_name = "FILE")]
    hostfile: Option<PathBuf>,
    /// The remote shell; it is given a host, in the place of {} if it has that, and a command
    /// [default: ssh -o BatchMode=yes -o ConnectTimeout=10]
    #[arg(long, env = "WEFT_RSH", value_name = "COMMAND")]
    rsh: Option<RemoteShell>,
    /// Path of weft on the other hosts [default: that of weft on this one]
    #[arg(long, value_name = "PATH")]
    remote_weft: Option<OsString>,
    /// Most connections of this command and of each host's agent: with more hosts, agents start
    /// those of others by the same remote shell; with 256 this command starts all
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u16).range(2..=256))]
    fan_out: u16,
    /// By which interface, or in the network of which address, hosts reach one another
    #[arg(long, value_name = "NAME|ADDRESS")]
    interface: Option<String>,
    /// Copies of packets to ranks on three hosts or more; auto has the network make them where it
    /// can
    #[arg(long, value_enum, default_value_t = Copying::Auto)]
    multicast: Copying,
}

#[derive(Clone, Copy, ValueEnum)]
enum Copying {
    /// Ethernet if it does so between all hosts, else ranks
    Auto,
    /// Ranks, along a tree between hosts, which --tree names
    Tree,
    /// Ethernet: one frame leaves, and switches copy it
    Ethernet,
}

#[derive(Clone)]
struct List(Vec<HostWish>);

fn list(text: &str) -> std::result::Result<List, String> {
    parse_hosts(text).map(List)
}

impl Hosts {
    /// True if several hosts, or others than this, were asked for.
    pub fn are_given(&self) -> bool {
        self.hosts.is_some() || self.hostfile.is_some()
    }

    /// The hosts, if any were given. Of the ranks, the first number is to begin, and the second is
    /// the most that there may be.
    pub fn spec(
        &self,
        (ranks, room): (Option<u16>, Option<u16>),
        link: Link,
    ) -> Result<Option<HostsSpec>> {
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
        (spec.ranks, spec.room) = (ranks, room);
        spec.far = match link {
            // Ranks tell one another over UDP where on the fabric they are.
            Link::Udp | Link::Fabric => FarLink::Udp,
            Link::Xdp => FarLink::Xdp,
            Link::Auto | Link::Shm => FarLink::Auto,
        };
        spec.multicast = match self.multicast {
            Copying::Auto => Multicast::Auto,
            Copying::Tree => Multicast::Tree,
            Copying::Ethernet => Multicast::Ethernet,
        };
        spec.remote_weft.clone_from(&self.remote_weft);
        spec.interface.clone_from(&self.interface);
        spec.fan_out = self.fan_out;
        if let Some(shell) = &self.rsh {
            spec.remote_shell = shell.clone();
        }
        Ok(Some(spec))
    }
}

/// The ranks of each host, and the links within hosts and between them:
///
/// ```text
/// 4 ranks on 2 hosts (a: 2 on 2 cores, eth0 10.0.0.1; b: 2 on 4 cores, eth0 10.0.0.2),
/// shm within hosts, xdp between (native, copying, MTU 1500), pupa
/// ```
///
/// It is one line. `fabric` is the reason for a fabric between hosts, if there is one.
pub fn first_line(
    layout: &RankLayout,
    fabric: Option<&str>,
    preset: impl std::fmt::Display,
) -> String {
    let hosts: Vec<String> = layout
        .hosts
        .iter()
        .map(|host| {
            let is_crowded = host.ranks > host.cores;
            let waiting = if is_crowded { ", waiting yields" } else { "" };
            let cores = format!("{}{waiting}", many(host.cores.into(), "core"));
            format!("{}: {} on {cores}, {} {}", host.name, host.ranks, host.interface, host.address)
        })
        .collect();
    let (ranks, count) = (many(layout.ranks().into(), "rank"), many(hosts.len(), "host"));
    format!("{ranks} on {count} ({}), {}, {preset}", hosts.join("; "), links(layout, fabric))
}

/// That hosts which could have had AF_XDP use UDP, and why: said even where nobody reads the first
/// line.
pub fn fall_back(layout: &RankLayout) -> Option<String> {
    match &layout.between {
        Between::Udp(Some(why)) => Some(format!("udp between hosts, not xdp: {why}")),
        Between::Nothing | Between::Udp(None) | Between::Xdp(_) => None,
    }
}

/// The link of each pair of ranks, and the reason for it.
fn links(layout: &RankLayout, fabric: Option<&str>) -> String {
    let between = match (fabric, &layout.between) {
        (Some(why), _) => format!("fabric between ({why})"),
        (None, Between::Nothing) => return "shm".into(),
        (None, Between::Udp(None)) => "udp between (asked for)".into(),
        (None, Between::Udp(Some(why))) => format!("udp between (no xdp: {why})"),
        (None, Between::Xdp(modes)) => {
            format!("xdp between ({}, MTU {})", all_modes(layout, modes), layout.mtu)
        }
    };
    let copies = match &layout.copies {
        Copies::Network => ", multicasts copied by Ethernet".into(),
        Copies::Ranks(Some(why)) => format!(", multicasts copied by ranks ({why})"),
        Copies::Ranks(None) => String::new(),
    };
    let protection = match layout.protection {
        Protection::Headers | Protection::Datagrams => "",
        Protection::Tagged => ", authenticated",
        Protection::Encrypted => ", encrypted",
    };
    let bulk = match &layout.bulk {
        LongPackets::Tcp => ", bulk over TCP".into(),
        LongPackets::Datagrams(Some(why)) => format!(", bulk over datagrams ({why})"),
        LongPackets::Datagrams(None) => String::new(),
    };
    match layout.hosts.iter().all(|host| host.ranks == 1) {
        true => format!("{between}{bulk}{protection}{copies}"),
        false => format!("shm within hosts, {between}{bulk}{protection}{copies}"),
    }
}

/// Modes of all interfaces: once if they are the same on all hosts.
fn all_modes(layout: &RankLayout, modes: &[Mode]) -> String {
    match modes {
        [first, rest @ ..] if rest.iter().all(|mode| mode == first) => first.to_string(),
        all => {
            let of_host = |(host, mode): (&HostLayout, &Mode)| format!("{}: {mode}", host.name);
            layout.hosts.iter().zip(all).map(of_host).collect::<Vec<_>>().join("; ")
        }
    }
}

#[cfg(test)]
mod tests;
