import { css, html, LitElement, nothing, type TemplateResult } from 'lit';
import type { PlaneError, State } from '../../client/index.js';
import { colour, kindOf, WORDS } from '../asking/kinds.js';
import { mark, marks } from '../look/marks.js';
import { card, shared } from '../look/styles.js';

/** The frame of one question: its title, where it stands, and in place of an answer, why there is none. */
export class Panel extends LitElement {
  static override properties = {
    heading: {},
    hint: {},
    who: {},
    finding: { attribute: false },
    state: { attribute: false },
    answered: { type: Boolean },
  };
  heading = '';
  hint = '';
  /** Whose answer it is, where more than one person asks. */
  who = '';
  /** What there is to see, in a sentence; null where nothing is said. */
  finding: string | null = null;
  state: State | null = null;
  /** An answer is in view, perhaps of the question before. */
  answered = false;

  static override styles = [
    shared,
    card,
    marks,
    css`
      :host {
        display: grid;
        height: 100%;
        min-width: 0;
      }
      section {
        display: flex;
        min-width: 0;
        min-height: 0;
        flex-direction: column;
        padding: 14px 18px 18px;
      }
      header {
        display: flex;
        align-items: baseline;
        gap: 12px;
        min-height: 24px;
        margin-bottom: 8px;
      }
      .title {
        display: flex;
        flex: 1;
        flex-wrap: wrap;
        align-items: baseline;
        gap: 0 10px;
        min-width: 0;
      }
      ::slotted([slot='tools']) {
        margin-bottom: 10px;
      }
      .who {
        padding: 1px 8px;
        border-radius: 99px;
        background: var(--sunk);
        font-size: 12px;
        font-weight: 550;
      }
      .finding {
        min-height: 2.8em;
        margin-bottom: 10px;
        font-size: 14px;
        line-height: 1.4;
        text-wrap: pretty;
      }
      .hint {
        font-size: 13px;
      }
      .state {
        display: inline-flex;
        align-items: center;
        align-self: start;
        gap: 5px;
        justify-content: flex-end;
        min-width: 7.4em;
        font-size: 13px;
        font-weight: 550;
        white-space: nowrap;
      }
      .body {
        display: flex;
        flex: 1;
        flex-direction: column;
        min-width: 0;
        min-height: 0;
      }
      .place {
        display: grid;
        flex: 1;
        grid-template: minmax(0, 1fr) / minmax(0, 1fr);
        min-height: 0;
      }
      /* An answer that comes at once does not flicker. */
      .body.stale {
        opacity: 0.45;
        transition: opacity 0.2s 0.15s;
      }
      .message {
        display: grid;
        flex: 1;
        place-content: center;
        justify-items: center;
        gap: 8px;
        min-height: 0;
        padding: 12px;
        text-align: center;
        text-wrap: balance;
      }
      .message svg {
        width: 30px;
        height: 30px;
        stroke-width: 1.2;
      }
      .ghost {
        flex: 1;
        min-height: 0;
        border-radius: 10px;
        background: linear-gradient(100deg, var(--sunk) 40%, var(--line) 50%, var(--sunk) 60%) 0 0 / 300% 100%;
        animation: wait 1.8s linear infinite;
      }
      @keyframes wait {
        from {
          background-position: 100% 0;
        }
        to {
          background-position: 0 0;
        }
      }
    `,
  ];

  override render(): TemplateResult {
    const { state } = this;
    const error = state?.name === 'error' ? state.error : null;
    return html`
      <section
        aria-label=${this.who ? `${this.heading}, ${this.who}` : this.heading}
        aria-busy=${state !== null && state.name !== 'done' && error === null}
      >
        <header>
          <div class="title">
          <h2>${this.heading}</h2>
          ${this.who ? html`<span class="who">${this.who}</span>` : nothing}
          ${this.hint ? html`<span class="hint soft">${this.hint}</span>` : nothing}
          </div>
          ${state ? this.#state(state) : nothing}
          <slot name="end"></slot>
        </header>
        <slot name="tools"></slot>
        ${error ? this.#message(error) : this.#answer(state)}
      </section>
    `;
  }

  #state(state: State): TemplateResult {
    const kind = kindOf(state);
    return html`<span class="state" style="color:${colour(kind)}">${mark(kind)} ${WORDS[kind]}</span>`;
  }

  #answer(state: State | null): TemplateResult {
    if (!this.answered) return html`<div class="ghost"></div>`;
    return html`
      <div class="body ${state?.name === 'done' ? '' : 'stale'}">
        ${this.finding === null ? nothing : html`<p class="finding soft">${this.finding}</p>`}
        <div class="place"><slot></slot></div>
      </div>
    `;
  }

  #message(error: PlaneError): TemplateResult {
    const kind = kindOf({ name: 'error', jobId: error.jobId, error });
    return html`
      <div class="message" role="status">
        <span style="color:${colour(kind)}">${mark(kind)}</span>
        <strong>${headline(error)}</strong>
        <span class="soft">${error.detail ?? error.title}</span>
        ${error.refused ? nothing : html`<button @click=${this.#again}>${error.resumable ? 'Wait on' : 'Try again'}</button>`}
      </div>
    `;
  }

  #again(): void {
    this.dispatchEvent(new CustomEvent('again'));
  }
}

/** What an error means to the person at the page. */
function headline(error: PlaneError): string {
  if (error.code === 'TIMEOUT') return 'Still running';
  if (error.code === 'NETWORK') return 'The server is out of reach';
  switch (error.status) {
    case 401:
      return 'This token is not accepted';
    case 403:
      return 'Not yours to see';
    case 404:
      return 'Nothing there';
    case 400:
    case 422:
      return 'This cannot be asked';
    case 429:
    case 503:
      return 'Busy just now';
    default:
      return 'This went wrong';
  }
}
