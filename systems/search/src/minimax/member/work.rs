//! Requests, answers and cuts: what a rank does with them, and what it sends.

use super::*;
use std::iter::repeat;

impl<G: Game> Member<'_, G> {
    /// Takes up a request: it is answered, searched alone, or becomes a record.
    pub(super) fn take(&mut self, request: &Request<G>) -> Result<()> {
        let Request { position, window, requester, .. } = *request;
        let depth = request.depth.min(position.longest());
        if depth <= self.grain || self.requests.is_high() || self.records.is_full() {
            let before = self.worked.nodes;
            let (values, worked) = (&*self.values, &mut self.worked);
            match self.alone.begin(&position, depth, window, values, worked) {
                Some(found) => self.answers.push((requester, Some(found), 0)),
                None => self.current = Some((requester, before)),
            }
            return Ok(());
        }
        let hash = position.hash();
        let known = self.values.known(hash);
        if let Some(known) = known.filter(|known| known.depth == depth)
            && let Some(value) = known.answers(window)
        {
            self.worked.hits += 1;
            let found = Found { value, best: known.best, is_cut: known.is_cut };
            self.answers.push((requester, Some(found), 0));
            return Ok(());
        }
        // Rank 0 is told the best move as well, which is one beyond its own window.
        if requester.record.slot != ROOT
            && let Some(record) = self.records.covering(hash, depth, window)
        {
            self.worked.hits += 1;
            record.requesters.push(requester);
            return Ok(());
        }
        let mut moves = Vec::new();
        order(&position, known.and_then(|known| known.best), true, &mut moves);
        if moves.is_empty() {
            let found = Found::leaf(&position, false);
            self.worked.leaves += 1;
            self.answers.push((requester, Some(found), 0));
            return Ok(());
        }
        self.worked.nodes += moves.len() as u64;
        let is_likely = match known {
            Some(known) if known.lower >= window.beta => true,
            Some(known) if known.upper < window.beta => false,
            _ => position.value() >= window.beta,
        };
        let mut record = Record::new(hash, depth, window, requester, moves);
        record.is_wide = window.is_null() && !is_likely;
        let id = self.records.insert(record);
        self.request_below(id)
    }

    /// Goes on with what is being searched alone.
    pub(super) fn advance(&mut self, nodes: u64) {
        let Some((requester, before)) = self.current else { return };
        if let Some(found) = self.alone.advance(nodes, self.values, &mut self.worked) {
            self.answers.push((requester, Some(found), self.worked.nodes - before));
            self.current = None;
        }
    }

    /// Requests the positions below a record, as many as may be searched beside each other.
    fn request_below(&mut self, id: RecordId) -> Result<()> {
        let (own, is_high) = (self.packets.rank(), self.requests.is_high());
        let Some(record) = self.records.get(id) else { return Ok(()) };
        let (first, all) = (record.next, record.moves.len());
        let until = match record.pending {
            0 if is_high || first == 0 => all.min(first + 1),
            0 if record.is_wide => all,
            0 => all.min(2 * first),
            _ => first,
        };
        record.next = until;
        let (window, depth) = (record.now().turned(), record.depth - 1);
        // The first is to be taken up first, so it comes last.
        for index in (first..until).rev() {
            let Some(record) = self.records.get(id) else { break };
            let position = record.moves[index].child;
            let owner = owner(position.hash(), self.packets.size());
            let is_away = owner != own.index() && self.requests.ask(owner);
            let rank = if is_away { Rank(owner as u16) } else { own };
            record.ask(index, rank);
            let requester = Requester { rank: own, record: id, index: index as u8 };
            let request = Request { position, depth, window, requester };
            if is_away {
                self.requests_sent += 1;
                self.post(owner, &Item::Request(request))?;
            } else {
                self.requests.push(request);
            }
        }
        Ok(())
    }

    /// Gives all answers and follows all cuts, and what comes of them.
    pub(super) fn settle(&mut self) -> Result<()> {
        loop {
            if let Some((requester, found, nodes)) = self.answers.pop() {
                self.answer(&requester, found, nodes)?;
            } else if !self.cuts.is_empty() {
                let mut cuts = std::mem::take(&mut self.cuts);
                cuts.sort_unstable();
                let is_cut = |requester: &Requester| {
                    cuts.binary_search(&(requester.rank, requester.record)).is_ok()
                };
                self.drop_requests(is_cut)?;
            } else {
                return Ok(());
            }
        }
    }

    fn answer(&mut self, requester: &Requester, found: Option<Found>, nodes: u64) -> Result<()> {
        let Requester { rank, record, index } = *requester;
        if rank != self.packets.rank() {
            self.requests.answer(rank.index());
            let nodes = u32::try_from(nodes).unwrap_or(u32::MAX);
            let value = found.map(|found| found.value);
            let is_cut = found.is_some_and(|found| found.is_cut);
            let answer = Answer { record, index, value, is_cut, nodes };
            return self.post(rank.index(), &Item::Answer(answer));
        }
        match found {
            Some(found) if record.slot == ROOT && record.turn == self.lead.root => {
                self.lead.found = Some((found, nodes));
                Ok(())
            }
            Some(Found { value, is_cut, .. }) => {
                self.learn(record, index.into(), (value, is_cut), nodes)
            }
            None => Ok(()),
        }
    }

    /// A record learns the value of one of its moves, and whether there is an estimate in it.
    pub(super) fn learn(
        &mut self,
        id: RecordId,
        index: usize,
        value: (i16, bool),
        nodes: u64,
    ) -> Result<()> {
        let Some(record) = self.records.get(id) else { return Ok(()) };
        record.take(index, value, nodes);
        let Some(found) = record.found() else { return self.request_below(id) };
        let Some(record) = self.records.remove(id) else { return Ok(()) };
        let Record { hash, depth, window, .. } = record;
        self.values.note(hash, depth, window, found);
        // What was made counts for the first of them.
        let requesters = record.requesters.iter().zip([record.nodes].into_iter().chain(repeat(0)));
        self.answers.extend(requesters.map(|(requester, nodes)| (*requester, Some(found), nodes)));
        self.cut_below(id, &record)
    }

    /// Nobody needs what a record has requested.
    fn cut_below(&mut self, id: RecordId, record: &Record<G>) -> Result<()> {
        for rank in record.missing() {
            match rank == self.packets.rank() {
                true => self.cuts.push((rank, id)),
                false => self.post(rank.index(), &Item::Cut(id))?,
            }
        }
        Ok(())
    }

    /// Drops what such requesters have requested, and all below it.
    fn drop_requests(&mut self, is_such: impl Fn(&Requester) -> bool) -> Result<()> {
        let mut dropped = Vec::new();
        self.requests.take_out(|one| is_such(&one.requester), |one| dropped.push(one.requester));
        if let Some((requester, _)) = self.current.take_if(|(requester, _)| is_such(requester)) {
            self.alone.stop();
            dropped.push(requester);
        }
        let (requesters, unwanted) = self.records.drop_requesters(&is_such);
        dropped.extend(requesters);
        for id in unwanted {
            let Some(record) = self.records.remove(id) else { continue };
            if !self.is_closed {
                self.cut_below(id, &record)?;
            }
        }
        self.answers.extend(dropped.into_iter().map(|requester| (requester, None, 0)));
        Ok(())
    }

    /// Drops all requests. From now on they are answered without being searched.
    pub(super) fn close(&mut self) -> Result<()> {
        self.is_closed = true;
        self.cuts.clear();
        self.drop_requests(|_| true)
    }

    /// Puts something into the message for a rank, which leaves when it is long enough.
    fn post(&mut self, to: usize, item: &Item<G>) -> Result<()> {
        self.bytes.clear();
        item.emit(&mut self.bytes);
        match self.outgoing.append(to, &self.bytes, || self.packets.now()) {
            true => self.launch(to),
            false => Ok(()),
        }
    }

    fn launch(&mut self, to: usize) -> Result<()> {
        self.messages.sent += 1;
        let number = self.outgoing.tell(to);
        let header = self.header(Kind::Jobs, number);
        let sent = self.mailbox.send(Rank(to as u16), self.outgoing.launch(to, header));
        self.outgoing.clear(to);
        Ok(sent?)
    }

    /// Sends what has waited for long enough.
    pub(super) fn send_waiting(&mut self) -> Result<()> {
        let due = self.outgoing.due(self.settings.delay, || self.packets.now());
        due.into_iter().try_for_each(|to| self.launch(to))
    }

    /// Sends all for which there is a credit.
    pub(super) fn flush(&mut self) -> Result<()> {
        for to in 0..self.packets.size() {
            if self.outgoing.has_jobs(to) && self.outgoing.has_credit(to) {
                self.launch(to)?;
            }
        }
        Ok(())
    }

    /// Tells ranks that their messages were taken.
    pub(super) fn give_credits(&mut self) -> Result<()> {
        if !std::mem::take(&mut self.owes_credits) {
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
}
