//! All states of small orders, larger ones by seeds, and mistakes that these find.

mod judge;
mod storm;
mod world;

use super::planted::Planted;
use weft_model::explore::{Explored, explore};
use world::Options;

/// Two members, of whom one may crash.
const TWO: Options = Options { members: 2, messages: 2, losses: 1, eager: false, planted: None };
/// Three members, of whom two may crash.
const THREE: Options = Options { members: 3, messages: 1, losses: 2, eager: true, planted: None };

fn explored(options: &Options) -> Explored {
    let explored = explore(options, 6_000_000).unwrap_or_else(|found| panic!("{found}"));
    println!("{explored:?} {options:?}");
    explored
}

#[test]
fn two_members_are_handed_over_the_same_in_all_states() {
    assert!(explored(&TWO).states > 1_000);
}

#[test]
fn three_members_are_handed_over_the_same_in_all_states() {
    assert!(explored(&Options { losses: 1, ..THREE }).states > 10_000);
    if cfg!(feature = "soak") {
        explored(&THREE);
    }
}

/// Consequence of a mistake in the first of some small worlds that shows it.
fn found(planted: Planted) -> String {
    let worlds = [TWO, Options { losses: 1, ..THREE }, THREE];
    let find = |options| explore(&Options { planted: Some(planted), ..options }, 6_000_000);
    let found = worlds.into_iter().find_map(|options| find(options).err());
    let found = found.unwrap_or_else(|| panic!("{planted:?} is not found"));
    println!("{planted:?}\n{found}");
    found.consequence().into()
}

#[test]
fn each_mistake_is_found() {
    for (planted, consequence) in [
        (Planted::FillNobody, "V4 termination"),
        (Planted::DecideEarly, "Begin"),
        (Planted::TakeOld, "Taken"),
        (Planted::ForgetEarly, "NotKept"),
        (Planted::HandOverFrozen, "Begin"),
        (Planted::KeepUnheard, "Taken"),
        (Planted::SendBeforeFills, "V2 once, in order"),
    ] {
        let what = found(planted);
        assert!(what.contains(consequence), "{planted:?}: {what}");
    }
}
