//! Foreign command lines to a Plan and a presentation.
