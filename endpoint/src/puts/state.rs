//! What a rank knows of its connections, and what it does when a placed packet comes.

use super::memory::{Landing, Memory};
use super::queue::{Posted, Queue};
use super::table::Table;
use super::{LandingRefused, Notification, Rights, What};
use crate::NAME_BYTES as NAMED;
use crate::biased::Biased;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use weft_wire::Rank;
use weft_wire::place::{Kind, PlaceHeader, Refusal};

/// Offers of one rank that may wait here to be taken.
pub(crate) const OFFERS_WAITING: usize = 4096;
/// Bytes of a buffer's name at most.
pub(crate) const NAME_BYTES: usize = 128;

/// A rank's connections, in both directions.
#[derive(Default)]
pub(crate) struct Places {
    pub state: Biased<State>,
    /// Whether something in `state.owed` waits for a packet.
    pub owes: AtomicBool,
}

#[derive(Default)]
pub(crate) struct State {
    /// This rank's receive buffers.
    pub receives: Table<Receiving>,
    /// Its connections to those of others.
    pub sends: BTreeMap<(Rank, u32), Arc<Sending>>,
    /// What others have offered, by whom and under which name, and this rank has not taken.
    pub offers: BTreeMap<(Rank, Box<str>), VecDeque<Offer>>,
    /// Questions under way, by their numbers.
    pub questions: BTreeMap<u32, Question>,
    pub last_question: u32,
    /// What is to be sent once there are packets for it.
    pub owed: VecDeque<(Rank, Owed)>,
    /// What a placed packet was refused for, so many times in all.
    pub refusals: u64,
    /// What a put of this rank into a landing was refused for last.
    pub landing_refused: Option<LandingRefused>,
}

/// A receive buffer, to whoever places.
pub(crate) struct Receiving {
    pub memory: Memory,
    /// Who is told of what happens here. Nobody, at a landing: what is put there is counted.
    pub told: Option<Told>,
    /// Bytes that packets have put here.
    pub came: u64,
    /// Whose landing it is: the first rank's that has put something here.
    pub taker: Option<Rank>,
}

/// Who is told of what happens at a receive buffer.
pub(crate) struct Told {
    pub queue: Arc<Queue>,
    pub stage: Arc<AtomicU32>,
}

/// A receive buffer of another rank that this rank may take.
#[derive(Clone, Copy)]
pub(crate) struct Offer {
    pub connection: u32,
    pub bytes: u64,
    pub rights: Rights,
    /// By which name its memory can be reached without packets, if it can.
    pub memory: Option<[u8; NAMED]>,
}

/// The sender's side of a connection.
pub(crate) struct Sending {
    /// 0 while it is open, otherwise why not: a [`Refusal`].
    pub refused: AtomicU32,
}

/// Something to be said to another rank.
#[derive(Clone, Copy)]
pub(crate) enum Owed {
    Word(PlaceHeader),
    /// The answer to this question.
    Answer(PlaceHeader),
}

/// A question under way.
pub(crate) struct Question {
    pub to: Rank,
    pub connection: u32,
    /// Where the answer goes, until it comes.
    pub outcome: Outcome,
}

pub(crate) enum Outcome {
    Asked(Landing),
    Answered,
    Refused(Refusal),
}

/// What is left to do after a packet was looked at.
pub(crate) enum After {
    Nothing,
    /// Its sender is to be told this.
    Say(Owed),
    /// Whoever waits on another thread is to look again.
    Wake,
    /// There was no slot for a notification: it is to wait with the packet.
    Wait(Arc<Queue>, Notification),
}

/// What a [`Receiving::stage`] may be, besides 0, before the offer is taken.
pub(crate) mod stage {
    pub const OPEN: u32 = 1;
    pub const CLOSED: u32 = 2;
}

impl State {
    /// Does what a placed packet of `from` says. What is wrong with it changes nothing here, and its sender is
    /// told.
    #[inline]
    pub fn arrived(&mut self, from: Rank, packet: &[u8]) -> After {
        let Some((header, bytes)) = PlaceHeader::parse(packet) else {
            return self.refuse(&PlaceHeader::new(Kind::Put, u32::MAX), Refusal::Malformed);
        };
        let done = match header.kind {
            Kind::Put | Kind::PutNotify => self.put(from, &header, bytes),
            _ => self.other(from, &header, bytes),
        };
        done.unwrap_or_else(|refusal| self.refuse(&header, refusal))
    }

    #[inline]
    fn put(&mut self, from: Rank, header: &PlaceHeader, bytes: &[u8]) -> Result<After, Refusal> {
        let (admitted, at) = self.receives.admit(from, header, bytes.len())?;
        let buffer = &mut admitted.buffer;
        let told = match (&buffer.told, header.kind) {
            (Some(_), Kind::Put) => None,
            (Some(told), _) => Some(told),
            (None, Kind::Put) if *buffer.taker.get_or_insert(from) == from => None,
            (None, Kind::Put) => return Err(Refusal::NoConnection),
            (None, _) => return Err(Refusal::Rights),
        };
        buffer.memory.write(at, bytes);
        buffer.came += bytes.len() as u64;
        let Some(told) = told else { return Ok(After::Nothing) };
        let length = header.length as usize;
        let offset = at + bytes.len() - length;
        let what = What::Put { length, word: header.word };
        let notification = Notification { from, connection: header.connection, offset, what };
        Ok(post(&told.queue, notification))
    }

    #[cold]
    fn other(&mut self, from: Rank, header: &PlaceHeader, bytes: &[u8]) -> Result<After, Refusal> {
        let connection = header.connection;
        match header.kind {
            Kind::Offer => self.offered(from, header, bytes)?,
            Kind::Accept => {
                let admitted = self.receives.find(from, connection)?;
                let told = admitted.buffer.told.as_ref().ok_or(Refusal::NoConnection)?;
                told.stage.store(stage::OPEN, Ordering::Release);
                admitted.buffer.memory.taken();
                admitted.open = true;
            }
            Kind::Close => {
                let admitted = self.receives.find(from, connection)?;
                let told = admitted.buffer.told.as_ref().ok_or(Refusal::NoConnection)?;
                if std::mem::take(&mut admitted.open) {
                    return Ok(closed(from, connection, told));
                }
            }
            Kind::Withdraw => self.end_sending(from, connection, Refusal::Closed),
            Kind::Refused => {
                let why = Refusal::from_number(header.word).unwrap_or(Refusal::Malformed);
                self.end_sending(from, connection, why);
                if !self.sends.contains_key(&(from, connection)) {
                    let refused = LandingRefused { rank: from, number: connection, why };
                    self.landing_refused = Some(refused);
                }
            }
            Kind::Get => {
                self.receives.admit(from, header, 0)?;
                return Ok(After::Say(Owed::Answer(*header)));
            }
            Kind::Got => self.answered(from, header, bytes)?,
            Kind::Put | Kind::PutNotify => {}
        }
        Ok(After::Wake)
    }

    fn offered(&mut self, from: Rank, header: &PlaceHeader, name: &[u8]) -> Result<(), Refusal> {
        let (name, memory) =
            name.split_at_checked(header.length as usize).ok_or(Refusal::Malformed)?;
        let name = str::from_utf8(name).ok().filter(|name| name.len() <= NAME_BYTES);
        let (name, rights) = name.zip(Rights::from_word(header.word)).ok_or(Refusal::Malformed)?;
        let memory = memory.try_into().ok();
        let of_sender =
            self.offers.range((from, "".into())..).take_while(|((of, _), _)| *of == from);
        if of_sender.map(|(_, offers)| offers.len()).sum::<usize>() == OFFERS_WAITING {
            return Err(Refusal::TooMany);
        }
        let offer = Offer { connection: header.connection, bytes: header.offset, rights, memory };
        self.offers.entry((from, name.into())).or_default().push_back(offer);
        Ok(())
    }

    /// Takes the oldest offer that `from` has made under `name`.
    pub fn take_offer(&mut self, from: Rank, name: &str) -> Option<Offer> {
        let key = (from, name.into());
        let offers = self.offers.get_mut(&key)?;
        let offer = offers.pop_front();
        if offers.is_empty() {
            self.offers.remove(&key);
        }
        offer
    }

    /// The receiver of a connection, or of an offer, will have no more of it.
    fn end_sending(&mut self, to: Rank, connection: u32, why: Refusal) {
        if let Some(sending) = self.sends.get(&(to, connection)) {
            // The first reason is the one to tell.
            let _ = sending.refused.compare_exchange(
                0,
                why as u32,
                Ordering::AcqRel,
                Ordering::Acquire,
            );
        }
        for question in self.questions.values_mut() {
            if (question.to, question.connection) == (to, connection)
                && matches!(question.outcome, Outcome::Asked(_))
            {
                question.outcome = Outcome::Refused(why);
            }
        }
        self.offers.retain(|(from, _), offers| {
            offers.retain(|offer| *from != to || offer.connection != connection);
            !offers.is_empty()
        });
    }

    fn answered(&mut self, from: Rank, header: &PlaceHeader, bytes: &[u8]) -> Result<(), Refusal> {
        // Whoever asked may have given up: then nobody waits for this.
        let Some(question) = self.questions.get_mut(&header.word) else { return Ok(()) };
        if (question.to, question.connection) != (from, header.connection) {
            return Err(Refusal::NoConnection);
        }
        let outcome = std::mem::replace(&mut question.outcome, Outcome::Answered);
        match outcome {
            Outcome::Asked(landing) if landing.land(bytes) => Ok(()),
            Outcome::Asked(_) => {
                question.outcome = Outcome::Refused(Refusal::Malformed);
                Err(Refusal::Malformed)
            }
            other => {
                question.outcome = other;
                Ok(())
            }
        }
    }

    /// Tells the sender of what was wrong, unless it told something itself: nobody answers answers.
    #[cold]
    fn refuse(&mut self, header: &PlaceHeader, why: Refusal) -> After {
        self.refusals += 1;
        match header.kind {
            Kind::Put | Kind::PutNotify | Kind::Get | Kind::Offer | Kind::Accept => {
                let refused = PlaceHeader { kind: Kind::Refused, word: why as u32, ..*header };
                After::Say(Owed::Word(refused))
            }
            Kind::Close | Kind::Withdraw | Kind::Refused | Kind::Got => After::Nothing,
        }
    }
}

/// The sender has closed.
fn closed(from: Rank, connection: u32, told: &Told) -> After {
    told.stage.store(stage::CLOSED, Ordering::Release);
    let notification = Notification { from, connection, offset: 0, what: What::Closed };
    post(&told.queue, notification)
}

#[inline]
fn post(queue: &Arc<Queue>, notification: Notification) -> After {
    match queue.try_post(notification) {
        Posted::ToThisThread => After::Nothing,
        Posted::ToAnother => After::Wake,
        Posted::Full => After::Wait(Arc::clone(queue), notification),
    }
}
