//! Named choices along the axes of the protocol family (thesis 8.1).

use std::fmt;
use std::str::FromStr;

/// Who forwards a multicast packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Forwarding {
    /// The NI, as the packet arrives (thesis 4.2): the host may sleep.
    Ni,
    /// The host re-injects the packet when it gets to it (thesis 8.1.3).
    Host,
}

/// A protocol by name: who retransmits, who forwards.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Preset {
    /// No retransmission, NI-level forwarding; the default.
    #[default]
    NrxImc,
    /// No retransmission, host-level forwarding.
    NrxHmc,
}

impl Preset {
    /// All presets, the default first.
    pub const ALL: [Preset; 2] = [Preset::NrxImc, Preset::NrxHmc];

    /// Who forwards under this preset.
    pub fn forwarding(self) -> Forwarding {
        match self {
            Preset::NrxImc => Forwarding::Ni,
            Preset::NrxHmc => Forwarding::Host,
        }
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Preset::NrxImc => "nrx-imc",
            Preset::NrxHmc => "nrx-hmc",
        })
    }
}

/// No preset has this name.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("there is no preset '{0}'; this version has nrx-imc and nrx-hmc")]
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
