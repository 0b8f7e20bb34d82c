//! Settings of the transport of regions.

/// Settings of the transport of regions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// True if what goes to several nodes is multicast where that is less to send: when they are at
    /// least two, and half of those that a broadcast reaches. Otherwise each gets a packet of its
    /// own, as in the thesis (7.3.2).
    pub multicast: bool,
    /// Transport of the bytes of regions to whoever has asked for them.
    pub data: DataWay,
    /// Number of regions that are mapped no more and kept all the same, with their copies: those
    /// unmapped last.
    pub most_unmapped: usize,
}

/// Transport of the bytes of regions to whoever has asked for them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum DataWay {
    /// Copied into packets and out of them.
    #[default]
    Packets,
    /// Those of regions of 1 KiB and more are put into the memory of the region there, which who
    /// asks has opened for it: by the sender itself on one host, and where they fill more than a
    /// packet between hosts.
    Puts,
    /// Puts; but what is only read, its home lends on one host: whoever has asked reads it in the
    /// home's memory, and nobody copies it.
    Loans,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { multicast: true, data: DataWay::default(), most_unmapped: 64 }
    }
}
