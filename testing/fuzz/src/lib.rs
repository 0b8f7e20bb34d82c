//! Fuzz targets: what reads bytes that an adversary may have written, fed with anything.
//!
//! A target is a plain function of some bytes that panics where a promise is broken. `cargo-fuzz/`
//! hands [`TARGETS`] to libFuzzer (`make fuzz`); the inputs that it found worth keeping are in
//! `corpus/`, and a test runs each of them through its target with the ordinary compiler.
//!
//! | module | what is fed |
//! |---|---|
//! | `wire`, `messages`, `text` | parsers: parsing ends in a value or an error, and the value's own encoding means the same |
//! | `rules` | texts of rules; bytes of positions of games that are texts |
//! | `simulator` | machine descriptions; packets whose bits flip |
//! | `seal` | frames that were changed on their way, and frames that nobody sealed |
//! | `ways` | pieces of packets, probes of ways, answers, by a member that says anything |
//! | `records` | what comes on a TCP connection, by a stranger and by a member that says anything |
//! | `trace` | files of events |
//! | `shm` | the shared-memory link, by a peer that writes any slot |
//! | `region` | headers of a region's messages; a region, at its home and elsewhere, by peers that say anything |
//! | `tagged` | packets of messages with tags; a rank that such packets reach, by peers that say anything |
//! | `weft_events::fuzzing` | a node of events, by peers that say anything |
//! | `remote` | packets of remote accesses; a rank with memory that such packets reach, by peers that say anything |
//! | `agreement` | messages of an agreement among survivors; a rank that such messages reach, by peers that say anything |
//! | `collectives` | packets of operations of all members of a team; a rank that such packets reach, by peers that say anything |
//! | `weft_messaging::fuzzing` | numbers of an order, and counts of what its members have consumed; what they say of one another after a loss |
//! | `weft_object::fuzzing` | messages of shared objects |
//! | `weft_linda::fuzzing` | answers and states of a shard of a tuple space; operations on one |
//! | `search` | messages of searches, for solutions and for values |
//! | `weft_fabric::fuzzing` | cards of ranks that meet over libfabric |
//! | `ni` | one NI of each preset, by hosts that keep their contract and peers that keep none |
//! | `node` | a whole node with the messaging layer on it, by such peers |
//!
//! In the last two the bytes are a script: first the sizes of the job, then one step after another,
//! decoded so that most packets are nearly right, because only those get past the first check. A
//! script that ends early goes on with zeros.
//!
//! May use everything below applications. Keeps: no target looks at a clock or starts a thread.

#![forbid(unsafe_code)]

mod agreement;
mod collectives;
mod messages;
mod ni;
mod node;
mod records;
mod region;
mod remote;
mod rules;
mod seal;
mod search;
mod shm;
mod simulator;
mod tagged;
mod text;
mod trace;
mod ways;
mod wire;
mod wires;

/// A function that takes any bytes, and panics only if something is wrong with Weft.
pub type Target = fn(&[u8]);

/// All targets by name. Each has a program in `cargo-fuzz/` and a folder in `corpus/`.
pub const TARGETS: &[(&str, Target)] = &[
    ("network", wire::network),
    ("envelope", wire::envelope),
    ("compact", wire::compact),
    ("message-header", wire::message_header),
    ("header-stack", wire::header_stack),
    ("rpc", wire::rpc),
    ("to-rank", messages::to_rank),
    ("to-launcher", messages::to_launcher),
    ("hosts", messages::hosts),
    ("job-variable", messages::job_variable),
    ("net-request", messages::net_request),
    ("last-words", messages::last_words),
    ("process-manager", messages::process_manager),
    ("peers", messages::peers),
    ("job-roll", messages::job_roll),
    ("hostfile", text::hostfile),
    ("names", text::names),
    ("openflights", text::openflights),
    ("tables", text::tables),
    ("rules", rules::text),
    ("rules-position", rules::position),
    ("machine", simulator::machine),
    ("bit-flips", simulator::bit_flips),
    ("places", weft_endpoint::fuzzing::places),
    ("seal", seal::frames),
    ("ways", ways::frames),
    ("records", records::stream),
    ("trace", trace::file),
    ("event", trace::event),
    ("shm", shm::slots),
    ("nrx-imc", ni::nrx_imc),
    ("nrx-hmc", ni::nrx_hmc),
    ("irx-imc", ni::irx_imc),
    ("irx-hmc", ni::irx_hmc),
    ("hrx-hmc", ni::hrx_hmc),
    ("hrx-imc", ni::hrx_imc),
    ("pupa", ni::pupa),
    ("node", node::node),
    ("region-header", region::header),
    ("region", region::messages),
    ("tagged-packet", tagged::packet),
    ("tagged", tagged::messages),
    ("remote-packet", remote::packet),
    ("remote", remote::accesses),
    ("events", weft_events::fuzzing::frames),
    ("collective-packet", collectives::packet),
    ("collectives", collectives::operations),
    ("agreement-message", agreement::message),
    ("agreement", agreement::messages),
    ("order", weft_messaging::fuzzing::order),
    ("order-view", weft_messaging::fuzzing::order_view),
    ("object", weft_object::fuzzing::messages),
    ("linda-answer", weft_linda::fuzzing::answer),
    ("linda", weft_linda::fuzzing::shard),
    ("search", search::jobs_and_counters),
    ("search-items", search::items),
    ("fabric-card", weft_fabric::fuzzing::card),
];

/// Runs `data` through the target `name`.
///
/// # Panics
/// If there is no such target, or if the target finds something wrong.
pub fn run(name: &str, data: &[u8]) {
    let found = TARGETS.iter().find(|(target, _)| *target == name);
    let (_, target) = found.expect("a name in TARGETS");
    target(data);
}
