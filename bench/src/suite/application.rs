use std::fmt;
use std::str::FromStr;

/// An application of table 8.6.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Application {
    /// All-pairs shortest paths (thesis 8.5.2).
    Asp,
    /// Endgame databases of Awari (8.5.3).
    Awari,
    /// Barnes-Hut (8.5.4).
    Barnes,
    /// Fast Fourier transform (8.5.5).
    Fft,
    /// Linear equations (8.5.6).
    Leq,
    /// The 15-puzzle, up to 4 jobs in a message (8.5.7).
    Puzzle4,
    /// The 15-puzzle, up to 64 jobs in a message (8.5.7).
    Puzzle64,
    /// QR factorization (8.5.8).
    Qr,
    /// Radix sort (8.5.9).
    Radix,
    /// Red-black overrelaxation (8.5.10).
    Sor,
}

/// System that an application is written in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum System {
    /// Messages and collective operations, where the thesis had MPI.
    Messages,
    /// Shared objects, where it had Orca.
    Objects,
    /// Shared regions, where it had CRL.
    Regions,
    /// Parallel search, where it had Multigame.
    Search,
}

/// Size of a problem.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Size {
    /// The one of table 8.6.
    Thesis,
    /// That one too, unless it is too small or too finely divided for the processors of one host
    /// today: Puzzle has a longer instance, and Radix larger regions and keys that are taken
    /// instead of written. FFT's ranks ask for blocks ahead, which are put into their place.
    Host,
    /// One for tests: below a second on few ranks.
    Small,
}

/// No application has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no application '{name}'; there are {}", names())]
pub struct UnknownApplication {
    name: String,
}

impl Application {
    /// All of them, in the order of table 8.6.
    pub const ALL: [Application; 10] = [
        Application::Asp,
        Application::Awari,
        Application::Barnes,
        Application::Fft,
        Application::Leq,
        Application::Puzzle4,
        Application::Puzzle64,
        Application::Qr,
        Application::Radix,
        Application::Sor,
    ];

    /// Its name on a command line, which is also the part of a target's id of table 8.6.
    pub fn name(self) -> &'static str {
        match self {
            Application::Asp => "asp",
            Application::Awari => "awari",
            Application::Barnes => "barnes",
            Application::Fft => "fft",
            Application::Leq => "leq",
            Application::Puzzle4 => "puzzle4",
            Application::Puzzle64 => "puzzle64",
            Application::Qr => "qr",
            Application::Radix => "radix",
            Application::Sor => "sor",
        }
    }

    /// Its name as the thesis has it.
    pub fn title(self) -> &'static str {
        match self {
            Application::Asp => "ASP",
            Application::Awari => "Awari",
            Application::Barnes => "Barnes",
            Application::Fft => "FFT",
            Application::Leq => "LEQ",
            Application::Puzzle4 => "Puzzle-4",
            Application::Puzzle64 => "Puzzle-64",
            Application::Qr => "QR",
            Application::Radix => "Radix",
            Application::Sor => "SOR",
        }
    }

    /// System that it is written in.
    pub fn system(self) -> System {
        match self {
            Application::Asp | Application::Qr | Application::Sor => System::Messages,
            Application::Awari | Application::Leq => System::Objects,
            Application::Barnes | Application::Fft | Application::Radix => System::Regions,
            Application::Puzzle4 | Application::Puzzle64 => System::Search,
        }
    }

    /// Problem of this size, for people.
    pub fn problem(self, size: Size) -> &'static str {
        match (self, size) {
            (Application::Asp, Size::Host) => "1,500 nodes",
            (Application::Puzzle4, Size::Host) => "Korf's 10 to 57 moves, 4 jobs a message",
            (Application::Puzzle64, Size::Host) => "Korf's 10 to 57 moves, 64 jobs a message",
            (Application::Radix, Size::Host) => "3,000,000 keys, radix 128, regions of 64 KiB",
            (_, Size::Host) => self.problem(Size::Thesis),
            (Application::Asp, Size::Thesis) => "1,024 nodes",
            (Application::Asp, Size::Small) => "90 nodes at most",
            (Application::Awari, Size::Thesis) => "13 stones",
            (Application::Awari, Size::Small) => "5 stones",
            (Application::Barnes, Size::Thesis) => "16,384 bodies, 4 steps",
            (Application::Barnes, Size::Small) => "256 bodies, 2 steps",
            (Application::Fft, Size::Thesis) => "1,048,576 complex points",
            (Application::Fft, Size::Small) => "4,096 complex points",
            (Application::Leq, Size::Thesis) => "1,000 equations, 6,906 iterations",
            (Application::Leq, Size::Small) => "120 equations",
            (Application::Puzzle4, Size::Thesis) => "15-puzzle, up to 4 jobs a message",
            (Application::Puzzle4, Size::Small) => "41 moves, up to 4 jobs a message",
            (Application::Puzzle64, Size::Thesis) => "15-puzzle, up to 64 jobs a message",
            (Application::Puzzle64, Size::Small) => "41 moves, up to 64 jobs a message",
            (Application::Qr, Size::Thesis) => "1,024 x 1,024 matrix",
            (Application::Qr, Size::Small) => "40 x 40 matrix",
            (Application::Radix, Size::Thesis) => "3,000,000 keys, radix 128",
            (Application::Radix, Size::Small) => "5,000 keys, radix 16",
            (Application::Sor, Size::Thesis) => "1,536 x 1,536 points, 42 iterations",
            (Application::Sor, Size::Small) => "48 x 48 points, 10 iterations",
        }
    }

    /// Problem of this size, as the words that state it to the application itself.
    pub fn words(self, size: Size) -> &'static [&'static str] {
        match (self, size) {
            (Application::Asp, Size::Host) => &["--sample", "1500", "--to", "SYD"],
            (Application::Puzzle4, Size::Host) => {
                &["--korf", "10", "--most-moves", "57", "--jobs-per-message", "4"]
            }
            (Application::Puzzle64, Size::Host) => {
                &["--korf", "10", "--most-moves", "57", "--jobs-per-message", "64"]
            }
            (Application::Radix, Size::Host) => {
                &["--pull", "--prefetch", "--data", "loans", "--region-bytes", "65536"]
            }
            (Application::Fft, Size::Host) => {
                &["--prefetch", "--hint", "migratory", "--data", "puts"]
            }
            (_, Size::Host) => self.words(Size::Thesis),
            (Application::Asp, Size::Thesis) => &["--sample", "1024", "--to", "SYD"],
            (Application::Asp, Size::Small) => &["--sample", "90", "--to", "SYD"],
            (Application::Awari, Size::Thesis) => &["--stones", "13"],
            (Application::Awari, Size::Small) => &["--stones", "5", "--batch", "256"],
            (Application::Barnes, Size::Thesis) => &["--two-party"],
            (Application::Barnes, Size::Small) => {
                &["--two-party", "--bodies", "256", "--steps", "2"]
            }
            (Application::Fft, Size::Thesis) => &["--two-party"],
            (Application::Fft, Size::Small) => &["--two-party", "--points", "4096"],
            (Application::Leq, Size::Thesis) => {
                &["--unknowns", "1000", "--iterations", "6906", "--tolerance", "0"]
            }
            (Application::Leq, Size::Small) => &["--unknowns", "120"],
            (Application::Puzzle4, Size::Thesis) => &["--korf", "9", "--jobs-per-message", "4"],
            (Application::Puzzle64, Size::Thesis) => &["--korf", "9", "--jobs-per-message", "64"],
            (Application::Puzzle4, Size::Small) => &[SMALL_PUZZLE, "--jobs-per-message", "4"],
            (Application::Puzzle64, Size::Small) => &[SMALL_PUZZLE, "--jobs-per-message", "64"],
            (Application::Qr, Size::Thesis) => &[],
            (Application::Qr, Size::Small) => &["40"],
            (Application::Radix, Size::Thesis) => &["--two-party"],
            (Application::Radix, Size::Small) => &[
                "--two-party",
                "--keys",
                "5000",
                "--radix",
                "16",
                "--bits",
                "12",
                "--region-bytes",
                "64",
            ],
            (Application::Sor, Size::Thesis) => &[],
            (Application::Sor, Size::Small) => {
                &["--rows", "48", "--columns", "48", "--iterations", "10"]
            }
        }
    }
}

/// A board that takes 41 moves.
const SMALL_PUZZLE: &str = "13 8 14 3 9 1 0 7 15 5 4 10 12 2 6 11";

impl fmt::Display for Application {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Application {
    type Err = UnknownApplication;

    fn from_str(name: &str) -> Result<Self, UnknownApplication> {
        let named = Application::ALL.into_iter().find(|application| application.name() == name);
        named.ok_or_else(|| UnknownApplication { name: name.to_owned() })
    }
}

fn names() -> String {
    Application::ALL.map(Application::name).join(", ")
}
