//! Values of XML and HTML texts.

use crate::reply::Reply;

const ORDERS: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/" xmlns="urn:shop">
  <s:Body><orders n:sum="12.50" xmlns:n="urn:n">
    <order id="7" state='new'><sku>a&amp;b</sku></order>
    <!-- gone --><order id="8"><sku><![CDATA[<c>]]></sku></order>
    <empty/>
  </orders></s:Body>
</s:Envelope>"#;

#[test]
fn nodes_of_xml() {
    let check = |text: &str, expected| Reply::new(ORDERS).check(text, expected);
    check("xml //order/@id", Ok("7"));
    check("xml#2 //order/@id", Ok("8"));
    check("xml#last //order/@id", Ok("8"));
    check("xml#count //order", Ok("2"));
    check("xml#all //order/@id", Ok(r#"["7","8"]"#));
    check("xml /Envelope/Body/orders/order[@id='8']/sku", Ok("<c>"));
    check("xml //order[1]/sku", Ok("a&b"));
    check("xml //order[@state = \"new\"]/sku/text()", Ok("a&b"));
    check("xml //order[last()]/@id", Ok("8"));
    check("xml //orders/@sum", Ok("12.50"));
    check("xml //*[name()='s:Body']/orders/order/@id", Ok("7"));
    check("xml count(//order)", Ok("2"));
    check("xml count(//order) > 1", Ok("true"));
    check("xml sum(//order/@id) div 2", Ok("7.5"));
    check("xml concat(//order/@id, '-', 'x:y')", Ok("7-x:y"));
    check("xml normalize-space(//comment())", Ok("gone"));
    check("xml //order/following-sibling::order/@id", Ok("8"));
    check("xml //empty", Ok(""));
    check("xml //nothing", Err("no such node"));
    check("xml#maybe //nothing", Ok(""));
    check("xml#maybe //order/@id", Ok("7"));
    check("xml#count //nothing", Ok("0"));
    check("xml#3 //order", Err("there is no `#3`, only 2"));
    check("xml string(//nothing)", Ok(""));
}

#[test]
fn what_is_no_xml_gives_no_value() {
    let check = |body: &[u8], expected| Reply::new(body).check("xml //a", expected);
    check(b"<a>1</a>", Ok("1"));
    check("\u{feff}<a>1</a>".as_bytes(), Ok("1"));
    check(b"", Err("the body is not XML"));
    check(b"{\"a\":1}", Err("the body is not XML"));
    check(b"<a>1", Err("the body is not XML"));
    check(b"<a>1</b>", Err("the body is not XML"));
    check(b"<a><b></a></b>", Err("the body is not XML"));
    check(b"<a>\x1b[2J</a>", Err("the body is not XML"));
    check(b"<a>\xff</a>", Err("the body is not UTF-8 at byte 3"));
}

const PAGE: &str = r#"<!DOCTYPE html><title>Shop &amp; more</title>
<script>var a = "<a class=next href=/wrong>";</script>
<ul id=menu><li class="item open">One<li class=item><A HREF="/two?a=1&amp;b=2" class="big next">Tw<b>o</b>
   items</a></ul>
<table><tr><td>1<td>2<tr><td>3</table>
<form><input name=csrf value="t0ken&quot;"><input name=q disabled></form>
<div class=a>first</div><div class=b><span>second</span></div>
<p lang=en-US>&eacute;&#228;&#x20ac;"#;

#[test]
fn nodes_of_html() {
    let check = |text: &str, expected| Reply::new(PAGE).check(text, expected);
    check("html //a/@href", Ok("/two?a=1&b=2"));
    check("html //div", Ok("first"));
    check(
        "html //div[2]/span | //div[@class='a' or @class='c']",
        Ok("first"),
    );
    check("html count(//div) div 2", Ok("1"));
    check("html //a[contains(@class, 'next')]", Ok("Two\n   items"));
    check("html //title/text()", Ok("Shop & more"));
    check(
        "html#all //ul[@id='menu']/li/@class",
        Ok(r#"["item open","item"]"#),
    );
    check("html //table/tbody/tr[2]/td", Ok("3"));
    check("html //input[@name='csrf']/@value", Ok("t0ken\""));
    check(
        "html //script",
        Ok("var a = \"<a class=next href=/wrong>\";"),
    );
    check("html //p", Ok("éä€"));
    check("html#count //td", Ok("3"));
    check("html //nothing", Err("no such node"));
    let odd = "<svg href=a xlink:href=b @click=c></svg><a>1<br>2<o:p>x</o:p></a>";
    Reply::new(odd).check("html //svg/@href", Ok("a"));
    Reply::new(odd).check("html //a", Ok("12x"));
    Reply::new(b"no page").check("html /html/body", Ok("no page"));
    Reply::new(b"<a>\xff").check("html //a", Err("the body is not UTF-8 at byte 3"));
}

#[test]
fn elements_of_html() {
    let check = |text: &str, expected| Reply::new(PAGE).check(text, expected);
    check("css a.next @href", Ok("/two?a=1&b=2"));
    check("css a.next", Ok("Two items"));
    check("css title", Ok("Shop & more"));
    check("css#count li.item", Ok("2"));
    check("css#all li", Ok(r#"["One","Two items"]"#));
    check("css#last li", Ok("Two items"));
    check("css #menu > li.open", Ok("One"));
    check("css#2 #menu > li", Ok("Two items"));
    check("css table > tbody > tr:nth-child(2) > td", Ok("3"));
    check("css input[name=csrf] @value", Ok("t0ken\""));
    check("css input[name=\"csrf\"] @VALUE", Ok("t0ken\""));
    check("css#count input @disabled", Ok("1"));
    check("css input @disabled", Ok(""));
    check(
        "css input[name=q] @value",
        Err("there are 1 such elements, without the attribute"),
    );
    check("css p[lang|=en]", Ok("éä€"));
    check("css li:not(.open) a, h1", Ok("Two items"));
    check("css li + li", Ok("Two items"));
    check("css li.item ~ li", Ok("Two items"));
    check("css ul:has(b) li", Ok("One"));
    check("css h1", Err("no such element"));
    check("css#count h1", Ok("0"));
    Reply::new("").check("css a", Err("no such element"));
    Reply::new("no page").check("css body", Ok("no page"));
    Reply::new(b"<a>\xff").check("css a", Err("the body is not UTF-8 at byte 3"));
}
