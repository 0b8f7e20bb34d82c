//! Pupa's tables and figures, on its testbed, simulated (Verma and Chiueh 3).

pub mod bandwidth;
pub mod latency;
pub mod programs;
pub mod statistics;
mod tcp;
pub mod testbed;

#[cfg(test)]
mod tests;
