use anyhow::Result;
use weft::Weft;
use weft_app_common::write_out;

use crate::application::measured::Measured;
use crate::application::options::Options;

/// Runs the applications, one after the other. Collective: every rank of a job calls it with the
/// same options; rank 0 prints.
///
/// # Errors
/// A wrong result, a lost rank, words that make no sense, or output that cannot be written.
pub fn rank(weft: &Weft, options: &Options) -> Result<()> {
    let options = &options.sized(!weft.packets().has_threads());
    for application in options.chosen() {
        let outcome = application.run_with(weft, &options.words_for(application))?;
        if let Some(outcome) = outcome {
            let measured = Measured::on_ranks(application, &outcome);
            write_out(match options.json {
                true => serde_json::to_string(&measured)? + "\n",
                false => measured.text(application, &options.problem(application)),
            })?;
        }
    }
    Ok(())
}
