//! A tuple space, as one rank sees it.

use crate::active::Active;
use crate::field::{Field, Pattern, matches};
use crate::format::{
    Answer, check_fields, check_patterns, emit_hint, emit_seen, emit_template, emit_tuple,
    emit_want,
};
use crate::home::Key;
use crate::operations::{AWAIT, COUNT, FORGET, HINT, INP, OUT, RD, RDP, TAKE, WANT};
use crate::planted::{Bug, Planted};
use crate::shard::Shard;
use crate::tuple::{Template, Tuple};
use crate::want::{Want, Wanted};
use crate::{Error, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use weft_endpoint::Rank;
use weft_object::{Handle, Objects, Placement, Statistics};

/// A tuple space, as one rank sees it. Clones are handles to the same, for any thread.
///
/// All operations are atomic. They wait for the rank that has the tuple, and are for programs and
/// their threads, not for handlers, which must not wait.
///
/// A rank's tuples are served as long as it has a handle: ranks keep theirs until all are done.
#[derive(Clone)]
pub struct Space(Arc<Inner>);

struct Inner {
    name: String,
    own: Rank,
    /// By rank; never empty.
    shards: Vec<Handle<Shard>>,
    /// Wants of this rank so far.
    wants: AtomicU64,
    planted: Planted,
}

/// Fate of a tuple that is found.
#[derive(Clone, Copy)]
enum Access {
    Take,
    Read,
}

/// Result of looking at several homes, one after the other.
enum Search {
    /// A tuple, and its home.
    Found(usize, Vec<Field>),
    /// Nothing, and by home how many tuples of the template's types it was ever given.
    None(Vec<u64>),
}

impl Space {
    /// The tuple space of this name, for this rank among all. All ranks call it, with the same
    /// name, and each brings a part of the space. Waits until all have.
    ///
    /// # Errors
    /// A name that is taken at this rank or too long, [`Shard`] not among the types of `objects`,
    /// [`Error::NoSuchRank`], or a lost rank.
    pub fn new(objects: &Objects, name: &str, own: Rank, ranks: usize) -> Result<Self> {
        let all = u16::try_from(ranks).ok().filter(|all| own.0 < *all);
        let all = all.ok_or(Error::NoSuchRank(own, ranks))?;
        let part = |rank: Rank| format!("weft.linda.{name}.{rank}");
        objects.create(&part(own), &Shard::default(), Placement::Single(own))?;
        let shards = (0..all).map(|rank| objects.find(&part(Rank(rank))));
        let shards = shards.collect::<weft_object::Result<_>>()?;
        let (name, wants) = (name.into(), AtomicU64::new(0));
        let planted = Planted::default();
        Ok(Space(Arc::new(Inner { name, own, shards, wants, planted })))
    }

    /// Puts a tuple. It is there when this returns, and whoever waited for it goes on.
    ///
    /// # Errors
    /// [`Error::ManyFields`], [`Error::LongField`], or a lost rank: its home, so that the tuple is
    /// lost, or one that waits for such a tuple, so that it is there.
    pub fn out(&self, tuple: impl Tuple) -> Result<()> {
        let fields = tuple.into_fields();
        check_fields(fields.len(), fields.iter())?;
        let home = self.home_of_fields(&fields);
        let mut bytes = Vec::new();
        emit_tuple(&fields, &mut bytes);
        if self.0.planted.has(Bug::Lost) {
            return Ok(());
        }
        if self.0.planted.has(Bug::Twice) {
            self.ask(home, OUT, &bytes)?;
        }
        let Answer::Done(wants) = self.ask(home, OUT, &bytes)? else {
            return Err(self.bad_answer(home));
        };
        wants.into_iter().try_for_each(|want| self.hint(home, want))
    }

    /// Takes a tuple that matches out of the space: Linda's `in`. Waits until there is one; of
    /// several, it is any.
    ///
    /// # Errors
    /// [`Error::ManyFields`], [`Error::LongField`], or a lost rank.
    #[doc(alias = "in")]
    pub fn take<T: Template>(&self, template: T) -> Result<T::Found> {
        self.wait_for(self.taking(), template)
    }

    /// A copy of a tuple that matches, which stays in the space. Waits until there is one.
    ///
    /// # Errors
    /// [`Error::ManyFields`], [`Error::LongField`], or a lost rank.
    #[doc(alias = "read")]
    pub fn rd<T: Template>(&self, template: T) -> Result<T::Found> {
        self.wait_for(Access::Read, template)
    }

    /// Takes a tuple that matches out of the space, unless there is none: in the course of the
    /// call there was then a moment without one at any rank. A tuple that is at this rank costs no
    /// message, and none is handled meanwhile: a loop around this leaves them to interrupts.
    ///
    /// # Errors
    /// [`Error::ManyFields`], [`Error::LongField`], or a lost rank.
    pub fn inp<T: Template>(&self, template: T) -> Result<Option<T::Found>> {
        self.look_for(self.taking(), template)
    }

    /// A copy of a tuple that matches, unless there is none, in the sense of [`Space::inp`].
    ///
    /// # Errors
    /// [`Error::ManyFields`], [`Error::LongField`], or a lost rank.
    pub fn rdp<T: Template>(&self, template: T) -> Result<Option<T::Found>> {
        self.look_for(Access::Read, template)
    }

    /// Has a thread of this rank compute a tuple, all fields of it, and put it by [`Space::out`].
    /// Returns at once. The function may use the space.
    ///
    /// # Errors
    /// [`Error::NoThread`]. Later errors are told by [`Active::wait`].
    pub fn eval<T: Tuple>(&self, compute: impl FnOnce() -> T + Send + 'static) -> Result<Active> {
        let space = self.clone();
        Active::start(move || space.out(compute()))
    }

    /// Rank that keeps a tuple like this one while it is in the space.
    pub fn home_of(&self, tuple: impl Tuple) -> Rank {
        Rank(self.home_of_fields(&tuple.into_fields()) as u16)
    }

    /// Number of tuples in the part of the space that this rank has.
    ///
    /// # Errors
    /// A part that is broken.
    pub fn count_here(&self) -> Result<u64> {
        let own = self.0.own.index();
        match self.ask(own, COUNT, &[])? {
            Answer::Count(count) => Ok(count),
            _ => Err(self.bad_answer(own)),
        }
    }

    /// Counters of the part of the space that this rank has.
    pub fn statistics(&self) -> Statistics {
        self.0.shards[self.0.own.index()].statistics().unwrap_or_default()
    }

    /// Plants a bug in the tuple space of this rank.
    #[cfg(feature = "planted")]
    pub fn plant(&self, bug: Bug) {
        self.0.planted.plant(bug);
    }

    fn taking(&self) -> Access {
        if self.0.planted.has(Bug::Stays) { Access::Read } else { Access::Take }
    }

    fn wait_for<T: Template>(&self, access: Access, template: T) -> Result<T::Found> {
        let patterns = template.into_patterns();
        let bytes = emit(&patterns)?;
        let (home, fields) = match self.home(&patterns) {
            Some(home) => (home, self.wait_at(home, access, &bytes)?),
            None => self.wait_everywhere(access, &bytes)?,
        };
        self.found::<T>(home, &patterns, fields)
    }

    fn look_for<T: Template>(&self, access: Access, template: T) -> Result<Option<T::Found>> {
        let patterns = template.into_patterns();
        let bytes = emit(&patterns)?;
        let (first, count) = match self.home(&patterns) {
            Some(home) => (home, 1),
            None => (self.0.own.index(), self.0.shards.len()),
        };
        let mut before = None;
        loop {
            let homes = self.homes_from(first).take(count);
            match self.search(homes, access, &bytes)? {
                Search::Found(home, fields) => {
                    return self.found::<T>(home, &patterns, fields).map(Some);
                }
                // One shard has answered for one moment. Of several, nothing was put anywhere
                // between two searches that came to the same: in between there was nothing.
                Search::None(puts) if count == 1 || before.as_ref() == Some(&puts) => {
                    return Ok(None);
                }
                Search::None(puts) => before = Some(puts),
            }
        }
    }

    fn home_of_fields(&self, fields: &[Field]) -> usize {
        let kinds = fields.iter().map(Field::kind);
        Key::of_tuple(fields).home(kinds, self.0.shards.len())
    }

    /// Home of all tuples that match; `None` if they have several.
    fn home(&self, patterns: &[Pattern]) -> Option<usize> {
        let homes = self.0.shards.len();
        let kinds = patterns.iter().map(Pattern::kind);
        match Key::of_template(patterns) {
            Some(key) => Some(key.home(kinds, homes)),
            None => (homes == 1).then_some(0),
        }
    }

    /// All homes once, this one first.
    fn homes_from(&self, first: usize) -> impl Iterator<Item = usize> + use<> {
        let homes = self.0.shards.len();
        (first..first + homes).map(move |home| home % homes)
    }

    fn wait_at(&self, home: usize, access: Access, template: &[u8]) -> Result<Vec<Field>> {
        let operation = match access {
            Access::Take => TAKE,
            Access::Read => RD,
        };
        match self.ask(home, operation, template)? {
            Answer::Found(fields) => Ok(fields),
            _ => Err(self.bad_answer(home)),
        }
    }

    /// A tuple from any home, and that home.
    fn wait_everywhere(&self, access: Access, template: &[u8]) -> Result<(usize, Vec<Field>)> {
        let own = self.0.own;
        let first = self.search(self.homes_from(own.index()), access, template)?;
        if let Search::Found(home, fields) = first {
            return Ok((home, fields));
        }
        let number = self.0.wants.fetch_add(1, Ordering::Relaxed);
        let want = Want { rank: own.0, number };
        let found = self.wait_with(want, access, template);
        let mut bytes = Vec::new();
        emit_want(want, &mut bytes);
        for home in self.homes_from(own.index()) {
            // A shard that cannot be told is of a lost rank, or broken. The tuple is here.
            drop(self.ask(home, FORGET, &bytes));
        }
        found
    }

    /// Says at all homes what is wanted, then looks there again and again, after each hint.
    fn wait_with(
        &self,
        want: Want,
        access: Access,
        template: &[u8],
    ) -> Result<(usize, Vec<Field>)> {
        let own = self.0.own;
        let mut bytes = Vec::new();
        emit_want(want, &mut bytes);
        bytes.extend(template);
        for home in self.homes_from(own.index()) {
            self.ask_done(home, WANT, &bytes)?;
        }
        let (mut wanted, mut count) = (Wanted { hints: 0, home: own.0 }, self.0.shards.len());
        loop {
            let homes = self.homes_from(wanted.home.into()).take(count);
            if let Search::Found(home, fields) = self.search(homes, access, template)? {
                return Ok((home, fields));
            }
            bytes.clear();
            emit_seen(want, wanted.hints, &mut bytes);
            let Answer::Hinted(hinted) = self.ask(own.index(), AWAIT, &bytes)? else {
                return Err(self.bad_answer(own.index()));
            };
            // One put, at the home that is named; at the others nothing has matched since.
            let is_one = wanted.hints.checked_add(1) == Some(hinted.hints);
            count = if is_one { 1 } else { self.0.shards.len() };
            wanted = hinted;
        }
    }

    /// Looks for a tuple at these homes, one after the other.
    fn search(
        &self,
        homes: impl Iterator<Item = usize>,
        access: Access,
        template: &[u8],
    ) -> Result<Search> {
        let operation = match access {
            Access::Take => INP,
            Access::Read => RDP,
        };
        let mut all = Vec::new();
        for home in homes {
            match self.ask(home, operation, template)? {
                Answer::Found(fields) => return Ok(Search::Found(home, fields)),
                Answer::None(puts) => all.push(puts),
                _ => return Err(self.bad_answer(home)),
            }
        }
        Ok(Search::None(all))
    }

    /// Tells the rank that has a want that there is something at `home`.
    fn hint(&self, home: usize, want: Want) -> Result<()> {
        let to = usize::from(want.rank);
        if to >= self.0.shards.len() {
            return Err(self.bad_answer(home));
        }
        let mut bytes = Vec::new();
        // A home is the index of a rank.
        emit_hint(want, home as u16, &mut bytes);
        self.ask_done(to, HINT, &bytes)
    }

    fn ask_done(&self, home: usize, operation: u16, bytes: &[u8]) -> Result<()> {
        match self.ask(home, operation, bytes)? {
            Answer::Done(_) => Ok(()),
            _ => Err(self.bad_answer(home)),
        }
    }

    /// Has a shard execute an operation.
    fn ask(&self, home: usize, operation: u16, bytes: &[u8]) -> Result<Answer> {
        let answer = self.0.shards[home].invoke(operation, bytes)?;
        Answer::parse(&answer).ok_or_else(|| self.bad_answer(home))
    }

    /// A tuple that a shard says matches.
    fn found<T: Template>(
        &self,
        home: usize,
        patterns: &[Pattern],
        fields: Vec<Field>,
    ) -> Result<T::Found> {
        let fields = matches(patterns, &fields).then_some(fields);
        fields.and_then(T::found).ok_or_else(|| self.bad_answer(home))
    }

    fn bad_answer(&self, home: usize) -> Error {
        Error::BadAnswer { space: self.0.name.clone(), home: Rank(home as u16) }
    }
}

fn emit(patterns: &[Pattern]) -> Result<Vec<u8>> {
    check_patterns(patterns)?;
    let mut bytes = Vec::new();
    emit_template(patterns, &mut bytes);
    Ok(bytes)
}
