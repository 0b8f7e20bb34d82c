//! Option of commands that run jobs.

use clap::Args;

/// File of a trace whose name nobody gives.
pub const TRACE_FILE: &str = "weft.trace";

/// File of a trace, if a run is to be traced.
#[derive(Args, Clone, Debug, Default)]
pub struct Recorded {
    /// Write down what the ranks do, and when, for `weft report` [default file: weft.trace]
    #[arg(
        long,
        value_name = "FILE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = TRACE_FILE
    )]
    pub trace: Option<String>,
}
