import { css, html, nothing, type TemplateResult } from 'lit';
import type { Airport, Departure, Rows } from '../asking/operations.js';
import { Question } from '../asking/question.js';
import { addDays, clock, dayName, delay } from '../look/format.js';
import { shared, tables } from '../look/styles.js';
import { Asking } from './asking.js';

/** One airport's departures of one day; a flight opens its details. */
export class DeparturesPanel extends Asking<Rows<Departure>> {
  static override properties = {
    step: { state: true },
    search: { state: true },
  };
  /** Days after the first of the period. */
  step = 0;
  search = '';
  protected readonly question = new Question<Rows<Departure>>(this, 'origin_board');
  readonly #found = new Question<Rows<Airport>>(this, 'airports');
  protected params = () => ({ origin: this.picks.origin || this.desk.home, date: this.#day });

  static override styles = [
    shared,
    tables,
    css`
      .tools {
        display: flex;
        flex-wrap: wrap;
        gap: 8px;
      }
      .days {
        display: flex;
        align-items: center;
        gap: 4px;
      }
      .days button {
        width: 36px;
        padding: 0;
      }
      .days span {
        min-width: 6.6em;
        text-align: center;
        font-weight: 550;
      }
      input[type='search'] {
        flex: 1;
        min-width: 150px;
        min-height: 36px;
        padding: 4px 10px;
        border: 1px solid var(--line);
        border-radius: 9px;
        background: var(--card);
      }
      input::placeholder {
        color: var(--soft);
        opacity: 1;
      }
      @container (max-width: 560px) {
        td.to .soft {
          display: none;
        }
      }
      td.to {
        max-width: 15em;
        overflow: hidden;
        text-overflow: ellipsis;
      }
      .late {
        color: var(--failed);
        font-weight: 550;
      }
      tr.cancelled td {
        color: var(--soft);
      }
      .flight {
        font: 550 13px var(--mono);
      }
      .none {
        padding: 18px;
      }
    `,
  ];

  get #day(): string {
    return addDays(this.picks.from, Math.min(this.step, this.#days));
  }

  /** Days in the period, less one. */
  get #days(): number {
    return Math.round((Date.parse(this.picks.to) - Date.parse(this.picks.from)) / 86_400_000);
  }

  override render(): TemplateResult {
    const { origin } = this.params();
    const { carrier, dest } = this.picks;
    return this.frame({
      heading: `Departures from ${origin}${dest ? ` to ${dest}` : ''}`,
      hint: carrier ? `of ${carrier} only` : '',
      answer: ({ rows }) => this.#table(rows),
      tools: this.#tools(),
    });
  }

  #tools(): TemplateResult {
    const step = Math.min(this.step, this.#days);
    return html`
      <div slot="tools" class="tools">
        <div class="days">
          <button aria-label="Day before" ?disabled=${step === 0} @click=${() => this.#walk(-1)}>‹</button>
          <span role="status">${dayName(this.#day)}</span>
          <button aria-label="Day after" ?disabled=${step === this.#days} @click=${() => this.#walk(1)}>›</button>
        </div>
        <input
          type="search"
          placeholder="To: code or name"
          aria-label="Filter by destination: code or name"
          maxlength="50"
          .value=${this.search}
          @input=${this.#filter}
        />
      </div>
    `;
  }

  #table(rows: readonly Departure[]): TemplateResult {
    const shown = this.#shown(rows);
    return html`
      <div class="scroll" tabindex="0" role="region" aria-label="Departures">
        ${shown.length === 0 ? html`<p class="none soft">No departure matches.</p>` : nothing}
        <table ?hidden=${shown.length === 0}>
          <thead>
            <tr>
              <th scope="col">Planned</th>
              <th scope="col">Flight</th>
              <th scope="col">To</th>
              <th scope="col">Left</th>
              <th scope="col" class="right">Delay</th>
            </tr>
          </thead>
          <tbody>
            ${shown.map((row) => this.#row(row))}
          </tbody>
        </table>
      </div>
    `;
  }

  #row(row: Departure): TemplateResult {
    const late = row.dep_delay !== null && row.dep_delay >= 15;
    const open = () =>
      this.dispatchEvent(
        new CustomEvent('flight', { detail: this.#flight(row), bubbles: true, composed: true }),
      );
    return html`<tr class=${row.cancelled ? 'cancelled' : ''}>
      <td class="number">${clock(row.sched_dep_time)}</td>
      <td><button class="plain link flight" @click=${open}>${row.carrier} ${row.flight}</button></td>
      <td class="to" title=${row.dest_name ?? row.dest}>${row.dest} <span class="soft">${row.dest_name ?? ''}</span></td>
      <td class="number">${row.cancelled ? 'cancelled' : clock(row.dep_time)}</td>
      <td class="right ${late ? 'late' : ''}">${delay(row.dep_delay)}</td>
    </tr>`;
  }

  #flight({ carrier, flight }: Departure): FlightPick {
    return { carrier, flight, date: this.#day };
  }

  /** The rows of the picked airline, to the picked destination, and to airports that the surface found for the search. */
  #shown(rows: readonly Departure[]): readonly Departure[] {
    const { carrier, dest } = this.picks;
    const found = this.search === '' ? null : this.#found.result;
    const codes = found && new Set(found.rows.map((airport) => airport.faa));
    return rows.filter(
      (row) =>
        (carrier === '' || row.carrier === carrier) &&
        (dest === '' || row.dest === dest) &&
        (codes === null || codes.has(row.dest)),
    );
  }

  #walk(days: number): void {
    this.step = Math.min(this.step, this.#days) + days;
  }

  #filter(event: InputEvent): void {
    this.search = (event.target as HTMLInputElement).value.trim();
    if (this.search === '') this.#found.leave();
    else void this.#found.ask(this.desk.asker, { search: this.search, limit: 200 });
  }
}

/** Which flight to show the details of. */
export interface FlightPick {
  readonly carrier: string;
  readonly flight: number;
  readonly date: string;
}
