//! Summaries and events to bytes.
