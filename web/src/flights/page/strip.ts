import { css, html, LitElement, type TemplateResult } from 'lit';
import type { State } from '../../client/index.js';
import { colour, WORDS } from '../asking/kinds.js';
import type { Entry, Requests } from '../asking/requests.js';
import { duration } from '../look/format.js';
import { mark, marks } from '../look/marks.js';
import { card, shared } from '../look/styles.js';
import { bar } from './times.js';

/** Milliseconds between two looks at the clock while a request is open. */
const TICK = 200;
const SHOWN = 60;
/** Requests that begin within this many milliseconds of one another were asked together. */
const TOGETHER = 250;

/** Every request of the page, newest first, those asked together side by side on one axis of time. */
export class RequestStrip extends LitElement {
  static override properties = { requests: { attribute: false } };
  requests!: Requests;
  #ticking: ReturnType<typeof setInterval> | undefined;
  readonly #changed = () => {
    this.requestUpdate();
    this.#tick();
  };

  static override styles = [
    shared,
    card,
    marks,
    css`
      section {
        padding: 14px 16px 0;
      }
      header {
        display: flex;
        align-items: baseline;
        gap: 10px;
        min-height: 24px;
      }
      header span,
      .keys {
        font-size: 13px;
      }
      .keys {
        display: flex;
        flex-wrap: wrap;
        gap: 0 12px;
        margin: 2px 0 8px;
        font-size: 12px;
      }
      .keys span::before {
        display: inline-block;
        width: 10px;
        height: 6px;
        margin-inline-end: 5px;
        border-radius: 3px;
        background: var(--is);
        content: "";
        vertical-align: 1px;
      }
      .scroll {
        height: var(--strip-height, calc(100dvh - 130px));
        margin: 0 -16px;
        padding: 0 16px 10px;
        overflow: auto;
        border-radius: 0 0 var(--radius) var(--radius);
      }
      h3 {
        display: flex;
        justify-content: space-between;
        gap: 8px;
        padding: 8px 0 4px;
        border-top: 1px solid var(--line);
        font-size: 12px;
        font-weight: 550;
        font-variant-numeric: tabular-nums;
      }
      ol {
        margin: 0 0 8px;
        padding: 0;
        list-style: none;
      }
      li {
        padding: 4px 0;
        font-size: 13px;
        line-height: 1.35;
      }
      .line {
        display: grid;
        grid-template-columns: 16px minmax(0, 1fr) auto auto;
        align-items: center;
        gap: 6px;
      }
      .mark {
        display: inline-flex;
      }
      .line code {
        overflow: hidden;
        font: 500 12.5px var(--mono);
        text-overflow: ellipsis;
        white-space: nowrap;
      }
      .who {
        padding: 0 6px;
        border-radius: 99px;
        background: var(--sunk);
        font-size: 11.5px;
        white-space: nowrap;
      }
      .how {
        display: grid;
        grid-template-columns: 7.4em minmax(0, 1fr);
        align-items: center;
        gap: 6px;
        margin-inline-start: 22px;
        font-size: 12px;
      }
      .word {
        overflow: hidden;
        text-overflow: ellipsis;
        white-space: nowrap;
      }
      .word b {
        font-weight: 550;
      }
      /* A refusal says more than where its time went. */
      li:is([data-kind='refused'], [data-kind='failed']) .how {
        grid-template-columns: minmax(0, 1fr);
      }
      li:is([data-kind='refused'], [data-kind='failed']) .parts {
        display: none;
      }
      .total {
        font-size: 12.5px;
        font-variant-numeric: tabular-nums;
        font-weight: 600;
        white-space: nowrap;
      }
      .parts {
        height: 6px;
        border-radius: 3px;
        background: linear-gradient(90deg, var(--times)) var(--sunk);
      }
      @media (max-width: 1180px) {
        .scroll {
          --strip-height: 190px;
        }
        ol {
          columns: 250px;
          column-gap: 24px;
        }
        li {
          break-inside: avoid;
        }
      }
    `,
  ];

  override connectedCallback(): void {
    super.connectedCallback();
    this.requests.addEventListener('change', this.#changed);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.requests.removeEventListener('change', this.#changed);
    clearInterval(this.#ticking);
    this.#ticking = undefined;
  }

  override render(): TemplateResult {
    const { entries } = this.requests;
    const now = performance.now();
    return html`
      <section aria-labelledby="heading">
        <header>
          <h2 id="heading">Requests</h2>
          <span class="soft" role="status">${tally(entries)}</span>
        </header>
        <p class="keys soft">
          <span style="--is:var(--queued)">in the queue</span>
          <span style="--is:var(--running)">running</span>
          <span style="--is:var(--soft)">the way there and back</span>
        </p>
        <div class="scroll" tabindex="0" role="region" aria-labelledby="heading">
          ${rounds(entries.slice(0, SHOWN)).map((round) => this.#round(round, now))}
        </div>
      </section>
    `;
  }

  #round(entries: readonly Entry[], now: number): TemplateResult {
    const begun = Math.min(...entries.map(({ started }) => started));
    const ended = Math.max(...entries.map((entry) => entry.ended ?? now));
    const span = Math.max(1, ended - begun);
    return html`
      <h3 class="soft">
        <span>${entries.length === 1 ? 'asked alone' : `${entries.length} asked together`}</span>
        <span>${duration(span)}</span>
      </h3>
      <ol>
        ${entries.map((entry) => this.#entry(entry, now, begun, span))}
      </ol>
    `;
  }

  #entry(entry: Entry, now: number, begun: number, span: number): TemplateResult {
    const { kind, operation, about, who, state, started } = entry;
    const total = (entry.ended ?? now) - started;
    return html`<li data-kind=${kind} data-operation=${operation} title=${`${operation} ${about}`}>
      <div class="line">
        <span class="mark" style="color:${colour(kind)}">${mark(kind)}</span>
        <code>${operation}</code>
        ${who ? html`<span class="who soft">${who}</span>` : html`<span></span>`}
        <span class="total">${duration(total)}</span>
      </div>
      <div class="how">
        <span class="word"><b style="color:${colour(kind)}">${WORDS[kind]}</b> <span class="soft">${note(state)}</span></span>
        ${bar(entry, total, started - begun, span)}
      </div>
    </li>`;
  }

  #tick(): void {
    const open = this.requests.entries.some((entry) => entry.ended === null);
    if (open) this.#ticking ??= setInterval(() => this.requestUpdate(), TICK);
    else {
      clearInterval(this.#ticking);
      this.#ticking = undefined;
    }
  }
}

/** Entries, newest first, in groups that were asked together. */
function rounds(entries: readonly Entry[]): Entry[][] {
  const groups: Entry[][] = [];
  for (const entry of entries) {
    const group = groups.at(-1);
    const last = group?.at(-1);
    if (group && last && last.started - entry.started < TOGETHER) group.push(entry);
    else groups.push([entry]);
  }
  return groups;
}

/** What else is worth saying of a state, in a few words. */
function note(state: State): string {
  switch (state.name) {
    case 'submitting':
      return state.retry ? `busy, asks again in ${duration(state.retry.inMs)}` : '';
    case 'queued':
      return [state.coalesced ? 'joined' : '', state.position ? `place ${state.position}` : '']
        .filter(Boolean)
        .join(', ');
    case 'running':
      return state.coalesced ? 'joined' : (state.progress?.message ?? '');
    case 'done':
      return '';
    case 'error':
      return state.error.status === null ? state.error.code : `${state.error.status} ${state.error.code}`;
  }
}

function tally(entries: readonly Entry[]): string {
  const open = entries.filter((entry) => entry.ended === null).length;
  const answered = entries.filter((entry) => entry.state.name === 'done').length;
  return `${open > 0 ? `${open} open, ` : ''}${answered} answered`;
}
