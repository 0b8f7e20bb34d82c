//! A man in the middle: the switch between hosts, which does what it likes with their frames.

use crate::adversary::act::{Act, Invented, invent};
use crate::adversary::frame::Layers;
use fastrand::Rng;
use nix::ifaddrs::getifaddrs;
use nix::sys::socket::{self, AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType};
use std::fmt;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// Frames that it has in mind, of all hosts.
const KEPT: usize = 256;
/// Frames that it keeps back at most.
const DELAYED: usize = 64;
/// Bytes of a frame at most.
const MOST_BYTES: usize = 1 << 16;
/// Bytes that the kernel keeps for it at each wire.
const BUFFER_BYTES: usize = 16 << 20;
/// Frames of one wire before it looks at the next.
const BATCH: usize = 64;

/// Plan of what he does, and how often.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Seed of all that it does at random.
    pub seed: u64,
    /// Acts, one of which is chosen for each frame of a job's that is not let alone.
    pub acts: Vec<Act>,
    /// Share of the frames of jobs to which something is done, from 0 to 1.
    pub share: f64,
}

/// A man in the middle, in a thread of his own.
#[derive(Debug)]
pub struct Middle {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<io::Result<()>>>,
}

#[derive(Debug)]
struct Shared {
    plan: Mutex<Plan>,
    changed: AtomicBool,
    ended: AtomicBool,
    frames: AtomicU64,
    done: Mutex<Done>,
}

/// Count of what was done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// Frames that came to the switch, those of no job included.
    pub frames: u64,
    /// Frames that were added.
    pub invented: u64,
    /// Number of times that each was done; what did not apply to a frame does not count.
    pub acts: Vec<(Act, u64)>,
}

impl Done {
    fn count(&mut self, act: Act) {
        match self.acts.iter_mut().find(|(done, _)| *done == act) {
            Some((_, count)) => *count += 1,
            None => self.acts.push((act, 1)),
        }
    }
}

impl fmt::Display for Done {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} frames passed, {} invented:", self.frames, self.invented)?;
        self.acts.iter().try_for_each(|(act, count)| write!(f, " {act:?} {count}"))
    }
}

/// The ends of wires, in the order of their names. To be called on the host where they are.
///
/// # Errors
/// Errors of the system about the sockets, or there is no such wire.
pub fn open(wires: &[String]) -> io::Result<Vec<OwnedFd>> {
    wires.iter().map(|wire| open_wire(wire)).collect()
}

fn open_wire(wire: &str) -> io::Result<OwnedFd> {
    let addresses = getifaddrs()?.filter(|entry| entry.interface_name == wire);
    let mut links = addresses.filter_map(|entry| entry.address?.as_link_addr().copied());
    let link = links.next().ok_or(io::ErrorKind::NotFound)?;
    let raw = socket::socket(
        AddressFamily::Packet,
        SockType::Raw,
        SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK,
        SockProtocol::EthAll,
    )?;
    socket::bind(raw.as_raw_fd(), &link)?;
    socket::setsockopt(&raw, socket::sockopt::RcvBufForce, &BUFFER_BYTES)?;
    Ok(raw)
}

impl Middle {
    /// Starts to pass on what comes, as `plan` says.
    ///
    /// # Errors
    /// That of the system, when it starts a thread.
    pub fn start(wires: Vec<OwnedFd>, plan: Plan) -> io::Result<Self> {
        let random = Rng::with_seed(plan.seed);
        let shared = Arc::new(Shared {
            plan: Mutex::new(plan),
            changed: AtomicBool::new(true),
            ended: AtomicBool::new(false),
            frames: AtomicU64::new(0),
            done: Mutex::default(),
        });
        let mut switch = Switch {
            wires,
            hosts: Vec::new(),
            kept: Vec::with_capacity(KEPT),
            delayed: Vec::with_capacity(DELAYED),
            random,
            plan: Plan { seed: 0, acts: Vec::new(), share: 0.0 },
            done: Done::default(),
            shared: Arc::clone(&shared),
        };
        let thread = std::thread::Builder::new()
            .name("man in the middle".into())
            .spawn(move || switch.run())?;
        Ok(Middle { shared, thread: Some(thread) })
    }

    /// Has him do something else.
    pub fn set(&self, acts: &[Act], share: f64) {
        let mut plan = self.shared.plan.lock().unwrap_or_else(PoisonError::into_inner);
        (plan.acts, plan.share) = (acts.to_vec(), share);
        self.shared.changed.store(true, Relaxed);
    }

    /// Frames that have passed or were invented.
    pub fn frames(&self) -> u64 {
        self.shared.frames.load(Relaxed)
    }

    /// Ends him, after whom nobody passes anything on; returns what he did.
    ///
    /// # Errors
    /// Errors that the system gave him.
    pub fn end(mut self) -> io::Result<Done> {
        self.stop()?;
        Ok(self.shared.done.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }

    fn stop(&mut self) -> io::Result<()> {
        self.shared.ended.store(true, Relaxed);
        let Some(thread) = self.thread.take() else { return Ok(()) };
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

impl Drop for Middle {
    fn drop(&mut self) {
        // A caller that did not ask does not want to know.
        let _ = self.stop();
    }
}

/// State of the thread.
struct Switch {
    wires: Vec<OwnedFd>,
    /// Ethernet addresses, and the wires behind which they are.
    hosts: Vec<([u8; 6], usize)>,
    kept: Vec<Vec<u8>>,
    /// Frames kept back, and the wire that each came from.
    delayed: Vec<(usize, Vec<u8>)>,
    random: Rng,
    plan: Plan,
    done: Done,
    shared: Arc<Shared>,
}

impl Switch {
    fn run(&mut self) -> io::Result<()> {
        let mut bytes = vec![0; MOST_BYTES];
        while !self.shared.ended.load(Relaxed) {
            if self.shared.changed.swap(false, Relaxed) {
                self.plan = self.shared.plan.lock().unwrap_or_else(PoisonError::into_inner).clone();
            }
            let mut any = false;
            for wire in 0..self.wires.len() {
                for _ in 0..BATCH {
                    let raw = self.wires[wire].as_raw_fd();
                    let Ok(length) = socket::recv(raw, &mut bytes, MsgFlags::MSG_DONTWAIT) else {
                        break;
                    };
                    any = true;
                    self.pass(wire, &mut bytes[..length]);
                }
            }
            let done = self.done.frames + self.done.invented;
            self.shared.frames.store(done, Relaxed);
            if !any {
                self.send_delayed();
                self.wait()?;
            }
        }
        *self.shared.done.lock().unwrap_or_else(PoisonError::into_inner) = self.done.clone();
        Ok(())
    }

    /// Waits for the next frame, or for a change of mind.
    fn wait(&self) -> io::Result<()> {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let mut looks: Vec<PollFd<'_>> =
            self.wires.iter().map(|wire| PollFd::new(wire, PollFlags::IN)).collect();
        poll(&mut looks, Some(&Timespec { tv_sec: 0, tv_nsec: 10_000_000 }))?;
        Ok(())
    }

    /// A frame has come by a wire.
    fn pass(&mut self, wire: usize, frame: &mut [u8]) {
        self.done.frames += 1;
        self.learn(wire, frame);
        let layers = Layers::of(frame);
        // The sums of virtual interfaces are for others to fill in.
        if let Some(layers) = layers {
            layers.mend(frame);
        }
        let is_job = layers.and_then(|layers| layers.inner(frame)).is_some();
        if !is_job || self.plan.acts.is_empty() || self.random.f64() >= self.plan.share {
            self.send(wire, frame);
        } else {
            let act = self.plan.acts[self.random.usize(..self.plan.acts.len())];
            self.act(act, wire, frame);
        }
        if is_job {
            self.keep(frame);
        }
        if self.delayed.len() >= DELAYED {
            self.send_delayed();
        }
    }

    fn act(&mut self, act: Act, wire: usize, frame: &[u8]) {
        match act {
            Act::Drop => {}
            Act::Delay => self.delayed.push((wire, frame.to_vec())),
            _ => return self.add(act, wire, frame),
        }
        self.done.count(act);
    }

    fn add(&mut self, act: Act, wire: usize, frame: &[u8]) {
        let other = match self.kept.len() {
            0 => frame.to_vec(),
            kept => self.kept[self.random.usize(..kept)].clone(),
        };
        let invented = invent(act, frame, &other, &mut self.random);
        let applies = !invented.is_empty();
        if applies {
            self.done.count(act);
            self.done.invented += invented.len() as u64;
        }
        let is_after = matches!(act, Act::Icmp | Act::Arp | Act::Unrelated);
        if is_after {
            self.send(wire, frame);
        }
        for invented in invented {
            match invented {
                Invented::Onwards(bytes) => self.send(wire, &bytes),
                Invented::Back(bytes) => send(&self.wires[wire], &bytes),
            }
        }
        let is_replaced = applies && act == Act::Change;
        if !is_after && !is_replaced {
            self.send(wire, frame);
        }
    }

    fn learn(&mut self, wire: usize, frame: &[u8]) {
        let Some(source) = frame.get(6..12).and_then(|bytes| bytes.first_chunk()) else { return };
        match self.hosts.iter_mut().find(|(address, _)| address == source) {
            Some((_, known)) => *known = wire,
            None => self.hosts.push((*source, wire)),
        }
    }

    fn keep(&mut self, frame: &[u8]) {
        if self.kept.len() < KEPT {
            self.kept.push(frame.to_vec());
        } else if self.random.u8(..) < 8 {
            let at = self.random.usize(..KEPT);
            frame.clone_into(&mut self.kept[at]);
        }
    }

    fn send_delayed(&mut self) {
        while let Some((wire, frame)) = self.delayed.pop() {
            self.send(wire, &frame);
        }
    }

    /// Sends a frame to its receiver, or to all.
    fn send(&self, from: usize, frame: &[u8]) {
        let to = frame.get(..6).and_then(|to| self.hosts.iter().find(|(known, _)| known == to));
        for (wire, raw) in self.wires.iter().enumerate() {
            if wire != from && to.is_none_or(|(_, known)| *known == wire) {
                send(raw, frame);
            }
        }
    }
}

/// Sends a frame as it is. A frame that the system does not take is lost, as on any wire.
fn send(raw: &OwnedFd, frame: &[u8]) {
    let _ = socket::send(raw.as_raw_fd(), frame, MsgFlags::MSG_DONTWAIT);
}
