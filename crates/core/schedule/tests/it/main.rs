//! Laws, segments and courses of arrivals, in one test program.

mod courses;
mod laws;
mod poisson;
mod random_laws;
mod segments;
