//! The parsing of texts and the rejection of plans, as one program.

mod check;
mod sequence;
mod threshold;
mod url;
