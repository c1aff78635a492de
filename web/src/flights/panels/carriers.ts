import { css, html, type TemplateResult } from 'lit';
import type { CarrierDelays, Rows } from '../asking/operations.js';
import { period } from '../asking/picks.js';
import { Question } from '../asking/question.js';
import { barred, bars } from '../look/bars.js';
import { airlineName, count, mins, percent } from '../look/format.js';
import { shared, tables } from '../look/styles.js';
import { Asking, nothingFlew } from './asking.js';

type Column = 'name' | 'flights' | 'cancelled' | 'mean_delay' | 'median_delay' | 'p90_delay';

const COLUMNS: readonly { readonly name: Column; readonly title: string; readonly hint: string }[] = [
  { name: 'name', title: 'Airline', hint: 'Airline' },
  { name: 'flights', title: 'Flights', hint: 'Flights in the period' },
  { name: 'cancelled', title: 'Cancelled', hint: 'Share of flights that never left' },
  { name: 'mean_delay', title: 'Mean', hint: 'Mean departure delay in minutes' },
  { name: 'median_delay', title: 'Median', hint: 'Median departure delay in minutes' },
  { name: 'p90_delay', title: 'Worst tenth', hint: 'One flight in ten left later than this, in minutes' },
];

/** How many identical questions the crowd button asks at once. */
const CROWD = 10;

/** Who leaves late: one row an airline. */
export class CarriersPanel extends Asking<Rows<CarrierDelays>> {
  static override properties = { sort: { state: true }, down: { state: true }, crowd: { state: true } };
  sort: Column = 'flights';
  down = true;
  /** How many of a crowd's questions shared a run; null before there was one. */
  crowd: { readonly answers: number; readonly coalesced: number } | null = null;
  protected readonly question = new Question<Rows<CarrierDelays>>(this, 'delays_by_carrier');
  protected params = () => period(this.picks);
  #leaving = new AbortController();

  static override styles = [
    shared,
    tables,
    bars,
    css`
      .code {
        display: inline-block;
        min-width: 2.2em;
        text-align: start;
        color: var(--soft);
        font: 500 13px var(--mono);
      }
      .name {
        max-width: 100%;
        overflow: hidden;
        text-overflow: ellipsis;
      }
      thead button {
        color: inherit;
      }
      th[scope='row'] {
        max-width: 13.5em;
        overflow: hidden;
        text-overflow: ellipsis;
      }
      @container (max-width: 540px) {
        .bar,
        :is(th, td):nth-child(5) {
          display: none;
        }
      }
      @container (max-width: 470px) {
        :is(th, td):nth-child(3) {
          display: none;
        }
      }
      @container (max-width: 400px) {
        .code {
          display: none;
        }
        th[scope='row'] {
          max-width: 9.2em;
        }
      }
      .crowd {
        display: flex;
        align-items: center;
        gap: 10px;
        font-size: 13px;
      }
      .crowd button {
        min-height: 30px;
        padding: 2px 10px;
      }
    `,
  ];

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#leaving.abort();
  }

  override render(): TemplateResult {
    return this.frame({
      heading: 'Airline by airline',
      hint: 'departure delay, minutes',
      answer: ({ rows }) => this.#table(rows),
      tools: this.#tools(),
    });
  }

  #tools(): TemplateResult {
    return html`
      <div slot="tools" class="crowd">
        <button ?disabled=${this.question.open} @click=${this.#ask10}>Ask ${CROWD} times at once</button>
        <span class="soft" role="status">
          ${this.crowd ? html`${this.crowd.answers} answers, ${this.crowd.coalesced} coalesced` : ''}
        </span>
      </div>
    `;
  }

  #table(rows: readonly CarrierDelays[]): TemplateResult {
    if (rows.length === 0) return nothingFlew();
    const worst = Math.max(1, ...rows.map((row) => row.mean_delay ?? 0));
    return html`
      <div class="scroll" tabindex="0" role="region" aria-label="Delays by airline">
        <table>
          <thead>
            <tr>${COLUMNS.map((column) => this.#head(column))}</tr>
          </thead>
          <tbody>
            ${this.#sorted(rows).map(
              (row) => html`<tr class=${row.carrier === this.picks.carrier ? 'picked' : ''}>
                <th scope="row" title=${row.name}>
                  <button class="plain name" aria-pressed=${row.carrier === this.picks.carrier} @click=${() => this.#choose(row)}>
                    <span class="code">${row.carrier}</span> <span class="link">${airlineName(row.name)}</span>
                  </button>
                </th>
                <td class="right">${count(row.flights)}</td>
                <td class="right">${percent(row.cancelled, row.flights)}</td>
                <td class="right">${barred((row.mean_delay ?? 0) / worst, mins(row.mean_delay))}</td>
                <td class="right">${mins(row.median_delay)}</td>
                <td class="right">${mins(row.p90_delay)}</td>
              </tr>`,
            )}
          </tbody>
        </table>
      </div>
    `;
  }

  #head({ name, title, hint }: (typeof COLUMNS)[number]): TemplateResult {
    const sorted = this.sort === name ? (this.down ? 'descending' : 'ascending') : 'none';
    const arrow = { descending: ' ↓', ascending: ' ↑', none: '' }[sorted];
    return html`<th scope="col" class=${name === 'name' ? '' : 'right'} aria-sort=${sorted}>
      <button class="plain" title=${hint} @click=${() => this.#sortBy(name)}>${title}${arrow}</button>
    </th>`;
  }

  /** Narrows to one airline; once more, and all are shown again. */
  #choose({ carrier }: CarrierDelays): void {
    this.narrow({ carrier: carrier === this.picks.carrier ? '' : carrier });
  }

  #sortBy(column: Column): void {
    this.down = this.sort === column ? !this.down : column !== 'name';
    this.sort = column;
  }

  #sorted(rows: readonly CarrierDelays[]): CarrierDelays[] {
    const value = (row: CarrierDelays) => {
      if (this.sort === 'cancelled') return row.cancelled / row.flights;
      return row[this.sort] ?? Number.NEGATIVE_INFINITY;
    };
    const order = this.down ? -1 : 1;
    return rows.toSorted((a, b) => {
      const [left, right] = [value(a), value(b)];
      return left === right ? 0 : left < right ? -order : order;
    });
  }

  /** A crowd at one door: the same question many times, run once. */
  async #ask10(): Promise<void> {
    this.#leaving.abort();
    this.#leaving = new AbortController();
    const { signal } = this.#leaving;
    const asked = Array.from({ length: CROWD }, () =>
      this.desk.asker.ask<Rows<CarrierDelays>>('delays_by_carrier', this.params(), { signal }),
    );
    const answers = (await Promise.all(asked)).filter((answer) => answer !== null);
    if (signal.aborted) return;
    const coalesced = answers.filter((answer) => answer.coalesced || answer.cache === 'coalesced').length;
    this.crowd = { answers: answers.length, coalesced };
  }
}
