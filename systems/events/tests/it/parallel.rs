//! Grids on several nodes, and Jacobi's method on them beside the same on one.

use weft_endpoint::{Packets, Rank};
use weft_events::parallel::{Grid, Nodes};
use weft_events::{Destination, Events, Flags, Result, Settings};
use weft_protocol::Preset;
use weft_simulator::{Options, Simulation};
use weft_threads::Job;

fn nodes(packets: &Packets, settings: Settings) -> Nodes {
    Nodes::new(Events::open(packets, settings).unwrap())
}

fn jacobi(nodes: &Nodes, rows: usize, columns: usize, iterations: usize) -> Result<Grid<'_, f64>> {
    let (bottom, right) = (rows - 1, columns - 1);
    let is_edge = |row, column| row == 0 || row == bottom || column == 0 || column == right;
    let edge = nodes.mask(rows, columns, is_edge);
    let mut heat =
        nodes.grid(rows, columns, |row, column| if row == 0 { column as f64 } else { 0.0 });
    for _ in 0..iterations {
        let [north, south, west, east] = heat.neighbours()?;
        heat = edge.choose(heat, (north + south + west + east) * 0.25);
    }
    Ok(heat)
}

/// The reference computation, without anything of Weft.
fn alone(rows: usize, columns: usize, iterations: usize) -> Vec<f64> {
    let mut heat: Vec<f64> =
        (0..rows * columns).map(|point| if point < columns { point as f64 } else { 0.0 }).collect();
    for _ in 0..iterations {
        let old = heat.clone();
        for row in 1..rows - 1 {
            for at in row * columns + 1..(row + 1) * columns - 1 {
                heat[at] =
                    (old[at - columns] + old[at + columns] + old[at - 1] + old[at + 1]) * 0.25;
            }
        }
    }
    heat
}

/// Solves on the nodes of a job; returns what this one holds, and the largest and the sum of all.
fn solve(packets: &Packets, settings: Settings, columns: usize) -> (Vec<f64>, f64, f64) {
    let nodes = nodes(packets, settings);
    let heat = jacobi(&nodes, 13, columns, 30).unwrap();
    let ends = (heat.here().to_vec(), heat.largest().unwrap(), heat.sum().unwrap());
    drop(heat);
    nodes.close().unwrap();
    ends
}

fn check(ran: Vec<(Vec<f64>, f64, f64)>, columns: usize) {
    let expected = alone(13, columns, 30);
    let found: Vec<f64> = ran.iter().flat_map(|(values, ..)| values.clone()).collect();
    assert_eq!(found, expected);
    let sum: f64 = expected.iter().sum();
    for (_, largest, total) in ran {
        assert_eq!(largest, (columns - 1) as f64);
        assert!((total - sum).abs() < 1e-9 * sum, "{total} instead of {sum}");
    }
}

#[test]
fn jacobi_is_the_same_on_any_number_of_nodes() {
    for ranks in [1, 2, 3, 5] {
        for settings in [Settings::default(), Settings::traditional()] {
            check(Job::new(ranks).packets(|packets| solve(&packets, settings, 9)), 9);
        }
    }
}

#[test]
fn rows_of_several_fragments_come_whole() {
    // Packets over UDP hold less than 9,000 bytes, the rows 16,000.
    let job = Job::over_udp(3, Preset::IrxImc);
    check(job.packets(|packets| solve(&packets, Settings::default(), 2000)), 2000);
}

#[test]
fn a_fragment_beyond_its_message_is_its_senders_breach() {
    let said = Job::new(2).packets(|packets| {
        let events = Events::open(&packets, Settings::default()).unwrap();
        if packets.rank() == Rank(0) {
            let nodes = Nodes::new(events);
            return nodes.grid(2, 1, |_, _| 1.0).sum().map_err(|error| error.to_string());
        }
        // A value takes one fragment.
        for last in [false, true] {
            events.send(Destination::Everyone, 0, &[0; 8], Flags { last, ..Flags::CROWD }).unwrap();
        }
        Ok(0.0)
    });
    let wanted = "rank 1 sent more in event 0 than the event has";
    assert!(said[0].as_ref().is_err_and(|error| error.starts_with(wanted)), "{said:?}");
}

#[test]
fn jacobi_is_the_same_in_the_simulator() {
    for settings in [Settings::default(), Settings::traditional()] {
        let simulation = Simulation::new(Options::new(4).unwrap()).unwrap();
        let report =
            simulation.run_packets(move |packets| Ok::<_, String>(solve(&packets, settings, 9)));
        check(report.into_values().unwrap(), 9);
    }
}

#[test]
fn points_see_their_neighbours() {
    Job::new(3).packets(|packets| {
        let nodes = nodes(&packets, Settings::default());
        let grid = nodes.grid(7, 4, |row, column| (10 * row + column) as i64);
        let [north, south, west, east] = grid.neighbours().unwrap();
        let expect = |r: usize, c: usize| {
            nodes.grid(7, 4, |row, column| (10 * ((row + r) % 7) + (column + c) % 4) as i64)
        };
        assert_eq!(north.here(), expect(6, 0).here());
        assert_eq!(south.here(), expect(1, 0).here());
        assert_eq!(west.here(), expect(0, 3).here());
        assert_eq!(east.here(), expect(0, 1).here());
        let in_turn = grid.neighbours_in_turn().unwrap();
        let alike = in_turn.iter().zip([&north, &south, &west, &east]);
        alike.for_each(|(turn, at_once)| assert_eq!(turn.here(), at_once.here()));
        drop(in_turn);
        assert_eq!((grid.clone() - grid.clone()).sum().unwrap(), 0);
        assert_eq!(grid.map(|value| -value).largest().unwrap(), 0);
        drop((grid, north, south, west, east));
        nodes.close().unwrap();
    });
}
