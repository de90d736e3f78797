// A chain of forms; classes and types in modules; users by number.
import { check } from 'k6';
import { Flow, type Page } from './lib/flow.ts';

const users: readonly string[] = ['ada', 'grace'];

export const options = { vus: 2, iterations: 4 };

const signIn = (): void => {
  const flow = new Flow(__ENV.BASE, users[(__VU - 1) % users.length]!);
  let page: Page = flow.open('/page');
  for (let step = 0; step < 2; step += 1) {
    page = page.submitForm({ params: { tags: { step: String(step) } } });
  }
  check(page, { 'is signed in': (r) => r.status < 400 });
};

export default signIn;
