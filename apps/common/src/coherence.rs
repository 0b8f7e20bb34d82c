use clap::{Args, ValueEnum};
use weft_region::DataWay;
use weft_region::coherence::{Hint, Policy};

/// Coherence of a program's regions: options of its command line, to be flattened into its own.
/// They change what a run costs, never what it computes.
#[derive(Debug, Clone, Copy, Default, Args)]
pub struct Coherence {
    /// Usage that regions are created for
    #[arg(long, value_enum, default_value_t, value_name = "HINT", help_heading = "Regions")]
    pub hint: HintName,

    /// Have data that another rank wrote come by way of its home, as in the thesis's CRL
    #[arg(long, help_heading = "Regions")]
    pub two_party: bool,

    /// Ask for copies before they are needed, where the program knows which; to write, with --hint
    /// migratory
    #[arg(long, help_heading = "Regions")]
    pub prefetch: bool,

    /// Transport of the bytes of regions of 1 KiB and more to who has asked for them
    #[arg(long, value_enum, default_value_t, value_name = "WAY", help_heading = "Regions")]
    pub data: DataName,
}

/// A way of data by its name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum DataName {
    /// Copied into packets and out of them
    #[default]
    Packets,
    /// Put into their place by whoever has them
    Puts,
    /// Put, and on one host read where their home has them
    Loans,
}

/// A hint by its name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum HintName {
    /// Nothing: copies are dropped when somebody writes
    #[default]
    Invalidate,
    /// One writes and the same ranks read: copies are brought up to date
    Update,
    /// Read and then written, by one after another
    Migratory,
}

impl Coherence {
    /// Policy that regions are created with.
    pub fn policy(&self) -> Policy {
        let hint = match self.hint {
            HintName::Invalidate => Hint::Invalidate,
            HintName::Update => Hint::Update,
            HintName::Migratory => Hint::Migratory,
        };
        Policy { hint, three_party: !self.two_party }
    }

    /// Transport of their bytes.
    pub fn data(&self) -> DataWay {
        match self.data {
            DataName::Packets => DataWay::Packets,
            DataName::Puts => DataWay::Puts,
            DataName::Loans => DataWay::Loans,
        }
    }
}
