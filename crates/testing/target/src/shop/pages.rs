//! Answers of the shop.

use super::catalogue::{self, PRODUCTS, Product};
use super::credentials::{COOKIE, SessionToken};
use super::ledger::{Cart, Order};
use super::mistake::{Kind, Mistake};
use super::{Keys, Paid};
use crate::answer::{Answer, Body};
use serde_json::{Value, json};
use std::fmt::Write as _;

const JSON: &str = "application/json";
const HTML: &str = "text/html; charset=utf-8";
const XML: &str = "application/xml";

/// The refusal of a request.
pub(super) fn mistake(mistake: &Mistake) -> Answer {
    let body = json!({ "error": mistake.kind.name(), "reason": mistake.reason });
    let mut answer = document(mistake.kind.status(), &body);
    if let Some(methods) = mistake.allow {
        answer.fields.push(("Allow", methods.into()));
    }
    if mistake.kind.status() == 401 {
        let challenge = match mistake.kind {
            Kind::NoLogin => "Bearer realm=\"shop\"",
            _ => "Bearer realm=\"shop\", error=\"invalid_token\"",
        };
        answer.fields.push(("WWW-Authenticate", challenge.into()));
    }
    answer
}

/// The page with links to all products.
pub(super) fn front(page: u64) -> Answer {
    let mut body = String::from(
        "<form action=\"/shop/login\" method=\"post\"><input name=\"user\">\
         <input name=\"password\" type=\"password\"><button>Log in</button></form>\n\
         <ul class=\"products\">\n",
    );
    for product in catalogue::page(page) {
        // Writing to a String can't fail, here and below.
        let _ = writeln!(
            body,
            "<li><a class=\"product\" href=\"/shop/page/{0}\" data-id=\"{0}\">{1}</a> \
             <span class=\"price\">{2}</span></li>",
            product.id,
            product.name(),
            product.price
        );
    }
    body.push_str("</ul>\n");
    if let Some(next) = catalogue::next_page(page) {
        let _ = writeln!(
            body,
            "<a class=\"next\" href=\"/shop?page={next}\">more</a>"
        );
    }
    html("Shop", &body)
}

/// A page of products, as JSON.
pub(super) fn products(page: u64) -> Answer {
    let products: Vec<_> = catalogue::page(page).map(described).collect();
    let next = catalogue::next_page(page).map(|next| format!("/shop/products?page={next}"));
    let body = json!({ "products": products, "count": PRODUCTS, "next": next });
    document(200, &body)
}

/// A product, as JSON.
pub(super) fn product(product: Product) -> Answer {
    document(200, &described(product))
}

fn described(product: Product) -> Value {
    json!({
        "id": product.id,
        "name": product.name(),
        "price": product.price,
        "href": format!("/shop/products/{}", product.id),
    })
}

/// A product's page, with the form that adds it to the cart.
pub(super) fn product_page(product: Product) -> Answer {
    let (name, next) = (product.name(), product.neighbour());
    let body = format!(
        "<p class=\"price\">{1}</p>\n\
         <form action=\"/shop/cart\" method=\"post\">\
         <input type=\"hidden\" name=\"product\" value=\"{0}\">\
         <input name=\"count\" value=\"1\"><button>Add to cart</button></form>\n\
         <a class=\"related\" href=\"/shop/page/{2}\">{3}</a>\n",
        product.id,
        product.price,
        next.id,
        next.name()
    );
    html(&name, &body)
}

/// The answer to a login by JSON.
pub(super) fn logged_in(user: &str, keys: Keys) -> Answer {
    let body = json!({ "user": user, "token": keys.ticket.to_string() });
    with_cookie(document(200, &body), keys)
}

/// The answer to a login by the form.
pub(super) fn logged_in_by_form(keys: Keys) -> Answer {
    with_cookie(see_other("/shop/account"), keys)
}

fn with_cookie(mut answer: Answer, keys: Keys) -> Answer {
    let cookie = format!(
        "{COOKIE}={:016x}; Path=/shop; HttpOnly; SameSite=Lax",
        keys.session.0
    );
    answer.fields.push(("Set-Cookie", cookie));
    answer
}

/// The answer to a logout: removes the cookie, and redirects to the front page.
pub(super) fn logged_out() -> Answer {
    let mut answer = see_other("/shop");
    let cookie = format!("{COOKIE}=; Path=/shop; Max-Age=0; HttpOnly; SameSite=Lax");
    answer.fields.push(("Set-Cookie", cookie));
    answer
}

/// The page of a user, which contains the token for browsers.
pub(super) fn account(user: &str, ticket: SessionToken) -> Answer {
    let user = escaped(user);
    let body = format!(
        "<p class=\"user\">{user}</p>\n\
         <form action=\"/shop/logout\" method=\"post\">\
         <input type=\"hidden\" name=\"token\" value=\"{ticket}\">\
         <button>Log out</button></form>\n\
         <a class=\"cart\" href=\"/shop/cart\">Cart</a>\n"
    );
    html("Account", &body)
}

/// A cart, as JSON.
pub(super) fn cart(status: u16, cart: &Cart) -> Answer {
    let items: Vec<_> = cart
        .lines
        .iter()
        .map(|line| {
            json!({
                "product": line.product.id,
                "name": line.product.name(),
                "price": line.product.price,
                "count": line.count,
            })
        })
        .collect();
    let sum = cart.sum();
    let body = json!({ "items": items, "count": sum.count, "total": sum.total });
    document(status, &body)
}

/// The answer to a payment: redirects to the order.
pub(super) fn paid(paid: Paid) -> Answer {
    see_other(&format!("/shop/orders/{}", paid.order))
}

/// An order, as XML.
pub(super) fn order(order: &Order) -> Answer {
    let user = escaped(&order.user);
    let mut body = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<order id=\"{}\" user=\"{user}\">\n",
        order.number
    );
    for line in &order.cart.lines {
        let _ = writeln!(
            body,
            "  <item product=\"{}\" count=\"{}\" price=\"{}\">{}</item>",
            line.product.id,
            line.count,
            line.product.price,
            line.product.name()
        );
    }
    let total = order.cart.sum().total;
    let _ = writeln!(body, "  <total>{total}</total>\n</order>");
    text(200, XML, body)
}

/// An answer without content.
pub(super) fn nothing() -> Answer {
    Answer::new(204, Body::Empty)
}

/// Redirects to another page, to be requested with GET (RFC 9110 §15.4.4).
pub(super) fn see_other(location: &str) -> Answer {
    let mut answer = Answer::new(303, Body::Empty);
    answer.fields.push(("Location", location.into()));
    answer
}

fn html(title: &str, body: &str) -> Answer {
    let page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title>\
         </head><body>\n<h1>{title}</h1>\n{body}</body></html>\n"
    );
    text(200, HTML, page)
}

fn document(status: u16, body: &Value) -> Answer {
    text(status, JSON, format!("{body}\n"))
}

fn text(status: u16, kind: &str, text: String) -> Answer {
    let mut answer = Answer::new(status, Body::bytes(text));
    answer.fields.push(("Content-Type", kind.into()));
    answer
}

/// Escapes a text for HTML or XML, and for their attributes.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            other => escaped.push(other),
        }
    }
    escaped
}
