use super::*;
use proptest::collection::vec;
use proptest::prelude::*;

/// Lets a member ask while the launcher's answer already waits for it.
fn ask_and_get(bytes: &[u8], descriptors: usize) -> Result<Membership, JoinError> {
    let (here, there) = channel::pair().unwrap();
    let sent: Vec<_> = (0..descriptors).map(|_| there.as_fd()).collect();
    channel::send(&here, bytes, &sent, SendFlags::empty()).unwrap();
    let asked = Membership::ask(there, OnLoss::End);
    let hello = channel::receive(&here, RecvFlags::DONTWAIT).unwrap();
    assert_eq!(ToLauncher::parse(&hello.bytes), Ok(ToLauncher::Hello));
    asked
}

fn welcome(ranks: u16) -> Vec<u8> {
    let settings = Settings::new(ranks);
    ToRank::Welcome(Welcome {
        rank: Rank(0),
        settings,
        options: Options::new(),
        network: None,
        growth: None,
    })
    .emit()
}

#[test]
fn a_welcome_without_memory_or_with_more_is_refused() {
    for got in [0, 2] {
        let refused = ask_and_get(&welcome(3), got);
        let wanted = BadMessage::Descriptors { got, needed: 1 };
        assert!(matches!(refused, Err(JoinError::Bad(bad)) if bad == wanted));
    }
}

#[test]
fn a_launcher_that_ends_without_an_answer_is_an_error() {
    let (here, there) = channel::pair().unwrap();
    drop(here);
    assert!(matches!(Membership::ask(there, OnLoss::End), Err(JoinError::LauncherGone)));
}

#[test]
fn what_is_not_a_welcome_is_refused() {
    let start = ToRank::Start(crate::messages::Start { launcher: 1, core: None }).emit();
    assert!(matches!(ask_and_get(&start, 1), Err(JoinError::Bad(BadMessage::Range("order")))));
}

proptest! {
    #[test]
    fn any_answer_but_a_welcome_is_refused(bytes in vec(any::<u8>(), 1..100), descriptors in 0..4usize) {
        prop_assert!(matches!(ask_and_get(&bytes, descriptors), Err(JoinError::Bad(_))));
    }
}
