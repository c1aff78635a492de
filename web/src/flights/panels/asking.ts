import {
  html,
  LitElement,
  nothing,
  type PropertyDeclarations,
  type PropertyValues,
  type TemplateResult,
} from 'lit';
import type { Params, Plane } from '../../client/index.js';
import { EVERYTHING, type Picks } from '../asking/picks.js';
import type { Question } from '../asking/question.js';
import type { Requests } from '../asking/requests.js';

/** Each round asks everything again; a fresh one past all caches. */
export interface Round {
  readonly number: number;
  readonly fresh: boolean;
}

/** A panel that asks one question of the page's plane, and another one when the picks change. */
export abstract class Asking<Result> extends LitElement {
  static override properties: PropertyDeclarations = {
    plane: { attribute: false },
    requests: { attribute: false },
    picks: { attribute: false },
    round: { attribute: false },
  };
  plane!: Plane;
  requests!: Requests;
  picks: Picks = EVERYTHING;
  round: Round = { number: 0, fresh: false };

  protected abstract readonly question: Question<Result>;

  /** The question's parameters, as the picks have them. */
  protected abstract params(): Params;

  override willUpdate(changed: PropertyValues<this>): void {
    const before = changed.get('round');
    const again = before !== undefined && before.number !== this.round.number;
    if (again) this.question.ask(this.requests, this.plane, this.params(), this.round.fresh);
    else this.question.askOnce(this.requests, this.plane, this.params());
  }

  /** The panel around an answer; `tools` stand in its head. */
  protected frame(
    heading: string,
    hint: string,
    answer: (result: Result) => TemplateResult,
    tools: TemplateResult | typeof nothing = nothing,
  ): TemplateResult {
    const { result, state } = this.question;
    return html`
      <flights-panel
        style="height:100%"
        .heading=${heading} .hint=${hint} .state=${state} ?answered=${result !== null} @again=${this.#again}>
        ${tools} ${result === null ? nothing : answer(result)}
      </flights-panel>
    `;
  }

  #again(): void {
    if (this.question.error?.resumable) this.question.resume(this.requests, this.plane);
    else this.question.ask(this.requests, this.plane, this.params());
  }
}
