//! One host of a cluster.

use std::ffi::OsStr;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::process::Command;

use crate::cluster::{random_share, rules};
use crate::namespace::{Namespace, SetupError};

/// The name of each host's interface to the others.
pub const INTERFACE: &str = "eth0";

/// A host: a network namespace with one interface, and a host name.
#[derive(Debug)]
pub struct Host {
    pub(crate) namespace: Namespace,
    pub(crate) name: String,
    pub(crate) number: u16,
}

impl Host {
    /// Its host name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its IPv4 address on [`INTERFACE`], a /16.
    pub fn ipv4(&self) -> IpAddr {
        let [high, low] = self.number.to_be_bytes();
        Ipv4Addr::new(10, 77, high, low).into()
    }

    /// Its IPv6 address on [`INTERFACE`], a /64.
    pub fn ipv6(&self) -> IpAddr {
        Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0, self.number).into()
    }

    /// A command that runs on this host, as the process that is started and not as a child of it.
    /// It dies with the thread that starts it, and with the cluster.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        self.namespace.command(program)
    }

    /// Words that, put before a command and `--`, run it on this host, for scripts.
    pub fn words(&self) -> String {
        self.namespace.words().join(" ")
    }

    /// Runs `body` in a thread of this host and returns what it returns. Sockets that it opens,
    /// threads and processes that it starts stay on this host.
    ///
    /// # Errors
    /// What the system says about entering the namespace.
    pub fn enter<T: Send>(&self, body: impl FnOnce() -> T + Send) -> io::Result<T> {
        self.namespace.enter(body)
    }

    /// From here on this share of the UDP datagrams that arrive is lost at random, 0 to 1.
    ///
    /// # Errors
    /// [`SetupError`] if the system has no packet filter.
    pub fn lose_datagrams(&self, share: f64) -> Result<(), SetupError> {
        let rule = format!("meta l4proto udp {} drop", random_share(share));
        let chain = format!("chain input {{ type filter hook input priority 0; {rule};\n }}");
        self.namespace.feed("nft", &["-f", "-"], &rules("inet", &chain))
    }

    /// Takes the interface down, or up again.
    ///
    /// # Errors
    /// [`SetupError`] if the system refuses.
    pub fn set_link(&self, up: bool) -> Result<(), SetupError> {
        let state = if up { "up" } else { "down" };
        self.configure(&format!("link set {INTERFACE} {state}"))?;
        // An interface that goes down forgets its IPv6 addresses.
        if up { self.configure(&self.ipv6_order("replace")) } else { Ok(()) }
    }

    /// Gives the interface another MTU: no longer packets leave it, and none arrive.
    ///
    /// # Errors
    /// [`SetupError`] if the system refuses.
    pub fn set_mtu(&self, mtu: u32) -> Result<(), SetupError> {
        self.configure(&format!("link set {INTERFACE} mtu {mtu}"))
    }

    pub(crate) fn ipv6_order(&self, verb: &str) -> String {
        format!("addr {verb} {}/64 dev {INTERFACE} nodad", self.ipv6())
    }

    /// Gives `ip` some orders, one a line.
    ///
    /// # Errors
    /// [`SetupError`] if the system refuses one of them.
    pub fn configure(&self, orders: &str) -> Result<(), SetupError> {
        self.namespace.feed("ip", &["-batch", "-"], &format!("{orders}\n"))
    }
}
