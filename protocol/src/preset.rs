//! Named choices along the axes of the protocol family (thesis 8.1).

use std::fmt;
use std::str::FromStr;

/// The level that makes transmission reliable (thesis 8.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reliability {
    /// Nobody: the network is, and packets are sent carefully (`nrx`).
    Careful,
    /// The NI numbers, acknowledges and retransmits (`irx`).
    Ni,
    /// The host does (`hrx`).
    Host,
}

/// The level that forwards a multicast packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Forwarding {
    /// The NI, as the packet arrives (thesis 4.2): the host may sleep.
    Ni,
    /// The host re-injects the packet when it gets to it (thesis 8.1.3).
    Host,
}

/// The event at which a multicast packet is acknowledged to the parent in its tree (thesis 8.3.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Acknowledging {
    /// ACK-forward: once it has been forwarded to all children.
    Forward,
    /// ACK-receive: like a unicast packet, whatever becomes of its forwarding. A hole in flow
    /// control, which only the number of host buffers bounds.
    Receive,
}

/// A protocol by name: who retransmits, who forwards (thesis table 8.1).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Preset {
    /// No retransmission, NI-level forwarding; the default.
    #[default]
    NrxImc,
    /// No retransmission, host-level forwarding.
    NrxHmc,
    /// NI-level retransmission and forwarding.
    IrxImc,
    /// NI-level retransmission, host-level forwarding.
    IrxHmc,
    /// Host-level retransmission and forwarding.
    HrxHmc,
    /// Host-level retransmission, NI-level forwarding: the one that the thesis left out.
    HrxImc,
    /// NI-level retransmission and forwarding; acknowledgements when the sender asks, credits
    /// without limit until a receiver runs out of buffers (Pupa 2).
    Pupa,
}

impl Preset {
    /// All presets, the default first.
    pub const ALL: [Preset; 7] = [
        Preset::NrxImc,
        Preset::NrxHmc,
        Preset::IrxImc,
        Preset::IrxHmc,
        Preset::HrxHmc,
        Preset::HrxImc,
        Preset::Pupa,
    ];
    /// Those for networks that lose nothing.
    pub const CAREFUL: [Preset; 2] = [Preset::NrxImc, Preset::NrxHmc];
    /// Those for networks that may lose anything.
    pub const RETRANSMITTING: [Preset; 5] =
        [Preset::IrxImc, Preset::IrxHmc, Preset::HrxHmc, Preset::HrxImc, Preset::Pupa];

    /// The level that makes transmission reliable under this preset.
    #[inline]
    pub fn reliability(self) -> Reliability {
        match self {
            Preset::NrxImc | Preset::NrxHmc => Reliability::Careful,
            Preset::IrxImc | Preset::IrxHmc | Preset::Pupa => Reliability::Ni,
            Preset::HrxHmc | Preset::HrxImc => Reliability::Host,
        }
    }

    /// True if the host runs the protocol, and the NI only moves packets.
    #[inline]
    pub fn runs_at_host(self) -> bool {
        self.reliability() == Reliability::Host
    }

    /// The level that forwards under this preset.
    #[inline]
    pub fn forwarding(self) -> Forwarding {
        match self {
            Preset::NrxImc | Preset::IrxImc | Preset::HrxImc | Preset::Pupa => Forwarding::Ni,
            Preset::NrxHmc | Preset::IrxHmc | Preset::HrxHmc => Forwarding::Host,
        }
    }

    /// The event at which multicast packets are acknowledged under this preset: after forwarding
    /// wherever the level that acknowledges is one that knows of the forwarding (thesis 8.3.2).
    #[inline]
    pub fn acknowledging(self) -> Acknowledging {
        match self {
            Preset::NrxHmc | Preset::IrxHmc => Acknowledging::Receive,
            _ => Acknowledging::Forward,
        }
    }

    /// True if senders mark the packets that they want acknowledged, and receivers report that they
    /// have no buffers (Pupa 2.2).
    #[inline]
    pub fn is_optimistic(self) -> bool {
        self == Preset::Pupa
    }

    /// True if packets that the network loses are sent again.
    #[inline]
    pub fn retransmits(self) -> bool {
        self.reliability() != Reliability::Careful
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Preset::NrxImc => "nrx-imc",
            Preset::NrxHmc => "nrx-hmc",
            Preset::IrxImc => "irx-imc",
            Preset::IrxHmc => "irx-hmc",
            Preset::HrxHmc => "hrx-hmc",
            Preset::HrxImc => "hrx-imc",
            Preset::Pupa => "pupa",
        })
    }
}

/// No preset has this name.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "there is no preset '{0}'; there are nrx-imc, nrx-hmc, irx-imc, irx-hmc, hrx-hmc, hrx-imc and pupa"
)]
pub struct UnknownPreset(String);

impl FromStr for Preset {
    type Err = UnknownPreset;

    fn from_str(name: &str) -> Result<Self, UnknownPreset> {
        Preset::ALL
            .into_iter()
            .find(|preset| preset.to_string() == name)
            .ok_or_else(|| UnknownPreset(name.into()))
    }
}
