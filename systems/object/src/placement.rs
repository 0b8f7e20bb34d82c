//! Placement that changes as the program runs (thesis 7.1.2): an object migrates, is replicated, or
//! comes together again.
//!
//! A change is asked for by a message of the order. What is replicated switches there, since all
//! copies have the same state at that place. A single copy is frozen there by its home, which
//! broadcasts its state, and everybody switches at the place of that. Operations that find the
//! object elsewhere than they went are not executed, come back, and start again.

use crate::copy::{Overs, Role};
use crate::format::{Place, Why};
use crate::objects::{Inner, Placement};
use crate::operation::Executable;
use crate::planted::Bug;
use crate::shared::{AnyCopy, Entry, Fresh, Shared, lock};
use crate::usage::Site;
use crate::{Handle, Result};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;
use weft_messaging::Error;

/// Time after which a state that could not be broadcast is tried again.
const AGAIN: Duration = Duration::from_millis(1);

/// Change of the placement of an object.
#[derive(Default)]
pub(crate) struct Moving {
    /// Changes so far.
    pub moves: u64,
    /// True if its state is on its way.
    is_under_way: bool,
    /// The last that was asked for meanwhile.
    next: Option<Site>,
}

#[expect(private_bounds, reason = "objects of Rust, and `Dynamic`")]
impl<T: Executable> Handle<T> {
    /// Has the object be there from now on. Returns once this rank knows of it; a single copy may
    /// still be on its way then, and whoever operates on it waits for that. Of several changes that
    /// come meanwhile the last is done afterwards. An object that is broken, or whose state cannot
    /// be captured, stays where it is.
    ///
    /// # Errors
    /// [`crate::Error::NoSuchRank`], or a lost rank.
    pub fn place(&self, placement: Placement) -> Result<()> {
        self.inner.check(placement)?;
        let (site, is_automatic) = placement.site(self.inner.shared.engine.packets().size());
        let why = match (site, is_automatic) {
            (None, _) => Why::Left,
            (_, true) => Why::Estimate,
            (_, false) => Why::Fixed,
        };
        let place = Place { object: self.entry.id, site: site.unwrap_or(self.entry.site()) };
        self.inner.order.broadcast_and_wait(&place.emit(why))?;
        Ok(())
    }
}

impl Inner {
    /// Sends states of objects that were to move before this was complete.
    pub(crate) fn begin_moves(self: &Arc<Self>) {
        let unsent = std::mem::take(&mut self.shared.books().unsent);
        unsent.into_iter().for_each(|message| self.broadcast_soon(message));
    }

    /// Broadcasts from a handler; again and again, if the order has no room for it.
    pub(crate) fn broadcast_soon(self: &Arc<Self>, message: Vec<u8>) {
        let Err(Error::Overdrawn { .. }) = self.order.broadcast(&message) else { return };
        let (inner, engine) = (Arc::downgrade(self), Arc::clone(&self.shared.engine));
        let again = engine.sleep(AGAIN);
        engine.spawn(async move {
            again.await;
            if let Some(inner) = inner.upgrade() {
                inner.broadcast_soon(message);
            }
        });
    }
}

impl Shared {
    /// An object is to be elsewhere: message of the order.
    pub(crate) fn place(&self, entry: &Entry, place: Place, why: Why) {
        if why != Why::Statistics {
            entry.is_automatic.store(why != Why::Fixed, Ordering::Relaxed);
        }
        // Where the object is now the rank that asked may not have known.
        if why == Why::Left {
            return;
        }
        let is_automatic = entry.is_automatic.load(Ordering::Relaxed);
        let mut moving = lock(&entry.moving);
        if moving.is_under_way || why == Why::Statistics && !is_automatic {
            // The program has the last word.
            if why != Why::Statistics {
                moving.next = Some(place.site);
            }
            return;
        }
        match entry.site() {
            same if same == place.site => {}
            Site::Replicated => {
                drop(moving);
                entry.settle(place.site, None, self);
            }
            Site::Single(home) => {
                moving.is_under_way = true;
                drop(moving);
                if home == self.own {
                    self.send_away(entry, place);
                }
            }
        }
    }

    /// Freezes the only copy, which is here, and sends its state.
    fn send_away(&self, entry: &Entry, place: Place) {
        let accepts = |state: &[u8]| (entry.kind.make)(Some(state)).is_some();
        let is_late = self.planted.has(Bug::LateFreeze, 1);
        let freeze = |copy: &Arc<dyn AnyCopy>| copy.freeze(&accepts, is_late);
        let state = entry.copy.as_ref().and_then(freeze);
        let mut message = place.emit_state(state.is_some()).to_vec();
        message.extend(state.unwrap_or_default());
        match self.inner.get().and_then(Weak::upgrade) {
            Some(inner) => inner.broadcast_soon(message),
            None => self.books().unsent.push(message),
        }
    }

    /// The state of an object that moves has come, or the object stays: message of the order.
    pub(crate) fn moved(&self, entry: &Entry, place: Place, state: Option<&[u8]>) {
        if state.is_some() {
            entry.settle(place.site, state, self);
        }
        let mut moving = lock(&entry.moving);
        moving.is_under_way = false;
        let next = moving.next.take();
        drop(moving);
        if let Some(site) = next {
            let is_automatic = entry.is_automatic.load(Ordering::Relaxed);
            let why = if is_automatic { Why::Estimate } else { Why::Fixed };
            self.place(entry, Place { site, ..place }, why);
        }
    }
}

impl Entry {
    /// Place of its copies, as of the order here.
    pub(crate) fn site(&self) -> Site {
        Site::of_number(self.site.load(Ordering::SeqCst))
    }

    /// The object is there from here on, with this state, or with the one that its copies have.
    /// Everybody whose operation was kept here starts it again.
    pub(crate) fn settle(&self, site: Site, state: Option<&[u8]>, at: &Shared) {
        let number = site.number();
        if self.site.swap(number, Ordering::SeqCst) != number {
            lock(&self.moving).moves += 1;
        }
        let Some(copy) = &self.copy else { return };
        let role = match site {
            Site::Replicated => Role::Replica,
            Site::Single(home) if home == at.own => Role::Only,
            Site::Single(_) if state.is_none() && at.planted.has(Bug::Stale, 1) => Role::Replica,
            Site::Single(_) => Role::Absent,
        };
        let fresh = match state {
            None => Fresh::Kept,
            Some(state) if role != Role::Absent => Fresh::Of((self.kind.make)(Some(state))),
            Some(_) => Fresh::Of(None),
        };
        let mut over = Overs::new();
        copy.settle(role, fresh, &mut over);
        lock(&self.usage).restart(copy.statistics().0);
        at.tell(over);
    }
}
