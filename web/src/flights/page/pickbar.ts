import { css, html, LitElement, type TemplateResult } from 'lit';
import type { Airline } from '../asking/operations.js';
import { FIRST_DAY, LAST_DAY, ORIGINS, type Picks } from '../asking/picks.js';
import { MONTHS, monthDays } from '../look/format.js';
import { shared } from '../look/styles.js';
import type { Person } from './people.js';

const AIRPORTS: Readonly<Record<string, string>> = { EWR: 'Newark', JFK: 'Kennedy', LGA: 'LaGuardia' };

/** The choices: who asks, from where, with whom, when. Fires `pick` with the part that changed. */
export class PickBar extends LitElement {
  static override properties = {
    picks: { attribute: false },
    people: { attribute: false },
    airlines: { attribute: false },
    fresh: { state: true },
  };
  picks!: Picks;
  people: readonly Person[] = [];
  airlines: readonly Airline[] = [];
  fresh = false;

  static override styles = [
    shared,
    css`
      form {
        display: flex;
        flex-wrap: wrap;
        gap: 12px 10px;
        align-items: end;
      }
      label,
      fieldset {
        display: grid;
        gap: 4px;
        min-width: 0;
        margin: 0;
        padding: 0;
        border: 0;
        color: var(--soft);
        font-size: 13px;
      }
      legend {
        float: left;
        padding: 0;
      }
      select,
      input[type='date'] {
        max-width: 100%;
        color: var(--ink);
        font-size: 15px;
      }
      .user {
        flex: 2 1 180px;
        max-width: 300px;
      }
      .beside,
      .airline {
        flex: 1 1 140px;
        max-width: 230px;
      }
      .user select,
      .beside select,
      .airline select {
        width: 100%;
      }
      .choices {
        display: flex;
        border: 1px solid var(--line);
        border-radius: 9px;
        background: var(--card);
        overflow: clip;
        overflow-clip-margin: 4px;
      }
      .choices label {
        display: block;
        padding: 6px 11px;
        color: var(--ink);
        font-size: 15px;
        cursor: pointer;
      }
      .choices label:first-child {
        border-radius: 8px 0 0 8px;
      }
      .choices label:last-child {
        border-radius: 0 8px 8px 0;
      }
      .choices label:has(:checked) {
        background: var(--accent);
        color: var(--on-accent);
      }
      .choices label:has(:focus-visible) {
        outline: 2px solid var(--accent);
        outline-offset: 2px;
      }
      .choices input {
        position: absolute;
        opacity: 0;
        pointer-events: none;
      }
      .again {
        display: flex;
        align-items: center;
        gap: 12px;
        margin-inline-start: auto;
      }
      .again button {
        border-color: var(--accent);
        background: var(--accent);
        color: var(--on-accent);
        font-weight: 550;
      }
      .check {
        display: flex;
        align-items: center;
        gap: 6px;
        min-height: 36px;
      }
      .check input {
        width: 16px;
        height: 16px;
        margin: 0;
        accent-color: var(--accent);
      }
      @media (max-width: 640px) {
        .user,
        .beside,
        .airline {
          flex: 1 1 40%;
          max-width: none;
        }
        .again {
          flex: 1 1 100%;
          max-width: none;
          margin: 0;
        }
        .days {
          flex: 1 1 40%;
        }
        .days input,
        .days select {
          width: 100%;
        }
        .origin {
          flex: 1 1 100%;
        }
        .choices label {
          flex: 1;
          text-align: center;
        }
        .again button {
          flex: 1;
        }
      }
    `,
  ];

  override render(): TemplateResult {
    const { picks } = this;
    return html`
      <form @submit=${(event: Event) => event.preventDefault()} aria-label="What to ask">
        <label class="user">
          Asking as
          <select name="user" @change=${this.#changed}>
            ${this.people.map(({ label }) => html`<option .value=${label} ?selected=${label === picks.user}>${label}</option>`)}
          </select>
        </label>
        <label class="beside">
          Side by side with
          <select name="beside" @change=${this.#changed}>
            <option value="" ?selected=${picks.beside === ''}>nobody</option>
            ${this.people
              .filter(({ label }) => label !== picks.user)
              .map(
                ({ label }) =>
                  html`<option .value=${label} ?selected=${label === picks.beside}>${label}</option>`,
              )}
          </select>
        </label>
        <fieldset class="origin">
          <legend>From</legend>
          <div class="choices">
            ${['', ...ORIGINS].map(
              (code) => html`<label title=${AIRPORTS[code] ?? 'All airports'}>
                <input type="radio" name="origin" .value=${code} .checked=${code === picks.origin} @change=${this.#changed} />
                ${code || 'All'}
              </label>`,
            )}
          </div>
        </fieldset>
        <label class="days">
          First day
          <input type="date" name="from" min=${FIRST_DAY} max=${LAST_DAY} .value=${picks.from} @change=${this.#changed} />
        </label>
        <label class="days">
          Last day
          <input type="date" name="to" min=${FIRST_DAY} max=${LAST_DAY} .value=${picks.to} @change=${this.#changed} />
        </label>
        <label class="days">
          Period
          <select name="period" @change=${this.#span}>
            <option value="" ?selected=${this.#month === ''} disabled hidden>Some days</option>
            <option value="all" ?selected=${this.#month === 'all'}>Whole year</option>
            ${MONTHS.map(
              (name, index) =>
                html`<option .value=${String(index)} ?selected=${this.#month === String(index)}>${name}</option>`,
            )}
          </select>
        </label>
        <label class="airline">
          Airline
          <select name="carrier" .disabled=${this.airlines.length === 0} @change=${this.#changed}>
            <option value="" ?selected=${picks.carrier === ''}>All airlines</option>
            ${this.airlines.map(
              ({ carrier, name }) =>
                html`<option .value=${carrier} ?selected=${carrier === picks.carrier}>${name}</option>`,
            )}
          </select>
        </label>
        <div class="again">
          <label class="check">
            <input type="checkbox" .checked=${this.fresh} @change=${this.#refresh} /> skip caches
          </label>
          <button type="button" @click=${this.#again}>Ask again</button>
        </div>
      </form>
    `;
  }

  /** Which choice of period the days are: "all", a month's number, or "" for any others. */
  get #month(): string {
    const { from, to } = this.picks;
    if (from === FIRST_DAY && to === LAST_DAY) return 'all';
    const month = Number(from.slice(5, 7)) - 1;
    const days = monthDays(month);
    return days.from === from && days.to === to ? String(month) : '';
  }

  #pick(part: Partial<Picks>): void {
    this.dispatchEvent(new CustomEvent('pick', { detail: part }));
  }

  #changed(event: Event): void {
    const { name, value } = event.target as HTMLInputElement | HTMLSelectElement;
    // A date being typed is empty until it is whole.
    if (value !== '' || !['from', 'to'].includes(name)) this.#pick({ [name]: value });
  }

  #span(event: Event): void {
    const { value } = event.target as HTMLSelectElement;
    this.#pick(value === 'all' ? { from: FIRST_DAY, to: LAST_DAY } : monthDays(Number(value)));
  }

  #refresh(event: Event): void {
    this.fresh = (event.target as HTMLInputElement).checked;
  }

  #again(): void {
    this.dispatchEvent(new CustomEvent('again', { detail: { fresh: this.fresh } }));
  }
}
