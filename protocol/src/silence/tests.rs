//! Heartbeats and losses.
