//! Machine descriptions: what every step of a packet's way costs, in a file that a person can read.

use serde::Deserialize;
use weft_link::clock::Nanoseconds;

/// A machine: what its parts cost, how many buffers it has.
///
/// Every node has four serial resources: the host processor, the NI, the bus between them, and the
/// link. A resource does one thing at a time; later work waits.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MachineModel {
    /// The host processor.
    pub host: Host,
    /// The network interface.
    pub ni: Ni,
    /// The bus between them.
    pub bus: Bus,
    /// The link, and the network behind it.
    pub link: Wire,
    /// If given, the links are one medium, which carries one frame at a time.
    #[serde(default)]
    pub medium: Option<Medium>,
    /// Buffers.
    pub pools: Pools,
    /// Delays of the protocols.
    pub timers: Timers,
    /// If given, what it is to copy more than a cache holds.
    #[serde(default)]
    beyond_cache: Option<BeyondCache>,
    /// Part of the memory's time that the bus takes from a copy while it brings packets; see
    /// [`MachineModel::beyond_cache`].
    #[serde(skip)]
    pub(crate) bus_part: f64,
    /// Costs that differ when the NI retransmits (`irx`).
    #[serde(default)]
    irx: Overrides,
    /// Costs that differ when the host retransmits (`hrx`).
    #[serde(default)]
    hrx: Overrides,
}

macro_rules! costs {
    ($(#[$about:meta])* $name:ident, $partial:ident { $($(#[$doc:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name { $($(#[$doc])* pub $field: $type,)* }

        #[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
        #[serde(deny_unknown_fields)]
        struct $partial { $($field: Option<$type>,)* }

        impl $partial {
            fn apply(&self, to: &mut $name) {
                $(if let Some(value) = self.$field { to.$field = value; })*
            }
        }
    };
}

costs! {
    /// Costs of the host processor's work.
    Host, HostOverrides {
        /// Getting a send packet.
        allocate_ns: Nanoseconds,
        /// Launching a packet: the send overhead, without the bytes.
        launch_ns: Nanoseconds,
        /// Filling it in the NI's memory (programmed I/O).
        launch_ns_per_byte: f64,
        /// A look for packets.
        poll_ns: Nanoseconds,
        /// A look into the NI's memory, where the answer to a fetch-and-add comes.
        poll_ni_ns: Nanoseconds,
        /// Accepting one: the receive overhead, without the look that found it.
        process_ns: Nanoseconds,
        /// Work of the system above for a message, at the packet that ends it: one with bytes
        /// that is not full.
        #[serde(default)]
        message_ns: Nanoseconds,
        /// Moving bytes in memory.
        copy_ns_per_byte: f64,
        /// Handing a packet back to the NI to be forwarded.
        reinject_ns: Nanoseconds,
        /// Copying it there.
        reinject_ns_per_byte: f64,
        /// Running the protocol on a packet that the NI left to the host.
        deferred_ns: Nanoseconds,
        /// Giving a received packet back.
        release_ns: Nanoseconds,
        /// An interrupt, to the return from it.
        interrupt_ns: Nanoseconds,
        /// One operation of a program's declared work.
        operation_ns: f64,
        /// Ratio of this machine's time for a computation to that of the machine that simulates it,
        /// where computation is charged as measured.
        #[serde(default = "as_long")]
        measured_times: f64,
    }
}

costs! {
    /// Costs of the NI's work.
    Ni, NiOverrides {
        /// Sending a packet, until it is on the link.
        send_ns: Nanoseconds,
        /// Work that the NI still does for it then; nothing for credits and acknowledgements, which
        /// are freed at once (thesis 3.4).
        send_after_ns: Nanoseconds,
        /// Receiving a packet, until it is handed to the bus, or what answers it is queued.
        receive_ns: Nanoseconds,
        /// Work that the NI still does for it then, before it sends what it queued: answers and
        /// forwards. Nothing for credits and acknowledgements.
        receive_after_ns: Nanoseconds,
        /// Work of the NI for a packet when the copy into the host's memory is complete.
        copied_ns: Nanoseconds,
        /// The NI is no processor of its own, but the host's in interrupts, as where a kernel runs
        /// the protocol over a plain network card: what it does, the program waits for.
        #[serde(default)]
        at_host: bool,
        /// The NI's memory serves one at a time of its processor, its send engine and its receive
        /// engine (thesis 1.6.2): while a packet passes the link, the NI does nothing else, and
        /// packets pass in one direction at a time.
        #[serde(default)]
        one_port: bool,
        /// True if transmissions wait in a queue: the next packet's transmission is begun as soon
        /// as the link has had the last, and what is left to do for that comes after (thesis
        /// 8.1.2).
        #[serde(default)]
        queues_transmissions: bool,
        /// A fetch-and-add on a variable of the NI's own goes to the switch and back (thesis 5.2).
        #[serde(default)]
        loops_back: bool,
    }
}

/// The bus, over which the NI copies packets into host memory.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bus {
    /// Starting a copy.
    pub setup_ns: Nanoseconds,
    /// Copying.
    pub ns_per_byte: f64,
}

/// The link.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wire {
    /// Bytes of a packet besides user bytes.
    pub header_bytes: u16,
    /// From link to link.
    pub latency_ns: Nanoseconds,
    /// Bytes between the link and the NI's memory.
    pub ns_per_byte: f64,
}

/// Medium that all stations share: a ring in the order of ranks (FDDI), or a segment of Ethernet,
/// which is a ring without a way around. Frames wait for it in the order in which they are given to
/// their links.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Medium {
    /// From one station to the next: what a frame, and the token, take.
    pub station_ns: Nanoseconds,
    /// A multicast is one frame that passes all stations, if the tree is flat; else one for each of
    /// them.
    pub multicast: bool,
}

costs! {
    /// Numbers of buffers.
    Pools, PoolOverrides {
        /// User bytes that a packet holds at most (PKTSZ).
        packet_bytes: u16,
        /// Packets that a rank can be sending (ISB).
        ni_send_buffers: usize,
        /// Packets that an NI can be receiving (IRB); all senders share them.
        ni_receive_buffers: usize,
        /// Packets that a host can be holding (HRB).
        host_receive_buffers: usize,
    }
}

/// Delays of the protocols.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Timers {
    /// The polling watchdog's (INTD).
    pub interrupt_delay_ns: Nanoseconds,
    /// Longest time that a packet may stay unacknowledged.
    pub retransmit_after_ns: Nanoseconds,
    /// Time that a receiver waits before it acknowledges by itself.
    pub acknowledge_after_ns: Nanoseconds,
}

/// Copies whose destination no cache holds: their misses compete for the memory with the packets
/// that arrive meanwhile (thesis 5.1.1, 8.2.4).
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct BeyondCache {
    /// Moving bytes in memory.
    copy_ns_per_byte: f64,
    /// Part of the memory's time that the bus takes while it brings packets.
    bus_part: f64,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Overrides {
    #[serde(default)]
    host: HostOverrides,
    #[serde(default)]
    ni: NiOverrides,
    #[serde(default)]
    pools: PoolOverrides,
}

/// Level that retransmits, as far as costs depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// Nobody.
    Nrx,
    /// The NI.
    Irx,
    /// The host.
    Hrx,
}

/// Error in a machine description.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum MachineError {
    /// It is not such a description.
    #[error("a machine description does not parse: {0}")]
    Syntax(String),
    /// A number that cannot be.
    #[error("the machine's {field} cannot be {value}: {why}")]
    Value {
        /// Name of the field in the file.
        field: &'static str,
        /// Value in the file.
        value: f64,
        /// Requirement that the value does not meet.
        why: &'static str,
    },
    /// No machine of that name.
    #[error(
        "there is no machine '{name}'; there are {known}, and any file that describes one: FILE.toml"
    )]
    Unknown {
        /// Name that was asked for.
        name: String,
        /// Those that there are.
        known: String,
    },
}

/// The machines that are known by name.
const NAMES: [(&str, &str); 5] = [
    ("myrinet", include_str!("../machines/myrinet.toml")),
    ("myrinet-compared", include_str!("../machines/myrinet-compared.toml")),
    ("host", include_str!("../machines/host.toml")),
    ("fast-ethernet", include_str!("../machines/fast-ethernet.toml")),
    ("medusa", include_str!("../machines/medusa.toml")),
];

/// No single step takes longer: sums of steps then fit a clock.
pub(crate) const LONGEST_NS: f64 = 1e12;

impl MachineModel {
    /// The machine called `name`.
    ///
    /// # Errors
    /// [`MachineError::Unknown`].
    pub fn named(name: &str) -> Result<Self, MachineError> {
        Self::parse(Self::description(name)?)
    }

    /// The file that describes the machine called `name`, with the reasons for its figures.
    ///
    /// # Errors
    /// [`MachineError::Unknown`].
    pub fn description(name: &str) -> Result<&'static str, MachineError> {
        let known = NAMES.iter().find(|(known, _)| *known == name);
        match known {
            Some((_, text)) => Ok(text),
            None => Err(MachineError::Unknown {
                name: name.into(),
                known: NAMES.map(|(name, _)| name).join(", "),
            }),
        }
    }

    /// The thesis's cluster.
    ///
    /// # Errors
    /// Those of [`Self::parse`]; the description is part of the program and tested.
    pub fn myrinet() -> Result<Self, MachineError> {
        Self::named("myrinet")
    }

    /// Reads a description.
    ///
    /// # Errors
    /// [`MachineError`], which names the field.
    pub fn parse(text: &str) -> Result<Self, MachineError> {
        let machine: MachineModel =
            toml::from_str(text).map_err(|error| MachineError::Syntax(syntax(text, &error)))?;
        for scheme in [Scheme::Nrx, Scheme::Irx, Scheme::Hrx] {
            machine.for_scheme(scheme).check()?;
        }
        Ok(machine)
    }

    /// This machine when it runs `scheme`: with that table's values in place of the general ones.
    #[must_use]
    pub fn for_scheme(&self, scheme: Scheme) -> Self {
        let mut machine = self.clone();
        let overrides = match scheme {
            Scheme::Nrx => return machine,
            Scheme::Irx => &self.irx,
            Scheme::Hrx => &self.hrx,
        };
        overrides.host.apply(&mut machine.host);
        overrides.ni.apply(&mut machine.ni);
        overrides.pools.apply(&mut machine.pools);
        machine
    }

    /// This machine with programs that copy to places which no cache holds, if its description says
    /// what that is.
    #[must_use]
    pub fn beyond_cache(&self) -> Option<Self> {
        let BeyondCache { copy_ns_per_byte, bus_part } = self.beyond_cache?;
        let mut machine = self.clone();
        machine.host.copy_ns_per_byte = copy_ns_per_byte;
        machine.bus_part = bus_part;
        Some(machine)
    }

    /// The window of the careful presets for `ranks` ranks: receive buffers for each sender, one at
    /// least (thesis 8.2.1).
    pub fn window_packets(&self, ranks: u16) -> u16 {
        let each = self.pools.ni_receive_buffers / usize::from(ranks.max(1));
        u16::try_from(each).unwrap_or(u16::MAX).max(1)
    }

    fn check(&self) -> Result<(), MachineError> {
        let MachineModel { host, ni, bus, link, medium, pools, timers, .. } = self;
        let beyond = self.beyond_cache;
        let times = [
            ("host.allocate_ns", host.allocate_ns as f64),
            ("host.launch_ns", host.launch_ns as f64),
            ("host.launch_ns_per_byte", host.launch_ns_per_byte),
            ("host.poll_ns", host.poll_ns as f64),
            ("host.poll_ni_ns", host.poll_ni_ns as f64),
            ("host.process_ns", host.process_ns as f64),
            ("host.message_ns", host.message_ns as f64),
            ("host.copy_ns_per_byte", host.copy_ns_per_byte),
            ("host.reinject_ns", host.reinject_ns as f64),
            ("host.reinject_ns_per_byte", host.reinject_ns_per_byte),
            ("host.deferred_ns", host.deferred_ns as f64),
            ("host.release_ns", host.release_ns as f64),
            ("host.interrupt_ns", host.interrupt_ns as f64),
            ("host.operation_ns", host.operation_ns),
            ("ni.send_ns", ni.send_ns as f64),
            ("ni.send_after_ns", ni.send_after_ns as f64),
            ("ni.receive_ns", ni.receive_ns as f64),
            ("ni.receive_after_ns", ni.receive_after_ns as f64),
            ("ni.copied_ns", ni.copied_ns as f64),
            ("beyond_cache.copy_ns_per_byte", beyond.map_or(0.0, |beyond| beyond.copy_ns_per_byte)),
            ("bus.setup_ns", bus.setup_ns as f64),
            ("bus.ns_per_byte", bus.ns_per_byte),
            ("link.latency_ns", link.latency_ns as f64),
            ("link.ns_per_byte", link.ns_per_byte),
            ("medium.station_ns", medium.map_or(0.0, |medium| medium.station_ns as f64)),
            ("timers.interrupt_delay_ns", timers.interrupt_delay_ns as f64),
            ("timers.retransmit_after_ns", timers.retransmit_after_ns as f64),
            ("timers.acknowledge_after_ns", timers.acknowledge_after_ns as f64),
        ];
        let why = "it must be between 0 and a thousand seconds";
        let part = [("beyond_cache.bus_part", beyond.map_or(0.0, |beyond| beyond.bus_part))];
        check(&part, |value| (0.0..1.0).contains(&value), "it must be a part: from 0 to below 1")?;
        let factor = [("host.measured_times", host.measured_times)];
        check(&factor, |value| (0.0..=1e6).contains(&value), "it must be between 0 and a million")?;
        check(&times, |value| (0.0..=LONGEST_NS).contains(&value), why)?;
        // A look that costs nothing would let a rank look for ever at one point in time.
        let never_zero = [
            ("host.poll_ns", host.poll_ns as f64),
            ("timers.retransmit_after_ns", timers.retransmit_after_ns as f64),
            ("pools.packet_bytes", f64::from(pools.packet_bytes)),
            ("pools.ni_send_buffers", pools.ni_send_buffers as f64),
            ("pools.ni_receive_buffers", pools.ni_receive_buffers as f64),
            ("pools.host_receive_buffers", pools.host_receive_buffers as f64),
        ];
        check(&never_zero, |value| value > 0.0, "it must be more than 0")
    }
}

fn check(
    values: &[(&'static str, f64)],
    good: impl Fn(f64) -> bool,
    why: &'static str,
) -> Result<(), MachineError> {
    match values.iter().find(|(_, value)| !good(*value)) {
        None => Ok(()),
        Some(&(field, value)) => Err(MachineError::Value { field, value, why }),
    }
}

/// Syntax error and its line number, in one line.
fn syntax(text: &str, error: &toml::de::Error) -> String {
    let line = |start: usize| text.bytes().take(start).filter(|byte| *byte == b'\n').count() + 1;
    let place = error.span().map(|span| format!("line {}: ", line(span.start)));
    let said: Vec<_> = error.message().lines().map(str::trim).collect();
    format!("{}{}", place.unwrap_or_default(), said.join(" "))
}

fn as_long() -> f64 {
    1.0
}

/// `bytes` at so much each, to the nearest nanosecond.
pub(crate) fn per_byte(ns_per_byte: f64, bytes: usize) -> Nanoseconds {
    (ns_per_byte * bytes as f64).round() as Nanoseconds
}

#[cfg(test)]
mod tests;
