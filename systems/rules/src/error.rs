use std::io;
use std::path::PathBuf;

/// Reason why rules cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be read.
    #[error("{path} cannot be read: {error}", path = path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Reason.
        error: io::Error,
    },
    /// The file is no kind of rules.
    #[error("{0} is no rules: a text ends in .rules, C in .c, a compiled library in .so")]
    Ending(String),
    /// The text is none.
    #[error("{0} is no text: rules are written in UTF-8")]
    Text(String),
    /// The text is wrong; diagnostics with places.
    #[error("{0}")]
    Rules(String),
    /// Files for the C compiler cannot be written.
    #[error("a folder for the C compiler cannot be made: {0}")]
    Folder(io::Error),
    /// There is no C compiler.
    #[error(
        "the C compiler `{compiler}` cannot be started: {error}; install one, or name one in CC"
    )]
    Compiler {
        /// Its name.
        compiler: String,
        /// Reason.
        error: io::Error,
    },
    /// The compiler refuses the C.
    #[error("`{compiler}` refuses {name}:\n{text}")]
    Refused {
        /// Name of the compiler.
        compiler: String,
        /// Name of the rules.
        name: String,
        /// Its messages.
        text: String,
    },
    /// The library cannot be loaded.
    #[error("{name} cannot be loaded: {why}")]
    Load {
        /// Name of the rules.
        name: String,
        /// Reason.
        why: String,
    },
    /// The table of the library does not keep what `weft-game.h` says.
    #[error("{name}: its table `weft_game` {what}; weft-game.h says how it is made")]
    Table {
        /// Name of the rules.
        name: String,
        /// The fault.
        what: String,
    },
    /// Too many games in one process.
    #[error("{0} is one game too many: a process loads up to 64")]
    Many(String),
}
