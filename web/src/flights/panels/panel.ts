import { css, html, LitElement, nothing, type TemplateResult } from 'lit';
import type { PlaneError, State } from '../../client/index.js';
import { colour, kindOf, WORDS } from '../asking/kinds.js';
import { mark } from '../look/marks.js';
import { card, shared } from '../look/styles.js';

/** The frame of one question: its title, where it stands, and in place of an answer, why there is none. */
export class Panel extends LitElement {
  static override properties = {
    heading: {},
    hint: {},
    state: { attribute: false },
    answered: { type: Boolean },
  };
  heading = '';
  hint = '';
  state: State | null = null;
  /** An answer is in view, perhaps of the question before. */
  answered = false;

  static override styles = [
    shared,
    card,
    css`
      :host {
        display: grid;
      }
      section {
        display: flex;
        min-width: 0;
        flex-direction: column;
        height: 100%;
        padding: 16px 18px 18px;
      }
      header {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: 4px 12px;
        margin-bottom: 12px;
      }
      .hint {
        font-size: 13px;
      }
      .state {
        display: inline-flex;
        align-items: center;
        gap: 5px;
        margin-inline-start: auto;
        font-size: 13px;
        font-weight: 550;
        white-space: nowrap;
      }
      .body {
        display: grid;
        flex: 1;
        min-width: 0;
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
        min-height: 150px;
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
        min-height: 150px;
        border-radius: 10px;
        background: linear-gradient(100deg, var(--sunk) 40%, var(--line) 50%, var(--sunk) 60%) 0 0 / 300% 100%;
        animation: wait 1.8s linear infinite;
      }
      .turn {
        transform-origin: 8px 8px;
        animation: turn 0.9s linear infinite;
      }
      @keyframes turn {
        to {
          transform: rotate(1turn);
        }
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
      <section aria-labelledby="heading" aria-busy=${state !== null && state.name !== 'done' && error === null}>
        <header>
          <h2 id="heading">${this.heading}</h2>
          ${this.hint ? html`<span class="hint soft">${this.hint}</span>` : nothing}
          <slot name="tools"></slot>
          ${state ? this.#state(state) : nothing}
          <slot name="end"></slot>
        </header>
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
    return html`<div class="body ${state?.name === 'done' ? '' : 'stale'}"><slot></slot></div>`;
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
