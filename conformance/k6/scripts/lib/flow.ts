import http, { type RefinedResponse, type ResponseType } from 'k6/http';

export type Page = RefinedResponse<ResponseType | undefined>;

export class Flow {
  constructor(private readonly base: string, public readonly user: string) {}

  open(path: string): Page {
    return http.get(`${this.base}${path}`, { tags: { user: this.user } });
  }
}
