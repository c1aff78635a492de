import type { Answer, Params, Plane } from '../../client/index.js';
import type { AskOptions, Requests } from './requests.js';

/** Somebody who asks: every question goes through this person's plane and onto the page's list. */
export class Asker {
  readonly #requests: Requests;
  readonly plane: Plane;
  /** The person's first name, where more than one asks. */
  readonly name: string;

  constructor(requests: Requests, plane: Plane, name = '') {
    this.#requests = requests;
    this.plane = plane;
    this.name = name;
  }

  ask<Result>(
    operation: string,
    params: Params,
    options: AskOptions<Result>,
  ): Promise<Answer<Result> | null> {
    return this.#requests.ask<Result>(this.plane, operation, params, { ...options, who: this.name });
  }

  resume<Result>(
    jobId: string,
    operation: string,
    options: AskOptions<Result>,
  ): Promise<Answer<Result> | null> {
    return this.#requests.resume<Result>(this.plane, jobId, operation, { ...options, who: this.name });
  }
}
