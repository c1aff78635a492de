import { css, html, LitElement, nothing, type TemplateResult } from 'lit';
import { createPlane } from '../../client/index.js';
import { Asker } from '../asking/asker.js';
import type { Airline, Rows } from '../asking/operations.js';
import {
  change,
  EVERYTHING,
  ORIGINS,
  type Origin,
  type Picks,
  readPicks,
  writePicks,
} from '../asking/picks.js';
import { Question } from '../asking/question.js';
import { Requests } from '../asking/requests.js';
import { Common } from '../charts/common.js';
import { shared } from '../look/styles.js';
import { applyTheme, nextTheme, readTheme, type Theme } from '../look/theme.js';
import type { Desk, Round } from '../panels/asking.js';
import type { DeparturesPanel, FlightPick } from '../panels/departures.js';
import { layout, pair, panels } from './layout.js';
import { firstName, loadPeople, NobodyError, type Person } from './people.js';

/** The whole page: loads the people, keeps the picks in the address, and gives every panel what it asks with. */
export class Page extends LitElement {
  static override properties = {
    surface: {},
    api: {},
    people: { state: true },
    trouble: { state: true },
    picks: { state: true },
    round: { state: true },
    flight: { state: true },
    theme: { state: true },
  };
  surface = 'flights';
  /** Where the edge is; empty for this page's own origin. */
  api = '';
  people: readonly Person[] = [];
  trouble = '';
  picks: Picks = EVERYTHING;
  round: Round = { number: 0, fresh: false };
  flight: FlightPick | null = null;
  theme: Theme = readTheme();
  readonly #requests = new Requests();
  readonly #airlines = new Question<Rows<Airline>>(this, 'airlines');
  #asker: Asker | null = null;
  /** Asks for the column at the other's side. */
  #other: Asker | null = null;
  #common = new Common(() => this.requestUpdate());
  readonly #returned = () => this.#asker && this.#show(readPicks(location.search));

  static override styles = [
    shared,
    layout,
    css`
      :host {
        max-width: 1680px;
        margin: 0 auto;
        padding: 22px clamp(12px, 2.5vw, 32px) 40px;
      }
      .top {
        display: flex;
        align-items: start;
        gap: 16px;
        margin-bottom: 18px;
      }
      h1 {
        font-size: clamp(22px, 3vw, 30px);
        font-weight: 680;
        letter-spacing: -0.025em;
        line-height: 1.15;
      }
      .top p {
        margin-top: 4px;
        text-wrap: pretty;
      }
      .top button {
        margin-inline-start: auto;
        min-width: 84px;
        font-size: 13px;
      }
      .narrowed {
        display: grid;
        grid-template-columns: minmax(0, 1fr) auto;
        gap: 4px 16px;
        margin: 12px 0;
      }
      .board {
        display: grid;
        grid-template-columns: minmax(0, 1fr) 336px;
        gap: var(--gap);
        align-items: start;
      }
      aside {
        position: sticky;
        top: 16px;
      }
      .trouble {
        max-width: 560px;
        margin: 12vh auto;
        padding: 28px;
        border: 1px solid var(--line);
        border-radius: var(--radius);
        background: var(--card);
        box-shadow: var(--shadow);
      }
      .trouble p {
        margin: 10px 0 16px;
      }
      @media (max-width: 1180px) {
        .narrowed {
          grid-template-columns: minmax(0, 1fr);
        }
        .board {
          grid-template-columns: minmax(0, 1fr);
        }
        aside {
          position: static;
          order: -1;
          min-width: 0;
        }
      }
    `,
  ];

  override connectedCallback(): void {
    super.connectedCallback();
    applyTheme(this.theme);
    window.addEventListener('popstate', this.#returned);
    void this.#load();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    window.removeEventListener('popstate', this.#returned);
  }

  override render(): TemplateResult {
    return html`
      <header class="top">
        <div>
          <h1>Departures from New York, 2013</h1>
          <p class="soft">Every flight out of Newark, Kennedy and LaGuardia, asked live through a queue in PostgreSQL.</p>
        </div>
        <button @click=${this.#turnTheme} aria-label="Colours: ${this.theme}. Change.">◐ ${this.theme}</button>
      </header>
      ${this.#asker ? this.#questions(this.#asker) : this.trouble ? this.#help() : nothing}
    `;
  }

  #questions(asker: Asker): TemplateResult {
    const { picks } = this;
    const airlines = this.#airlines.result?.rows ?? [];
    const pick = (event: CustomEvent<Partial<Picks>>) => this.#pick(event.detail);
    return html`
      <flights-picks
        .picks=${picks}
        .people=${this.people}
        .airlines=${airlines}
        @pick=${pick}
        @again=${(event: CustomEvent<{ fresh: boolean }>) => this.#again(asker, event.detail.fresh)}
      ></flights-picks>
      <div class="narrowed">
        <flights-trail .picks=${picks} .airlines=${airlines} .steps=${this.#steps} @pick=${pick} @back=${() => history.back()}></flights-trail>
        <flights-exports .asker=${asker} .picks=${picks}></flights-exports>
      </div>
      <div class="board">
        <main @flight=${this.#open} @narrow=${pick} @see=${this.#see}>
          ${this.#other ? pair(this.#desk(asker), this.#desk(this.#other), picks) : panels(this.#desk(asker))}
        </main>
        <aside><flights-requests .requests=${this.#requests}></flights-requests></aside>
      </div>
      <flights-details
        .asker=${asker}
        .flight=${this.flight}
        @closed=${() => {
          this.flight = null;
        }}
      ></flights-details>
    `;
  }

  #desk(asker: Asker): Desk {
    const { picks, round } = this;
    return { asker, picks, round, home: this.#home, common: this.#common };
  }

  /** How many steps of this page lie behind in the browser's history. */
  get #steps(): number {
    return (history.state as { readonly steps?: number } | null)?.steps ?? 0;
  }

  get #home(): Origin {
    return ORIGINS.find((code) => this.#person?.scope.includes(code)) ?? ORIGINS[0];
  }

  #help(): TemplateResult {
    return html`
      <div class="trouble" role="alert">
        <h2>Nobody to ask as</h2>
        <p>${this.trouble} The demo writes one with a token for each of its people; run <code>make demo</code>.</p>
        <button @click=${this.#load}>Look again</button>
      </div>
    `;
  }

  get #person(): Person | undefined {
    return this.people.find(({ label }) => label === this.picks.user);
  }

  async #load(): Promise<void> {
    this.trouble = '';
    try {
      this.people = await loadPeople();
    } catch (error) {
      this.trouble =
        error instanceof NobodyError ? error.message : `users.json cannot be read: ${String(error)}.`;
      return;
    }
    this.#show(readPicks(location.search));
    history.replaceState(history.state, '', `${location.pathname}${writePicks(this.picks)}`);
  }

  /** A choice made here: one step, from which there is a way back. */
  #pick(part: Partial<Picks>): void {
    const steps = this.#steps + 1;
    const picks = change(this.picks, part);
    if (writePicks(picks) === writePicks(this.picks)) return;
    history.pushState({ steps }, '', `${location.pathname}${writePicks(picks)}`);
    this.#show(picks);
  }

  #show(picks: Picks): void {
    const known = (label: string) => this.people.some((person) => person.label === label);
    const user = known(picks.user) ? picks.user : (this.people[0]?.label ?? '');
    const before = this.picks;
    this.picks = change(picks, { user, beside: known(picks.beside) ? picks.beside : '' });
    const { beside } = this.picks;
    if (user !== before.user || (beside === '') !== (before.beside === '')) this.#become();
    if (user !== before.user || beside !== before.beside)
      this.#common = new Common(() => this.requestUpdate());
    if (beside !== before.beside) this.#other = beside ? this.#askAs(beside, firstName(beside)) : null;
  }

  /** Asks as the picked person from now on. */
  #become(): void {
    const { user, beside } = this.picks;
    this.#asker = this.#askAs(user, beside ? firstName(user) : '');
    void this.#airlines.ask(this.#asker, {});
  }

  #askAs(label: string, name: string): Asker {
    const find = (people: readonly Person[]) => people.find((person) => person.label === label)?.token ?? '';
    const token = async ({ refresh }: { refresh: boolean }) => {
      if (refresh) this.people = await loadPeople();
      return find(this.people);
    };
    const plane = createPlane({ baseUrl: this.api, surface: this.surface, token });
    return new Asker(this.#requests, plane, name);
  }

  #again(asker: Asker, fresh: boolean): void {
    this.round = { number: this.round.number + 1, fresh };
    void this.#airlines.ask(asker, {}, fresh);
  }

  #see(): void {
    const board = this.renderRoot.querySelector<DeparturesPanel>('flights-board');
    board?.scrollIntoView({ block: 'center' });
    board?.renderRoot.querySelector<HTMLElement>('.scroll')?.focus();
  }

  #open(event: CustomEvent<FlightPick>): void {
    this.flight = event.detail;
  }

  #turnTheme(): void {
    this.theme = nextTheme(this.theme);
    applyTheme(this.theme);
  }
}
