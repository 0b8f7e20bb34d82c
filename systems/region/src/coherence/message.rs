//! Messages of nodes about a region.

use weft_endpoint::Rank;

/// Number of times that the only copy of a region changed hands. Counts round.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Version(pub u32);

impl Version {
    /// The version after this one.
    #[must_use]
    pub fn next(self) -> Version {
        Version(self.0.wrapping_add(1))
    }

    /// True if this is an earlier one. Both are of one region at about the same time: less than
    /// 2^31 apart.
    pub fn is_before(self, other: Version) -> bool {
        (self.0.wrapping_sub(other.0)).cast_signed() < 0
    }
}

/// Kind of a message.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum MessageKind {
    /// To the home: send me a copy to read.
    Read,
    /// To the home: send me the only copy. I have none.
    Write,
    /// To the home: let my copy be the only one.
    Upgrade,
    /// To the home: end the region. I have no copy.
    Delete,
    /// To the home: my copy is gone.
    Acknowledge,
    /// To the home, with data: I had the only copy, and do not need it.
    Return,
    /// To the home, with data: I had the only copy, and read on.
    Keep,
    /// To the home, with data: I had the only copy, gave the requester one, and read on.
    HandShared,
    /// To the home: I had the only copy, and gave it to the requester.
    HandExclusive,
    /// From the home: drop your copy, and say so.
    Invalidate,
    /// From the home: send your copy to the party, and to me; read on.
    FetchShared,
    /// From the home: send your copy to the party, and drop it.
    FetchExclusive,
    /// From the home: your copy is the only one.
    Upgraded,
    /// From the home, with data: others wrote.
    Update,
    /// From the home: the region was deleted.
    Gone,
    /// From the home: the region is lost with the party.
    Lost,
    /// With data: a copy to read.
    DataShared,
    /// With data: the only copy.
    DataExclusive,
}

impl MessageKind {
    /// All kinds, in the order of their codes.
    pub const ALL: [MessageKind; 18] = [
        MessageKind::Read,
        MessageKind::Write,
        MessageKind::Upgrade,
        MessageKind::Delete,
        MessageKind::Acknowledge,
        MessageKind::Return,
        MessageKind::Keep,
        MessageKind::HandShared,
        MessageKind::HandExclusive,
        MessageKind::Invalidate,
        MessageKind::FetchShared,
        MessageKind::FetchExclusive,
        MessageKind::Upgraded,
        MessageKind::Update,
        MessageKind::Gone,
        MessageKind::Lost,
        MessageKind::DataShared,
        MessageKind::DataExclusive,
    ];

    /// True if the region's bytes are part of the message.
    pub fn carries_data(self) -> bool {
        use MessageKind::*;
        matches!(self, Return | Keep | HandShared | Update | DataShared | DataExclusive)
    }

    /// True if it may be multicast: it goes to all who have, or had, a copy, and may arrive in any
    /// order with all others.
    pub fn may_be_multicast(self) -> bool {
        matches!(self, MessageKind::Invalidate | MessageKind::Update)
    }

    /// True if it asks for a copy that may be put into its place, or may be about one that was.
    pub fn may_land(self) -> bool {
        use MessageKind::*;
        let asks = matches!(self, Read | Write | FetchShared | FetchExclusive);
        asks || matches!(self, DataShared | DataExclusive | Keep | Return)
    }

    /// True if it asks for a copy that may be lent, or may be about one that is: whoever asks says
    /// where else it wants it.
    pub fn may_be_lent(self, lands: bool) -> bool {
        matches!((self, lands), (MessageKind::Read, true) | (MessageKind::DataShared, false))
    }

    /// True if it is for the home's directory.
    pub fn is_for_home(self) -> bool {
        self <= MessageKind::HandExclusive
    }

    /// True if it is a demand on the only copy.
    pub fn is_fetch(self) -> bool {
        matches!(self, MessageKind::FetchShared | MessageKind::FetchExclusive)
    }

    /// True if it names a party.
    pub fn names_party(self) -> bool {
        self.is_fetch() || self == MessageKind::Lost
    }

    /// True if only the home sends it.
    pub fn is_from_home(self) -> bool {
        (MessageKind::Invalidate..=MessageKind::Lost).contains(&self)
    }
}

/// A message about a region.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Message {
    /// Kind of the message.
    pub kind: MessageKind,
    /// The version of the copy that it is about, or that comes with it.
    pub version: Version,
    /// Of the home's fetches: where the copy is to go. Of a loss: the rank that is lost. Else the
    /// home.
    pub party: Rank,
}
