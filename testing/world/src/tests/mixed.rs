//! Random mixes of careful pairs and pairs that lose packets, under every preset that retransmits.

use super::config;
use crate::mixed::{Mixed, MixedOptions, Weather};
use proptest::prelude::*;
use weft_protocol::tree::Shape;
use weft_protocol::{Preset, Pupa, Settings};
use weft_wire::Rank;

fn settings(preset: Preset, ranks: u16, window: u16, shape: Shape) -> Settings {
    let mut settings = Settings { preset, shape, ..Settings::new(ranks, window) };
    settings.retransmit_after = 300_000;
    settings.retransmit_at_least = Some(20_000);
    settings.acknowledge_after = 20_000;
    settings
}

fn mixes() -> impl Strategy<Value = MixedOptions> {
    let hosts = proptest::collection::vec(0_u16..3, 2..7);
    let preset = proptest::sample::select(&Preset::RETRANSMITTING[..]);
    let shape = proptest::sample::select(&[Shape::Binary, Shape::Binomial, Shape::Flat][..]);
    let weather = (0_u64..60, 0_u64..100, 0_u64..100);
    let pupa = (1_u16..20, 1_u16..3, 0_u8..50, 0_u8..50);
    (hosts, preset, shape, 1_u16..6, weather, pupa, any::<u64>(), any::<[bool; 2]>()).prop_map(
        |(hosts, preset, shape, window, weather, pupa, seed, [few, trees_of_hosts])| {
            let mut settings = settings(preset, hosts.len() as u16, window, shape);
            let (primary_sends, primary_buffers, low, more) = pupa;
            settings.pupa = Pupa {
                primary_sends,
                primary_buffers,
                low_water_percent: low,
                high_water_percent: low + more,
                ask_every: 1 + u16::from(low) % 3,
                ..settings.pupa
            };
            if few && preset == Preset::Pupa {
                settings.receive_buffers = 1;
            }
            let (loss, duplication, reordering) = weather;
            let weather = Weather { loss, duplication, reordering };
            MixedOptions {
                settings,
                hosts,
                trees_of_hosts,
                weather,
                sends: 30,
                members: None,
                seed,
            }
        },
    )
}

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn everything_arrives_once_and_in_order_whatever_pairs_lose(options in mixes()) {
        let mut mixed = Mixed::new(options);
        mixed.run();
        prop_assert!(mixed.shown() > 0);
    }

    #[test]
    fn ranks_create_a_group_when_they_get_there(options in mixes(), chosen in any::<u8>()) {
        let ranks = 0..options.settings.ranks;
        let members: Vec<Rank> =
            ranks.filter(|&rank| rank == 0 || chosen >> rank & 1 == 1).map(Rank).collect();
        let mut mixed = Mixed::new(MixedOptions { members: Some(members), ..options });
        mixed.run();
        prop_assert!(mixed.shown() > 0);
    }
}

fn two_hosts_of_three(preset: Preset, loss: u64) -> Mixed {
    let settings = settings(preset, 6, 4, Shape::Binary);
    let weather = Weather { loss, ..Weather::default() };
    let hosts = vec![0, 1, 0, 1, 0, 1];
    let mut mixed = Mixed::new(MixedOptions {
        settings,
        hosts,
        trees_of_hosts: false,
        weather,
        sends: 200,
        members: None,
        seed: 5,
    });
    mixed.run();
    mixed
}

#[test]
fn careful_pairs_have_credits_and_the_others_acknowledgements() {
    for preset in Preset::RETRANSMITTING {
        let mixed = two_hosts_of_three(preset, 20);
        let counters = mixed.counters(Rank(0));
        assert!(counters.explicit_credits > 0, "{preset}: {counters:?}");
        assert!(counters.explicit_acknowledgements > 0, "{preset}: {counters:?}");
        assert!(counters.retransmissions > 0, "{preset}: {counters:?}");
    }
}

#[test]
fn packets_come_early_under_every_preset() {
    for preset in Preset::RETRANSMITTING {
        for hosts in [vec![0, 1, 2, 3, 4, 5], vec![0, 0, 0, 1, 1, 1]] {
            let settings = settings(preset, 6, 2, Shape::Binary);
            let weather = Weather { loss: 20, ..Weather::default() };
            let members = Some((0..6).map(Rank).collect());
            let sends = 200;
            let trees_of_hosts = false;
            let options =
                MixedOptions { settings, hosts, trees_of_hosts, weather, sends, members, seed: 5 };
            let mut mixed = Mixed::new(options);
            mixed.run();
            let early: u64 = (0..6).map(|r| mixed.counters(Rank(r)).early_packets).sum();
            assert!(early > 5, "{preset}: {early}");
        }
    }
}

#[test]
fn a_job_on_one_host_needs_no_timer_whatever_its_preset() {
    for preset in Preset::RETRANSMITTING {
        let settings = settings(preset, 4, 4, Shape::Binary);
        let weather = Weather { loss: 900, ..Weather::default() };
        let hosts = vec![7; 4];
        let mut mixed = Mixed::new(MixedOptions {
            settings,
            hosts,
            trees_of_hosts: false,
            weather,
            sends: 50,
            members: None,
            seed: 2,
        });
        mixed.run();
        for rank in 0..4 {
            let counters = mixed.counters(Rank(rank));
            let numbered = (counters.explicit_acknowledgements, counters.retransmissions);
            assert_eq!(numbered, (0, 0), "{preset}");
        }
    }
}

/// With one receive buffer for each sender, multicasts cross both kinds of pairs.
#[test]
fn one_primary_buffer_is_enough_to_forward() {
    let mut settings = settings(Preset::Pupa, 6, 1, Shape::Binomial);
    settings.receive_buffers = 1;
    settings.pupa.primary_buffers = 1;
    for seed in 0..20 {
        let weather = Weather { loss: 10, ..Weather::default() };
        let hosts = vec![0, 0, 1, 1, 2, 2];
        let mut mixed = Mixed::new(MixedOptions {
            settings,
            hosts,
            trees_of_hosts: seed % 2 == 0,
            weather,
            sends: 60,
            members: None,
            seed,
        });
        mixed.run();
        let stops: u64 = (0..6).map(|rank| mixed.counters(Rank(rank)).stops).sum();
        assert!(stops > 0, "nobody ran out of buffers");
    }
}
