//! Event streams: the rules of the standard, with every cut, and beside its own algorithm.

mod allocation;
mod beside;
mod cuts;
mod naive;
mod rules;
mod seen;
mod times;
