import {
  html,
  LitElement,
  nothing,
  type PropertyDeclarations,
  type PropertyValues,
  type TemplateResult,
} from 'lit';
import type { Params } from '../../client/index.js';
import type { Asker } from '../asking/asker.js';
import type { Origin, Picks } from '../asking/picks.js';
import type { Question } from '../asking/question.js';
import type { Common } from '../charts/common.js';

/** Each round asks everything again; a fresh one past all caches. */
export interface Round {
  readonly number: number;
  readonly fresh: boolean;
}

/** What a panel asks with: who, about what, and which time round. */
export interface Desk {
  readonly asker: Asker;
  readonly picks: Picks;
  readonly round: Round;
  /** The airport whose board is shown while none is picked. */
  readonly home: Origin;
  /** How far the charts reach that stand side by side. */
  readonly common: Common;
}

/** What stands around an answer. */
export interface Frame<Result> {
  readonly heading: string;
  readonly hint?: string;
  /** What there is to see, in a sentence. */
  readonly finding?: (result: Result) => string;
  readonly answer: (result: Result) => TemplateResult;
  /** These stand in the panel's head. */
  readonly tools?: TemplateResult;
}

/** A panel that asks one question of its desk, and another one when the picks change. */
export abstract class Asking<Result> extends LitElement {
  static override properties: PropertyDeclarations = { desk: { attribute: false } };
  desk!: Desk;

  protected abstract readonly question: Question<Result>;

  /** The question's parameters, as the picks have them. */
  protected abstract params(): Params;

  protected get picks(): Picks {
    return this.desk.picks;
  }

  override willUpdate(changed: PropertyValues<this>): void {
    const before = changed.get('desk')?.round.number;
    const { asker, round } = this.desk;
    const again = before !== undefined && before !== round.number;
    if (again) void this.question.ask(asker, this.params(), round.fresh);
    else this.question.askOnce(asker, this.params());
  }

  protected frame({ heading, hint = '', finding, answer, tools }: Frame<Result>): TemplateResult {
    const { result, state } = this.question;
    return html`
      <flights-panel
        .heading=${heading}
        .hint=${hint}
        .who=${this.desk.asker.name}
        .state=${state}
        .finding=${finding ? (result === null ? '' : finding(result)) : null}
        ?answered=${result !== null}
        @again=${this.#again}
      >
        ${tools ?? nothing} ${result === null ? nothing : answer(result)}
      </flights-panel>
    `;
  }

  /** How far a scale of this panel goes, beside another person's panel too. */
  protected reach(name: string, values: readonly (number | null)[]): number {
    const furthest = Math.max(0, ...values.map((value) => value ?? 0));
    return this.desk.common.reach(name, this.desk.asker, furthest);
  }

  /** Narrows what the page shows. */
  protected narrow(part: Partial<Picks>): void {
    this.dispatchEvent(new CustomEvent('narrow', { detail: part, bubbles: true, composed: true }));
  }

  #again(): void {
    if (this.question.error?.resumable) void this.question.resume();
    else void this.question.ask(this.desk.asker, this.params());
  }
}

/** What a panel says where no flight matches the picks. */
export const NOTHING_FLEW = 'Nothing flew: no flights match these picks.';

export function nothingFlew(): TemplateResult {
  return html`<p class="soft">${NOTHING_FLEW}</p>`;
}

/** The row with the most of something; none where it is never known. */
export function most<Row>(rows: readonly Row[], by: (row: Row) => number | null): Row | undefined {
  return rows.reduce<Row | undefined>((best, row) => {
    const value = by(row);
    if (value === null) return best;
    return best === undefined || value > (by(best) ?? Number.NEGATIVE_INFINITY) ? row : best;
  }, undefined);
}

/** Remembers the last result, so that an unchanged answer does not redraw a chart. */
export function memo<In extends object, Out>(make: (input: In) => Out): (input: In) => Out {
  let last: { input: In; output: Out } | null = null;
  return (input) => {
    if (last?.input !== input) last = { input, output: make(input) };
    return last.output;
  };
}
