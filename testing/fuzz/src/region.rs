//! Messages about shared regions of memory, and one region that is told anything.

use arbitrary::{Result, Unstructured};
use weft_collective::format::Header as Part;
use weft_endpoint::Rank;
use weft_region::coherence::{
    Actions, Call, Hint, Message, MessageKind, Misuse, Policy, Region, Version, table::ReplicaState,
};
use weft_region::format::{Header, Notice, receivers};
use weft_region::invariants;

const RANKS: u16 = 5;

/// Headers before a message's data, and what is told from them: notices beside the protocol, and
/// packets of collective operations.
pub fn header(data: &[u8]) {
    if let Some((region, notice)) = Notice::parse(data, usize::from(RANKS)) {
        assert_eq!(*notice.emit(region), *data);
        assert_eq!(Header::parse(data, usize::from(RANKS)), None);
    }
    if let Some((part, values)) = Part::parse(data) {
        assert_eq!([&part.emit()[..], values].concat(), data);
        assert_eq!(Header::parse(data, usize::from(RANKS)), None);
        assert_eq!(Notice::parse(data, usize::from(RANKS)), None);
        assert_eq!(receivers::split(data, usize::from(RANKS), ME), None);
    }
    let Some((header, rest)) = Header::parse(data, usize::from(RANKS)) else { return };
    assert_eq!(header.size() + rest.len(), data.len());
    assert_eq!(header.emit()[..header.size()], data[..header.size()]);
    assert!(header.region.home.0 < RANKS && header.message.party.0 < RANKS);
    assert!(rest.is_empty() || header.message.kind.carries_data());
    assert!(header.offset.checked_add(rest.len() as u64).is_some());
}

/// One region at one node. The program keeps its contract, the peers keep none.
pub fn messages(data: &[u8]) {
    let mut script = Unstructured::new(data);
    let _ = run(&mut script);
}

/// Actions of the node in one step.
#[derive(Default)]
struct StepActions {
    sent: usize,
    granted: Vec<Call>,
    ended: usize,
}

impl Actions for StepActions {
    fn send(&mut self, to: Rank, message: Message) {
        assert!(to != ME && to.0 < RANKS, "{message:?} goes to {to:?}");
        self.sent += 1;
    }

    fn place(&mut self) {}

    fn grant(&mut self, call: Call) {
        self.granted.push(call);
    }

    fn refuse(&mut self, _: Call) {
        self.ended += 1;
    }
}

const ME: Rank = Rank(1);

fn run(script: &mut Unstructured<'_>) -> Result<()> {
    let hint = *script.choose(&[Hint::Invalidate, Hint::Update, Hint::Migratory])?;
    let policy = Policy { hint, three_party: script.arbitrary()? };
    let mut region = if script.arbitrary()? {
        Region::at_home(ME, policy)
    } else {
        Region::elsewhere(ME, Rank(0), Version(u32::MAX))
    };
    while !script.is_empty() {
        let mut actions = StepActions::default();
        if script.ratio(1, 4)? {
            call(&mut region, script, &mut actions)?;
        } else {
            receive(&mut region, script, &mut actions)?;
        }
        check(&region, &actions);
    }
    Ok(())
}

fn call(
    region: &mut Region,
    script: &mut Unstructured<'_>,
    actions: &mut StepActions,
) -> Result<()> {
    use Call::*;
    let calls = [StartRead, EndRead, StartWrite, EndWrite, Prefetch, Flush, Delete];
    let call = *script.choose(&calls)?;
    let before = region.clone();
    if let Err(misuse) = region.call(call, actions) {
        assert_eq!(*region, before, "{misuse:?} changed something");
        let waits = misuse != Misuse::Waiting || before.replica().waiting().is_some();
        assert!(waits || before.replica().state() == ReplicaState::AwaitingDeletion);
    }
    Ok(())
}

/// A message of any peer, mostly about a copy that could be meant.
fn receive(
    region: &mut Region,
    script: &mut Unstructured<'_>,
    actions: &mut StepActions,
) -> Result<()> {
    let from = Rank(*script.choose(&[0, 2, 3, 4])?);
    let kind = *script.choose(&MessageKind::ALL)?;
    let known = region.directory().map(|directory| directory.version());
    let near = known.or(region.replica().version()).unwrap_or(Version(u32::MAX));
    let version = Version(near.0.wrapping_add(script.int_in_range(0..=3)?).wrapping_sub(1));
    let party = Rank(script.int_in_range(0..=RANKS - 1)?);
    let expected = region.expects(from, kind);
    let told = region.receive(from, Message { kind, version, party }, actions);
    if kind.is_for_home() && region.directory().is_none() {
        assert!(told.is_err() && !expected, "only homes have a directory");
    }
    Ok(())
}

fn check(region: &Region, actions: &StepActions) {
    assert!(actions.granted.len() + actions.ended <= 1, "two calls go on at once");
    // Each of the others asks once, gives back once, and is told to drop its copy once.
    assert!(actions.sent <= 8 * usize::from(RANKS), "{} messages for one", actions.sent);
    invariants::r5_demands_are_met(region.replica());
    if let Some(directory) = region.directory() {
        invariants::r4_bounded(directory);
    }
    let (state, readers) = (region.replica().state(), region.replica().readers());
    let reads = matches!(state, ReplicaState::Reading | ReplicaState::ExclusiveReading);
    assert_eq!(reads, readers > 0, "{readers} read in {state:?}");
}
