//! Anything sent, in any order of steps: all invariants at every step, all of it delivered.

use super::*;
use crate::{in_order, run};
use proptest::prelude::*;

/// A send before it is known who is in which group: who, what, to whom or of how much.
#[derive(Clone, Copy, Debug)]
enum Wish {
    Unicast(u16, u16),
    Multicast(u16, u16),
    FetchAdd(u16, u16, u16, u64),
}

fn any_wish() -> impl Strategy<Value = Wish> {
    let rank = 0u16..1000;
    prop_oneof![
        4 => (rank.clone(), rank.clone()).prop_map(|(from, to)| Wish::Unicast(from, to)),
        4 => (rank.clone(), rank.clone()).prop_map(|(from, group)| Wish::Multicast(from, group)),
        1 => (rank.clone(), rank, 0u16..2, 1u64..9)
            .prop_map(|(from, home, variable, amount)| Wish::FetchAdd(from, home, variable, amount)),
    ]
}

/// Groups of the multicasts: by MCAST's two restrictions (thesis 4.2.6) either broadcasts, or
/// multicasts to groups that do not overlap. Where nobody forwards, or only to those beside,
/// anything goes.
#[derive(Clone, Copy, Debug)]
enum Groups {
    Broadcast,
    Disjoint,
    AllAtOnce,
}

#[derive(Clone, Debug)]
struct Case {
    options: Options,
    groups: Groups,
    wishes: Vec<Wish>,
}

impl Case {
    /// The groups that `from` is in and may send to.
    fn groups_of(&self, from: Rank) -> Vec<GroupId> {
        let small = (1..).zip(&self.options.groups);
        let small = small.filter(|(_, members)| members.contains(&from)).map(|(id, _)| GroupId(id));
        match self.groups {
            Groups::Broadcast => vec![GroupId::ALL],
            Groups::Disjoint => small.collect(),
            Groups::AllAtOnce => small.chain([GroupId::ALL]).collect(),
        }
    }

    fn sends(&self) -> Vec<Step> {
        let ranks = self.options.settings.ranks;
        let rank = |number: u16| Rank(number % ranks);
        let as_step = |wish: &Wish| match *wish {
            Wish::Unicast(from, to) => Some(Step::Unicast { from: rank(from), to: rank(to) }),
            Wish::Multicast(from, which) => {
                let groups = self.groups_of(rank(from));
                let group = *groups.get(usize::from(which) % groups.len().max(1))?;
                Some(Step::Multicast { from: rank(from), group })
            }
            Wish::FetchAdd(from, home, variable, amount) => {
                let operation = Atomic::Add(amount);
                Some(Step::Atomic { from: rank(from), home: rank(home), variable, operation })
            }
        };
        self.wishes.iter().filter_map(as_step).collect()
    }
}

/// All ranks, dealt into groups.
fn any_partition(ranks: u16) -> impl Strategy<Value = Vec<Vec<Rank>>> {
    let all: Vec<Rank> = (0..ranks).map(Rank).collect();
    (Just(all).prop_shuffle(), prop::collection::vec(1usize..6, 1..9)).prop_map(|(all, sizes)| {
        let mut left = &all[..];
        let mut groups = Vec::new();
        for size in sizes {
            let (group, rest) = left.split_at(size.min(left.len()));
            groups.extend((!group.is_empty()).then(|| group.to_vec()));
            left = rest;
        }
        groups
    })
}

fn any_case() -> impl Strategy<Value = Case> {
    let shapes = [Shape::Binary, Shape::Binomial, Shape::Flat];
    let settings = (
        2u16..=9,
        1u16..=4,
        prop::sample::select(&Preset::CAREFUL[..]),
        prop::sample::select(shapes.to_vec()),
    );
    settings.prop_flat_map(|(ranks, window_packets, preset, shape)| {
        let groups = match shape {
            Shape::Flat => vec![Groups::Broadcast, Groups::Disjoint, Groups::AllAtOnce],
            _ => vec![Groups::Broadcast, Groups::Disjoint],
        };
        let wishes = prop::collection::vec(any_wish(), 0..60);
        let buffers = 1usize..6;
        let hosts = prop::option::of(prop::collection::vec(0u16..4, usize::from(ranks)));
        (any_partition(ranks), prop::sample::select(groups), buffers, hosts, wishes).prop_map(
            move |(members, groups, send_buffers, hosts, wishes)| {
                let options = options(ranks, window_packets, preset, shape);
                let options = Options { send_buffers, groups: members, hosts, ..options };
                Case { options, groups, wishes }
            },
        )
    })
}

proptest! {
    #![proptest_config(config(256))]

    #[test]
    fn everything_sent_is_delivered_whatever_the_order(
        case in any_case(),
        order in prop::collection::vec(any::<u16>(), 0..800),
    ) {
        let sends = case.sends();
        let mut world = World::new(case.options);
        prop_assert_eq!(run(&mut world, &sends, in_order(&order)), Ok(()));
    }
}

/// A run is a function of its choices: the same ones lead to the same world, to the last counter.
#[test]
fn a_run_is_a_function_of_its_choices() {
    let order: Vec<u16> = (0..500).map(|n| n * 101 % 1009).collect();
    let sends: Vec<Step> = (0..6).flat_map(|n| [broadcast(n), unicast(n, 5 - n)]).collect();
    let counters = || {
        let mut world = world(6, 2, Shape::Binomial);
        run(&mut world, &sends.repeat(5), in_order(&order)).expect("no deadlock");
        let counters = world.ranks().map(|rank| world.ni(rank).counters()).collect::<Vec<_>>();
        (world.steps(), counters)
    };
    assert_eq!(counters(), counters());
}
