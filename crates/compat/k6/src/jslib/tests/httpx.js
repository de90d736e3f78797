import { equal } from 'assert';
import { Get, Httpx, Post, Request } from 'https://jslib.k6.io/httpx/1.0.0/index.js';

const { sent } = globalThis;
const session = new Httpx({ baseURL: 'http://a.test', headers: { A: '1' }, timeout: 20000 });
session.addHeader('B', '2');
session.addTag('team', 'x');
equal(session.get('/p', { headers: { A: '9' }, tags: { k: 'v' } }).status, 200);
equal(sent.pop(), ['GET', 'http://a.test/p', null, { timeout: 20000, headers: { A: '9', B: '2' }, tags: { team: 'x', k: 'v' } }]);
session.post('http://b.test/q', { n: 1 });
equal(sent.pop().slice(0, 3), ['POST', 'http://b.test/q', { n: 1 }]);
session.delete('/d');
equal(sent.pop().slice(0, 2), ['DELETE', 'http://a.test/d']);
session.removeHeader('B');
session.clearTags();
session.setBaseUrl('http://c.test');
session.request('PATCH', '/e', 'body', { timeout: 5 });
equal(sent.pop(), ['PATCH', 'http://c.test/e', 'body', { timeout: 5, headers: { A: '1' }, tags: {} }]);

const answers = session.batch([Get('/1'), new Post('/2', 'x', { tags: { own: 'y' } }), new Request('PUT', '/3')], { tags: { all: 'z' } });
equal(answers.length, 3);
equal(sent.map(([method, url, body, params]) => [method, url, body, params.tags]), [
  ['GET', 'http://c.test/1', null, { all: 'z' }],
  ['POST', 'http://c.test/2', 'x', { all: 'z', own: 'y' }],
  ['PUT', 'http://c.test/3', null, { all: 'z' }],
]);
equal((await session.asyncGet('/later')).status, 200);
