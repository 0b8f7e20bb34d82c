//! A wire between two bridges that carries only so much, and has room for only so much that waits:
//! what hosts on both sides share.

use std::fmt::Write as _;
use std::thread;
use std::time::Instant;

use crate::cluster::{BRIDGE, Cluster, WIRES_LIMIT};
use crate::namespace::{Namespace, SetupError};

/// Bridge of the hosts beyond the trunk.
const BEYOND: &str = "br1";
/// End of the trunk by which packets leave for the hosts beyond it, and the other end.
const ENDS: [&str; 2] = ["trunk0", "trunk1"];

/// Properties of a trunk, the same both ways (`tc-tbf`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trunk {
    /// Millions of bits a second that it carries.
    pub megabits: u32,
    /// Bytes that pass at once after a pause; what a host hands over in larger pieces is cut first.
    pub burst_bytes: u32,
    /// Bytes that may wait. A frame that finds no room is dropped.
    pub queue_bytes: u32,
}

/// Traffic towards the hosts beyond a trunk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Passed {
    /// Bytes that went through, headers included.
    pub bytes: u64,
    /// Packets that found no room.
    pub dropped: u64,
}

impl Cluster {
    /// Puts the first `beyond` hosts on a bridge of their own, which a trunk joins to that of the
    /// others.
    ///
    /// # Errors
    /// [`SetupError`] if the system refuses, or has no `tc`.
    ///
    /// # Panics
    /// If hosts do not meet at a bridge.
    pub fn add_trunk(&self, beyond: usize, trunk: Trunk) -> Result<(), SetupError> {
        let switch = self.switch.as_ref().expect("a trunk is between bridges");
        let [near, far] = ENDS;
        let mut orders = format!(
            "link add {BEYOND} mtu 65535 type bridge stp_state 0 forward_delay 0 mcast_snooping 0\n\
             link add {near} mtu {mtu} type veth peer name {far} mtu {mtu}\n\
             link set {near} master {BRIDGE} up\nlink set {far} master {BEYOND} up\n\
             link set {BEYOND} up\n",
            mtu = self.mtu,
        );
        for host in &self.hosts[..beyond] {
            // Writing to a string never fails.
            let _ = writeln!(orders, "link set to-{} master {BEYOND}", host.name());
        }
        switch.feed("ip", &["-batch", "-"], &orders)?;
        let Trunk { megabits, burst_bytes, queue_bytes } = trunk;
        let shape = |end| {
            format!(
                "qdisc add dev {end} root tbf rate {megabits}mbit burst {burst_bytes} limit {queue_bytes}\n"
            )
        };
        switch.feed("tc", &["-batch", "-"], &ENDS.map(shape).concat())?;
        self.await_trunk(switch, beyond)
    }

    /// Traffic so far towards the hosts beyond the trunk.
    ///
    /// # Errors
    /// [`SetupError`] if the system refuses.
    ///
    /// # Panics
    /// If hosts do not meet at a bridge.
    pub fn passed(&self) -> Result<Passed, SetupError> {
        let switch = self.switch.as_ref().expect("a trunk is between bridges");
        let text = switch.ask("tc", &["-statistics", "qdisc", "show", "dev", ENDS[0]])?;
        let said = || SetupError::Refused { command: "tc", said: text.clone() };
        passed_in(&text).ok_or_else(said)
    }

    fn await_trunk(&self, switch: &Namespace, beyond: usize) -> Result<(), SetupError> {
        let start = Instant::now();
        let ports = [(BRIDGE, self.hosts.len() - beyond + 1), (BEYOND, beyond + 1)];
        for (bridge, count) in ports {
            while forwarding(switch, bridge)? != count {
                if start.elapsed() > WIRES_LIMIT {
                    let said = format!("{bridge} does not forward after {WIRES_LIMIT:?}");
                    return Err(SetupError::Refused { command: "ip", said });
                }
                thread::yield_now();
            }
        }
        Ok(())
    }
}

/// Ports of a bridge that pass frames on.
pub(crate) fn forwarding(switch: &Namespace, bridge: &str) -> Result<usize, SetupError> {
    let ports = switch.ask("ip", &["-oneline", "-details", "link", "show", "master", bridge])?;
    Ok(ports.lines().filter(|port| port.contains(" state forwarding ")).count())
}

/// Numbers in the output of `tc -statistics qdisc show`, of its first queue.
fn passed_in(text: &str) -> Option<Passed> {
    let words: Vec<&str> = text.split([' ', '\n', '(', ',']).filter(|w| !w.is_empty()).collect();
    let after = |name: &str| {
        let place = words.iter().position(|word| *word == name)?;
        words.get(place + 1)?.parse().ok()
    };
    Some(Passed { bytes: after("Sent")?, dropped: after("dropped")? })
}

#[cfg(test)]
mod tests {
    use super::{Passed, passed_in};

    #[test]
    fn statistics_are_read() {
        let text = "qdisc tbf 8001: root refcnt 2 rate 1Gbit burst 16Kb lat 1ms\n \
                    Sent 118546 bytes 87 pkt (dropped 12, overlimits 4 requeues 0)\n \
                    backlog 0b 0p requeues 0\n";
        assert_eq!(passed_in(text), Some(Passed { bytes: 118_546, dropped: 12 }));
        assert_eq!(passed_in("qdisc noqueue 0: root"), None);
    }
}
