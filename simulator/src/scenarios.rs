//! Programs for trying the packet layer, and the judge that watches them.
//!
//! A [`Storm`] is a seeded plan of everything that programs may do: unicasts, broadcasts,
//! multicasts to groups, fetch-and-adds, computing, keeping packets. All ranks run it over whatever
//! link, real or simulated, and a [`Judge`] that knows nothing of the implementation compares what
//! they see with a reference model (`weft-model`): exactly once, in order for each pair and each
//! tree, unchanged.
//!
//! An [`OrderStorm`] does the same to totally-ordered broadcasts, and an [`OrderJudge`] compares
//! what all members see: one order for all, FIFO for each sender, exactly once, unchanged.
//!
//! A [`MessageStorm`] sends messages of all lengths to ports of all kinds, at once or asking first,
//! and judges them itself.
//!
//! [`patterns`] are simple programs that measure themselves.
//!
//! May use `endpoint`, `messaging` and the model. Keeps no invariant of its own; it is here to find
//! those that are broken.

mod judge;
mod message_storm;
mod order_judge;
mod order_storm;
pub mod patterns;
mod storm;

pub use judge::{Judge, Verdict};
pub use message_storm::MessageStorm;
pub use order_judge::{Line, OrderFault, OrderJudge};
pub use order_storm::{Kept, OrderStorm};
pub use storm::{Deed, Mix, Plan, Storm};
pub use weft_model::random::Random;
