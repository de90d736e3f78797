//! Connections by the address of the peer.
//!
//! A name may resolve to many addresses, and a plan may have many targets, so the number of rows is
//! limited to [`ADDRESS_ROWS_MAX`]. The counts of all further addresses go into one sum, so that
//! the counts of an interval always add up to the counts of its [`Connections`](crate::Connections)
//! to addresses. A worker adds a count when a connection was opened, and another with its requests
//! when it was closed; neither happens per request.
//!
//! The rows stay sorted by address: a lookup is a binary search, an encoding has one order, and a
//! decoder can check that order in one pass ([`Addresses::push`], [`Addresses::set_others`]).

use crate::form;
use crate::form::{Form, FormError, Input, put_text};
use std::net::SocketAddr;

/// The maximum number of addresses with a row. Connections to further addresses are counted
/// together.
pub const ADDRESS_ROWS_MAX: usize = 256;

/// The work of the connections to one address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AddressCounts {
    /// Connections that were opened.
    pub opened: u64,
    /// Requests sent on the connections that were closed.
    pub carried: u64,
}

impl AddressCounts {
    /// Counts of this many connections opened, and of this many requests.
    #[must_use]
    pub const fn new(opened: u64, carried: u64) -> Self {
        Self { opened, carried }
    }

    fn add(&mut self, other: Self) {
        self.opened = self.opened.saturating_add(other.opened);
        self.carried = self.carried.saturating_add(other.carried);
    }

    const fn is_empty(self) -> bool {
        self.opened == 0 && self.carried == 0
    }
}

/// One address with its counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressRow {
    /// The address of the peer, or of the proxy, if there is one.
    pub address: SocketAddr,
    /// The work of the connections to it.
    pub counts: AddressCounts,
}

/// Connections by the address of the peer. Connections to Unix sockets are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Addresses {
    /// The rows of single addresses, in ascending order of the addresses.
    rows: Vec<AddressRow>,
    others: AddressCounts,
}

form! { struct AddressCounts { opened, carried } }
form! { struct AddressRow { address, counts } }

/// The address as it is printed.
impl Form for SocketAddr {
    fn write(value: &Self, out: &mut Vec<u8>) {
        put_text(out, &value.to_string());
    }

    fn read(input: &mut Input<'_>) -> Result<Self, FormError> {
        let text = input.text()?;
        let address = text.parse().ok();
        let address = address.filter(|address: &Self| address.to_string() == text);
        address.ok_or(FormError::Malformed("an address"))
    }
}

/// The rows in order, then the counts of all other addresses.
impl Form for Addresses {
    fn write(value: &Self, out: &mut Vec<u8>) {
        form::write(&value.rows, out);
        form::write(&value.others, out);
    }

    fn read(input: &mut Input<'_>) -> Result<Self, FormError> {
        const MALFORMED: FormError = FormError::Malformed("addresses of connections");
        let mut addresses = Self::default();
        for _ in 0..input.length()? {
            if !addresses.push(form::read(input)?) {
                return Err(MALFORMED);
            }
        }
        match addresses.set_others(form::read(input)?) {
            true => Ok(addresses),
            false => Err(MALFORMED),
        }
    }
}

impl Addresses {
    /// Adds counts for an address; for a new address beyond [`ADDRESS_ROWS_MAX`] rows, adds them to
    /// the others.
    pub fn add(&mut self, address: SocketAddr, counts: AddressCounts) {
        match self.rows.binary_search_by_key(&address, |row| row.address) {
            _ if counts.is_empty() => {}
            Ok(at) => self.rows[at].counts.add(counts),
            Err(_) if self.rows.len() >= ADDRESS_ROWS_MAX => self.others.add(counts),
            Err(at) => self.rows.insert(at, AddressRow { address, counts }),
        }
    }

    /// The addresses with rows, in order.
    #[must_use]
    pub fn rows(&self) -> &[AddressRow] {
        &self.rows
    }

    /// The connections to all other addresses.
    #[must_use]
    pub const fn others(&self) -> AddressCounts {
        self.others
    }

    /// Adds `other`.
    ///
    /// Up to [`ADDRESS_ROWS_MAX`] distinct addresses over all parts, the result does not depend on
    /// the order. Beyond that the order decides which addresses have rows; the sum over rows and
    /// others stays the same.
    pub fn merge(&mut self, other: &Self) {
        for row in &other.rows {
            self.add(row.address, row.counts);
        }
        self.others.add(other.others);
    }

    /// Resets all counts and keeps the memory.
    pub fn reset(&mut self) {
        self.rows.clear();
        self.others = AddressCounts::default();
    }

    /// Appends a decoded row.
    ///
    /// Returns `false`, and changes nothing, for a row that recording cannot have produced: one
    /// that is not after the previous row, is empty, or exceeds the bound.
    pub(crate) fn push(&mut self, row: AddressRow) -> bool {
        let is_next = self
            .rows
            .last()
            .is_none_or(|last| last.address < row.address);
        let fits = is_next && !row.counts.is_empty() && self.rows.len() < ADDRESS_ROWS_MAX;
        if fits {
            self.rows.push(row);
        }
        fits
    }

    /// Sets the decoded counts of all other addresses, after the last [`Self::push`].
    ///
    /// Returns `false` if there are such counts although the rows had room for their addresses.
    pub(crate) fn set_others(&mut self, others: AddressCounts) -> bool {
        self.others = others;
        others.is_empty() || self.rows.len() == ADDRESS_ROWS_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    const ONE: AddressCounts = AddressCounts::new(1, 20);

    fn address(n: u32) -> SocketAddr {
        SocketAddr::new(Ipv4Addr::from(n).into(), 80)
    }

    #[test]
    fn addresses_beyond_the_bound_are_counted_together() {
        let mut all = Addresses::default();
        let bound = ADDRESS_ROWS_MAX as u32;
        for n in (0..bound + 3).rev() {
            all.add(address(n), ONE);
        }
        assert_eq!(all.rows().len(), ADDRESS_ROWS_MAX);
        assert_eq!(all.others().opened, 3);
        let mut twice = all.clone();
        twice.merge(&all);
        assert_eq!(twice.others().carried, 120);
        assert!(twice.rows().iter().all(|row| row.counts.opened == 2));
        assert!(twice.rows().is_sorted_by_key(|row| row.address));
        twice.reset();
        assert_eq!(twice, Addresses::default());
    }
}
