use crate::suite::{Application, Size};
use clap::{Parser, ValueEnum, value_parser};

const EXAMPLES: &str = "\
Examples:
  weft application --list                what there is
  weft application asp                   one of them, on one rank
  weft application all -n 4              all ten by one rank and by four, in turns: speed-ups
  weft application all -n 4 --threads    the same beside bare threads, which share memory
  weft application fft -n 4 --causes     where the time goes, and which packets come
  weft application sor -n 2 --link udp --size small
  weft application qr -n 64 --simulated --preset hrx-hmc
                                         on simulated ranks, in virtual time
  weft application leq -n 4 -- --unknowns 2000 --iterations 500
                                         another problem, in the words of the application
  weft run -n 4 --trace -- weft-application barnes
                                         with all options of weft run
  weft sim -n 64 weft-application awari --size small";

/// The applications of the thesis: their time, speed-up, traffic and waits
///
/// Each checks its result. Times are those of the parallel phase: nothing is read, made or checked
/// meanwhile. With -n it starts ranks, in turns with one rank; without, it is a rank itself.
#[derive(Debug, Clone, Parser)]
#[command(name = "weft application", version, after_help = EXAMPLES)]
pub struct Options {
    /// Applications by name, or all
    #[arg(value_name = "APPLICATION", required_unless_present = "list", value_parser = names)]
    pub applications: Vec<Names>,

    /// List them, with their problems
    #[arg(long)]
    pub list: bool,

    /// Size of the problem [default: host, and thesis on simulated ranks]
    #[arg(long, value_enum)]
    pub size: Option<SizeName>,

    /// Start so many ranks, in turns with one
    #[arg(short = 'n', long, value_parser = value_parser!(u16).range(1..))]
    pub ranks: Option<u16>,

    /// Beside them run the same with bare threads, as many
    #[arg(long, requires = "ranks", conflicts_with = "simulated")]
    pub threads: bool,

    /// Say where the time goes, and which packets come: of one more run, which is traced
    #[arg(long, requires = "ranks")]
    pub causes: bool,

    /// Turns, of which medians are taken
    #[arg(long, default_value = "3", value_parser = value_parser!(u16).range(1..))]
    pub rounds: u16,

    /// Start simulated ranks (weft sim), whose time is virtual
    #[arg(long, requires = "ranks")]
    pub simulated: bool,

    /// Protocol preset of the ranks that are started
    #[arg(long, value_name = "NAME", requires = "ranks")]
    pub preset: Option<String>,

    /// Link of the ranks that are started
    #[arg(long, value_name = "NAME", requires = "ranks", conflicts_with = "simulated")]
    pub link: Option<String>,

    /// Run with so many bare threads, without Weft
    #[arg(long, value_name = "THREADS", conflicts_with = "ranks",
        value_parser = value_parser!(u16).range(1..))]
    pub bare: Option<u16>,

    /// Print one JSON object a line
    #[arg(long)]
    pub json: bool,

    /// Words that state another problem to the application itself
    #[arg(last = true, value_name = "WORDS")]
    pub words: Vec<String>,
}

/// One application, or all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Names(pub Vec<Application>);

/// Size of a problem by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SizeName {
    /// The one of table 8.6
    Thesis,
    /// That one too, but for asp, puzzle4, puzzle64 and radix, whose are too small or too finely
    /// divided for today's processors
    Host,
    /// One for tests, below a second
    Small,
}

impl Options {
    /// True if this process is to be a rank.
    pub fn is_rank(&self) -> bool {
        self.ranks.is_none() && self.bare.is_none() && !self.list
    }

    /// The applications that are to be run.
    pub fn chosen(&self) -> impl Iterator<Item = Application> {
        self.applications.iter().flat_map(|names| names.0.iter().copied())
    }

    /// These options with a size: if none is said, the one for ranks that are simulated or not.
    #[must_use]
    pub fn sized(&self, is_simulated: bool) -> Self {
        let usual = if is_simulated { SizeName::Thesis } else { SizeName::Host };
        Options { size: Some(self.size.unwrap_or(usual)), ..self.clone() }
    }

    /// Size of their problems.
    pub fn size(&self) -> Size {
        match self.size {
            Some(SizeName::Thesis) => Size::Thesis,
            Some(SizeName::Host) | None => Size::Host,
            Some(SizeName::Small) => Size::Small,
        }
    }

    /// Words that state the problem to the application.
    pub fn words_for(&self, application: Application) -> Vec<&str> {
        match self.words.is_empty() {
            true => application.words(self.size()).to_vec(),
            false => self.words.iter().map(String::as_str).collect(),
        }
    }

    /// The problem, for people.
    pub fn problem(&self, application: Application) -> String {
        match self.words.is_empty() {
            true => application.problem(self.size()).to_owned(),
            false => self.words.join(" "),
        }
    }
}

fn names(text: &str) -> Result<Names, String> {
    if text == "all" {
        return Ok(Names(Application::ALL.to_vec()));
    }
    let parsed: Result<Application, _> = text.parse();
    parsed
        .map(|application| Names(vec![application]))
        .map_err(|error| format!("{error}, and all of them by 'all'"))
}

#[cfg(test)]
mod tests;
