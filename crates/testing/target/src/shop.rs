//! A small shop: a server with state, in which each step requires the previous one.
//!
//! A client logs in, fills a cart, pays and logs out. A client that confuses its users sends the
//! token, the cart's total or the order of another user, and is refused with the name of the
//! mistake; [`Shop::stats`] counts these refusals. All state that clients can fill is bounded.
//!
//! `request` parses the requested action, `credentials` the sender's credentials, `entry` the body;
//! `ledger` has sessions, carts and orders; `pages` writes answers. `catalogue` and `mistake` are
//! lists.

mod catalogue;
mod credentials;
mod entry;
mod ledger;
mod mistake;
mod pages;
mod request;

pub(crate) use credentials::Credentials;
pub(crate) use ledger::Cart;
use mistake::Kind;
pub(crate) use mistake::Mistake;
use request::Place;
pub(crate) use request::ShopRequest;

use crate::answer::Answer;
use credentials::SessionToken;
use entry::{Entry, Manner};
use ledger::{Ledger, SessionId};
use mistake::MistakeTally;
use request::Method;
use std::sync::atomic::{AtomicU64, Ordering};

/// The maximum size of a request body that the shop reads.
pub(crate) const ENTRY_MAX: usize = 4 * 1024;
/// The maximum length of a user's name, in bytes.
const USER_MAX: usize = 64;
/// A user's password is the name followed by this suffix.
const PASSWORD_END: &str = "-pw";

/// The shop of one server, shared by its workers.
#[derive(Debug)]
pub(crate) struct Shop {
    ledger: Ledger,
    mistakes: MistakeTally,
    totals: Totals,
}

/// Counts since the start.
#[derive(Debug, Default)]
struct Totals {
    logins: AtomicU64,
    logouts: AtomicU64,
    additions: AtomicU64,
    orders: AtomicU64,
    revenue: AtomicU64,
}

/// The result of a login.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keys {
    pub(crate) session: SessionId,
    pub(crate) ticket: SessionToken,
}

/// A paid order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Paid {
    pub(crate) order: u64,
    pub(crate) total: u64,
}

impl Shop {
    /// Creates an empty shop. The ids of its sessions depend on the seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            ledger: Ledger::new(seed),
            mistakes: MistakeTally::default(),
            totals: Totals::default(),
        }
    }

    /// Handles a request.
    pub(crate) fn answer(&self, request: &ShopRequest, body: &[u8]) -> Answer {
        let result = self.serve(request, body);
        result.unwrap_or_else(|mistake| {
            self.mistakes.add(mistake.kind);
            pages::mistake(&mistake)
        })
    }

    fn serve(&self, request: &ShopRequest, body: &[u8]) -> Result<Answer, Mistake> {
        let credentials = &request.credentials;
        match (request.method, request.place) {
            (Method::Get, Place::Front { page }) => Ok(pages::front(page)),
            (Method::Get, Place::Products { page }) => Ok(pages::products(page)),
            (Method::Get, Place::Product { id }) => Ok(pages::product(catalogue::find(id)?)),
            (Method::Get, Place::ProductPage { id }) => {
                Ok(pages::product_page(catalogue::find(id)?))
            }
            (Method::Post, Place::Login) => self.serve_login(&Entry::read(request, body)?),
            (Method::Post, Place::Logout) => {
                self.log_out(credentials)?;
                Ok(pages::logged_out())
            }
            (Method::Get, Place::Account) => {
                let id = self.authorize(credentials)?;
                self.ledger.with(id, credentials, |session| {
                    Ok(pages::account(&session.user, self.ledger.ticket(id)))
                })
            }
            (Method::Get, Place::Cart) => Ok(pages::cart(200, &self.cart(credentials)?)),
            (Method::Post, Place::Cart) => self.serve_addition(credentials, request, body),
            (Method::Delete, Place::Cart) => {
                self.clear(credentials)?;
                Ok(pages::nothing())
            }
            (Method::Post, Place::Pay) => {
                let amount = Entry::read(request, body)?.number("amount")?;
                Ok(pages::paid(self.pay(credentials, amount)?))
            }
            (Method::Get, Place::Order { number }) => {
                let id = self.authorize(credentials)?;
                self.ledger.with(id, credentials, |_| Ok(()))?;
                self.ledger.order(number, id, pages::order)
            }
            (_, Place::Nowhere) => Err(Mistake::new(
                Kind::NoPage,
                "the shop has no such page; GET /shop lists products",
            )),
            (_, place) => Err(Mistake::method(place.methods())),
        }
    }

    fn serve_login(&self, entry: &Entry) -> Result<Answer, Mistake> {
        let user = entry.text("user")?;
        let password = entry.text("password")?;
        let keys = self.log_in(&user, &password)?;
        Ok(match entry.manner {
            Manner::Form => pages::logged_in_by_form(keys),
            Manner::Json => pages::logged_in(&user, keys),
        })
    }

    fn serve_addition(
        &self,
        credentials: &Credentials,
        request: &ShopRequest,
        body: &[u8],
    ) -> Result<Answer, Mistake> {
        // A client that is not logged in gets this error before its body is checked.
        self.authorize(credentials)?;
        let entry = Entry::read(request, body)?;
        let product = entry.number("product")?.ok_or_else(|| {
            Mistake::new(
                Kind::BadRequest,
                "`product` is missing: the id of a product",
            )
        })?;
        let count = entry.number("count")?.unwrap_or(1);
        let cart = self.add(credentials, product, count)?;
        Ok(match entry.manner {
            Manner::Form => pages::see_other("/shop/cart"),
            Manner::Json => pages::cart(201, &cart),
        })
    }

    /// Opens a session.
    pub(crate) fn log_in(&self, user: &str, password: &str) -> Result<Keys, Mistake> {
        if user.is_empty() || user.len() > USER_MAX || user.chars().any(char::is_control) {
            let reason =
                format!("`user` must have 1 to {USER_MAX} bytes without control characters");
            return Err(Mistake::new(Kind::BadRequest, reason));
        }
        if password.strip_suffix(PASSWORD_END) != Some(user) {
            return Err(Mistake::new(
                Kind::WrongPassword,
                "the password is the user's name followed by `-pw`",
            ));
        }
        increase(&self.totals.logins, 1);
        let session = self.ledger.open(user);
        let ticket = self.ledger.ticket(session);
        Ok(Keys { session, ticket })
    }

    /// Closes a session.
    pub(crate) fn log_out(&self, credentials: &Credentials) -> Result<(), Mistake> {
        let id = self.authorize(credentials)?;
        self.ledger.with(id, credentials, |_| Ok(()))?;
        self.ledger.close(id);
        increase(&self.totals.logouts, 1);
        Ok(())
    }

    /// The cart of a session.
    pub(crate) fn cart(&self, credentials: &Credentials) -> Result<Cart, Mistake> {
        let id = self.authorize(credentials)?;
        let cart = |session: &mut ledger::Session| Ok(session.cart.clone());
        self.ledger.with(id, credentials, cart)
    }

    /// Adds a product to the cart.
    pub(crate) fn add(
        &self,
        credentials: &Credentials,
        product: u64,
        count: u64,
    ) -> Result<Cart, Mistake> {
        let id = self.authorize(credentials)?;
        let product = catalogue::find(product)?;
        let cart = self.ledger.with(id, credentials, |session| {
            session.cart.add(product, count)?;
            Ok(session.cart.clone())
        })?;
        increase(&self.totals.additions, 1);
        Ok(cart)
    }

    fn clear(&self, credentials: &Credentials) -> Result<(), Mistake> {
        let id = self.authorize(credentials)?;
        self.ledger.with(id, credentials, |session| {
            session.cart = Cart::default();
            Ok(())
        })
    }

    /// Turns the cart into an order. If `amount` is given, it must be equal to the cart's total.
    pub(crate) fn pay(
        &self,
        credentials: &Credentials,
        amount: Option<u64>,
    ) -> Result<Paid, Mistake> {
        let id = self.authorize(credentials)?;
        let paid = self.ledger.pay(id, credentials, amount)?;
        increase(&self.totals.orders, 1);
        increase(&self.totals.revenue, paid.total);
        Ok(paid)
    }

    /// The session of the cookie, the token or both.
    fn authorize(&self, credentials: &Credentials) -> Result<SessionId, Mistake> {
        self.ledger.authorize(credentials)
    }

    /// Counts a mistake that another protocol reports.
    pub(crate) fn note(&self, mistake: &Mistake) {
        self.mistakes.add(mistake.kind);
    }

    /// All counts, as JSON.
    pub(crate) fn stats(&self) -> String {
        let value = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let totals = &self.totals;
        let ledger::Census { sessions, evicted } = self.ledger.census();
        format!(
            "{{\"sessions\":{sessions},\"evicted\":{evicted},\"logins\":{},\"logouts\":{},\
             \"additions\":{},\"orders\":{},\"revenue\":{},\"mixed_up\":{},\"mistakes\":{}}}\n",
            value(&totals.logins),
            value(&totals.logouts),
            value(&totals.additions),
            value(&totals.orders),
            value(&totals.revenue),
            self.mistakes.mixed_up(),
            self.mistakes.to_json(),
        )
    }
}

fn increase(count: &AtomicU64, n: u64) {
    count.fetch_add(n, Ordering::Relaxed);
}
