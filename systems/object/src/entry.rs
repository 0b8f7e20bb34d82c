//! An object, as a rank knows it: its type, its place, and the copy here.
//!
//! A change of its place is asked for by a message of the order (thesis 7.1.2). What is replicated
//! switches there, since all copies have the same state at that place. A single copy is frozen
//! there by its home, which broadcasts its state, and everybody switches at the place of that.
//! Operations that find the object elsewhere than they went are not executed, come back, and start
//! again.

use crate::copy::{Fault, Overs, Role, Statistics};
use crate::error::Error;
use crate::format::Why;
use crate::kind::Kind;
use crate::local::{AnyCopy, Fresh, Local, Resume};
use crate::lock::lock;
use crate::operation::Effect;
use crate::placement::Site;
use crate::planted::{Bug, Planted};
use crate::usage::{Observer, Usage};
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use weft_endpoint::Rank;

/// An object, as a rank knows it.
pub(crate) struct Entry {
    pub id: u64,
    pub name: String,
    pub kind: Arc<Kind>,
    /// Number of its site, as of the order here.
    site: AtomicU16,
    /// The rank that created it, which thinks over its placement while it is replicated.
    manager: Rank,
    /// True if its placement follows from its usage.
    is_automatic: AtomicBool,
    usage: Mutex<Usage>,
    moving: Mutex<Moving>,
    /// Number of the message of the order that deleted it, and one more; 0 before.
    deleted: AtomicU64,
    /// The rank with which it was lost, and one more; 0 before.
    lost: AtomicU32,
    /// The copy here, or the place for one; `None` if this rank does not know the type.
    pub copy: Option<Arc<dyn AnyCopy>>,
}

/// Change of the placement of an object.
#[derive(Default)]
struct Moving {
    /// Changes so far.
    moves: u64,
    /// True if its state is on its way.
    is_under_way: bool,
    /// The last that was asked for meanwhile.
    next: Option<Site>,
}

/// Step by which a change of the placement is made.
#[derive(PartialEq, Eq)]
pub(crate) enum Change {
    /// Nothing now.
    None,
    /// All have its state: it is elsewhere from here on.
    Settle,
    /// This rank, its home, has to send its state.
    Send(Rank),
}

impl Entry {
    /// An object without a copy, which `manager` has created.
    pub fn new(
        id: u64,
        name: &str,
        kind: Arc<Kind>,
        manager: Rank,
        (site, is_automatic): (Site, bool),
    ) -> Self {
        let copy = (kind.make)(None);
        let (site, is_automatic) = (AtomicU16::new(site.number()), AtomicBool::new(is_automatic));
        let (name, usage, moving) = (name.to_owned(), Mutex::default(), Mutex::default());
        let (deleted, lost) = (AtomicU64::new(0), AtomicU32::new(0));
        Entry { id, name, kind, site, manager, is_automatic, usage, moving, deleted, lost, copy }
    }

    /// Place of its copies, as of the order here.
    pub fn site(&self) -> Site {
        Site::of_number(self.site.load(Ordering::SeqCst))
    }

    /// Executes an operation on the copy here; adds those that are over.
    #[inline]
    pub fn invoke(&self, invocation: Local<'_>, over: &mut Overs<Resume>) {
        match &self.copy {
            Some(copy) => copy.invoke(invocation, over),
            None => over.push((invocation.resume, Err(Fault::NoCopy))),
        }
    }

    /// A change of its placement to `site` is asked for.
    pub fn change(&self, site: Site, why: Why) -> Change {
        if why != Why::Statistics {
            self.is_automatic.store(why != Why::Fixed, Ordering::Relaxed);
        }
        // Where the object is now the rank that asked may not have known.
        if why == Why::Left {
            return Change::None;
        }
        let is_automatic = self.is_automatic.load(Ordering::Relaxed);
        let mut moving = lock(&self.moving);
        if moving.is_under_way || why == Why::Statistics && !is_automatic {
            // The program has the last word.
            if why != Why::Statistics {
                moving.next = Some(site);
            }
            return Change::None;
        }
        match self.site() {
            same if same == site => Change::None,
            Site::Replicated => Change::Settle,
            Site::Single(home) => {
                moving.is_under_way = true;
                Change::Send(home)
            }
        }
    }

    /// State of the only copy, which is here, and frozen from here on. `None` if the object stays.
    pub fn freeze(&self, planted: &Planted) -> Option<Vec<u8>> {
        let accepts = |state: &[u8]| (self.kind.make)(Some(state)).is_some();
        self.copy.as_ref()?.freeze(&accepts, planted.has(Bug::LateFreeze, 1))
    }

    /// Its state has come, or it stays. A change that was asked for meanwhile, if there was one.
    pub fn moved(&self) -> Option<(Site, Why)> {
        let mut moving = lock(&self.moving);
        moving.is_under_way = false;
        let site = moving.next.take()?;
        drop(moving);
        let is_automatic = self.is_automatic.load(Ordering::Relaxed);
        Some((site, if is_automatic { Why::Estimate } else { Why::Fixed }))
    }

    /// The object is there from here on, with this state, or with the one that its copies have.
    /// Adds all that was kept here, which starts again.
    pub fn settle(
        &self,
        site: Site,
        state: Option<&[u8]>,
        (own, planted): (Rank, &Planted),
        over: &mut Overs<Resume>,
    ) {
        let number = site.number();
        if self.site.swap(number, Ordering::SeqCst) != number {
            lock(&self.moving).moves += 1;
        }
        let Some(copy) = &self.copy else { return };
        let role = match site {
            Site::Replicated => Role::Replica,
            Site::Single(home) if home == own => Role::Only,
            Site::Single(_) if state.is_none() && planted.has(Bug::Stale, 1) => Role::Replica,
            Site::Single(_) => Role::Absent,
        };
        let fresh = match state {
            None => Fresh::Kept,
            Some(state) if role != Role::Absent => Fresh::Of((self.kind.make)(Some(state))),
            Some(_) => Fresh::Of(None),
        };
        copy.settle(role, fresh, over);
        lock(&self.usage).restart(copy.statistics().0);
    }

    /// The object is no more, by the message with this number. Adds all that waited here.
    pub fn delete(&self, number: u64, over: &mut Overs<Resume>) {
        self.deleted.store(number + 1, Ordering::SeqCst);
        if let Some(copy) = &self.copy {
            copy.delete(over);
        }
    }

    /// Number of the message that deleted it, if one has.
    pub fn deleted_by(&self) -> Option<u64> {
        self.deleted.load(Ordering::SeqCst).checked_sub(1)
    }

    /// The object is lost with its only copy. Adds all that waited here.
    pub fn lose(&self, rank: Rank, over: &mut Overs<Resume>) {
        self.lost.store(u32::from(rank.0) + 1, Ordering::SeqCst);
        if let Some(copy) = &self.copy {
            copy.delete(over);
        }
    }

    /// The rank with which it was lost, if it was.
    pub fn lost_with(&self) -> Option<Rank> {
        self.lost.load(Ordering::SeqCst).checked_sub(1).map(|rank| Rank(rank as u16))
    }

    /// Error of an operation on an object that is no more.
    pub fn gone(&self) -> Error {
        let name = self.name.clone();
        match (self.deleted_by(), self.lost_with()) {
            (None, Some(rank)) => Error::Lost { name, rank },
            _ => Error::Deleted(name),
        }
    }

    /// A rank has called an operation here. A better place, if it is time to look and there is one.
    #[inline]
    pub fn count_call(&self, rank: Rank, operation: u16, at: &Observer) -> Option<Site> {
        if !self.is_automatic.load(Ordering::Relaxed) {
            return None;
        }
        let is_read = self.kind.effects.get(usize::from(operation)) == Some(&Effect::Read);
        let mut usage = lock(&self.usage);
        if !usage.called(rank, is_read, at) {
            return None;
        }
        let Some((now, Role::Only)) = self.copy.as_ref().map(|copy| copy.statistics()) else {
            return None;
        };
        usage.after_calls(now, self.site(), at)
    }

    /// All copies have executed what a rank has broadcast. If it is time to look, a better place,
    /// and the reads here, if all are to know them.
    #[inline]
    pub fn count_write(&self, source: Rank, at: &Observer) -> (Option<Site>, Option<u64>) {
        if !self.is_automatic.load(Ordering::Relaxed) {
            return (None, None);
        }
        let mut usage = lock(&self.usage);
        if !usage.written(source, at) {
            return (None, None);
        }
        match &self.copy {
            Some(copy) => usage.after_writes(copy.statistics().0, self.manager, at),
            None => (None, None),
        }
    }

    /// A rank tells its reads.
    pub fn told_reads(&self, source: Rank, reads: u64) {
        // It may have moved since they were counted.
        if self.site() == Site::Replicated {
            lock(&self.usage).told(source, reads);
        }
    }

    /// A line for people about the copy here. None if there is no copy, and never was.
    pub fn described(&self) -> Option<String> {
        let (counters, role) = self.copy.as_ref()?.statistics();
        let Statistics { reads, writes, blocked, evaluated } = counters;
        let place = match role {
            Role::Replica => "replicated",
            Role::Only | Role::Frozen => "one copy, here",
            Role::Deleted => return None,
            Role::Absent if counters == Statistics::default() => return None,
            Role::Absent => "not here any more",
        };
        let moved = match lock(&self.moving).moves {
            0 => String::new(),
            1 => ", moved once".into(),
            moves => format!(", moved {moves} times"),
        };
        Some(format!(
            "object '{}' ({}, {place}): {reads} reads, {writes} writes, {blocked} waited for \
             guards, evaluated again {evaluated} times{moved}",
            self.name, self.kind.name
        ))
    }

    /// Error of an operation on it that ended by this fault; `ending` is that of a program that has
    /// failed.
    pub fn fault(&self, fault: Fault, operation: u16, ending: impl FnOnce() -> Error) -> Error {
        let (name, kind) = (self.name.clone(), self.kind.name.clone());
        match fault {
            Fault::NoSuchOperation => Error::NoSuchOperation { name, kind, operation },
            Fault::Malformed => Error::Malformed { name, kind, operation },
            Fault::Broken => Error::Broken(name),
            Fault::NoCopy => Error::NoCopy(name),
            Fault::Ended => ending(),
            Fault::Deleted => self.gone(),
            // It is started again instead.
            Fault::Moved(_) => unreachable!("an operation whose object has moved is not over"),
        }
    }
}
