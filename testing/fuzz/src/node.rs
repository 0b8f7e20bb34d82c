//! A whole node with the messaging layer on it, over a link whose arrivals are a script.
//!
//! Rank 0 runs its own code: ports, a mailbox, messages kept and read in pieces, sends, broadcasts,
//! fetch-and-add. The other ranks send what the script says: packets of messages that are right in
//! most fields, and packets that are not. With any packets, calls end in a value or an error;
//! nothing blocks, no frame is freed twice or used after that, and what peers can make this rank
//! keep is bounded. In the end nothing of the node is left.

mod link;
mod peers;

use arbitrary::{Result, Unstructured};
use link::{Scripted, Wire, lock};
use peers::Peers;
use std::sync::{Arc, Mutex};
use weft_endpoint::{Atomic, Node, Packets, Variable, WaitPolicy};
use weft_messaging::{Engine, Mailbox, Message, Port};
use weft_protocol::invariants::i9_bounded;
use weft_protocol::tree::Shape;
use weft_protocol::{Acknowledging, Preset, Recovery, Settings};
use weft_wire::Rank;

/// Steps of one script at most.
const STEPS: usize = 300;
/// Messages that the program keeps at once.
const KEPT: usize = 6;
/// Operations that the program asks for.
const OPERATIONS: [Atomic; 3] =
    [Atomic::Add(1), Atomic::Swap(2), Atomic::CompareSwap { expected: 1, new: 0 }];
/// Ports: one with a handler, one that is asked, one that is made late if at all.
const HANDLED: &str = "handled";
const ASKED: &str = "asked";
const LATE: &str = "late";

/// A script of steps: see the module.
pub fn node(data: &[u8]) {
    let mut script = Unstructured::new(data);
    let _ = play(&mut script);
}

fn play(script: &mut Unstructured<'_>) -> Result<()> {
    let ranks = script.int_in_range(2..=5)?;
    let mut settings = Settings::new(ranks, script.int_in_range(1..=6)?);
    // The others are for links that lose packets, or have an NI apart, and are refused on this one.
    settings.preset = *script.choose(&Preset::CAREFUL)?;
    settings.shape = *script.choose(&Shape::ALL)?;
    settings.recovery = *script.choose(&[Recovery::Off, Recovery::AtOnce])?;
    let wire = Arc::new(Mutex::new(Wire::default()));
    let mut rank = Program::start(settings, &wire);
    let mut peers = Peers::new(settings);
    for _ in 0..STEPS {
        if script.is_empty() {
            break;
        }
        match script.int_in_range(0..=15)? {
            0..=6 => {
                let arrival = peers.frame(script, &lock(&wire))?;
                lock(&wire).arrivals.push_back(arrival);
            }
            _ => rank.step(script)?,
        }
        let wire = lock(&wire);
        // One more of each rank, on its recovery channel.
        let windows = usize::from(ranks) * usize::from(settings.window_packets + 1);
        // Under ACK-receive nothing but the frames of the link bounds what is to be forwarded.
        if settings.preset.acknowledging() == Acknowledging::Receive {
            continue;
        }
        i9_bounded("received frames in use", wire.received_in_use(), windows);
    }
    drop(rank);
    assert_eq!(Arc::strong_count(&wire), 1, "something of the node is left");
    Ok(())
}

/// The program of rank 0.
struct Program {
    engine: Arc<Engine>,
    wire: Arc<Mutex<Wire>>,
    handled: Port,
    asked: Mailbox,
    late: Option<Mailbox>,
    kept: Vec<Message>,
    ranks: u16,
}

impl Program {
    fn start(settings: Settings, wire: &Arc<Mutex<Wire>>) -> Self {
        let link = Scripted::new(wire);
        let policy = WaitPolicy::SLEEP;
        let node = Node::new(Rank(0), settings, link, policy);
        let engine = Engine::new(Packets::new(Arc::new(node)));
        let seen = Arc::clone(wire);
        let handled = Port::new(&engine, HANDLED, move |message| read_all(&seen, message));
        let asked = Mailbox::new(&engine, ASKED);
        Program {
            handled: handled.expect("the name is free"),
            asked: asked.expect("the name is free"),
            late: None,
            kept: Vec::new(),
            wire: Arc::clone(wire),
            ranks: settings.ranks,
            engine,
        }
    }

    fn step(&mut self, script: &mut Unstructured<'_>) -> Result<()> {
        match script.int_in_range(0..=15)? {
            0..=4 => drop(self.engine.progress()),
            5 | 6 => self.ask(),
            7..=9 => self.read(script)?,
            10 => {
                if !self.kept.is_empty() {
                    drop(self.kept.swap_remove(script.choose_index(self.kept.len())?));
                }
            }
            11 | 12 => self.send(script)?,
            13 => {
                let home = Rank(script.int_in_range(0..=self.ranks - 1)?);
                let variable = Variable::new(home, script.arbitrary()?);
                let operation = *script.choose(&OPERATIONS)?;
                let _ended = Wire::end_when_empty(&self.wire);
                let _ = self.engine.packets().atomic(variable, operation);
            }
            14 => self.late = Mailbox::new(&self.engine, LATE).ok(),
            _ => self.late = None,
        }
        Ok(())
    }

    fn ask(&mut self) {
        let late = self.late.as_ref();
        for mailbox in [Some(&self.asked), late].into_iter().flatten() {
            if self.kept.len() < KEPT
                && let Ok(Some(message)) = mailbox.try_receive()
            {
                self.kept.push(message);
            }
        }
    }

    /// Reads some of a message, waiting for what the script still has.
    fn read(&mut self, script: &mut Unstructured<'_>) -> Result<()> {
        if self.kept.is_empty() {
            return Ok(());
        }
        let index = script.choose_index(self.kept.len())?;
        let message = &mut self.kept[index];
        let _ended = Wire::end_when_empty(&self.wire);
        let left = message.remaining();
        match script.int_in_range(0..=4)? {
            0 => drop(message.headers().pop::<4>()),
            1 => drop(message.read_to_vec().map(|bytes| assert_eq!(bytes.len(), left))),
            2 => drop(message.text()),
            3 => drop(message.skip(script.int_in_range(0..=100)?)),
            _ => {
                let mut bytes = vec![0; script.int_in_range(0..=100)?];
                if message.read_exact(&mut bytes).is_ok() {
                    assert_eq!(message.remaining(), left - bytes.len());
                }
            }
        }
        assert!(message.remaining() <= left);
        Ok(())
    }

    fn send(&mut self, script: &mut Unstructured<'_>) -> Result<()> {
        let bytes = vec![7; script.int_in_range(0..=200)?];
        self.asked.rendezvous_from(script.arbitrary::<bool>()?.then_some(100));
        let _ended = Wire::end_when_empty(&self.wire);
        let _ = match script.arbitrary::<bool>()? {
            true => self.handled.broadcast(&bytes),
            false => self.asked.send(script.int_in_range(0..=self.ranks)?, &bytes),
        };
        Ok(())
    }
}

/// The handler: reads the whole message, or until the script has no more.
fn read_all(wire: &Arc<Mutex<Wire>>, mut message: Message) {
    let _ended = Wire::end_when_empty(wire);
    let left = message.remaining();
    if let Ok(bytes) = message.read_to_vec() {
        assert_eq!((bytes.len(), message.remaining()), (left, 0));
    }
}
