import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { type BlobRef, blobsOf, type Params, PlaneError } from '../../client/index.js';
import type { Asker } from '../asking/asker.js';
import type { FlightsFile } from '../asking/operations.js';
import { carrierPeriod, EVERYTHING, type Picks } from '../asking/picks.js';
import { Question } from '../asking/question.js';
import { bytes, MONTHS, many } from '../look/format.js';
import { shared } from '../look/styles.js';

/** One file to be had: asked for, made by a worker, saved by the browser. */
export class Export extends LitElement {
  static override properties = {
    asker: { attribute: false },
    operation: {},
    label: {},
    params: {
      attribute: false,
      hasChanged: (a: Params, b: Params) => JSON.stringify(a) !== JSON.stringify(b),
    },
    saved: { state: true },
    trouble: { state: true },
  };
  asker!: Asker;
  operation = '';
  label = '';
  params: Params = {};
  /** The file that was last given to the browser. */
  saved: BlobRef | null = null;
  trouble = '';
  #question!: Question<FlightsFile>;

  static override styles = [
    shared,
    css`
      div {
        display: flex;
        align-items: center;
        gap: 8px;
        min-height: 34px;
        font-size: 13px;
      }
      button {
        min-height: 30px;
        padding: 2px 10px;
        white-space: nowrap;
      }
      progress {
        width: 90px;
        height: 8px;
        accent-color: var(--accent);
      }
      .said:empty {
        display: none;
      }
      .said {
        font-variant-numeric: tabular-nums;
      }
      .trouble {
        color: var(--failed);
      }
    `,
  ];

  override willUpdate(changed: PropertyValues<this>): void {
    this.#question ??= new Question<FlightsFile>(this, this.operation);
    // Another person's file, or another period's: what was said is of no use.
    if (changed.has('asker') || (changed.has('params') && !this.#question.open)) this.#forget();
  }

  override render(): TemplateResult {
    const question = this.#question;
    return html`<div>
      ${
        question.open
          ? html`<button @click=${this.#cancel}>Cancel <span class="unseen">${this.label}</span></button>${this.#progress()}`
          : html`<button @click=${this.#start}>${question.error?.resumable ? `Wait on for ${this.label}` : this.label}</button>`
      }
      <span class="said" role="status">${this.#said()}</span>
    </div>`;
  }

  #progress(): TemplateResult {
    const { state } = this.#question;
    const progress = state?.name === 'running' ? state.progress : null;
    const { done, total } = progress ?? {};
    // Of nothing yet done a full stop at the left would say that it stands still.
    return total && done
      ? html`<progress aria-label="Making ${this.label}" max=${total} .value=${done}></progress>`
      : html`<progress aria-label="Making ${this.label}"></progress>`;
  }

  #said(): TemplateResult | string | typeof nothing {
    const { state, error, open, answer } = this.#question;
    if (open) {
      if (state?.name !== 'running') return 'waiting for a worker';
      return state.progress?.message ?? 'being made';
    }
    const trouble = error ? (error.detail ?? error.title) : this.trouble;
    if (trouble) return html`<span class="trouble">${trouble}</span>`;
    const { saved } = this;
    if (!saved || !answer) return nothing;
    const { rows, pages } = answer.result;
    const what = rows !== undefined ? many(rows, 'row') : many(pages ?? 0, 'page');
    return html`<span class="soft" title=${saved.filename ?? ''}>✓ ${what}, ${bytes(saved.size)}</span>`;
  }

  async #start(): Promise<void> {
    this.trouble = '';
    this.saved = null;
    const question = this.#question;
    const { asker, params } = this;
    const answer = await (question.error?.resumable ? question.resume() : question.ask(asker, params));
    const [file] = answer ? blobsOf(answer) : [];
    if (!file) return;
    try {
      save(await asker.plane.blobUrl(file), file.filename ?? this.operation);
      this.saved = file;
    } catch (error) {
      if (!(error instanceof PlaneError)) throw error;
      this.trouble = error.detail ?? error.title;
    }
  }

  /** Nobody waits for the file any more: the edge stops the job. */
  #cancel(): void {
    this.#forget();
  }

  #forget(): void {
    this.#question.forget();
    this.saved = null;
    this.trouble = '';
  }
}

/** The browser saves it by itself: not a byte of it passes through this page. */
function save(address: string, name: string): void {
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
}

/** The files that the picks can be had as. */
export class Exports extends LitElement {
  static override properties = { asker: { attribute: false }, picks: { attribute: false } };
  asker!: Asker;
  picks: Picks = EVERYTHING;

  static override styles = [
    shared,
    css`
      :host {
        display: flex;
        gap: 0 14px;
      }
      @media (max-width: 640px) {
        :host {
          flex-direction: column;
        }
      }
    `,
  ];

  override render(): TemplateResult {
    const { origin, from } = this.picks;
    const month = Number(from.slice(5, 7));
    const report = { month, ...(origin ? { origin } : {}) };
    return html`
      <flights-export .asker=${this.asker} operation="flights_csv" label="CSV" .params=${carrierPeriod(this.picks)}></flights-export>
      <flights-export
        .asker=${this.asker}
        operation="month_report"
        label="Month as PDF: ${MONTHS[month - 1]}"
        .params=${report}
      ></flights-export>
    `;
  }
}
