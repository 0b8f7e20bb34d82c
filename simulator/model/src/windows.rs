//! The careful protocol of careful-protocols 5.3, reduced to its windows, and its theorem 1.
//!
//! Each of `P` nodes gives `⌊R/P⌋` of its `R` receive buffers to each other node. *Every* frame
//! that is sent there fills one, window updates too; this is what sets the protocol apart from
//! UCAST, whose control packets are free (I5). Buffers become free as data is consumed and updates
//! are processed, and are advertised again in updates or along with data.
//!
//! Theorem 1: there is no deadlock "if a frame that will cause a sender's window to close is sent
//! only if it is a window-update". [`Windows::rule`] is that condition, and can be switched off.
//! Consumers are slow but not dead, as "the liveness of the consumer" is the application's. Each
//! node sends its data in the order of its program, and is stopped by a window that lets no data
//! through, but goes on to receive, consume and update: without a program in between, pairs of
//! nodes have nothing to do with one another.

use crate::explore::{Model, digest};
use std::collections::VecDeque;
use std::fmt;

/// The protocol among some nodes that have some data to send.
#[derive(Clone, Debug)]
pub struct Windows {
    /// Sends of each node: the nodes that get a frame of data, in order.
    pub programs: Vec<Vec<usize>>,
    /// Frames in a whole window.
    pub window: usize,
    /// Frames that must be free to be advertised in an update; 1 or more.
    pub update_after: usize,
    /// True if theorem 1's rule is kept.
    pub rule: bool,
}

impl Windows {
    /// Nodes with `buffers` receive buffers each that run `programs` by the rule, and update as
    /// soon as they can.
    pub fn new(programs: Vec<Vec<usize>>, buffers: usize) -> Self {
        let window = buffers / programs.len();
        Windows { programs, window, update_after: 1, rule: true }
    }

    /// Each node sends `rounds` times to all others, beginning with the next.
    pub fn everyone_to_everyone(nodes: usize, rounds: usize) -> Vec<Vec<usize>> {
        let round = |node: usize| (1..nodes).map(move |hop| (node + hop) % nodes);
        (0..nodes).map(|node| round(node).collect::<Vec<_>>().repeat(rounds)).collect()
    }

    fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let nodes = self.programs.len();
        (0..nodes)
            .flat_map(move |from| (0..nodes).map(move |to| (from, to)))
            .filter(|(from, to)| from != to)
    }

    /// To whom `node` sends next.
    fn next(&self, state: &State, node: usize) -> Option<usize> {
        self.programs[node].get(state.sent[node]).copied()
    }

    /// The window that must be open for `node` to send data.
    fn data_needs(&self) -> usize {
        if self.rule { 2 } else { 1 }
    }

    fn steps_of_pair(&self, state: &State, from: usize, to: usize) -> Vec<Step> {
        let there = state.flow(from, to);
        let mut steps = Vec::new();
        if self.next(state, from) == Some(to) && there.window >= self.data_needs() {
            steps.push(Step::Data { from, to });
        }
        if state.flow(to, from).free >= self.update_after && there.window >= 1 {
            steps.push(Step::Update { from, to });
        }
        if !there.wire.is_empty() {
            steps.push(Step::Arrive { from, to });
        }
        if there.unread > 0 {
            steps.push(Step::Consume { from, at: to });
        }
        steps
    }
}

/// State of the model: the frames of each window.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct State {
    /// Frames of its program that each node has sent.
    sent: Vec<usize>,
    /// One for each ordered pair, and unused ones from each node to itself.
    flows: Vec<Flow>,
}

/// Frames from one node to another, and the receiver's buffers for them.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
struct Flow {
    /// Frames that the sender may send.
    window: usize,
    wire: VecDeque<Frame>,
    /// Data that the receiver has not consumed.
    unread: usize,
    /// Buffers that are free again and not advertised.
    free: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Frame {
    is_data: bool,
    /// Buffers advertised to the receiver of this frame.
    update: usize,
}

impl State {
    fn flow(&self, from: usize, to: usize) -> &Flow {
        &self.flows[from * self.sent.len() + to]
    }

    fn flow_mut(&mut self, from: usize, to: usize) -> &mut Flow {
        let nodes = self.sent.len();
        &mut self.flows[from * nodes + to]
    }

    fn send(&mut self, from: usize, to: usize, is_data: bool) {
        let update = std::mem::take(&mut self.flow_mut(to, from).free);
        let there = self.flow_mut(from, to);
        there.window -= 1;
        there.wire.push_back(Frame { is_data, update });
    }

    fn arrive(&mut self, from: usize, to: usize) {
        let there = self.flow_mut(from, to);
        let Some(Frame { is_data, update }) = there.wire.pop_front() else { return };
        if is_data {
            there.unread += 1;
        } else {
            there.free += 1;
        }
        self.flow_mut(to, from).window += update;
    }
}

/// One thing that happens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// A node sends the next frame of its program, with what it has to advertise.
    Data {
        /// Sender.
        from: usize,
        /// To whom.
        to: usize,
    },
    /// A node sends a frame that only advertises.
    Update {
        /// Sender.
        from: usize,
        /// To whom.
        to: usize,
    },
    /// The frame sent first arrives; an update is processed at once.
    Arrive {
        /// Sender.
        from: usize,
        /// Receiver.
        to: usize,
    },
    /// The application consumes a frame of data.
    Consume {
        /// Sender.
        from: usize,
        /// Node of the application.
        at: usize,
    },
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Data { from, to } => write!(f, "{from} sends data to {to}"),
            Step::Update { from, to } => write!(f, "{from} sends a window update to {to}"),
            Step::Arrive { from, to } => write!(f, "a frame of {from} arrives at {to}"),
            Step::Consume { from, at } => write!(f, "{at} consumes data of {from}"),
        }
    }
}

/// Nodes that have data to send, in windows that will not open.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Deadlock {
    /// Nodes that wait to send, their receivers, and the windows' sizes in frames.
    pub waits: Vec<(usize, usize, usize)>,
}

impl fmt::Display for Deadlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("deadlock")?;
        for (from, to, window) in &self.waits {
            write!(f, "\n  {from} has data for {to} and a window of {window} there")?;
        }
        Ok(())
    }
}

impl Model for Windows {
    type State = State;
    type Step = Step;
    type Deadlock = Deadlock;

    fn start(&self) -> State {
        let nodes = self.programs.len();
        let flow = Flow { window: self.window, ..Flow::default() };
        State { sent: vec![0; nodes], flows: vec![flow; nodes * nodes] }
    }

    fn steps(&self, state: &State) -> Vec<Step> {
        self.pairs().flat_map(|(from, to)| self.steps_of_pair(state, from, to)).collect()
    }

    fn take(&self, state: &mut State, step: &Step) {
        match *step {
            Step::Data { from, to } => {
                state.sent[from] += 1;
                state.send(from, to, true);
            }
            Step::Update { from, to } => state.send(from, to, false),
            Step::Arrive { from, to } => state.arrive(from, to),
            Step::Consume { from, at } => {
                let flow = state.flow_mut(from, at);
                flow.unread -= 1;
                flow.free += 1;
            }
        }
    }

    /// No window is lost or gained; and by the rule, what the proof of theorem 1 proves: of two
    /// nodes with nothing on its way between them, one can send to the other.
    fn check(&self, state: &State) {
        for (from, to) in self.pairs() {
            let (there, back) = (state.flow(from, to), state.flow(to, from));
            let returning: usize = back.wire.iter().map(|frame| frame.update).sum();
            let places = [there.window, there.wire.len(), there.unread, there.free, returning];
            assert_eq!(places.iter().sum::<usize>(), self.window, "windows from {from} to {to}");
            let idle = there.wire.is_empty() && back.wire.is_empty();
            if self.rule && self.window > 0 && idle {
                let open = there.window > 0 || back.window > 0;
                assert!(open, "theorem 1: neither of {from} and {to} can send to the other");
            }
        }
    }

    fn digest(&self, state: &State) -> u64 {
        digest(state)
    }

    fn is_done(&self, state: &State) -> bool {
        let read = |flow: &Flow| flow.unread == 0 && !flow.wire.iter().any(|frame| frame.is_data);
        let nodes = 0..self.programs.len();
        nodes.into_iter().all(|node| self.next(state, node).is_none())
            && state.flows.iter().all(read)
    }

    fn deadlock(&self, state: &State) -> Option<Deadlock> {
        if self.is_done(state) || !self.steps(state).is_empty() {
            return None;
        }
        let wait = |from| {
            let to = self.next(state, from)?;
            Some((from, to, state.flow(from, to).window))
        };
        Some(Deadlock { waits: (0..self.programs.len()).filter_map(wait).collect() })
    }
}

#[cfg(test)]
mod tests;
