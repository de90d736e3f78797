//! Laws, segments and courses of arrivals, as one program.

mod courses;
mod laws;
mod poisson;
mod random_laws;
mod segments;
