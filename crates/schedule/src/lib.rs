//! When: exact arrival laws.
