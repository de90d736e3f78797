// Each iteration of the test takes its own user from a pool.
import http from 'k6/http';
import exec from 'k6/execution';
import { check } from 'k6';

const users = JSON.parse(open('./lib/users.json'));

export const options = { scenarios: { query: { executor: 'shared-iterations', vus: 3, iterations: 6 } } };

export default function () {
  const user = users[exec.scenario.iterationInTest % users.length];
  const query = 'query ($id: ID!) { school(id: $id) { name } }';
  const answer = http.post(`${__ENV.BASE}/graphql`, JSON.stringify({ query, variables: { id: exec.scenario.iterationInTest } }), {
    headers: { 'Content-Type': 'application/json' },
    cookies: { access: user.cookie },
  });
  check(answer, { 'has data': (r) => Boolean(r.json('items.0.id')), 'no errors': (r) => r.json('errors') === undefined });
}
