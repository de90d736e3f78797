//! The shop: its pages, and the named mistakes.

#![expect(clippy::unwrap_used, reason = "a client in a test")]

use crate::calls::Caller;
use crate::client::{Client, Reply, start};
use crate::frames;
use drumfire_target::{Behaviour, Running, ServerOptions, Services, Storefront};
use http::Method;
use serde_json::{Value, json};

fn open() -> ServerOptions {
    ServerOptions {
        storefront: Storefront::Open,
        ..ServerOptions::default()
    }
}

/// A user on one connection, which keeps no state except its header fields.
struct Visitor {
    client: Client,
    /// Header fields of every request.
    fields: String,
}

impl Visitor {
    fn new(server: &Running) -> Self {
        Self {
            client: Client::connect(server),
            fields: String::new(),
        }
    }

    /// A user that has logged in, with the keys that the server returned.
    fn logged_in(server: &Running, user: &str) -> (Self, Keys) {
        let mut visitor = Self::new(server);
        let body = json!({ "user": user, "password": format!("{user}-pw") });
        let reply = visitor.post("/shop/login", &body.to_string());
        assert_eq!(reply.status, 200, "{}", reply.text());
        let cookie = reply.field("set-cookie").unwrap();
        let cookie = cookie.split(';').next().unwrap().to_owned();
        let token = parsed(&reply)["token"].as_str().unwrap().to_owned();
        visitor.fields = format!("Cookie: theme=dark; {cookie}\r\n");
        (visitor, Keys { cookie, token })
    }

    fn ask(&mut self, method: &str, target: &str, body: &str) -> Reply {
        let head = format!("{method} {target} HTTP/1.1\r\nHost: t\r\n{}", self.fields);
        let request = format!("{head}Content-Length: {}\r\n\r\n{body}", body.len());
        self.client.send(request.as_bytes());
        self.client.reply()
    }

    fn get(&mut self, target: &str) -> Reply {
        self.ask("GET", target, "")
    }

    fn post(&mut self, target: &str, body: &str) -> Reply {
        self.ask("POST", target, body)
    }

    /// The name of the mistake in this request.
    fn mistake(&mut self, method: &str, target: &str, body: &str) -> (u16, String) {
        let reply = self.ask(method, target, body);
        let answer = parsed(&reply);
        assert!(answer["reason"].as_str().unwrap().len() > 5, "{answer}");
        let name = answer["error"].as_str().unwrap().to_owned();
        (reply.status, name)
    }
}

struct Keys {
    cookie: String,
    token: String,
}

fn parsed(reply: &Reply) -> Value {
    serde_json::from_slice(&reply.body).unwrap()
}

fn stats(server: &Running) -> Value {
    parsed(&Client::connect(server).get("/shop/stats"))
}

#[test]
fn a_visit_from_login_to_logout() {
    let server = start(open());
    let (mut ada, keys) = Visitor::logged_in(&server, "ada");
    let list = parsed(&ada.get("/shop/products?page=7"));
    assert_eq!(list["products"].as_array().unwrap().len(), 4);
    assert_eq!((&list["count"], &list["next"]), (&json!(64), &Value::Null));
    let product = parsed(&ada.get("/shop/products/7"));
    let price = product["price"].as_u64().unwrap();
    let cart = ada.post("/shop/cart", r#"{"product": 7, "count": 2}"#);
    assert_eq!(cart.status, 201);
    assert_eq!(parsed(&cart)["total"], 2 * price);
    let cart = parsed(&ada.post("/shop/cart", r#"{"product": "7"}"#));
    assert_eq!(
        (&cart["count"], &cart["total"]),
        (&json!(3), &json!(3 * price))
    );
    assert_eq!(parsed(&ada.get("/shop/cart")), cart);
    ada.fields = format!(
        "Authorization: Bearer {}\r\nX-Shop-User: ada\r\n",
        keys.token
    );
    let paid = ada.post("/shop/pay", &json!({ "amount": 3 * price }).to_string());
    assert_eq!((paid.status, paid.body.len()), (303, 0));
    let order = ada.get(paid.field("location").unwrap());
    assert_eq!(order.field("content-type"), Some("application/xml"));
    assert!(
        order
            .text()
            .contains(&format!("<total>{}</total>", 3 * price))
    );
    assert!(order.text().contains("user=\"ada\""), "{}", order.text());
    let bye = ada.post("/shop/logout", "");
    assert_eq!((bye.status, bye.field("location")), (303, Some("/shop")));
    assert!(bye.field("set-cookie").unwrap().contains("Max-Age=0"));
    assert_eq!(ada.mistake("GET", "/shop/cart", "").1, "unknown_session");
    let stats = stats(&server);
    let row = |name: &str| stats[name].as_u64().unwrap();
    assert_eq!((row("logins"), row("logouts"), row("sessions")), (1, 1, 0));
    assert_eq!((row("orders"), row("revenue")), (1, 3 * price));
    assert_eq!((row("additions"), row("mixed_up")), (2, 0));
}

#[test]
fn a_browser_gets_pages_forms_and_redirects() {
    let server = start(open());
    let mut bob = Visitor::new(&server);
    let front = bob.get("/shop");
    assert_eq!(
        front.field("content-type"),
        Some("text/html; charset=utf-8")
    );
    assert!(front.text().contains("href=\"/shop/page/1\""));
    assert!(
        front
            .text()
            .contains("class=\"next\" href=\"/shop?page=2\"")
    );
    let page = bob.get("/shop/page/64");
    assert!(page.text().contains("name=\"product\" value=\"64\""));
    assert!(
        page.text()
            .contains("class=\"related\" href=\"/shop/page/1\"")
    );
    bob.fields = "Content-Type: application/x-www-form-urlencoded\r\n".into();
    let login = bob.post(
        "/shop/login",
        "user=b%26b+%3Cx%3E&password=b%26b+%3Cx%3E-pw",
    );
    assert_eq!(
        (login.status, login.field("location")),
        (303, Some("/shop/account"))
    );
    let cookie = login
        .field("set-cookie")
        .unwrap()
        .split(';')
        .next()
        .unwrap();
    bob.fields.push_str(&format!("Cookie: {cookie}\r\n"));
    let account = bob.get("/shop/account");
    assert!(
        account.text().contains(">b&amp;b &lt;x&gt;<"),
        "{}",
        account.text()
    );
    let token = account
        .text()
        .split("name=\"token\" value=\"")
        .nth(1)
        .unwrap();
    let token = token.split('"').next().unwrap();
    bob.fields
        .push_str(&format!("Authorization: Bearer {token}\r\n"));
    let added = bob.post("/shop/cart", "product=64&count=1");
    assert_eq!(
        (added.status, added.field("location")),
        (303, Some("/shop/cart"))
    );
    assert_eq!(bob.post("/shop/pay", "").status, 303);
    assert_eq!(stats(&server)["orders"], 1);
}

#[test]
fn a_wrong_order_of_steps_is_refused_by_name() {
    let server = start(open());
    let mut nobody = Visitor::new(&server);
    let (mut ada, _) = Visitor::logged_in(&server, "ada");
    for (method, path, body, status, name) in [
        ("GET", "/shop/cart", "", 401, "no_login"),
        ("POST", "/shop/cart", "{}", 401, "no_login"),
        ("POST", "/shop/pay", "", 401, "no_login"),
        ("GET", "/shop/orders/1", "", 401, "no_login"),
        ("POST", "/shop/logout", "", 401, "no_login"),
        ("POST", "/shop/login", "", 400, "bad_request"),
        ("POST", "/shop/login", "{", 400, "bad_request"),
        (
            "POST",
            "/shop/login",
            r#"{"user":"eve","password":"x"}"#,
            401,
            "wrong_password",
        ),
        (
            "POST",
            "/shop/login",
            r#"{"user":"","password":"-pw"}"#,
            400,
            "bad_request",
        ),
        ("GET", "/shop/login", "", 405, "wrong_method"),
        ("GET", "/shop/nowhere", "", 404, "no_page"),
        ("GET", "/shop/products/65", "", 404, "no_product"),
    ] {
        let expected = (status, name.to_owned());
        assert_eq!(
            nobody.mistake(method, path, body),
            expected,
            "{method} {path} {body}"
        );
    }
    for (method, path, body, status, name) in [
        ("POST", "/shop/pay", "", 409, "empty_cart"),
        ("POST", "/shop/cart", r#"{"product":0}"#, 404, "no_product"),
        ("POST", "/shop/cart", r#"{"count":1}"#, 400, "bad_request"),
        (
            "POST",
            "/shop/cart",
            r#"{"product":1.5}"#,
            400,
            "bad_request",
        ),
        (
            "POST",
            "/shop/cart",
            r#"{"product":1,"count":1001}"#,
            409,
            "full_cart",
        ),
        ("POST", "/shop/cart", &"x".repeat(5_000), 413, "long_body"),
        ("GET", "/shop/orders/77", "", 404, "no_order"),
        ("DELETE", "/shop/account", "", 405, "wrong_method"),
    ] {
        let expected = (status, name.to_owned());
        assert_eq!(ada.mistake(method, path, body), expected, "{method} {path}");
    }
    assert_eq!(ada.ask("DELETE", "/shop/cart", "").status, 204);
    ada.fields.push_str("Content-Type: text/plain\r\n");
    assert_eq!(ada.mistake("POST", "/shop/cart", "x").1, "other_content");
    let stats = stats(&server);
    assert_eq!(
        (&stats["mixed_up"], &stats["mistakes"]["no_login"]),
        (&json!(0), &json!(5))
    );
}

#[test]
fn users_that_are_mixed_up_are_noticed() {
    let server = start(open());
    let (mut ada, ada_keys) = Visitor::logged_in(&server, "ada");
    let (mut bob, bob_keys) = Visitor::logged_in(&server, "bob");
    let own = bob.fields.clone();
    bob.fields = format!("{own}Authorization: Bearer {}\r\n", ada_keys.token);
    assert_eq!(
        bob.mistake("GET", "/shop/cart", ""),
        (403, "other_session".into())
    );
    bob.fields = format!("{own}X-Shop-User: ada\r\n");
    assert_eq!(
        bob.mistake("POST", "/shop/logout", ""),
        (403, "other_user".into())
    );
    bob.fields = own;
    ada.post("/shop/cart", r#"{"product": 1}"#);
    bob.post("/shop/cart", r#"{"product": 2}"#);
    let total = parsed(&ada.get("/shop/cart"))["total"].clone();
    let amount = json!({ "amount": total }).to_string();
    assert_eq!(
        bob.mistake("POST", "/shop/pay", &amount),
        (409, "wrong_amount".into())
    );
    let order = ada
        .post("/shop/pay", &amount)
        .field("location")
        .unwrap()
        .to_owned();
    assert_eq!(bob.mistake("GET", &order, ""), (403, "other_order".into()));
    for forged in [&bob_keys.token[..16], "x", &format!("{}0", ada_keys.token)] {
        bob.fields = format!("Authorization: Bearer {forged}\r\n");
        assert_eq!(bob.mistake("GET", "/shop/cart", "").1, "unknown_session");
    }
    bob.fields = "Cookie: shop_session=0000000000000000\r\n".into();
    assert_eq!(bob.mistake("GET", "/shop/cart", "").1, "unknown_session");
    assert_ne!(ada_keys.cookie, bob_keys.cookie);
    let stats = stats(&server);
    assert_eq!(
        (&stats["mixed_up"], &stats["orders"]),
        (&json!(4), &json!(1))
    );
}

#[test]
fn a_fault_on_request_leaves_the_shop_untouched() {
    let server = start(ServerOptions {
        behaviour: Behaviour {
            chunked: std::num::NonZeroU32::new(7),
            ..Behaviour::default()
        },
        ..open()
    });
    let (mut ada, _) = Visitor::logged_in(&server, "ada");
    assert_eq!(ada.post("/shop/cart", r#"{"product": 1}"#).status, 201);
    let failed = ada.post("/shop/pay?status=503&delay=1ms", "");
    assert_eq!(failed.status, 503);
    assert_eq!(stats(&server)["orders"], 0);
    assert_eq!(ada.post("/shop/pay?delay=1ms", "").status, 303);
    assert_eq!(stats(&server)["orders"], 1);
}

#[test]
fn workers_and_protocols_share_the_shop() {
    let server = start(ServerOptions {
        threads: 2,
        ..open()
    });
    let (ada, keys) = Visitor::logged_in(&server, "ada");
    for _ in 0..20 {
        let mut again = Visitor::new(&server);
        again.fields.clone_from(&ada.fields);
        assert_eq!(again.post("/shop/cart", r#"{"product": 5}"#).status, 201);
    }
    frames::run(async {
        let mut client = frames::Client::connect(&server).await;
        let mut add = frames::request(Method::POST, "/shop/cart");
        let bearer = format!("Bearer {}", keys.token).parse().unwrap();
        add.headers_mut().insert("authorization", bearer);
        let reply = client.send(add, br#"{"product": 5}"#).await.unwrap();
        assert_eq!(reply.status, 201);
        let cart: Value = serde_json::from_slice(&reply.body).unwrap();
        assert_eq!(cart["count"], 21);
        for _ in 0..2 {
            let list = client.get("/shop/products").await.unwrap();
            assert!(list.text().contains("\"next\":\"/shop/products?page=2\""));
            let stats = client.get("/shop/stats").await.unwrap();
            assert!(stats.text().contains("\"sessions\":1,"), "{}", stats.text());
        }
    });
}

#[test]
fn without_the_flag_there_is_no_shop() {
    let server = start(ServerOptions::default());
    let mut client = Client::connect(&server);
    for path in ["/shop", "/shop/stats", "/shop/cart"] {
        let reply = client.get(path);
        assert_eq!((reply.status, reply.body.len()), (200, 100), "{path}");
    }
}

#[test]
fn calls_buy_as_well() {
    let server = start(ServerOptions {
        services: Services::Grpc,
        ..open()
    });
    frames::run(async {
        let mut caller = Caller::connect(&server, "v1").await;
        let method = |name: &str| format!("drumfire.shop.v1.Shop/{name}");
        let login = json!({ "user": "ada", "password": "ada-pw" });
        let login = caller.call(&method("Login"), &[login]).await;
        let bearer = format!("Bearer {}", login.messages[0]["token"].as_str().unwrap());
        let metadata = [("authorization", &bearer[..]), ("x-shop-user", "ada")];
        let early = caller
            .call_with(&method("Place"), &[json!({})], &metadata)
            .await;
        let early = early.unwrap();
        assert_eq!(early.code(), Some(9));
        assert!(early.field("grpc-message").starts_with("empty_cart: "));
        let add = [json!({ "product": 3, "count": 2 })];
        let cart = caller
            .call_with(&method("Add"), &add, &metadata)
            .await
            .unwrap();
        let total = cart.messages[0]["total"].clone();
        let place = [json!({ "amount": total })];
        for (fields, code) in [
            (&[][..], 16),
            (&[("authorization", "Bearer x")], 16),
            (&[metadata[0], ("x-shop-user", "bob")], 7),
            (&metadata, 0),
            (&metadata, 9),
        ] {
            let called = caller
                .call_with(&method("Place"), &place, fields)
                .await
                .unwrap();
            assert_eq!(called.code(), Some(code), "{fields:?}");
        }
        let out = caller
            .call_with(&method("Logout"), &[json!({})], &metadata)
            .await;
        assert_eq!(out.unwrap().code(), Some(0));
    });
    let stats = stats(&server);
    assert_eq!(
        (&stats["orders"], &stats["mistakes"]["no_login"]),
        (&json!(1), &json!(1))
    );
    let closed = start(ServerOptions {
        services: Services::Grpc,
        ..ServerOptions::default()
    });
    frames::run(async {
        let caller = Caller::connect(&closed, "v1").await;
        assert!(!caller.services().iter().any(|name| name.contains("shop")));
    });
}
