//! Laws, segments and courses of arrivals, in one test program.

mod courses;
mod gamma;
mod laws;
mod poisson;
mod random;
mod random_laws;
mod segments;
