import { css, html, LitElement, nothing, type TemplateResult } from 'lit';
import type { State } from '../../client/index.js';
import { colour, WORDS } from '../asking/kinds.js';
import type { Entry, Requests } from '../asking/requests.js';
import { duration } from '../look/format.js';
import { mark } from '../look/marks.js';
import { card, shared } from '../look/styles.js';

/** Milliseconds between two looks at the clock while a request is open. */
const TICK = 200;
const SHOWN = 24;

/** Every request of the page, newest first: where it stands, and where its time went. */
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
    css`
      section {
        padding: 16px 18px 8px;
      }
      header {
        display: flex;
        align-items: baseline;
        gap: 10px;
        margin-bottom: 8px;
      }
      header span {
        font-size: 13px;
      }
      ol {
        max-height: var(--strip-height, calc(100dvh - 190px));
        margin: 0 -18px;
        padding: 0 18px;
        overflow: auto;
        list-style: none;
      }
      li {
        padding: 9px 0 10px;
        border-top: 1px solid color-mix(in srgb, var(--line) 60%, transparent);
        font-size: 13px;
      }
      .line {
        display: flex;
        align-items: center;
        gap: 6px;
      }
      .kind {
        display: inline-flex;
        align-items: center;
        gap: 5px;
        font-weight: 600;
        white-space: nowrap;
      }
      .line .soft,
      .about {
        overflow: hidden;
        text-overflow: ellipsis;
        white-space: nowrap;
      }
      .line .total {
        margin-inline-start: auto;
        white-space: nowrap;
        font-weight: 600;
        font-variant-numeric: tabular-nums;
      }
      .about code {
        color: var(--ink);
        font: 500 12.5px var(--mono);
      }
      .parts {
        display: flex;
        height: 5px;
        margin: 6px 0 3px;
        gap: 1px;
        border-radius: 3px;
        overflow: hidden;
        background: var(--sunk);
      }
      .parts i {
        min-width: 2px;
      }
      .legend {
        font-variant-numeric: tabular-nums;
      }
      .turn {
        transform-origin: 8px 8px;
        animation: turn 0.9s linear infinite;
      }
      @media (max-width: 1180px) {
        section {
          padding-bottom: 16px;
        }
        ol {
          display: flex;
          gap: 10px;
          margin: 0 -18px -16px;
          padding-bottom: 16px;
        }
        li {
          flex: 0 0 236px;
          padding: 9px 12px 10px;
          border: 1px solid var(--line);
          border-radius: 10px;
        }
        .legend {
          white-space: nowrap;
        }
      }
      @keyframes turn {
        to {
          transform: rotate(1turn);
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
  }

  override render(): TemplateResult {
    const { entries } = this.requests;
    return html`
      <section aria-labelledby="heading">
        <header>
          <h2 id="heading">Requests</h2>
          <span class="soft" role="status">${tally(entries)}</span>
        </header>
        <ol tabindex="0" aria-labelledby="heading">
          ${entries.slice(0, SHOWN).map((entry) => this.#entry(entry))}
        </ol>
      </section>
    `;
  }

  #entry(entry: Entry): TemplateResult {
    const total = (entry.ended ?? performance.now()) - entry.started;
    return html`<li data-kind=${entry.kind} data-operation=${entry.operation}>
      <div class="line">
        <span class="kind" style="color:${colour(entry.kind)}">${mark(entry.kind)} ${WORDS[entry.kind]}</span>
        <span class="soft">${note(entry.state)}</span>
        <span class="total">${duration(total)}</span>
      </div>
      <div class="about soft"><code>${entry.operation}</code> ${entry.about}</div>
      ${this.#parts(entry, total)}
    </li>`;
  }

  /** Where the time of an answered request went: queue, run, and the rest: network, edge, browser. */
  #parts({ state, kind }: Entry, total: number): TemplateResult | typeof nothing {
    if (state.name !== 'done') return nothing;
    const { created, claimed, finished } = state.answer.times;
    if (!created || !claimed || !finished) return nothing;
    // A joined job may be older than this request: its parts are not this one's.
    if (kind === 'coalesced') return nothing;
    const queue = Date.parse(claimed) - Date.parse(created);
    const run = Date.parse(finished) - Date.parse(claimed);
    const rest = Math.max(0, total - queue - run);
    return html`
      <div class="parts" aria-hidden="true">
        <i style="flex:${queue} 0 0;background:var(--queued)"></i>
        <i style="flex:${run} 0 0;background:var(--running)"></i>
        <i style="flex:${rest} 0 0;background:var(--line)"></i>
      </div>
      <div class="legend soft">queue ${duration(queue)} · run ${duration(run)} · rest ${duration(rest)}</div>
    `;
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
      return `job ${state.jobId}`;
    case 'error':
      return state.error.status === null ? state.error.code : `${state.error.status} ${state.error.code}`;
  }
}

function tally(entries: readonly Entry[]): string {
  const open = entries.filter((entry) => entry.ended === null).length;
  const answered = entries.filter((entry) => entry.state.name === 'done').length;
  return `${open > 0 ? `${open} open, ` : ''}${answered} answered`;
}
