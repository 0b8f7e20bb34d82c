//! Messages of peers, which may be anything: what no rank sends is an error that names the sender.

use super::super::items::request_bytes;
use super::*;

impl<G: Game> Member<'_, G> {
    pub(super) fn handle(&mut self, mut message: Message) -> Result<()> {
        let from = message.source();
        if message.len() > RequestTable::<G>::message_bytes(request_bytes::<G>()) {
            return Err(Error::Format { from, what: "is longer than any" });
        }
        if message.at_hand().len() < message.len() {
            let bytes = message.read_to_vec()?;
            return self.understand(from, &bytes);
        }
        self.understand(from, message.at_hand())
    }

    fn understand(&mut self, from: Rank, message: &[u8]) -> Result<()> {
        let (header, rest) = Header::parse(from, message)?;
        let Header { kind, iteration, number, .. } = header;
        let is_allowed = match kind {
            Kind::Ask | Kind::Stop | Kind::End => from == 0,
            Kind::Answer => self.packets.rank() == 0,
            Kind::Jobs | Kind::Credit => true,
            Kind::Found => false,
        };
        if !is_allowed || from.index() >= self.packets.size() {
            return Err(Error::Format { from, what: "is not for its sender to send" });
        }
        // A search is over when nothing is under way but credits.
        if kind != Kind::Credit && iteration != self.search {
            return Err(Error::Format { from, what: "is of another search" });
        }
        match kind {
            Kind::Jobs => self.take_in(from, number, rest),
            Kind::Credit => self.credit(from, number),
            Kind::Answer => self.answered(from, number, Tally::parse(from, rest)?),
            Kind::Ask => {
                self.wave = Some(number);
                Ok(())
            }
            Kind::Stop => self.close(),
            Kind::End | Kind::Found => {
                self.is_over = true;
                Ok(())
            }
        }
    }

    fn take_in(&mut self, from: Rank, taken: u32, mut bytes: &[u8]) -> Result<()> {
        self.credit(from, taken)?;
        self.messages.received += 1;
        self.outgoing.took_from(from.index());
        self.owes_credits = true;
        while !bytes.is_empty() {
            match Item::parse(from, &mut bytes)? {
                Item::Request(request) => self.was_asked(from, request)?,
                Item::Answer(answer) => self.was_answered(from, answer)?,
                Item::Cut(record) => {
                    if !self.is_closed {
                        self.cuts.push((from, record));
                    }
                }
            }
        }
        Ok(())
    }

    fn was_asked(&mut self, from: Rank, request: Request<G>) -> Result<()> {
        let requests = self.requests.was_asked(from.index());
        requests.map_err(|TooMany| Error::Format {
            from,
            what: "has more requests than there may be",
        })?;
        match self.is_closed {
            true => self.answers.push((request.requester, None, 0)),
            false => self.requests.push(request),
        }
        Ok(())
    }

    fn was_answered(&mut self, from: Rank, answer: Answer) -> Result<()> {
        let unasked = Error::Format { from, what: "answers what it was not asked" };
        let Answer { record: id, index, value, is_cut, nodes } = answer;
        if self.requests.was_answered(from.index()).is_err() {
            return Err(unasked);
        }
        let was_there = self.records.was_there(id);
        match (self.records.get(id), value) {
            (Some(record), _) if !record.awaits(index.into(), from) => Err(unasked),
            (Some(_), Some(value)) => self.learn(id, index.into(), (value, is_cut), nodes.into()),
            // A rank that knows already that the search ends has cut requests that others still
            // wait for.
            (Some(_), None) => Ok(()),
            (None, _) if was_there => Ok(()),
            (None, _) => Err(unasked),
        }
    }

    fn credit(&mut self, from: Rank, taken: u32) -> Result<()> {
        match self.outgoing.taken_by(from.index(), taken) {
            true => Ok(()),
            false => Err(Error::Format { from, what: "gives credits that were not taken" }),
        }
    }

    pub(super) fn answered(&mut self, from: Rank, wave: u32, tally: Tally) -> Result<()> {
        let answer = self.lead.detector.answer(from.index(), wave, tally.messages);
        let unasked = Error::Format { from, what: "is an answer that nobody asked for" };
        self.lead.is_quiet = answer.map_err(|_| unasked)?;
        self.lead.tallies = self.lead.tallies.with(tally);
        Ok(())
    }
}
