// A file that each user fills in, as a part of a form.
import http from 'k6/http';
import { check } from 'k6';

const template = open('./lib/entity.xml');

export const options = { scenarios: { each: { executor: 'per-vu-iterations', vus: 3, iterations: 1 } } };

export default function () {
  const id = String(100 + __VU);
  const xml = template.replace(/ENTITY/g, id);
  const form = { file: http.file(xml, `${id}.xml`, 'application/xml') };
  check(http.post(`${__ENV.BASE}/entities/${id}`, form), { stored: (r) => r.status === 201 });
  http.get(`${__ENV.BASE}/entities/${id}/name`, { tags: { name: `${__ENV.BASE}/entities/:id/name` } });
}
