use crate::suite::{Application, Size};
use anyhow::Result;
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use serde::Serialize;
use weft_app_common::write_out;

use crate::application::causes::Causes;
use crate::application::jobs::Jobs;
use crate::application::measured::{Measured, system};
use crate::application::options::Options;

/// Lists applications, runs them with bare threads, or starts jobs of one rank and of several, in
/// turns with bare threads where these are asked for.
///
/// # Errors
/// A job that cannot be started or fails, a wrong result, or output that cannot be written.
pub fn run(options: &Options) -> Result<()> {
    let options = &options.sized(options.simulated);
    match (options.list, options.bare, options.ranks) {
        (true, ..) => Ok(write_out(list())?),
        (_, Some(threads), _) => bare(options, threads),
        (_, _, ranks) => compare(options, ranks.unwrap_or(1)),
    }
}

fn list() -> String {
    let mut table = plain(&["name", "application", "system", "problem of table 8.6", "small"]);
    for application in Application::ALL {
        table.add_row([
            application.name(),
            application.title(),
            system(application.system()),
            application.problem(Size::Thesis),
            application.problem(Size::Small),
        ]);
    }
    table.trim_fmt() + "\n"
}

fn bare(options: &Options, threads: u16) -> Result<()> {
    for application in options.chosen() {
        let words = options.words_for(application);
        let time = application.run_on_threads(&words, threads.into())?;
        let measured = Measured::on_threads(application, threads.into(), time.as_secs_f64());
        write_out(match options.json {
            true => serde_json::to_string(&measured)? + "\n",
            false => format!(
                "{}   {}   verified\n{threads} bare thread{}, {:.3} s\n",
                application.title(),
                options.problem(application),
                if threads == 1 { "" } else { "s" },
                measured.seconds
            ),
        })?;
    }
    Ok(())
}

/// Speed-ups of one application.
#[derive(Serialize, Debug, Clone)]
struct Row {
    application: &'static str,
    problem: String,
    ranks: u16,
    /// Seconds of one rank, and of all.
    seconds: [f64; 2],
    /// Seconds of one bare thread, and of as many as there are ranks.
    thread_seconds: Option<[f64; 2]>,
}

impl Row {
    fn measure(jobs: &Jobs<'_>, options: &Options, of: Application, ranks: u16) -> Result<Self> {
        let mut times: [Vec<f64>; 4] = Default::default();
        // In virtual time all turns are the same.
        let rounds = if options.simulated { 1 } else { options.rounds };
        for _ in 0..rounds {
            for (index, count) in [1, ranks].into_iter().enumerate() {
                times[index].push(jobs.on_ranks(of, count, None)?.seconds);
                if options.threads {
                    times[2 + index].push(jobs.on_threads(of, count)?.seconds);
                }
            }
        }
        let [one, all, one_thread, all_threads] = times.map(median);
        Ok(Row {
            application: of.title(),
            problem: options.problem(of),
            ranks,
            seconds: [one, all],
            thread_seconds: options.threads.then_some([one_thread, all_threads]),
        })
    }

    fn cells(&self) -> Vec<String> {
        let ratio = |[one, all]: [f64; 2]| one / all;
        let mut cells = vec![self.application.to_owned(), self.problem.clone()];
        let both = [Some(self.seconds), self.thread_seconds];
        for seconds in both.into_iter().flatten() {
            cells.extend(seconds.map(three_digits));
            cells.push(format!("{:.2}", ratio(seconds)));
        }
        if let Some(threads) = self.thread_seconds {
            cells.push(format!("{:.2}", ratio(self.seconds) / ratio(threads)));
            cells.push(format!("{:.2}", threads[1] / self.seconds[1]));
        }
        cells
    }
}

fn compare(options: &Options, ranks: u16) -> Result<()> {
    let jobs = Jobs::new(options)?;
    let mut rows = Vec::new();
    for application in options.chosen() {
        let row = Row::measure(&jobs, options, application, ranks)?;
        if options.json {
            write_out(serde_json::to_string(&row)? + "\n")?;
        }
        if options.causes {
            let causes = Causes::of_run(&jobs, application, ranks)?;
            write_out(match options.json {
                true => serde_json::to_string(&causes)? + "\n",
                false => causes.text(application) + "\n",
            })?;
        }
        rows.push(row);
    }
    if !options.json {
        write_out(table(&rows, ranks, options.threads) + "\n")?;
    }
    Ok(())
}

fn table(rows: &[Row], ranks: u16, threads: bool) -> String {
    let all = |what: &str| format!("{ranks} {what}, s");
    let mut heads = vec![
        "application".into(),
        "problem".into(),
        "1 rank, s".into(),
        all("ranks"),
        "speed-up".into(),
    ];
    if threads {
        heads.extend(["1 thread, s".into(), all("threads"), "speed-up".into()]);
        heads.extend(["of speed-ups".into(), "of speeds".into()]);
    }
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    let mut table = plain(&heads);
    for row in rows {
        table.add_row(row.cells());
    }
    for column in table.column_iter_mut().skip(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.trim_fmt()
}

fn plain(heads: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(heads);
    table
}

/// Seconds to about three digits.
fn three_digits(seconds: f64) -> String {
    let places = match seconds {
        10.0.. => 1,
        1.0.. => 2,
        0.1.. => 3,
        0.01.. => 4,
        _ => 5,
    };
    format!("{seconds:.places$}")
}

/// The median, or what is no number if there is none.
fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}
