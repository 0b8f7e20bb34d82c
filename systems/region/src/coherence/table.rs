//! The rules of the protocol, all in one place: what a node does about its replica, and what the
//! home does about its directory.
//!
//! A rule says what follows an event in a state: the next state, and the steps on the way there.
//! There are no conditions in rules; what an event *is* may depend on counts (the last of several
//! readers ends), which [`super::replica`] and [`super::directory`] find out. Where there is no
//! rule, the caller misused the library or a peer broke the protocol. [`super::diagram`] draws the
//! table.

use ReplicaEvent as E;
use ReplicaState as S;
use ReplicaStep as A;

/// An enumeration that knows all its values.
macro_rules! listed {
    ($(#[$about:meta])* $name:ident { $($(#[$what:meta])* $value:ident,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum $name {
            $($(#[$what])* $value,)*
        }

        impl $name {
            /// All values.
            pub const ALL: &[$name] = &[$($name::$value),*];
        }
    };
}

listed! {
    /// State of a node's replica of a region.
    ReplicaState {
        /// Nothing.
        Invalid,
        /// Nothing; it asked for a copy to read.
        AwaitingShared,
        /// Nothing; it asked for the only copy.
        AwaitingExclusive,
        /// A copy that others may have too; it asked to have the only one.
        AwaitingUpgrade,
        /// Nothing; it asked for the region's end.
        AwaitingDeletion,
        /// A copy that others may have too, and nobody here uses it.
        Shared,
        /// That copy, while it is read here.
        Reading,
        /// The only copy, and nobody uses it.
        Exclusive,
        /// The only copy, while it is read here.
        ExclusiveReading,
        /// The only copy, while it is written here.
        Writing,
        /// The region is gone, or lost.
        Deleted,
    }
}

listed! {
    /// Event at a node's replica.
    ReplicaEvent {
        /// The program starts to read.
        StartRead,
        /// One of several readers ends.
        EndRead,
        /// The last reader ends.
        EndLastRead,
        /// The program starts to write.
        StartWrite,
        /// The program ends writing.
        EndWrite,
        /// The program is going to read.
        Prefetch,
        /// The program is going to write.
        PrefetchWrite,
        /// The program will not need the copy for a while.
        Flush,
        /// The program ends the region.
        Delete,
        /// The home wants the copy gone.
        Invalidate,
        /// The home wants the only copy to become one of several.
        FetchShared,
        /// The home wants the only copy to go elsewhere.
        FetchExclusive,
        /// A copy has come, as one of several.
        DataShared,
        /// The only copy has come.
        DataExclusive,
        /// The copy that is here has become the only one.
        Upgraded,
        /// An update that was not asked for: the writes of others.
        Update,
        /// The region is no more.
        Gone,
        /// The region is lost.
        Lost,
    }
}

/// Step that a node takes about its replica.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ReplicaStep {
    /// Lets the call go on.
    Grant,
    /// Keeps the call until a message comes.
    Wait,
    /// Tells the call that the region is gone.
    Refuse,
    /// Makes the waiting call once more.
    Retry,
    /// Asks the home for a copy to read.
    AskRead,
    /// Asks the home for the only copy.
    AskWrite,
    /// Asks the home to make this copy the only one.
    AskUpgrade,
    /// Asks the home to end the region.
    AskDelete,
    /// Tells the home that the copy is gone.
    Acknowledge,
    /// Keeps the home's demand until the copy is not used, or has come.
    Defer,
    /// Sends the copy where the home wants it, to stay one of several here.
    PassShared,
    /// Sends the only copy where the home wants it.
    PassExclusive,
    /// Gives the only copy back to the home.
    Return,
    /// The bytes that came are the region's, and their version the copy's.
    Place,
    /// The copy has the version that came.
    Adopt,
}

/// Rule: what follows an event in a state.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Rule<State, Step: 'static> {
    /// The state after it.
    pub next: State,
    /// Steps, in this order.
    pub steps: &'static [Step],
}

/// The rule of a replica for `event` in `state`.
#[inline]
pub fn replica(state: S, event: E) -> Option<Rule<S, A>> {
    if event <= E::Delete { call(state, event) } else { message(state, event) }
}

/// States after calls that are hits: their rules ask nothing of others, and wait for nothing.
static HITS: [[Option<S>; E::Delete as usize + 1]; S::ALL.len()] = {
    let mut hits = [[None; E::Delete as usize + 1]; S::ALL.len()];
    let mut state = 0;
    while state < hits.len() {
        let mut event = 0;
        while event < hits[state].len() {
            if let Some(Rule { next, steps: [] | [A::Grant] }) = call(S::ALL[state], E::ALL[event])
            {
                hits[state][event] = Some(next);
            }
            event += 1;
        }
        state += 1;
    }
    hits
};

/// State after a call in `state`, if it is a hit.
#[inline]
pub fn hit(state: S, event: E) -> Option<S> {
    *HITS[state as usize].get(event as usize)?
}

/// Rule for a call of the program.
#[inline]
const fn call(state: S, event: E) -> Option<Rule<S, A>> {
    let (next, steps): (S, &'static [A]) = match (state, event) {
        // Hits.
        (S::Shared | S::Reading, E::StartRead) => (S::Reading, &[A::Grant]),
        (S::Reading, E::EndRead) => (S::Reading, &[]),
        (S::Reading, E::EndLastRead) => (S::Shared, &[]),
        (S::Exclusive | S::ExclusiveReading, E::StartRead) => (S::ExclusiveReading, &[A::Grant]),
        (S::ExclusiveReading, E::EndRead) => (S::ExclusiveReading, &[]),
        (S::ExclusiveReading, E::EndLastRead) => (S::Exclusive, &[]),
        (S::Exclusive, E::StartWrite) => (S::Writing, &[A::Grant]),
        (S::Writing, E::EndWrite) => (S::Exclusive, &[]),

        // Misses.
        (S::Invalid, E::StartRead) => (S::AwaitingShared, &[A::Wait, A::AskRead]),
        (S::Invalid, E::Prefetch) => (S::AwaitingShared, &[A::AskRead]),
        (S::Invalid, E::StartWrite) => (S::AwaitingExclusive, &[A::Wait, A::AskWrite]),
        (S::Shared, E::StartWrite) => (S::AwaitingUpgrade, &[A::Wait, A::AskUpgrade]),
        (S::Invalid, E::PrefetchWrite) => (S::AwaitingExclusive, &[A::AskWrite]),
        (S::Shared, E::PrefetchWrite) => (S::AwaitingUpgrade, &[A::AskUpgrade]),
        // A copy is on its way that was asked for before it was needed.
        (
            S::AwaitingShared | S::AwaitingExclusive | S::AwaitingUpgrade,
            E::StartRead | E::StartWrite | E::Delete,
        ) => (state, &[A::Wait]),

        // Copies that are not needed.
        (S::Shared, E::Flush) => (S::Invalid, &[]),
        (S::Exclusive, E::Flush) => (S::Invalid, &[A::Return]),
        (
            S::Invalid | S::AwaitingShared | S::AwaitingExclusive | S::AwaitingUpgrade | S::Deleted,
            E::Flush,
        ) => (state, &[]),
        (S::Shared, E::Prefetch) => (state, &[]),
        (
            S::AwaitingShared
            | S::AwaitingExclusive
            | S::AwaitingUpgrade
            | S::Reading
            | S::Exclusive
            | S::ExclusiveReading
            | S::Writing
            | S::Deleted,
            E::Prefetch | E::PrefetchWrite,
        ) => (state, &[]),

        // The end of the region.
        (S::Invalid | S::Shared, E::Delete) => (S::AwaitingDeletion, &[A::Wait, A::AskDelete]),
        (S::Exclusive, E::Delete) => (S::AwaitingDeletion, &[A::Return, A::Wait, A::AskDelete]),
        (S::Deleted, E::StartRead | E::StartWrite | E::Delete) => (S::Deleted, &[A::Refuse]),
        _ => return None,
    };
    Some(Rule { next, steps })
}

/// Rule for a message of others.
fn message(state: S, event: E) -> Option<Rule<S, A>> {
    let (next, steps): (S, &'static [A]) = match (state, event) {
        // Answers.
        (S::AwaitingShared, E::DataShared) => (S::Shared, &[A::Place, A::Retry]),
        (S::AwaitingShared | S::AwaitingExclusive, E::DataExclusive) => {
            (S::Exclusive, &[A::Place, A::Retry])
        }
        (S::AwaitingUpgrade, E::Upgraded) => (S::Exclusive, &[A::Adopt, A::Retry]),
        (S::AwaitingShared | S::AwaitingExclusive, E::Gone) => (S::Deleted, &[A::Retry]),
        (S::AwaitingDeletion, E::Gone) => (S::Deleted, &[A::Grant]),

        // The region is lost; accesses that have begun end first.
        (
            S::AwaitingShared | S::AwaitingExclusive | S::AwaitingUpgrade | S::AwaitingDeletion,
            E::Lost,
        ) => (S::Deleted, &[A::Retry]),
        (S::Invalid | S::Shared | S::Exclusive | S::Deleted, E::Lost) => (S::Deleted, &[]),
        (S::Reading | S::ExclusiveReading | S::Writing, E::Lost) => (state, &[A::Defer]),

        // The home's demands on a copy that others may have.
        (S::Shared, E::Invalidate) => (S::Invalid, &[A::Acknowledge]),
        (S::AwaitingUpgrade, E::Invalidate) => (S::AwaitingExclusive, &[A::Acknowledge]),
        (S::Reading | S::AwaitingShared, E::Invalidate) => (state, &[A::Defer]),
        // A node that has dropped its copy says so when it is asked to; if it asked for another
        // meanwhile, that has said it.
        (S::Invalid, E::Invalidate) => (S::Invalid, &[A::Acknowledge]),
        (S::AwaitingExclusive | S::AwaitingDeletion | S::Deleted, E::Invalidate) => (state, &[]),

        // The home's demands on the only copy.
        (S::Exclusive, E::FetchShared) => (S::Shared, &[A::PassShared]),
        (S::ExclusiveReading, E::FetchShared) => (S::Reading, &[A::PassShared]),
        (S::Exclusive, E::FetchExclusive) => (S::Invalid, &[A::PassExclusive]),
        (S::ExclusiveReading, E::FetchExclusive) => (state, &[A::Defer]),
        (S::Writing | S::AwaitingExclusive, E::FetchShared | E::FetchExclusive) => {
            (state, &[A::Defer])
        }
        (S::AwaitingShared, E::FetchExclusive) => (S::AwaitingShared, &[A::Defer]),
        // It was given back before the home asked for it.
        (S::Invalid | S::AwaitingDeletion, E::FetchShared | E::FetchExclusive) => (state, &[]),
        (S::AwaitingShared, E::FetchShared) => (S::AwaitingShared, &[]),

        // What others wrote, for those who read it before.
        (S::Invalid, E::Update) => (S::Shared, &[A::Place]),
        (
            S::AwaitingShared | S::AwaitingExclusive | S::AwaitingDeletion | S::Deleted,
            E::Update,
        ) => (state, &[]),

        _ => return None,
    };
    Some(Rule { next, steps })
}

listed! {
    /// State of the home's directory: what it knows of who has copies.
    DirectoryState {
        /// The home's memory is up to date, and the readers have copies of it.
        Clean,
        /// One node, the owner, has the only copy.
        Owned,
        /// A node asked for the only copy, and readers are to say that theirs are gone.
        Invalidating,
        /// A node asked for a copy, and the owner is to pass it on.
        Fetching,
        /// The region is gone, or lost.
        Deleted,
    }
}

listed! {
    /// Event at a directory. Requests are told apart by what they come to.
    DirectoryEvent {
        /// A node asks for a copy to read.
        Read,
        /// A node asks for the only copy.
        Write,
        /// A node asks to have the only copy, and has one that nobody else has.
        Upgrade,
        /// A node asks for the region's end.
        Delete,
        /// One of the last three, while other nodes have copies to read.
        Contended,
        /// One of several readers says that its copy is gone.
        Acknowledged,
        /// The last of them says it.
        AllAcknowledged,
        /// The owner gave the region back.
        Returned,
        /// The owner gave the home a copy, and reads on.
        Kept,
        /// The owner gave the home and the requester a copy each, and reads on.
        HandedShared,
        /// The owner gave the requester the only copy.
        HandedExclusive,
        /// The requester has what it asked for and sends something else, before the owner says that
        /// it gave it.
        Early,
        /// The writes of the new owner shall come back by themselves.
        Recall,
        /// The owner is lost.
        OwnerLost,
        /// The node whose request is served is lost, and not the owner.
        RequesterLost,
        /// The last reader says that its copy is gone, and nobody needs that any more.
        AcknowledgedInVain,
    }
}

/// Step that a directory takes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum DirectoryStep {
    /// The requester becomes a reader.
    Admit,
    /// The requester becomes the owner.
    Transfer,
    /// The owner becomes a reader.
    Demote,
    /// Nobody is the owner, and copies that anybody had are old.
    Reclaim,
    /// Sends the requester a copy.
    SendShared,
    /// Sends the requester the only copy.
    SendExclusive,
    /// Tells the requester that its copy is the only one.
    SendUpgrade,
    /// Tells the requester that the region is gone, or lost.
    SendGone,
    /// Serves this request until it is served; others wait.
    Begin,
    /// The request waits.
    Queue,
    /// Takes up the request being served.
    Resume,
    /// The request is served.
    Finish,
    /// Keeps what the requester sent until the request is served.
    Hold,
    /// Tells all readers but the requester to drop their copies.
    InvalidateReaders,
    /// Tells the owner to share its copy.
    FetchShared,
    /// Tells the owner to hand over its copy.
    FetchExclusive,
    /// Sends what was written to those who read before.
    Update,
    /// The bytes that came are the region's.
    Place,
}

use DirectoryEvent as D;
use DirectoryState as H;
use DirectoryStep as B;

/// The rule of a directory for `event` in `state`.
pub fn directory(state: H, event: D) -> Option<Rule<H, B>> {
    let (next, steps): (H, &'static [B]) = match (state, event) {
        // Clean misses (thesis fig. 7.17 a and c).
        (H::Clean, D::Read) => (H::Clean, &[B::Admit, B::SendShared]),
        (H::Clean, D::Write) => (H::Owned, &[B::Transfer, B::SendExclusive]),
        (H::Clean, D::Upgrade) => (H::Owned, &[B::Transfer, B::SendUpgrade]),
        (H::Clean, D::Delete) => (H::Deleted, &[B::Reclaim, B::SendGone]),
        (H::Clean, D::Contended) => (H::Invalidating, &[B::Begin, B::InvalidateReaders]),
        (H::Invalidating, D::Acknowledged) => (H::Invalidating, &[]),
        (H::Invalidating, D::AllAcknowledged) => (H::Clean, &[B::Resume]),

        // Dirty misses (fig. 7.17 b), by two parties or by three.
        (H::Owned, D::Read) => (H::Fetching, &[B::Begin, B::FetchShared]),
        (H::Owned, D::Write | D::Delete) => (H::Fetching, &[B::Begin, B::FetchExclusive]),
        (H::Fetching, D::Returned) => (H::Clean, &[B::Place, B::Reclaim, B::Update, B::Resume]),
        (H::Fetching, D::Kept) => (H::Clean, &[B::Place, B::Demote, B::Update, B::Resume]),
        (H::Fetching, D::HandedShared) => {
            (H::Clean, &[B::Place, B::Demote, B::Admit, B::Update, B::Finish])
        }
        (H::Fetching, D::HandedExclusive) => (H::Owned, &[B::Transfer, B::Finish]),
        // The data with it is newer than all that the home could get before.
        (H::Fetching, D::Early) => (H::Fetching, &[B::Hold, B::Place]),

        // One request at a time.
        (H::Invalidating | H::Fetching, D::Read | D::Write | D::Delete) => (state, &[B::Queue]),
        (H::Invalidating, D::Upgrade | D::Contended) => (state, &[B::Queue]),

        // The owner does not need it, or shall not keep it to itself.
        (H::Owned, D::Returned) => (H::Clean, &[B::Place, B::Reclaim, B::Update]),
        (H::Owned, D::Recall) => (H::Fetching, &[B::FetchShared]),

        (H::Deleted, D::Read | D::Write | D::Delete) => (H::Deleted, &[B::SendGone]),

        // Losses, where a job goes on after them.
        (H::Owned, D::OwnerLost) => (H::Deleted, &[]),
        (H::Fetching, D::OwnerLost) => (H::Deleted, &[B::SendGone, B::Finish]),
        (H::Invalidating | H::Fetching, D::RequesterLost) => (state, &[B::Finish]),
        (H::Invalidating, D::AcknowledgedInVain) => (H::Clean, &[B::Reclaim]),
        _ => return None,
    };
    Some(Rule { next, steps })
}
