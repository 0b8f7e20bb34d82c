//! Targets: what the papers print, as data. One row for each figure, setting, order and finding.

mod reasons;

pub use reasons::Reason;
use reasons::Reasons;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// The rows of both files, as they were read off the papers.
const FILES: [(&str, &str); 2] = [
    ("thesis.csv", include_str!("../targets/thesis.csv")),
    ("others.csv", include_str!("../targets/others.csv")),
];

/// Paper of a target.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Paper {
    /// Bhoedjang, Communication Architectures for Parallel-Programming Systems, 2000.
    #[default]
    Thesis,
    /// Mosberger, Turner, Peterson, careful protocols, 1994.
    Careful,
    /// Swanson, Stoller, sender-based protocols, 1996.
    Sender,
    /// Verma, Chiueh, Pupa.
    Pupa,
}

impl Paper {
    /// All papers, the main one first.
    pub const ALL: [Paper; 4] = [Paper::Thesis, Paper::Careful, Paper::Sender, Paper::Pupa];

    /// Title of its page.
    pub fn title(self) -> &'static str {
        match self {
            Paper::Thesis => "Communication Architectures for Parallel-Programming Systems",
            Paper::Careful => "Careful protocols",
            Paper::Sender => "Sender-based protocols",
            Paper::Pupa => "Pupa",
        }
    }
}

/// The name of its page.
impl fmt::Display for Paper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Paper::Thesis => "thesis",
            Paper::Careful => "careful",
            Paper::Sender => "sender",
            Paper::Pupa => "pupa",
        })
    }
}

impl FromStr for Paper {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let named = Paper::ALL.into_iter().find(|paper| paper.to_string() == name);
        named.ok_or_else(|| format!("there are thesis, careful, sender and pupa, no '{name}'"))
    }
}

/// Kind of statement in a row.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A number somebody measured.
    Measured,
    /// A number somebody chose, or that follows from the design.
    Parameter,
    /// A quotient of two such.
    Ratio,
    /// Order of several.
    Order,
    /// A finding in words.
    Qualitative,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 5] =
        [Kind::Measured, Kind::Ratio, Kind::Order, Kind::Qualitative, Kind::Parameter];

    /// True if it is a statement that holds or does not, rather than a number.
    pub fn is_statement(self) -> bool {
        matches!(self, Kind::Order | Kind::Qualitative)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Kind::Measured => "measured",
            Kind::Parameter => "parameter",
            Kind::Ratio => "ratio",
            Kind::Order => "order",
            Kind::Qualitative => "finding",
        })
    }
}

/// Role of a row. All but [`Role::Predict`] and [`Role::Setting`] have a reason in
/// `targets/reasons.csv`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Asked: to be predicted, or found to hold.
    Predict,
    /// A simulated machine is calibrated on it.
    Calibrate,
    /// Put into a simulated machine or program as it is printed.
    Input,
    /// Predicted, and an input was chosen after a look at what came out: no prediction.
    Tuned,
    /// A figure of the paper's computer that is about no other one: cycles of a kernel, and so on.
    OtherMachine,
    /// Setup of an experiment.
    Setting,
}

impl Role {
    /// All roles.
    pub const ALL: [Role; 6] = [
        Role::Predict,
        Role::Calibrate,
        Role::Input,
        Role::Tuned,
        Role::OtherMachine,
        Role::Setting,
    ];

    /// True if the paper's statement is asked of Weft.
    pub fn is_asked(self) -> bool {
        self == Role::Predict
    }
}

/// Word for it in tables.
impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Role::Predict => "asked",
            Role::Calibrate => "calibration",
            Role::Input => "input",
            Role::Tuned => "tuned",
            Role::OtherMachine => "other machine",
            Role::Setting => "setting",
        })
    }
}

/// One row.
#[derive(Clone, Debug, Deserialize)]
pub struct Target {
    /// Its name, unique among all papers.
    pub id: String,
    /// Paper that it is from; the thesis's file does not say.
    #[serde(default)]
    pub paper: Paper,
    /// Section of the paper.
    pub section: String,
    /// Subject: system, nodes, size, condition.
    pub what: String,
    /// Value as printed: a number, words, a formula, or nothing.
    pub value: String,
    /// The unit of the value; may be empty.
    pub unit: String,
    /// Kind of statement.
    pub kind: Kind,
    /// Role of the row.
    pub role: Role,
    /// The line of the paper's text.
    pub line: u32,
    /// Conditions and doubts.
    pub note: String,
}

impl Target {
    /// The value, if it is one number.
    pub fn number(&self) -> Option<f64> {
        self.value.replace(',', "").parse().ok().filter(|number: &f64| number.is_finite())
    }

    /// Text of the paper, for a table.
    pub fn says(&self) -> &str {
        if self.value.is_empty() { &self.note } else { &self.value }
    }
}

/// All rows.
#[derive(Clone, Debug)]
pub struct Targets {
    rows: Vec<Target>,
    by_id: BTreeMap<String, usize>,
    reasons: Reasons,
}

/// Reason why the data cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TargetsError {
    /// A row is not as its heading says.
    #[error("{file}: {error}")]
    Malformed {
        /// The file.
        file: &'static str,
        /// The row and what is wrong with it.
        error: csv::Error,
    },
    /// Two rows have one id.
    #[error("two targets are called '{0}'")]
    Twice(String),
}

impl Targets {
    /// The rows that this program carries.
    ///
    /// # Errors
    /// [`TargetsError`] if the files in `targets/` are broken.
    pub fn read() -> Result<Self, TargetsError> {
        Ok(Targets { reasons: Reasons::read()?, ..Self::parse(&FILES)? })
    }

    fn parse(files: &[(&'static str, &str)]) -> Result<Self, TargetsError> {
        let mut targets =
            Targets { rows: Vec::new(), by_id: BTreeMap::new(), reasons: Reasons::default() };
        for &(file, text) in files {
            for row in csv::Reader::from_reader(text.as_bytes()).deserialize() {
                let row: Target = row.map_err(|error| TargetsError::Malformed { file, error })?;
                if targets.by_id.insert(row.id.clone(), targets.rows.len()).is_some() {
                    return Err(TargetsError::Twice(row.id));
                }
                targets.rows.push(row);
            }
        }
        Ok(targets)
    }

    /// The row called `id`.
    pub fn get(&self, id: &str) -> Option<&Target> {
        self.by_id.get(id).map(|&row| &self.rows[row])
    }

    /// The rows of `paper`, in its order.
    pub fn of(&self, paper: Paper) -> impl Iterator<Item = &Target> {
        self.rows.iter().filter(move |row| row.paper == paper)
    }

    /// Reason why nobody measures `id`, or why it is not asked, if that is known:
    /// `targets/reasons.csv`.
    pub fn why_not(&self, id: &str) -> Option<&str> {
        self.reasons.of(id)
    }

    /// All reasons of that file.
    pub fn reasons(&self) -> &[Reason] {
        self.reasons.all()
    }

    /// All rows.
    pub fn all(&self) -> &[Target] {
        &self.rows
    }
}

#[cfg(test)]
mod tests;
