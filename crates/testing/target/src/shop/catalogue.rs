//! The products: a fixed list, generated from two lists of words.

use super::mistake::{Kind, Mistake};

/// The number of products; their ids begin with 1.
pub(super) const PRODUCTS: u64 = 64;
/// The number of products on a page.
pub(super) const PAGE: u64 = 10;

const KINDS: [&str; 8] = [
    "drum", "lantern", "kettle", "compass", "ladder", "anvil", "whistle", "barrel",
];
const MAKES: [&str; 8] = [
    "brass", "copper", "oak", "iron", "paper", "glass", "woollen", "silver",
];

/// One product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Product {
    pub(crate) id: u64,
    /// The price in cents.
    pub(crate) price: u64,
}

impl Product {
    /// The product with an id from 1 to [`PRODUCTS`].
    const fn from_id(id: u64) -> Self {
        Self {
            id,
            price: 199 + id * 7_919 % 9_800,
        }
    }

    /// The name, such as `brass drum`.
    pub(crate) fn name(self) -> String {
        // Ids are small.
        let index = (self.id - 1) as usize;
        let make = MAKES[index / KINDS.len() % MAKES.len()];
        format!("{make} {}", KINDS[index % KINDS.len()])
    }

    /// The product to which this one's page links.
    pub(super) fn neighbour(self) -> Self {
        Self::from_id(self.id % PRODUCTS + 1)
    }
}

/// The product with this id.
pub(super) fn find(id: u64) -> Result<Product, Mistake> {
    if (1..=PRODUCTS).contains(&id) {
        return Ok(Product::from_id(id));
    }
    let reason = format!("unknown product {id}; ids are 1 to {PRODUCTS}");
    Err(Mistake::new(Kind::NoProduct, reason))
}

/// The products of a page, from page 1 on; empty after the last page.
pub(super) fn page(number: u64) -> impl Iterator<Item = Product> {
    let first = number.saturating_sub(1).saturating_mul(PAGE);
    let last = first.saturating_add(PAGE).min(PRODUCTS);
    (first..last).map(|index| Product::from_id(index + 1))
}

/// The page after this one, if there is one.
pub(super) fn next_page(number: u64) -> Option<u64> {
    (number.saturating_mul(PAGE) < PRODUCTS).then(|| number.saturating_add(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_have_every_product_once() {
        let mut ids = Vec::new();
        let mut number = Some(1);
        while let Some(at) = number {
            ids.extend(page(at).map(|product| product.id));
            number = next_page(at);
        }
        assert_eq!(ids, (1..=PRODUCTS).collect::<Vec<_>>());
        assert_eq!(page(u64::MAX).count(), 0);
        assert_eq!(next_page(u64::MAX), None);
    }

    #[test]
    fn products_have_names_and_prices_of_their_own() {
        let mut names: Vec<_> = (1..=PRODUCTS).map(|id| find(id).unwrap().name()).collect();
        let mut prices: Vec<_> = (1..=PRODUCTS).map(|id| find(id).unwrap().price).collect();
        for list in [names.len(), prices.len()] {
            assert_eq!(list as u64, PRODUCTS);
        }
        names.sort_unstable();
        names.dedup();
        prices.sort_unstable();
        prices.dedup();
        assert_eq!((names.len(), prices.len()), (64, 64));
        assert_eq!(find(0).unwrap_err().kind, Kind::NoProduct);
    }
}
