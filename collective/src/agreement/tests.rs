//! All states of small teams, larger ones by seeds, mistakes that these find, and refusals.

mod judge;
mod refusals;
mod storm;
mod world;

use super::planted::Planted;
use crate::shrinking;
use weft_model::explore::{Explored, explore};
use world::Options;

/// Three members, of whom all may crash.
const THREE: Options = Options {
    members: 3,
    agreements: 2,
    losses: 3,
    late: true,
    shrinks: false,
    planted: None,
    planted_in_shrinking: None,
};
const FOUR: Options = Options { members: 4, losses: 2, late: false, ..THREE };

fn explored(options: &Options) -> Explored {
    let explored = explore(options, 3_000_000).unwrap_or_else(|found| panic!("{found}"));
    println!("{explored:?} {options:?}");
    explored
}

#[test]
fn three_members_agree_in_all_states() {
    assert!(explored(&THREE).states > 5_000);
    assert!(explored(&Options { agreements: 4, losses: 2, ..THREE }).states > 20_000);
}

#[test]
fn four_members_agree_in_all_states() {
    assert!(explored(&FOUR).states > 200_000);
    if cfg!(feature = "soak") {
        explored(&Options { late: true, ..FOUR });
        explored(&Options { losses: 3, ..FOUR });
        explored(&Options { agreements: 3, ..FOUR });
        explored(&Options { members: 5, agreements: 1, ..FOUR });
    }
}

/// Teams whose members shrink them while members are lost.
const SHRINKING: Options = Options { shrinks: true, losses: 2, ..THREE };

#[test]
fn members_that_shrink_a_team_get_one_in_all_states() {
    assert!(explored(&SHRINKING).states > 1_000);
    assert!(explored(&Options { members: 4, late: false, ..SHRINKING }).states > 10_000);
    if cfg!(feature = "soak") {
        explored(&Options { members: 4, ..SHRINKING });
        explored(&Options { members: 5, late: false, ..SHRINKING });
    }
}

#[test]
fn mistakes_of_those_that_shrink_are_found() {
    for planted in [shrinking::Planted::NameAtOnce, shrinking::Planted::StopAtTwo] {
        let options = Options { planted_in_shrinking: Some(planted), ..SHRINKING };
        let found = explore(&options, 3_000_000).err();
        let found = found.unwrap_or_else(|| panic!("{planted:?} is not found"));
        println!("{planted:?}\n{found}");
        assert!(found.to_string().contains("S2 its first member"), "{planted:?}: {found}");
    }
}

/// Consequence of a mistake in the first of some small worlds that shows it.
fn found(planted: Planted) -> String {
    let worlds = [Options { agreements: 1, ..THREE }, THREE, FOUR];
    let find = |options| explore(&Options { planted: Some(planted), ..options }, 3_000_000);
    let found = worlds.into_iter().find_map(|options| find(options).err());
    let found = found.unwrap_or_else(|| panic!("{planted:?} is not found"));
    println!("{planted:?}\n{found}");
    found.consequence().into()
}

#[test]
fn each_mistake_is_found() {
    for (planted, consequence) in [
        (Planted::TakeFromLost, "A1 agreement"),
        (Planted::ContributeDecision, "A1 agreement"),
        (Planted::KeepDecision, "A3 termination"),
        (Planted::ContributeOnce, "A3 termination"),
        (Planted::DecideEarly, "A2 validity"),
        (Planted::KeepLostApart, "A2 validity"),
        (Planted::ForgetEarly, "A3 termination"),
        (Planted::AnswerNobody, "A3 termination"),
        (Planted::AdoptQuietly, "A3 termination"),
    ] {
        let what = found(planted);
        assert!(what.contains(consequence), "{planted:?}: {what}");
    }
}
