//! Times by which the two ends of a connection know of each other's life.

use std::time::Duration;

/// Interval at which both sides say that they are there.
pub(super) const HEARTBEAT: Duration = Duration::from_millis(200);
/// Interval at which the launcher looks for silent hosts.
pub(super) const CHECK_INTERVAL: Duration = Duration::from_millis(50);
/// The silence after which an agent gives up its launcher. Long: somebody may have stopped it by
/// hand.
pub(super) const LAUNCHER_SILENCE: Duration = Duration::from_secs(60);
/// Longest time for the last words to somebody who may not listen.
pub(super) const FLUSH_LIMIT: Duration = Duration::from_millis(500);
