import { equal, throws } from 'assert';
import { URL, URLSearchParams } from 'https://jslib.k6.io/url/1.0.0/index.js';

for (const [input, base, href] of [
  ['http://a.test', undefined, 'http://a.test/'],
  ['http://A.Test:80/x/../y?q=1#f', undefined, 'http://a.test/y?q=1#f'],
  ["https://u:p@a.test:8443/a%20b/c d?x=ü&y=<b>'#h x", undefined, 'https://u:p@a.test:8443/a%20b/c%20d?x=%C3%BC&y=%3Cb%3E%27#h%20x'],
  ['/x', 'http://a.test/b/c', 'http://a.test/x'],
  ['x', 'http://a.test/b/c?d#e', 'http://a.test/b/x'],
  ['?q', 'http://a.test/b/c?d#e', 'http://a.test/b/c?q'],
  ['#z', 'http://a.test/b/c?d#e', 'http://a.test/b/c?d#z'],
  ['//b.test/p', 'https://a.test/b', 'https://b.test/p'],
  ['../../..', 'http://a.test/b/c/d', 'http://a.test/'],
  ['mailto:x@y', undefined, 'mailto:x@y'],
  ['ws://h/%7Efoo/../%2e%2e/a', undefined, 'ws://h/a'],
  ['http:\\\\h\\p', undefined, 'http://h/p'],
  ['http://[::1]:80/x', undefined, 'http://[::1]/x'],
  ['http://h/?', undefined, 'http://h/?'],
]) {
  equal(new URL(input, base).href, href, input);
}
for (const bad of ['nope', 'http://', 'http://h:99999', 'http://a b/', '']) {
  throws(() => new URL(bad), 'Invalid URL');
  equal(URL.canParse(bad), false);
}

const url = new URL('http://u:p@h:81/a/b?x=1&x=2#z');
equal(
  [url.protocol, url.username, url.password, url.host, url.hostname, url.port, url.pathname, url.search, url.hash, url.origin],
  ['http:', 'u', 'p', 'h:81', 'h', '81', '/a/b', '?x=1&x=2', '#z', 'http://h:81'],
);
url.searchParams.append('n', 'a b&c');
equal(url.search, '?x=1&x=2&n=a+b%26c');
url.search = 'only=1';
equal([url.searchParams.get('only'), url.searchParams.get('x')], ['1', null]);
url.searchParams.delete('only');
Object.assign(url, { port: '80', hash: '', pathname: '/p q', hostname: 'other.test' });
equal(String(url), 'http://u:p@other.test/p%20q');
equal(JSON.stringify({ url }), '{"url":"http://u:p@other.test/p%20q"}');

const params = new URLSearchParams('?a=1&b=2&a=3&c=%20+y&d');
equal([params.get('a'), params.getAll('a'), params.has('z'), params.get('c'), params.get('d'), params.size], ['1', ['1', '3'], false, '  y', '', 5]);
params.set('a', 'x');
params.delete('c');
params.sort();
equal(params.toString(), 'a=x&b=2&d=');
equal([...params.keys()].join() + [...params.values()].join(), 'a,b,dx,2,');
equal(new URLSearchParams({ q: 'ü *', n: 1 }).toString(), 'q=%C3%BC+*&n=1');
equal(new URLSearchParams([['a', 'b'], ['c', "~!'()"]]).toString(), 'a=b&c=%7E%21%27%28%29');
equal(new URLSearchParams('%zz=%C3%BC%ff').toString(), '%25zz=%C3%BC%EF%BF%BD');
throws(() => new URLSearchParams([['a']]), 'a name and a value');
