//! One rank of a search: it receives jobs and makes others, in turn, and never waits while it has
//! one (thesis 8.4: one-way messages, received by polling).

use crate::error::{Error, Result};
use crate::format::{self, Header, Kind, Tally};
use crate::job::Job;
use crate::outgoing::{Given, OutgoingJobs};
use crate::settings::Settings;
use crate::stack::Stack;
use crate::termination::{Counts, Detector};
use crate::worker::Worker;
use std::time::Duration;
use weft_endpoint::{Packets, Rank};
use weft_messaging::{Mailbox, Message};

/// Longest message: a solution, or as many jobs as there may be in one.
const MOST_BYTES: usize = 1 << 17;

/// Jobs that are made before the next look at the network, if they are small.
const JOBS_PER_POLL: usize = 16;

/// One rank's part in a search, from its first iteration to its last.
pub(crate) struct Member<'a, W> {
    mailbox: &'a Mailbox,
    packets: &'a Packets,
    settings: &'a Settings,
    worker: W,
    stack: Stack,
    outgoing: &'a mut OutgoingJobs,
    /// Jobs below the one that was taken up, with their hashes.
    below: Vec<(u64, Job)>,
    messages: Counts,
    jobs_sent: u64,
    iteration: u32,
    bound: u16,
    /// True if the rest of this iteration is not searched.
    is_stopped: bool,
    /// Wave that this rank has not answered.
    asked: Option<u32>,
    is_over: bool,
    /// True if another rank may have to be told that there is room.
    owes_credits: bool,
    /// Nodes that were [declared](Packets::work).
    declared: u64,
    lead: Lead,
}

/// Knowledge of rank 0 about all.
struct Lead {
    detector: Detector,
    tallies: Tally,
    /// Moves of a solution.
    found: Option<Vec<u8>>,
    deadline: Option<Duration>,
    is_late: bool,
    is_done: bool,
}

/// Result of an iteration, at rank 0.
pub(crate) struct Iterated {
    /// All ranks' counters, since the search began.
    pub tallies: Tally,
    /// Moves of a solution.
    pub found: Option<Vec<u8>>,
    /// True if the deadline has ended it.
    pub is_late: bool,
}

impl<'a, W: Worker> Member<'a, W> {
    /// A rank that has nothing to do. Iterations of this search come after `iteration`; messages of
    /// all searches are counted in `outgoing`, as credits outlast a search.
    pub fn new(
        mailbox: &'a Mailbox,
        packets: &'a Packets,
        settings: &'a Settings,
        outgoing: &'a mut OutgoingJobs,
        worker: W,
        iteration: u32,
    ) -> Self {
        let (ranks, each) = (packets.size(), settings.jobs_per_message);
        let under_way = outgoing.jobs_to_one(ranks);
        let deadline = settings.deadline.map(|time| packets.now().saturating_add(time));
        Member {
            mailbox,
            packets,
            settings,
            worker,
            stack: Stack::new(settings.stack_jobs, under_way, each),
            outgoing,
            below: Vec::new(),
            messages: Counts::default(),
            jobs_sent: 0,
            iteration,
            bound: 0,
            is_stopped: false,
            asked: None,
            is_over: false,
            owes_credits: false,
            declared: 0,
            lead: Lead {
                detector: Detector::new(ranks),
                tallies: Tally::default(),
                found: None,
                deadline,
                is_late: false,
                is_done: false,
            },
        }
    }

    /// The most moves of a solution that is looked for.
    pub fn most_moves(&self) -> Option<u16> {
        self.settings.most_moves
    }

    /// The time.
    pub fn now(&self) -> Duration {
        self.packets.now()
    }

    /// The last iteration.
    pub fn iteration(&self) -> u32 {
        self.iteration
    }

    /// Takes part, until rank 0 says that the search is over. For all other ranks.
    pub fn serve(&mut self) -> Result<()> {
        loop {
            let any = self.step()?;
            if self.is_over {
                return Ok(());
            }
            if any {
                continue;
            }
            if let Some(wave) = self.asked.take() {
                let tally = self.tally().emit();
                self.send(0, Kind::Answer, wave, &tally)?;
            }
            let message = self.mailbox.receive()?;
            self.handle(message)?;
        }
    }

    /// Searches below a job with this bound, by all ranks: until nothing is left, a solution is
    /// found or the deadline is over. For rank 0.
    pub fn iterate(&mut self, bound: u16, job: Job) -> Result<Iterated> {
        self.enter(self.iteration.wrapping_add(1), bound);
        self.lead.found = None;
        self.lead.is_done = false;
        self.stack.push(job);
        while !self.lead.is_done {
            let any = self.step()?;
            let deadline = self.lead.deadline.filter(|_| !self.is_stopped);
            if deadline.is_some_and(|deadline| self.packets.now() >= deadline) {
                self.lead.is_late = true;
                self.stop_all()?;
            } else if !any && !self.lead.is_done && !self.begin_wave()? {
                self.wait(deadline)?;
            }
        }
        let Lead { tallies, ref mut found, is_late, .. } = self.lead;
        Ok(Iterated { tallies, found: found.take(), is_late })
    }

    /// Tells all ranks that the search is over. For rank 0.
    pub fn end(&mut self) -> Result<()> {
        self.tell_all(Kind::End, 0)
    }

    /// Looks for messages and does some work. False if there is none.
    fn step(&mut self) -> Result<bool> {
        while let Some(message) = self.mailbox.try_receive()? {
            self.handle(message)?;
        }
        self.give_credits()?;
        let any = self.work()?;
        match any {
            true => self.send_waiting()?,
            false if self.flush()? => return Ok(true),
            false => {}
        }
        Ok(any)
    }

    /// Works for as long as it may take until the next look for messages.
    fn work(&mut self) -> Result<bool> {
        let mut any = false;
        let until = self.worker.worked().nodes + self.settings.poll_nodes;
        for _ in 0..JOBS_PER_POLL {
            let nodes = until.saturating_sub(self.worker.worked().nodes);
            if nodes == 0 {
                break;
            }
            if !self.worker.is_idle() {
                self.worker.advance(nodes);
            } else if let Some(job) = self.stack.pop() {
                self.take(&job)?;
            } else if !self.take_kept()? {
                break;
            }
            any = true;
            if let Some(moves) = self.worker.take_found() {
                self.found(moves)?;
            }
        }
        let nodes = self.worker.worked().nodes;
        self.packets.work(nodes - std::mem::replace(&mut self.declared, nodes));
        Ok(any)
    }

    /// Takes up a job, and gives those below it to the owners of their positions.
    fn take(&mut self, job: &Job) -> Result<()> {
        let (whole, mut below) = (self.stack.is_high(), std::mem::take(&mut self.below));
        self.worker.take(job, whole, &mut below);
        self.give_all(below)
    }

    /// Goes on with a job that was put off. False if there is none.
    fn take_kept(&mut self) -> Result<bool> {
        let mut below = std::mem::take(&mut self.below);
        let any = !self.is_stopped && self.worker.take_kept(&mut below);
        self.give_all(below)?;
        Ok(any)
    }

    fn give_all(&mut self, mut below: Vec<(u64, Job)>) -> Result<()> {
        for (hash, job) in below.drain(..) {
            self.give(owner(hash, self.packets.size()), job)?;
        }
        self.below = below;
        Ok(())
    }

    fn give(&mut self, to: usize, job: Job) -> Result<()> {
        if to == self.packets.rank().index() {
            self.stack.push(job);
            return Ok(());
        }
        match self.outgoing.give(to, &job, || self.packets.now()) {
            Given::Kept => {}
            Given::Full => self.launch(to)?,
            Given::Refused => self.stack.push(job),
        }
        Ok(())
    }

    /// Sends the jobs for rank `to`. A credit is room at the receiver, so this does not wait.
    fn launch(&mut self, to: usize) -> Result<()> {
        let number = match self.stack.is_high() {
            true => self.outgoing.told(to),
            false => self.outgoing.tell(to),
        };
        self.messages.sent += 1;
        self.jobs_sent += self.outgoing.jobs(to) as u64;
        let header = self.header(Kind::Jobs, number);
        let sent = self.mailbox.send(Rank(to as u16), self.outgoing.launch(to, header));
        self.outgoing.clear(to);
        Ok(sent?)
    }

    /// Sends jobs that have waited for long enough.
    fn send_waiting(&mut self) -> Result<()> {
        let due = self.outgoing.due(self.settings.delay, || self.packets.now());
        due.into_iter().try_for_each(|to| self.launch(to))
    }

    /// Sends all jobs, and takes back those for which there is no credit, of one rank. True if
    /// there are such.
    fn flush(&mut self) -> Result<bool> {
        let ranks = self.packets.size();
        // Each begins with another destination, so that not all send to one.
        for to in (1..ranks).map(|step| (self.packets.rank().index() + step) % ranks) {
            if !self.outgoing.has_jobs(to) {
                continue;
            }
            if !self.outgoing.has_credit(to) {
                let Member { stack, outgoing, .. } = self;
                outgoing.take_back(to, |job| stack.push(job));
                return Ok(true);
            }
            self.launch(to)?;
        }
        Ok(false)
    }

    /// Tells ranks that there is room for more of their jobs, unless there is none.
    fn give_credits(&mut self) -> Result<()> {
        if self.stack.is_high() || !std::mem::take(&mut self.owes_credits) {
            return Ok(());
        }
        for to in 0..self.packets.size() {
            if self.outgoing.owes_credit(to) {
                let number = self.outgoing.tell(to);
                self.send(to, Kind::Credit, number, &[])?;
            }
        }
        Ok(())
    }

    /// A solution: nobody needs to search on.
    fn found(&mut self, moves: Vec<u8>) -> Result<()> {
        if self.packets.rank() != 0 {
            self.stop();
            return self.send(0, Kind::Found, 0, &moves);
        }
        // All solutions of an iteration are as long.
        self.lead.found.get_or_insert(moves);
        self.stop_all()
    }

    fn stop_all(&mut self) -> Result<()> {
        if !self.is_stopped {
            self.stop();
            self.tell_all(Kind::Stop, 0)?;
        }
        Ok(())
    }

    fn stop(&mut self) {
        self.is_stopped = true;
        self.worker.stop();
        self.stack.clear();
        (0..self.packets.size()).for_each(|to| self.outgoing.clear(to));
    }

    /// Asks all ranks whether they are done, unless they were asked. True if this rank has to do
    /// something else than to wait. At rank 0, which is done.
    fn begin_wave(&mut self) -> Result<bool> {
        if self.lead.detector.is_waving() {
            return Ok(false);
        }
        let wave = self.lead.detector.begin();
        self.lead.tallies = Tally { worked: NOTHING, ..Tally::default() };
        self.tell_all(Kind::Ask, wave)?;
        self.answered(Rank(0), wave, self.tally())?;
        // One that is alone has answered for all.
        Ok(!self.lead.detector.is_waving())
    }

    fn answered(&mut self, from: Rank, wave: u32, tally: Tally) -> Result<()> {
        let answer = self.lead.detector.answer(from.index(), wave, tally.messages);
        let unasked = Error::Format { from, what: "is an answer that nobody asked for" };
        self.lead.is_done = answer.map_err(|_| unasked)?;
        self.lead.tallies = self.lead.tallies.with(tally);
        Ok(())
    }

    fn tally(&self) -> Tally {
        Tally { messages: self.messages, jobs: self.jobs_sent, worked: self.worker.worked() }
    }

    fn wait(&mut self, deadline: Option<Duration>) -> Result<()> {
        let message = match deadline {
            None => Some(self.mailbox.receive()?),
            Some(deadline) => {
                let left = deadline.saturating_sub(self.packets.now());
                self.mailbox.receive_within(left)?
            }
        };
        message.map_or(Ok(()), |message| self.handle(message))
    }

    /// Begins an iteration, which another rank may have begun before.
    fn enter(&mut self, iteration: u32, bound: u16) {
        (self.iteration, self.bound, self.is_stopped) = (iteration, bound, false);
        self.worker.begin(iteration, bound);
    }

    fn header(&self, kind: Kind, number: u32) -> Header {
        Header { kind, bound: self.bound, iteration: self.iteration, number }
    }

    fn send(&self, to: usize, kind: Kind, number: u32, bytes: &[u8]) -> Result<()> {
        let header = self.header(kind, number).emit();
        Ok(self.mailbox.send(Rank(to as u16), &[&header[..], bytes])?)
    }

    fn tell_all(&self, kind: Kind, number: u32) -> Result<()> {
        (1..self.packets.size()).try_for_each(|to| self.send(to, kind, number, &[]))
    }

    fn handle(&mut self, mut message: Message) -> Result<()> {
        let from = message.source();
        if message.len() > MOST_BYTES {
            return Err(Error::Format { from, what: "is longer than any" });
        }
        // Most lie in one packet, and are read where they are.
        if message.at_hand().len() < message.len() {
            let bytes = message.read_to_vec()?;
            return self.understand(from, &bytes);
        }
        self.understand(from, message.at_hand())
    }

    fn understand(&mut self, from: Rank, message: &[u8]) -> Result<()> {
        let (header, rest) = Header::parse(from, message)?;
        let Header { kind, bound, iteration, number } = header;
        let is_allowed = match kind {
            Kind::Ask | Kind::Stop | Kind::End => from == 0,
            Kind::Answer | Kind::Found => self.packets.rank() == 0,
            Kind::Jobs | Kind::Credit => true,
        };
        if !is_allowed || from.index() >= self.packets.size() {
            return Err(Error::Format { from, what: "is not for its sender to send" });
        }
        // None comes of an iteration that is over, since it is over when nothing is under way; and
        // what is no part of that is not of an iteration.
        let ahead = iteration.wrapping_sub(self.iteration) as i32;
        let is_of_iteration = !matches!(kind, Kind::Credit);
        if is_of_iteration && ahead < 0 {
            return Err(Error::Format { from, what: "is of an iteration that is over" });
        }
        if is_of_iteration && ahead > 0 {
            self.enter(iteration, bound);
        }
        match kind {
            Kind::Jobs => self.take_in(from, number, rest)?,
            Kind::Credit => self.credit(from, number)?,
            Kind::Ask => self.asked = Some(number),
            Kind::Answer => self.answered(from, number, Tally::parse(from, rest)?)?,
            Kind::Found => self.found(rest.to_vec())?,
            Kind::Stop => self.stop(),
            Kind::End => self.is_over = true,
        }
        Ok(())
    }

    fn take_in(&mut self, from: Rank, taken: u32, bytes: &[u8]) -> Result<()> {
        let jobs = format::jobs(from, bytes)?;
        if jobs.len() > self.settings.jobs_per_message {
            return Err(Error::Format { from, what: "has more jobs than a message may have" });
        }
        self.credit(from, taken)?;
        self.messages.received += 1;
        self.outgoing.took_from(from.index());
        self.owes_credits = true;
        if self.is_stopped {
            return Ok(());
        }
        for job in jobs {
            let job = Job(*job);
            if !self.worker.is_sound(&job) {
                return Err(Error::Format { from, what: "has a job that no rank makes" });
            }
            self.stack.push(job);
        }
        Ok(())
    }

    fn credit(&mut self, from: Rank, taken: u32) -> Result<()> {
        match self.outgoing.taken_by(from.index(), taken) {
            true => Ok(()),
            false => Err(Error::Format { from, what: "gives credits that were not taken" }),
        }
    }
}

/// Work of nobody.
const NOTHING: crate::worker::Worked =
    crate::worker::Worked { nodes: 0, leaves: 0, hits: 0, dropped: 0, excess: u64::MAX };

/// The rank that owns the positions with this hash: by bits that the table does not go by.
#[inline]
pub(crate) fn owner(hash: u64, ranks: usize) -> usize {
    (((hash & 0xffff_ffff) * ranks as u64) >> 32) as usize
}
