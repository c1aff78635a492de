import { css, html, LitElement, nothing, type TemplateResult } from 'lit';
import type { Airline } from '../asking/operations.js';
import { EVERYTHING, type Picks } from '../asking/picks.js';
import { periodWords } from '../look/format.js';
import { shared } from '../look/styles.js';

/** What the page is narrowed to, and the ways back. Fires `pick` with what is to change, and `back`. */
export class Trail extends LitElement {
  static override properties = {
    picks: { attribute: false },
    airlines: { attribute: false },
    steps: { type: Number },
  };
  picks: Picks = EVERYTHING;
  airlines: readonly Airline[] = [];
  /** How many steps of this page lie behind. */
  steps = 0;

  static override styles = [
    shared,
    css`
      nav {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: 6px 8px;
        min-height: 34px;
        font-size: 13px;
      }
      button {
        min-height: 30px;
        padding: 2px 10px;
      }
      .chip {
        border-radius: 99px;
        background: color-mix(in srgb, var(--accent) 10%, var(--card));
      }
    `,
  ];

  override render(): TemplateResult {
    const chips = this.#chips();
    return html`
      <nav aria-label="What is shown">
        <button ?disabled=${this.steps === 0} @click=${() => this.dispatchEvent(new CustomEvent('back'))}>‹ Back</button>
        ${chips.length === 0 ? html`<span class="soft">Nothing left out: the whole year, all airlines, every airport you may see.</span>` : nothing}
        ${chips.map(
          ({
            text,
            part,
          }) => html`<button class="chip" aria-label="No longer only ${text}" @click=${() => this.#pick(part)}>
            ${text} <span aria-hidden="true">✕</span>
          </button>`,
        )}
        ${chips.length > 1 ? html`<button @click=${() => this.#pick(ALL)}>Show all</button>` : nothing}
      </nav>
    `;
  }

  #chips(): { readonly text: string; readonly part: Partial<Picks> }[] {
    const { origin, carrier, dest, from, to } = this.picks;
    const airline = this.airlines.find((one) => one.carrier === carrier)?.name ?? carrier;
    const chips = [];
    if (origin) chips.push({ text: `from ${origin}`, part: { origin: ALL.origin } });
    if (carrier) chips.push({ text: airline, part: { carrier: ALL.carrier } });
    if (from !== ALL.from || to !== ALL.to) {
      chips.push({ text: periodWords(from, to), part: { from: ALL.from, to: ALL.to } });
    }
    if (dest) chips.push({ text: `departures to ${dest}`, part: { dest: ALL.dest } });
    return chips;
  }

  #pick(part: Partial<Picks>): void {
    this.dispatchEvent(new CustomEvent('pick', { detail: part }));
  }
}

const { user: _user, beside: _beside, ...ALL } = EVERYTHING;
