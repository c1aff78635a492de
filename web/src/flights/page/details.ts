import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import type { Asker } from '../asking/asker.js';
import type { FlightDetails, Rows } from '../asking/operations.js';
import { Question } from '../asking/question.js';
import { clock, count, dayName, delay, maker } from '../look/format.js';
import { shared } from '../look/styles.js';
import type { FlightPick } from '../panels/departures.js';

/** One flight in a dialog: its times, its aircraft, the weather it left in. */
export class Details extends LitElement {
  static override properties = {
    asker: { attribute: false },
    flight: { attribute: false },
  };
  asker!: Asker;
  flight: FlightPick | null = null;
  readonly #question = new Question<Rows<FlightDetails>>(this, 'flight');

  static override styles = [
    shared,
    css`
      dialog {
        width: min(520px, calc(100vw - 24px));
        max-height: calc(100dvh - 24px);
        padding: 0;
        border: 0;
        border-radius: var(--radius);
        background: none;
        color: inherit;
      }
      dialog::backdrop {
        background: rgb(8 14 22 / 45%);
      }
      dl {
        display: grid;
        grid-template-columns: repeat(auto-fit, minmax(130px, 1fr));
        gap: 14px 20px;
        margin: 0;
      }
      dt {
        color: var(--soft);
        font-size: 13px;
      }
      dd {
        margin: 0;
        font-weight: 550;
        font-variant-numeric: tabular-nums;
      }
      .route {
        display: flex;
        align-items: center;
        gap: 12px;
        margin-bottom: 18px;
        font-size: 28px;
        font-weight: 650;
        letter-spacing: 0.02em;
      }
      .route i {
        flex: 1;
        height: 0;
        border-top: 2px dashed var(--line);
      }
      .route + dl {
        margin-bottom: 4px;
      }
      article + article {
        margin-top: 20px;
        padding-top: 20px;
        border-top: 1px solid var(--line);
      }
    `,
  ];

  override willUpdate(changed: PropertyValues<this>): void {
    if (!changed.has('flight')) return;
    if (this.flight) void this.#question.ask(this.asker, { ...this.flight });
    else this.#question.leave();
  }

  override updated(changed: PropertyValues<this>): void {
    if (!changed.has('flight')) return;
    const dialog = this.renderRoot.querySelector('dialog');
    if (this.flight) dialog?.showModal();
    else dialog?.close();
  }

  override render(): TemplateResult {
    const { flight } = this;
    const { state, result } = this.#question;
    const heading = flight ? `${flight.carrier} ${flight.flight}` : '';
    const shown = result?.rows.some((row) => row.carrier === flight?.carrier && row.flight === flight.flight);
    return html`
      <dialog aria-label="Flight ${heading}" @close=${this.#closed} @click=${this.#outside}>
        <flights-panel
          .heading=${heading}
          .hint=${flight ? dayName(flight.date) : ''}
          .state=${state}
          ?answered=${shown}
          @again=${() => flight && this.#question.ask(this.asker, { ...flight })}
        >
          <button slot="end" aria-label="Close" @click=${this.#close}>✕</button>
          ${shown ? result?.rows.map((row) => this.#one(row)) : nothing}
        </flights-panel>
      </dialog>
    `;
  }

  #one(row: FlightDetails): TemplateResult {
    const { plane, weather } = row;
    return html`
      <article>
        <p class="route">${row.origin} <i></i> ${row.dest}</p>
        <dl>
          ${fact('Airline', row.airline)}
          ${fact('Left', row.cancelled ? 'cancelled' : `${clock(row.dep_time)} (${delay(row.dep_delay)})`)}
          ${fact('Planned', `${clock(row.sched_dep_time)} → ${clock(row.sched_arr_time)}`)}
          ${row.cancelled ? nothing : fact('Arrived', `${clock(row.arr_time)} (${delay(row.arr_delay)})`)}
          ${fact('In the air', row.air_time === null ? '–' : `${row.air_time} min`)}
          ${fact('Distance', `${count(row.distance)} miles`)}
          ${fact('Aircraft', plane ? `${maker(plane.manufacturer)} ${plane.model}` : 'not in the registry')}
          ${plane ? fact('Built', plane.year ?? 'unknown') : nothing}
          ${plane ? fact('Seats', plane.seats) : nothing}
          ${fact('Tail number', row.tailnum ?? 'none given')}
          ${weather ? fact('Weather', weatherWords(weather)) : fact('Weather', 'not recorded')}
        </dl>
      </article>
    `;
  }

  #close(): void {
    this.renderRoot.querySelector('dialog')?.close();
  }

  #closed(): void {
    this.dispatchEvent(new CustomEvent('closed'));
  }

  /** A click on the backdrop reaches the dialog itself. */
  #outside(event: MouseEvent): void {
    if (event.target === event.currentTarget) this.#close();
  }
}

function fact(name: string, value: string | number): TemplateResult {
  return html`<div>
    <dt>${name}</dt>
    <dd>${value}</dd>
  </div>`;
}

function weatherWords(weather: NonNullable<FlightDetails['weather']>): string {
  const parts = [
    weather.temp === null ? null : `${Math.round(weather.temp)} °F`,
    weather.wind_speed === null ? null : `wind ${Math.round(weather.wind_speed)} mph`,
    weather.precip > 0 ? `${weather.precip}″ of rain or snow` : 'dry',
  ];
  return parts.filter((part) => part !== null).join(', ');
}
