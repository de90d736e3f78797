//! The meaning of texts and the refusal of plans, as one program.

mod check;
mod sequence;
mod threshold;
mod url;
