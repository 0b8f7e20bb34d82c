//! Some hosts and the wires between them.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::host::{Host, INTERFACE};
use crate::namespace::{Namespace, SetupError};
use crate::script::write_script;
use crate::trunk::forwarding;

/// The most hosts of a cluster: as many as a job has.
pub const HOSTS_MAX: usize = 256;

/// Hosts of a cluster, at most, that find out each other's Ethernet addresses. More are told: the
/// kernel has one table for what was found out on all hosts together, with room for 1,024.
const NEIGHBOURS_FOUND: usize = 9;

/// Bridge to which the ports of a switch belong.
pub(crate) const BRIDGE: &str = "br0";
/// Longest time for the kernel to notice that links are up; it is a moment, on a machine with much
/// to do a longer one.
pub(crate) const WIRES_LIMIT: Duration = Duration::from_secs(10);

/// Properties of the wires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Bytes of the longest packet that an interface takes, without the Ethernet header.
    pub mtu: u32,
    /// True if even two hosts meet at a bridge.
    pub bridge: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options { mtu: 1500, bridge: false }
    }
}

/// Some hosts named `a`, `b` and so on to `i`, then `h10`, `h11` and so on, each with one interface
/// with a single queue, which reach one another by IPv4 and IPv6. Removed when dropped.
#[derive(Debug)]
pub struct Cluster {
    pub(crate) hosts: Vec<Host>,
    pub(crate) mtu: u32,
    pub(crate) switch: Option<Namespace>,
    files: TempDir,
}

impl Cluster {
    /// Makes a cluster.
    ///
    /// # Errors
    /// [`SetupError`] if the system refuses a part of it.
    ///
    /// # Panics
    /// If `hosts` is not from 2 to [`HOSTS_MAX`].
    pub fn new(hosts: usize, options: Options) -> Result<Self, SetupError> {
        assert!((2..=HOSTS_MAX).contains(&hosts), "a cluster has 2 to {HOSTS_MAX} hosts");
        let hosts: Vec<Host> = (1..=hosts as u16).map(make_host).collect::<Result<_, _>>()?;
        let switch = match hosts.as_slice() {
            [first, second] if !options.bridge => {
                let peer = format!(
                    "peer name {INTERFACE} netns {} numrxqueues 1 numtxqueues 1",
                    second.namespace.net_path()
                );
                first.configure(&wire(INTERFACE, &peer))?;
                None
            }
            all => Some(make_switch(all, options.mtu)?),
        };
        for host in &hosts {
            host.configure(&format!(
                "link set {INTERFACE} mtu {}\naddr add {}/16 dev {INTERFACE}\n{}\nlink set lo up\nlink set {INTERFACE} up",
                options.mtu, host.ipv4(), host.ipv6_order("add"),
            ))?;
        }
        if hosts.len() > NEIGHBOURS_FOUND {
            introduce(&hosts)?;
        }
        let files = write_remote_shell(&hosts)?;
        let cluster = Cluster { hosts, mtu: options.mtu, switch, files };
        cluster.await_wires()?;
        Ok(cluster)
    }

    /// Waits until frames pass on every wire: the kernel takes note of new links when it finds the
    /// time, and a bridge drops what is for a port of which it does not know that it is up.
    fn await_wires(&self) -> Result<(), SetupError> {
        let start = Instant::now();
        while !self.wires_carry_frames()? {
            if start.elapsed() > WIRES_LIMIT {
                let said = format!("a wire carries no frames after {WIRES_LIMIT:?}");
                return Err(SetupError::Refused { command: "ip", said });
            }
            // Looking takes a process and its milliseconds: there is no need to sleep besides.
            thread::yield_now();
        }
        Ok(())
    }

    fn wires_carry_frames(&self) -> Result<bool, SetupError> {
        for host in &self.hosts {
            let link = host.namespace.ask("ip", &["-oneline", "link", "show", INTERFACE])?;
            if !link.contains(" state UP ") {
                return Ok(false);
            }
        }
        let Some(switch) = &self.switch else { return Ok(true) };
        Ok(forwarding(switch, BRIDGE)? == self.hosts.len())
    }

    /// Joins the first two hosts by one more wire, whose ends have this name and no address.
    ///
    /// # Errors
    /// [`SetupError`] if the system refuses.
    pub fn add_wire(&self, name: &str) -> Result<(), SetupError> {
        let [first, second] = [&self.hosts[0], &self.hosts[1]];
        let net = second.namespace.net_path();
        first.configure(&wire(
            name,
            &format!("peer name {name} netns {net} numrxqueues 1 numtxqueues 1"),
        ))?;
        let order = format!("link set {name} mtu {} up", self.mtu);
        [first, second].iter().try_for_each(|host| host.configure(&order))
    }

    /// From here on this share of the frames of a protocol (an Ethernet type) is lost at random
    /// between hosts, 0 to 1.
    ///
    /// # Errors
    /// [`SetupError`] if the system has no packet filter.
    ///
    /// # Panics
    /// If hosts do not meet at a bridge.
    pub fn lose_frames(&self, ethertype: u16, share: f64) -> Result<(), SetupError> {
        let switch = self.switch.as_ref().expect("frames are lost at a bridge");
        let which = random_share(share);
        let rule = format!("ether type {ethertype:#x} {which} drop");
        let chain = format!("chain forward {{ type filter hook forward priority 0\n{rule}\n }}");
        switch.feed("nft", &["-f", "-"], &rules("bridge", &chain))
    }

    /// From here on the bridge passes on no frame that is for several hosts, except to all.
    ///
    /// # Errors
    /// [`SetupError`] if the system has no packet filter.
    ///
    /// # Panics
    /// If hosts do not meet at a bridge.
    pub fn lose_multicasts(&self) -> Result<(), SetupError> {
        let switch = self.switch.as_ref().expect("frames are lost at a bridge");
        let rule = "meta pkttype multicast drop";
        let chain = format!("chain forward {{ type filter hook forward priority 0\n{rule}\n }}");
        switch.feed("nft", &["-f", "-"], &rules("bridge", &chain))
    }

    /// From here on the hosts' interfaces are ones whose drivers know no XDP, on top of those that
    /// they had.
    ///
    /// # Errors
    /// [`SetupError`] if the system refuses.
    pub fn keep_xdp_out_of_drivers(&self) -> Result<(), SetupError> {
        for host in &self.hosts {
            host.configure(&format!(
                "link set {INTERFACE} down\nlink set {INTERFACE} name below0\naddr flush dev below0\n\
                 link set below0 up\nlink add link below0 name {INTERFACE} type macvlan\n\
                 addr add {}/16 dev {INTERFACE}\n{}\nlink set {INTERFACE} up",
                host.ipv4(),
                host.ipv6_order("add"),
            ))?;
        }
        self.await_wires()
    }

    /// From here on the bridge takes packets of so many bytes, whatever the hosts' interfaces take.
    ///
    /// # Errors
    /// [`SetupError`] if the system refuses.
    ///
    /// # Panics
    /// If hosts do not meet at a bridge.
    pub fn set_bridge_mtu(&self, bytes: u16) -> Result<(), SetupError> {
        let switch = self.switch.as_ref().expect("wires end at a bridge");
        let order = |host: &Host| format!("link set to-{} mtu {bytes}\n", host.name);
        let orders: String = self.hosts.iter().map(order).collect();
        switch.feed("ip", &["-batch", "-"], &orders)
    }

    /// Takes the wires off the bridge: whoever opens their ends is the switch from here on. Runs
    /// `body` where they are, with their names, in the order of hosts. Hosts send nothing that is
    /// longer than their MTU, for others to cut.
    ///
    /// # Errors
    /// [`SetupError`] if the system refuses.
    ///
    /// # Panics
    /// If hosts do not meet at a bridge.
    pub fn unplug<T: Send>(
        &self,
        body: impl FnOnce(&[String]) -> T + Send,
    ) -> Result<T, SetupError> {
        let switch = self.switch.as_ref().expect("wires end at a bridge");
        let wires: Vec<String> =
            self.hosts.iter().map(|host| format!("to-{}", host.name)).collect();
        let orders: String =
            wires.iter().map(|wire| format!("link set {wire} nomaster\n")).collect();
        switch.feed("ip", &["-batch", "-"], &orders)?;
        for host in &self.hosts {
            host.configure(&format!("link set {INTERFACE} gso_max_segs 1"))?;
        }
        Ok(switch.enter(|| body(&wires))?)
    }

    /// A host by its number, from 0.
    pub fn host(&self, number: usize) -> &Host {
        &self.hosts[number]
    }

    /// All hosts.
    pub fn hosts(&self) -> &[Host] {
        &self.hosts
    }

    /// A program to be used like `ssh`: given a host's name and a command for its shell it runs the
    /// command there, and it exits with 255 if there is no such host. Programs that it starts do
    /// not die with their starter, as behind a real remote shell.
    pub fn remote_shell(&self) -> PathBuf {
        shell_path(self.files.path())
    }
}

fn make_host(number: u16) -> Result<Host, SetupError> {
    let name = match number {
        1..=9 => char::from(b'`' + number as u8).to_string(),
        _ => format!("h{number}"),
    };
    Ok(Host { namespace: Namespace::new(&name)?, name, number })
}

/// Tells all hosts the addresses of all others, for good.
fn introduce(hosts: &[Host]) -> Result<(), SetupError> {
    let address = |host: &Host| {
        let [high, low] = host.number.to_be_bytes();
        format!("02:77:00:00:{high:02x}:{low:02x}")
    };
    for host in hosts {
        let mut orders = format!("link set {INTERFACE} address {}\n", address(host));
        for other in hosts.iter().filter(|other| other.number != host.number) {
            let (ip, ethernet) = (other.ipv4(), address(other));
            // Writing to a string never fails.
            let _ =
                writeln!(orders, "neigh add {ip} lladdr {ethernet} dev {INTERFACE} nud permanent");
        }
        host.configure(&orders)?;
    }
    Ok(())
}

fn wire(name: &str, peer: &str) -> String {
    format!("link add {name} numrxqueues 1 numtxqueues 1 type veth {peer}")
}

/// A bridge with a wire to each host. It forwards at once and learns nothing of multicast groups.
fn make_switch(hosts: &[Host], mtu: u32) -> Result<Namespace, SetupError> {
    let switch = Namespace::new("switch")?;
    let mut orders = format!(
        "link add {BRIDGE} mtu 65535 type bridge stp_state 0 forward_delay 0 mcast_snooping 0\n",
    );
    for host in hosts {
        let port = format!("to-{}", host.name);
        let peer = format!(
            "peer name {INTERFACE} netns {} numrxqueues 1 numtxqueues 1",
            host.namespace.net_path()
        );
        // Writing to a string never fails.
        let _ = writeln!(orders, "{}", wire(&port, &peer));
        let _ = writeln!(orders, "link set {port} mtu {mtu} master {BRIDGE} up");
    }
    let _ = writeln!(orders, "link set {BRIDGE} up");
    switch.feed("ip", &["-batch", "-"], &orders)?;
    Ok(switch)
}

fn write_remote_shell(hosts: &[Host]) -> Result<TempDir, SetupError> {
    let mut script = String::from("#!/bin/sh\nhost=$1; shift\ncase $host in\n");
    for host in hosts {
        let words = host.words();
        let _ = writeln!(script, "{}) exec {words} -- sh -c \"$*\" ;;", host.name);
    }
    script.push_str("*) echo \"Could not resolve hostname $host\" >&2; exit 255 ;;\nesac\n");
    let files = tempfile::tempdir()?;
    let path = shell_path(files.path());
    write_script(&path, &script)?;
    Ok(files)
}

fn shell_path(directory: &Path) -> PathBuf {
    directory.join("remote-shell")
}

/// The condition that holds for this share of all, at random.
pub(crate) fn random_share(share: f64) -> String {
    match (share.clamp(0.0, 1.0) * 10_000.0).round() as u32 {
        10_000 => String::new(),
        some => format!("numgen random mod 10000 < {some}"),
    }
}

/// Orders for a packet filter with this chain alone.
pub(crate) fn rules(family: &str, chain: &str) -> String {
    // The first line makes the second valid whether or not there is a table.
    format!(
        "table {family} weft {{ }}\ndelete table {family} weft\ntable {family} weft {{ {chain}\n }}\n"
    )
}
