//! Lines of play, counted on simulated ranks.

use weft_apps::games::{ConnectFour, Othello};
use weft_search::{Game, Search, Settings};
use weft_simulator::{Options, Simulation};

fn perft<G: Game>(ranks: u16, settings: Settings, start: G, depth: u16) -> Vec<Option<u64>> {
    let options = Options::new(ranks).unwrap();
    let report = Simulation::new(options).unwrap().run_joined(move |weft| {
        let search = Search::new(weft.engine(), weft.everyone(), "game", settings);
        let counted = search.and_then(|mut search| search.perft(&start, depth));
        counted.map(|counted| counted.lines).map_err(|error| error.to_string())
    });
    report.into_values().unwrap()
}

#[test]
fn lines_are_the_published_ones_on_any_number_of_ranks() {
    for (ranks, grain) in [(1, None), (2, Some(2)), (4, Some(3)), (9, Some(1))] {
        let settings = Settings { grain, jobs_per_message: 16, ..Settings::default() };
        let all = vec![Some(55_092); ranks.into()];
        assert_eq!(perft(ranks, settings, Othello::FIRST, 7), all);
        let all = vec![Some(16_807); ranks.into()];
        assert_eq!(perft(ranks, settings, ConnectFour::FIRST, 5), all);
    }
}
