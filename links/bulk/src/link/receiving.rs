//! Packets that come by any way, in the order in which they were sent.

use super::*;

/// Looks at the set by which a connection is let in, and what it brings is known: at the listener,
/// at the hello, at the record.
const LETS_IN: usize = 3;
/// Looks by which a run is whole that the system has not joined.
const JOINS: usize = 4;

/// Packets by datagram that wait for those before them: one that came by itself, and one that came
/// as a run.
#[derive(Default)]
pub(super) struct Ahead {
    datagram: Option<Received>,
    run: Option<Received>,
    /// True if one of them is there.
    any: bool,
    /// Rank whose packet waited first, and packets of others that came since.
    source: Rank,
    others: u32,
}

impl Ahead {
    /// True if a packet waits.
    #[inline]
    pub fn any(&self) -> bool {
        self.any
    }

    /// Packets were put here, or taken.
    fn count(&mut self) {
        self.any = self.datagram.is_some() || self.run.is_some();
    }

    /// The first packet that waits is of this rank.
    fn begin(&mut self, source: Rank) {
        (self.source, self.others) = (source, 0);
    }
}

impl<F: LinkPart> Bulk<F> {
    /// The next packet, by whichever way it comes.
    #[inline]
    pub(super) fn receive_next(&mut self) -> Result<Option<Received>, LinkViolation> {
        if self.ahead.any() {
            return self.receive_earliest();
        }
        let waits = self.incoming.has_buffered();
        if waits && self.passed_over >= TURN {
            return Ok(self.take());
        }
        if let Some(received) = self.receive_far()? {
            self.passed_over += u32::from(waits);
            return Ok(Some(received));
        }
        if waits {
            return self.take_next();
        }
        if self.runs.is_due()
            && let Some(received) = self.receive_run()?
        {
            return Ok(Some(received));
        }
        if self.questions.is_due(self.arrivals.connections()) {
            self.look_around();
        }
        if !self.arrivals.is_busy() || !self.incoming.find(&mut self.arrivals, &mut self.seals) {
            return Ok(None);
        }
        // Datagrams that were sent before the record may have come since.
        if !self.record_is_next()
            && let Some(received) = self.receive_far()?
        {
            return Ok(Some(received));
        }
        self.take_next()
    }

    /// The next packet of the record that waits, or one that was sent before it.
    #[inline]
    fn take_next(&mut self) -> Result<Option<Received>, LinkViolation> {
        if self.runs.most() > 0
            && let Some(header) = self.incoming.header()
            && self.ways.has_gap_before(&header)
        {
            self.ahead.begin(header.source);
            return self.receive_earliest();
        }
        Ok(self.take())
    }

    /// Asks the set which connections have something.
    pub(super) fn look_around(&mut self) {
        let mut room = [const { MaybeUninit::<Event>::uninit() }; EVENTS];
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        // Interrupted: it is asked again.
        let Ok((events, _)) = epoll::wait(&*self.epoll, &mut room, Some(&at_once)) else { return };
        for event in events {
            let number = event.data.u64() as u32;
            match event.data.u64() & !u64::from(u32::MAX) {
                RUNS => self.runs.notice(),
                LISTENER => self.arrivals.accept(&mut self.seals),
                READER => self.arrivals.wake(Rank(number as u16)),
                UNKNOWN => self.arrivals.greet(number, &mut self.seals),
                WAY => {
                    let Bulk { ways, epoll, frames, seals, .. } = self;
                    ways.event(Rank(number as u16), event.flags, epoll.as_fd(), frames, seals);
                }
                _ => {}
            }
        }
    }

    /// The next packet of the far link, or of a record that it is behind.
    #[inline(always)]
    fn receive_far(&mut self) -> Result<Option<Received>, LinkViolation> {
        let received = self.far.receive()?;
        match &received {
            Some(Received { header, .. })
                if header.serial.is_some() && self.ways.comes_early(header) =>
            {
                self.wait_for_others(received, false)
            }
            _ => Ok(received),
        }
    }

    /// The next packet that came as a run, or one that it is behind.
    #[inline(never)]
    fn receive_run(&mut self) -> Result<Option<Received>, LinkViolation> {
        let received = self.next_run()?;
        match &received {
            Some(Received { header, .. }) if self.ways.comes_early(header) => {
                self.wait_for_others(received, true)
            }
            _ => Ok(received),
        }
    }

    /// The next packet that came as a run, whatever is before it.
    fn next_run(&mut self) -> Result<Option<Received>, LinkViolation> {
        let received = self.runs.receive()?;
        self.counters.arrived_runs += u64::from(received.is_some());
        Ok(received)
    }

    /// A packet has come by datagram, or as a run, that has a gap before it.
    #[cold]
    #[inline(never)]
    fn wait_for_others(
        &mut self,
        received: Option<Received>,
        is_run: bool,
    ) -> Result<Option<Received>, LinkViolation> {
        let Some(Received { header, .. }) = &received else { return Ok(None) };
        self.ahead.begin(header.source);
        *(if is_run { &mut self.ahead.run } else { &mut self.ahead.datagram }) = received;
        self.ahead.count();
        self.receive_earliest()
    }

    /// The first packet of those that wait, one by each way: one without a gap before it, or else
    /// that with the least number. Of records its sender has seen that this rank's kernel has them;
    /// if there are none, it is a datagram that is missing.
    #[cold]
    fn receive_earliest(&mut self) -> Result<Option<Received>, LinkViolation> {
        if self.ahead.others >= TURN {
            let Ahead { datagram, run, .. } = &mut self.ahead;
            let received = datagram.take().or_else(|| run.take());
            received.iter().for_each(|received| self.ways.came(&received.header));
            self.ahead.count();
            return Ok(received);
        }
        if self.ahead.datagram.is_none() {
            self.ahead.datagram = self.far.receive()?;
        }
        for _ in 0..JOINS {
            if self.ahead.run.is_none() {
                self.ahead.run = self.next_run()?;
            }
        }
        let source = self.ahead.source;
        let has_record = match self.incoming.has_buffered() {
            true => self.incoming.find(&mut self.arrivals, &mut self.seals),
            false => self.finds_record_of(source),
        };
        let record = self.incoming.header().filter(|_| has_record);
        let header = |of: &Option<Received>| of.as_ref().map(|received| received.header);
        let all = [record, header(&self.ahead.run), header(&self.ahead.datagram)];
        let Some(first) = self.first_of(all) else {
            self.ahead.count();
            return Ok(None);
        };
        let received = match first {
            0 => self.take(),
            1 => self.ahead.run.take(),
            _ => self.ahead.datagram.take(),
        };
        self.ahead.count();
        if let Some(Received { header, .. }) = &received {
            self.ways.came(header);
            self.ahead.others += u32::from(header.source != source);
        }
        Ok(received)
    }

    /// The one of these packets that is to be handed over first.
    fn first_of(&self, all: [Option<Header>; 3]) -> Option<usize> {
        let has_gap = |header: &Header| self.ways.has_gap_before(header);
        let of = |index: usize| all[index].as_ref();
        let there = || (0..all.len()).filter(|index| all[*index].is_some());
        let next = there().find(|index| of(*index).is_some_and(|header| !has_gap(header)));
        next.or_else(|| {
            there().reduce(|first, other| match (of(first), of(other)) {
                (Some(one), Some(two)) if one.source == two.source => {
                    if one.serial.is_after(two.serial) { other } else { first }
                }
                (Some(one), _) if one.source == self.ahead.source => first,
                _ => other,
            })
        })
    }

    /// Reads the connection from `source`, which may wait to be let in, and others that are busy.
    /// True if a record is there.
    fn finds_record_of(&mut self, source: Rank) -> bool {
        for _ in 0..LETS_IN {
            if self.arrivals.has(source) {
                self.arrivals.wake(source);
                return self.incoming.find(&mut self.arrivals, &mut self.seals);
            }
            self.look_around();
        }
        false
    }

    /// True if no packet of its sender is missing before the record that waits.
    fn record_is_next(&self) -> bool {
        self.incoming.header().is_some_and(|header| self.ways.is_next(&header))
    }

    /// The next packet of the record that waits.
    fn take(&mut self) -> Option<Received> {
        self.passed_over = 0;
        self.questions.came();
        let mut received = self.incoming.next(&mut self.arrivals, &mut self.seals)?;
        self.ways.came(&received.header);
        if let Payload::Buffer(buffer) = received.payload {
            received.payload = Payload::Buffer(buffer.marked(Layer::Bulk));
        }
        Some(received)
    }
}
