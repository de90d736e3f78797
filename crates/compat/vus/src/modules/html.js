// k6/html: pages and their elements; and the methods of responses that read forms and links.
(function (native, k6) {
"use strict";

const [ELEMENT, TEXT, DOCUMENT] = [1, 3, 9];
const unique = (nodes) => [...new Set(nodes)];
const elements = (page, nodes) => nodes.filter((node) => page("kind", node) === ELEMENT);
const parentOf = (page, node) => {
  const parent = page("parent", node);
  return parent === undefined || page("kind", parent) !== ELEMENT ? undefined : parent;
};
function attributesOf(page, node) {
  const found = new Map(), list = page("attributes", node);
  for (let at = 0; at < list.length; at += 2) found.set(list[at], list[at + 1]);
  return found;
}
const attributeOf = (page, node, name) => attributesOf(page, node).get(String(name).toLowerCase());
// The nodes beside a node, in the order of their distance: 1 after it, -1 before it.
function beside(page, node, step) {
  const parent = page("parent", node);
  if (parent === undefined) return [];
  const all = page("children", parent), at = all.indexOf(node);
  return step > 0 ? all.slice(at + 1) : all.slice(0, at).reverse();
}
function above(page, node) {
  const found = [];
  for (let parent = parentOf(page, node); parent !== undefined; parent = parentOf(page, parent)) found.push(parent);
  return found;
}
// A value of a `data-` attribute: a number, a boolean, null or JSON if it is one, else the text.
function dataValue(text) {
  if (text === undefined) return undefined;
  if (/^(true|false|null)$|^[[{"]/.test(text) || String(Number(text)) === text) {
    try {
      return JSON.parse(text);
    } catch {
      // A text.
    }
  }
  return text;
}
const camel = (name) => name.replace(/-([a-z])/g, (_, letter) => letter.toUpperCase());

// The value of a control of a form (HTML, section 4.10).
function valueOf(page, node) {
  const own = attributeOf(page, node, "value");
  switch (page("name", node)) {
    case "textarea": return page("text", node);
    case "option": return own ?? page("text", node);
    case "select": {
      const options = page("find", node, "option[selected]").map((option) => valueOf(page, option));
      return attributeOf(page, node, "multiple") === undefined ? options[0] ?? "" : options;
    }
    default: return own;
  }
}

let pageOf, nodesOf;
class Selection {
  #page;
  #nodes;
  static {
    pageOf = (selection) => selection.#page;
    nodesOf = (selection) => selection.#nodes;
  }
  constructor(page, nodes) {
    this.#page = page;
    this.#nodes = nodes;
  }
  #of(nodes) {
    return new Selection(this.#page, unique(nodes));
  }
  // Whether nodes are as wanted: by a selector, a selection, an element or a function.
  #test(wanted) {
    if (wanted === undefined) return () => true;
    if (typeof wanted === "function") return (node, at) => Boolean(wanted(at, new Element(this.#page, node)));
    if (wanted instanceof Selection) return (node) => nodesOf(wanted).includes(node);
    if (wanted instanceof Element) return (node) => nodeOf(wanted) === node;
    return (node) => this.#page("is", node, String(wanted));
  }
  #walk(from, wanted) {
    return this.#of(elements(this.#page, this.#nodes.flatMap(from)).filter(this.#test(wanted)));
  }
  #until(from, until, wanted) {
    const ends = until === undefined ? () => false : this.#test(until);
    return this.#walk((node) => {
      const list = elements(this.#page, from(node)), end = list.findIndex(ends);
      return end < 0 ? list : list.slice(0, end);
    }, wanted);
  }

  find(selector) {
    return this.#of(this.#nodes.flatMap((node) => this.#page("find", node, String(selector))));
  }
  add(other) {
    const more = other instanceof Selection ? nodesOf(other) : this.#page("find", 0, String(other));
    return this.#of([...this.#nodes, ...more]);
  }
  filter(wanted) {
    if (typeof wanted === "function") return this.#of(this.#nodes.filter((node, at) => Boolean(wanted(at, this.#of([node])))));
    return this.#of(this.#nodes.filter(this.#test(wanted)));
  }
  not(wanted) {
    const test = this.#test(wanted);
    return this.#of(this.#nodes.filter((node, at) => !test(node, at)));
  }
  is(wanted) {
    return this.#nodes.some(this.#test(wanted));
  }
  has(wanted) {
    const holds = wanted instanceof Selection
      ? (node) => nodesOf(wanted).some((inner) => above(this.#page, inner).includes(node))
      : (node) => this.#page("find", node, String(wanted)).length > 0;
    return this.#of(this.#nodes.filter(holds));
  }
  first() {
    return this.eq(0);
  }
  last() {
    return this.eq(-1);
  }
  eq(at) {
    const node = this.#nodes.at(Number(at));
    return this.#of(node === undefined ? [] : [node]);
  }
  slice(from, to) {
    return this.#of(this.#nodes.slice(from, to));
  }
  size() {
    return this.#nodes.length;
  }
  get(at) {
    if (at === undefined) return this.#nodes.map((node) => new Element(this.#page, node));
    const node = this.#nodes.at(Number(at));
    return node === undefined ? undefined : new Element(this.#page, node);
  }
  toArray() {
    return this.#nodes.map((node) => this.#of([node]));
  }
  each(run) {
    this.#nodes.forEach((node, at) => run(at, new Element(this.#page, node)));
    return this;
  }
  map(run) {
    return this.#nodes.map((node, at) => run(at, this.#of([node])));
  }
  index(of) {
    const [first] = this.#nodes;
    if (first === undefined) return -1;
    if (of === undefined) return elements(this.#page, beside(this.#page, first, -1)).length;
    if (of instanceof Selection) return this.#nodes.indexOf(nodesOf(of)[0]);
    return this.#page("find", 0, String(of)).indexOf(first);
  }
  text() {
    return this.#nodes.map((node) => this.#page("text", node)).join("");
  }
  html() {
    return this.#nodes.length === 0 ? "" : this.#page("inner", this.#nodes[0]);
  }
  attr(name, instead) {
    const value = this.#nodes.length === 0 ? undefined : attributeOf(this.#page, this.#nodes[0], name);
    return value ?? instead;
  }
  val() {
    return this.#nodes.length === 0 ? undefined : valueOf(this.#page, this.#nodes[0]);
  }
  data(name) {
    if (this.#nodes.length === 0) return undefined;
    const attributes = attributesOf(this.#page, this.#nodes[0]);
    if (name !== undefined) {
      const dashed = String(name).replace(/[A-Z]/g, (letter) => "-" + letter.toLowerCase());
      return dataValue(attributes.get(`data-${dashed}`));
    }
    const all = {};
    for (const [key, value] of attributes) if (key.startsWith("data-")) all[camel(key.slice(5))] = dataValue(value);
    return all;
  }
  children(wanted) {
    return this.#walk((node) => this.#page("children", node), wanted);
  }
  contents() {
    return this.#of(this.#nodes.flatMap((node) => this.#page("children", node)));
  }
  parent(wanted) {
    return this.#walk((node) => parentOf(this.#page, node) ?? [], wanted);
  }
  parents(wanted) {
    return this.#walk((node) => above(this.#page, node), wanted);
  }
  parentsUntil(until, wanted) {
    return this.#until((node) => above(this.#page, node), until, wanted);
  }
  closest(wanted) {
    const test = this.#test(wanted);
    return this.#of(this.#nodes.flatMap((node) => [node, ...above(this.#page, node)].find((one) => test(one, 0)) ?? []));
  }
  next(wanted) {
    return this.#walk((node) => elements(this.#page, beside(this.#page, node, 1)).slice(0, 1), wanted);
  }
  nextAll(wanted) {
    return this.#walk((node) => beside(this.#page, node, 1), wanted);
  }
  nextUntil(until, wanted) {
    return this.#until((node) => beside(this.#page, node, 1), until, wanted);
  }
  prev(wanted) {
    return this.#walk((node) => elements(this.#page, beside(this.#page, node, -1)).slice(0, 1), wanted);
  }
  prevAll(wanted) {
    return this.#walk((node) => beside(this.#page, node, -1), wanted);
  }
  prevUntil(until, wanted) {
    return this.#until((node) => beside(this.#page, node, -1), until, wanted);
  }
  siblings(wanted) {
    return this.#walk((node) => [...beside(this.#page, node, -1).reverse(), ...beside(this.#page, node, 1)], wanted);
  }
  // The controls that k6 sends. Unlike a browser, it looks for `checked="checked"` and `disabled="disabled"`, and
  // no control is left out whose value is empty.
  serializeArray() {
    const controls = this.#nodes.flatMap((node) => {
      const own = this.#page("is", node, "input,select,textarea") ? [node] : [];
      return [...own, ...this.#page("find", node, "input,select,textarea")];
    });
    const sent = [];
    for (const node of unique(controls)) {
      const attributes = attributesOf(this.#page, node);
      const name = attributes.get("name"), type = attributes.get("type") ?? "";
      if (!name || attributes.get("disabled") === "disabled") continue;
      if (["submit", "button", "reset", "image", "file"].includes(type.toLowerCase())) continue;
      if ((type === "checkbox" || type === "radio") && attributes.get("checked") !== "checked") continue;
      sent.push({ name, value: valueOf(this.#page, node) ?? "" });
    }
    return sent;
  }
  serializeObject() {
    const all = {};
    for (const { name, value } of this.serializeArray()) all[name] = value;
    return all;
  }
  serialize() {
    const all = {};
    for (const { name, value } of this.serializeArray()) (all[name] ??= []).push(...(Array.isArray(value) ? value : [value]));
    return k6.formBody(all);
  }
}

let nodeOf;
class Element {
  #page;
  #node;
  static {
    nodeOf = (element) => element.#node;
  }
  constructor(page, node) {
    this.#page = page;
    this.#node = node;
  }
  #wrap(node) {
    return node === undefined ? undefined : new Element(this.#page, node);
  }
  #children() {
    return this.#page("children", this.#node);
  }
  #beside(step) {
    return beside(this.#page, this.#node, step);
  }
  selection() {
    return new Selection(this.#page, [this.#node]);
  }
  attributes() {
    const all = {};
    for (const [name, value] of attributesOf(this.#page, this.#node)) {
      all[name] = { name, value, namespaceURI: "", prefix: "", localName: name, ownerElement: this };
    }
    return all;
  }
  getAttribute(name) {
    return attributeOf(this.#page, this.#node, name);
  }
  getAttributeNode(name) {
    return this.attributes()[String(name).toLowerCase()];
  }
  hasAttribute(name) {
    return this.getAttribute(name) !== undefined;
  }
  hasAttributes() {
    return attributesOf(this.#page, this.#node).size > 0;
  }
  id() {
    return this.getAttribute("id") ?? "";
  }
  className() {
    return this.getAttribute("class");
  }
  classList() {
    return (this.className() ?? "").split(/\s+/).filter((name) => name !== "");
  }
  lang() {
    return this.getAttribute("lang");
  }
  nodeName() {
    const kind = this.nodeType();
    if (kind === ELEMENT) return this.#page("name", this.#node);
    return kind === TEXT ? "#text" : kind === DOCUMENT ? "#document" : "#comment";
  }
  tagName() {
    return this.nodeName().toUpperCase();
  }
  nodeType() {
    return this.#page("kind", this.#node);
  }
  nodeValue() {
    return this.nodeType() === ELEMENT || this.nodeType() === DOCUMENT ? undefined : this.#page("inner", this.#node);
  }
  textContent() {
    return this.#page("text", this.#node);
  }
  innerText() {
    return this.textContent();
  }
  innerHTML() {
    return this.#page("inner", this.#node);
  }
  hasChildNodes() {
    return this.#children().length > 0;
  }
  childNodes() {
    return this.#children().map((node) => this.#wrap(node));
  }
  children() {
    return elements(this.#page, this.#children()).map((node) => this.#wrap(node));
  }
  childElementCount() {
    return this.children().length;
  }
  firstChild() {
    return this.#wrap(this.#children()[0]);
  }
  lastChild() {
    return this.#wrap(this.#children().at(-1));
  }
  firstElementChild() {
    return this.children()[0];
  }
  lastElementChild() {
    return this.children().at(-1);
  }
  nextSibling() {
    return this.#wrap(this.#beside(1)[0]);
  }
  previousSibling() {
    return this.#wrap(this.#beside(-1)[0]);
  }
  nextElementSibling() {
    return this.#wrap(elements(this.#page, this.#beside(1))[0]);
  }
  previousElementSibling() {
    return this.#wrap(elements(this.#page, this.#beside(-1))[0]);
  }
  parentElement() {
    return this.#wrap(parentOf(this.#page, this.#node));
  }
  parentNode() {
    return this.#wrap(this.#page("parent", this.#node));
  }
  ownerDocument() {
    return this.#wrap(0);
  }
  querySelector(selector) {
    return this.#wrap(this.#page("find", this.#node, String(selector))[0]);
  }
  querySelectorAll(selector) {
    return this.#page("find", this.#node, String(selector)).map((node) => this.#wrap(node));
  }
  matches(selector) {
    return this.#page("is", this.#node, String(selector));
  }
  contains(other) {
    return other instanceof Element && above(this.#page, nodeOf(other)).includes(this.#node);
  }
  isSameNode(other) {
    return other instanceof Element && nodeOf(other) === this.#node;
  }
  isEqualNode(other) {
    return other instanceof Element && other.nodeName() === this.nodeName() && other.innerHTML() === this.innerHTML()
      && JSON.stringify(Object.entries(other.attributes()).map(([name, { value }]) => [name, value]))
        === JSON.stringify(Object.entries(this.attributes()).map(([name, { value }]) => [name, value]));
  }
  value() {
    return valueOf(this.#page, this.#node);
  }
  toString() {
    return `<${this.nodeName()}>`;
  }
}
// Attributes that elements have as methods: texts, and switches.
for (const name of ["href", "src", "action", "method", "name", "type", "target", "rel", "alt", "title", "placeholder"]) {
  Element.prototype[name] = function () {
    return this.getAttribute(name) ?? "";
  };
}
for (const name of ["checked", "disabled", "selected", "multiple", "required", "readonly", "autofocus"]) {
  Element.prototype[name === "readonly" ? "readOnly" : name] = function () {
    return this.hasAttribute(name);
  };
}

function parseHTML(text) {
  return new Selection(native.page(String(text)), [0]);
}

// ---------------------------------------------------------------- responses

function pageOfResponse(response) {
  const { body } = response;
  if (body === null || body === undefined) {
    throw new Error("the body is null so we can't transform it to HTML - this likely was because of a request error getting the response");
  }
  return parseHTML(typeof body === "string" ? body : native.text(body));
}
function html(response, selector) {
  const page = pageOfResponse(response);
  return selector === undefined ? page : page.find(selector);
}
function submitForm(response, given) {
  const { formSelector = "form", submitSelector = '[type="submit"]', fields = {}, params } = given ?? {};
  const form = html(response, formSelector);
  if (form.size() === 0) throw new Error(`no form found for selector '${formSelector}' in response '${response.url}'`);
  const first = form.first();
  const method = (first.attr("method") ?? "GET").toUpperCase();
  const action = first.attr("action");
  const address = action === undefined || action === "" ? response.url : native.join(response.url, action);
  const values = first.serializeObject();
  const submit = first.find(submitSelector).first();
  const name = submit.attr("name");
  if (name !== undefined) values[name] = submit.val() ?? "";
  Object.assign(values, fields);
  if (method === "GET") return k6.send(method, `${address.split(/[?#]/)[0]}?${k6.formBody(values)}`, null, params);
  return k6.send(method, address, values, params);
}
function clickLink(response, given) {
  const { selector = "a[href]", params } = given ?? {};
  const link = html(response, selector);
  if (link.size() === 0) throw new Error(`no element found for selector '${selector}' in response '${response.url}'`);
  const href = link.first().attr("href");
  if (href === undefined) throw new Error(`no valid href attribute value found on element '${selector}' in response '${response.url}'`);
  return k6.send("GET", native.join(response.url, href), null, params);
}

const module = { parseHTML, Selection, Element };
module.default = { ...module };
return { module, html, submitForm, clickLink };
})
