//! Losses, and the next epoch: reports, its beginning, and fills.

use super::*;

/// Losses, and the next epoch.
impl<M> View<M> {
    /// True if nobody can count any more after the losses that are known.
    pub fn lacks_variable(&self) -> bool {
        let home = self.first_home;
        let stays = self.members.contains(&home) && !self.lost.contains_key(&home);
        !self.lost.is_empty() && !stays && self.spare.is_none()
    }

    /// Takes note that a rank is lost.
    pub fn lost(&mut self, rank: Rank, out: &mut impl Post) {
        let concerns = self.is_member(rank) || rank == self.first_home;
        if !concerns || rank == self.me || self.lost.contains_key(&rank) {
            return;
        }
        self.lost.insert(rank, None);
        self.is_frozen = true;
        self.has_reported = false;
        self.newer.clear();
        if self.drawing == 0 {
            self.report(out);
        }
    }

    /// A member has reported what it knows and has.
    ///
    /// # Errors
    /// A report that no member makes.
    pub fn reported(&mut self, from: Rank, report: Report) -> Result<(), Violation> {
        self.check_sender(from, &report.lost)?;
        if report.next > self.most() {
            return Err(Violation::Disorder(Disorder::TooFar));
        }
        if !self.lost.contains_key(&from) {
            self.reports.insert(from, report);
        }
        Ok(())
    }

    /// The variable whose value [`Self::decide`] needs, once this rank can begin the next epoch.
    pub fn decision_due(&self) -> Option<Variable> {
        let is_coordinator = self.coordinator() == self.me;
        if !self.is_frozen || !self.has_reported || !is_coordinator {
            return None;
        }
        let has_reported = |rank: &Rank| {
            let report = self.reports.get(rank);
            report.is_some_and(|report| report.lost.keys().eq(self.lost.keys()))
        };
        let missing = self.live().filter(|rank| !has_reported(rank)).count();
        let allowed = usize::from(self.has(Planted::DecideEarly));
        (missing <= allowed).then(|| self.variable_at(self.next_home()))
    }

    /// Begins the next epoch, as coordinator, with a variable of this value.
    ///
    /// # Errors
    /// Reports that cannot be true.
    pub fn decide(&mut self, base: u64, out: &mut impl Post) -> Result<(), Violation> {
        if self.decision_due().is_none() {
            return Ok(());
        }
        let reports = self.live().filter_map(|rank| Some((rank, self.reports.get(&rank)?.next)));
        let nexts: BTreeMap<Rank, u64> = reports.collect();
        let next = nexts.values().copied().max().unwrap_or(0);
        // An epoch of which no member that lives has come to the cut is none.
        let reports = || self.live().filter_map(|rank| self.reports.get(&rank));
        let cut = |rank: &Rank| {
            let cut = reports().find_map(|report| *report.lost.get(rank)?);
            (*rank, Some(cut.map_or(next, |cut| next.min(cut))))
        };
        let lost = self.lost.keys().map(cut).collect();
        let begin = Begin { lost, next, base, home: self.next_home(), nexts };
        for rank in self.live().filter(|rank| *rank != self.me) {
            out.send(rank, Message::Begin(begin.clone()));
        }
        self.adopt(begin, out)
    }

    /// The coordinator has begun an epoch.
    ///
    /// # Errors
    /// An epoch that no coordinator begins.
    pub fn begun(
        &mut self,
        from: Rank,
        begin: Begin,
        out: &mut impl Post,
    ) -> Result<(), Violation> {
        self.check_sender(from, &begin.lost)?;
        let is_awaited = self.is_frozen && self.has_reported && from == self.coordinator();
        let is_same = begin.lost.keys().eq(self.lost.keys());
        if is_awaited && is_same {
            return self.adopt(begin, out);
        }
        // One that another loss has overtaken.
        Ok(())
    }

    /// Goes on in a new epoch.
    fn adopt(&mut self, begin: Begin, out: &mut impl Post) -> Result<(), Violation> {
        self.check_begin(&begin)?;
        let Begin { lost, next: first, base, home, nexts } = begin;
        let next = self.next();
        if !self.has(Planted::KeepUnheard) {
            self.take_back();
            drop(self.kept.split_off(&next));
        }
        self.epoch = lost.len() as u16;
        self.lost = lost;
        (self.first, self.base, self.home) = (first, base, home);
        self.missing = first - next;
        self.is_frozen = false;
        self.settle();
        for (number, whole) in std::mem::take(&mut self.newer) {
            self.insert(number, whole)?;
        }
        let filler = nexts.iter().find(|(_, next)| **next == first);
        match filler.is_some_and(|(rank, _)| *rank == self.me) && !self.has(Planted::FillNobody) {
            true => self.fill(&nexts, out),
            false => Ok(()),
        }
    }

    /// Takes own messages that were not handed over here out of the sequence, and drops others'.
    fn take_back(&mut self) {
        let early = self.sequence.abandon_numbered();
        let own = early.filter_map(|(number, Whole { bytes, own, .. })| {
            own.map(|own| Pending { number: Some(number), bytes, own })
        });
        let mut all: VecDeque<_> = own.collect();
        // They came before those that have no number yet.
        all.append(&mut self.pending);
        self.pending = all;
    }

    /// Sends all that miss some of what this rank was handed over what they miss.
    fn fill(&self, nexts: &BTreeMap<Rank, u64>, out: &mut impl Post) -> Result<(), Violation> {
        for (&rank, &next) in nexts {
            for number in next..self.first {
                let Kept { from, bytes } = self.kept.get(&number).ok_or(Violation::NotKept)?;
                let (from, bytes) = (self.members[*from], Arc::clone(bytes));
                let fill = Fill { epoch: self.epoch, number, from, bytes };
                out.send(rank, Message::Fill(fill));
            }
        }
        Ok(())
    }

    /// Tells the coordinator.
    pub(super) fn report(&mut self, out: &mut impl Post) {
        self.has_reported = true;
        let report = Report { lost: self.lost.clone(), next: self.next() };
        match self.coordinator() {
            me if me == self.me => drop(self.reports.insert(me, report)),
            coordinator => out.send(coordinator, Message::Report(report)),
        }
    }

    fn check_sender(
        &self,
        from: Rank,
        lost: &BTreeMap<Rank, Option<u64>>,
    ) -> Result<(), Violation> {
        let concerns = |rank: &Rank| self.is_member(*rank) || *rank == self.first_home;
        if from == self.me || !self.is_member(from) || !lost.keys().all(concerns) {
            return Err(Violation::NotMember);
        }
        match lost.contains_key(&self.me) || lost.contains_key(&from) {
            true => Err(Violation::Lives),
            false => Ok(()),
        }
    }

    fn check_begin(&self, begin: &Begin) -> Result<(), Violation> {
        let Begin { lost, next, home, nexts, .. } = begin;
        let cuts_are = lost.values().all(|cut| cut.is_some_and(|cut| cut <= *next));
        let nexts_are = nexts.keys().copied().eq(self.live()) || self.has(Planted::DecideEarly);
        let is_highest = nexts.values().max() == Some(next);
        let own_is = nexts.get(&self.me) == Some(&self.next()) && *next <= self.most();
        let home_is = self.is_member(*home) && !lost.contains_key(home);
        match cuts_are && nexts_are && is_highest && own_is && home_is {
            true => Ok(()),
            false => Err(Violation::Begin),
        }
    }
}
