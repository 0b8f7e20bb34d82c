//! Packets that come by either way, in the order in which they were sent.

use super::*;

/// Looks at the set by which a connection is let in, and what it brings is known: at the listener,
/// at the hello, at the record.
const LETS_IN: usize = 3;

impl<F: Part> Bulk<F> {
    /// The next packet, by whichever way it comes.
    #[inline]
    pub(super) fn receive_next(&mut self) -> Result<Option<Received>, LinkViolation> {
        if self.ahead.is_some() {
            return Ok(self.receive_ahead());
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
            return Ok(self.take());
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
                if self.ways.came_by_datagram(header, is_numbered(header.tag)) =>
            {
                Ok(self.wait_for_records(received))
            }
            _ => Ok(received),
        }
    }

    /// A packet has come that has a gap before it.
    #[cold]
    #[inline(never)]
    fn wait_for_records(&mut self, received: Option<Received>) -> Option<Received> {
        (self.ahead, self.others_ahead) = (received, 0);
        self.receive_ahead()
    }

    /// The packet that waits for records before it, or of one of these. Its sender has seen that
    /// this rank's kernel has them; if there are none, it is a datagram that is missing.
    #[cold]
    fn receive_ahead(&mut self) -> Option<Received> {
        let header = self.ahead.as_ref()?.header;
        if self.others_ahead < TURN
            && self.ways.has_gap_before(&header)
            && (self.incoming.has_buffered() || self.finds_record_of(header.source))
        {
            let record = self.take();
            let is_own =
                record.as_ref().is_some_and(|record| record.header.source == header.source);
            self.others_ahead += u32::from(!is_own);
            return record;
        }
        self.ways.came(&header);
        self.ahead.take()
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
        self.ways.came_by_record(&received.header);
        if let Payload::Buffer(buffer) = received.payload {
            received.payload = Payload::Buffer(Buffer(buffer.0 | BULK));
        }
        Some(received)
    }
}
