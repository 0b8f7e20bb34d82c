//! `weft top`: the ranks of a job, live.

mod rates;
mod recording;
mod view;

use crate::jobs::{ask_job, job_number, only_job, says_something_else};
use anyhow::{Context, Result};
use clap::Args;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};
use weft_launch::{Question, Snapshot, time_in};

use rates::{Order, Rates};
use recording::{Recording, duration};
use view::View;

const EXAMPLES: &str = "\
Examples:
  weft top               the only job of yours on this host
  weft top 4711          the job of that launcher, as `weft ps` lists it
  weft top --once        one table, as text, of the next second
  weft top --json --interval 5s
                         for programs: an object every 5 s, a line each
  weft top --record run.weft --for 5s
                         look at what each rank does 1,000 times a second for 5 s, and write it to
                         run.weft, of which `weft report run.weft` makes a page

Keys: q ends it, s sorts by the next column, o turns the order round, up and down choose a rank,
enter shows all of it, r records 2 s into a new file here, weft-JOB.trace. Looking costs a job
nothing that can be measured: its ranks show their counts twice a second while somebody looks, and
at no other time.";

/// Show the ranks of a job live: what each does, its packets and bytes a second, its memory
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Top {
    /// The job: the process of its `weft run`, or one of a process manager's, as `weft ps` lists it
    /// [default: the only one]
    #[arg(value_parser = job_number, allow_negative_numbers = true)]
    job: Option<u32>,
    /// Print one table of the next second, and end; as is usual if nobody looks at a terminal
    #[arg(long)]
    once: bool,
    /// Print JSON instead: an object of each interval, a line each, until the job ends; with --once
    /// one object of the next second
    #[arg(long, conflicts_with = "record")]
    json: bool,
    /// Record what the ranks do into this file, by looking at them again and again, and end:
    /// `weft report FILE` shows it
    #[arg(long, value_name = "FILE", conflicts_with = "once")]
    record: Option<PathBuf>,
    /// Time to record, such as 500ms or 2s, up to 60s
    #[arg(long = "for", value_name = "TIME", default_value = "2s", value_parser = duration, requires = "record")]
    record_for: Duration,
    /// Time between two looks, 100ms to 60s; a number alone is seconds
    #[arg(long, value_name = "TIME", default_value = "0.5", value_parser = interval)]
    interval: Duration,
}

/// Time between two looks while a recording says how far it is.
const RECORDING_LOOK: Duration = Duration::from_millis(200);

fn interval(text: &str) -> Result<Duration, String> {
    time_in(text, Duration::from_millis(100)..=Duration::from_secs(60))
}

/// Shows a job until it or the user ends it.
pub(crate) fn show(arguments: &Top) -> Result<ExitCode> {
    let job = match arguments.job {
        Some(job) => job,
        None => only_job()?,
    };
    let first = look(job)?;
    if let Some(file) = &arguments.record {
        return recording::print(job, &first, file, arguments.record_for);
    }
    if arguments.json && !arguments.once {
        return print_json(job, first, arguments.interval);
    }
    if arguments.once || !io::stdout().is_terminal() {
        return print_once(job, first, arguments.json);
    }
    let mut terminal = ratatui::try_init().context("the terminal cannot be used")?;
    let shown = watch(&mut terminal, job, first, arguments.interval);
    ratatui::restore();
    let last = shown?;
    if let Some(why) = last {
        weft_app_common::say!("{why}");
    }
    Ok(ExitCode::SUCCESS)
}

fn look(job: u32) -> Result<Snapshot> {
    let answer = ask_job(job, Question::Snapshot)?;
    answer.snapshot().with_context(|| says_something_else(job))
}

/// Prints how it is between now and in a second.
fn print_once(job: u32, first: Snapshot, json: bool) -> Result<ExitCode> {
    let before = with_counts(job, first)?;
    thread::sleep(Duration::from_secs(1));
    let now = look(job)?;
    let rates = Rates::between(&before, &now);
    weft_app_common::write_out(if json { rates.json(job)? + "\n" } else { rates.table() })?;
    Ok(ExitCode::SUCCESS)
}

/// Prints how it was in each interval, until the job has ended or nobody reads it.
fn print_json(job: u32, first: Snapshot, interval: Duration) -> Result<ExitCode> {
    let mut before = with_counts(job, first)?;
    loop {
        thread::sleep(interval);
        let Ok(now) = look(job) else { return Ok(ExitCode::SUCCESS) };
        // A job on several hosts is looked at once a second at most.
        if now.seconds > before.seconds {
            let line = Rates::between(&before, &now).json(job)?;
            let mut out = io::stdout().lock();
            match writeln!(out, "{line}").and_then(|()| out.flush()) {
                Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                    return Ok(ExitCode::SUCCESS);
                }
                written => written.context("cannot write to standard output")?,
            }
            before = now;
        }
    }
}

/// A look at a job whose ranks show their counts, as they do once they were asked.
fn with_counts(job: u32, first: Snapshot) -> Result<Snapshot> {
    let (begun, mut before) = (first.seconds, first);
    while before.ranks.iter().any(|rank| rank.counts.is_none()) && before.seconds < begun + 5.0 {
        thread::sleep(Duration::from_millis(50));
        before = look(job)?;
    }
    Ok(before)
}

/// Draws until the user has seen enough, or the job has ended, which is what is returned then.
fn watch(
    terminal: &mut ratatui::DefaultTerminal,
    job: u32,
    first: Snapshot,
    interval: Duration,
) -> Result<Option<String>> {
    let mut view = View::new(job, Order::default());
    let mut before = first;
    view.show(Rates::between(&before, &before));
    let mut recording: Option<Recording> = None;
    loop {
        if let Some(line) = recording.as_mut().and_then(Recording::line) {
            view.say(line);
        }
        if recording.as_ref().is_some_and(Recording::is_over) {
            recording = None;
        }
        let interval = if recording.is_some() { interval.min(RECORDING_LOOK) } else { interval };
        let next = Instant::now() + interval;
        loop {
            terminal.draw(|frame| view.draw(frame))?;
            if !event::poll(next.saturating_duration_since(Instant::now()))? {
                break;
            }
            if let Event::Key(key) = event::read()?
                && key.kind == KeyEventKind::Press
            {
                let is_interrupt = key.modifiers.contains(KeyModifiers::CONTROL);
                match key.code {
                    KeyCode::Char('c') if is_interrupt => return Ok(None),
                    KeyCode::Char('q') | KeyCode::Esc => return Ok(None),
                    KeyCode::Char('r') if recording.is_none() => {
                        match Recording::begin(job, &before) {
                            Ok(begun) => recording = Some(begun),
                            Err(error) => view.say(format!("no recording: {error:#}")),
                        }
                        break;
                    }
                    KeyCode::Char('r') => {}
                    other => view.press(other),
                }
            }
        }
        let now = match look(job) {
            Ok(now) => now,
            Err(_) => return Ok(Some(format!("job {job} has ended"))),
        };
        // A job on several hosts is looked at once a second at most.
        if now.seconds > before.seconds {
            view.show(Rates::between(&before, &now));
            before = now;
        }
    }
}
