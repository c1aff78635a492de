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
import type { FlightPick } from '../panels/departures.js';
import { loadPeople, NobodyError, type Person } from './people.js';

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
  readonly #returned = () => this.#show(readPicks(location.search));

  static override styles = [
    shared,
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
        display: flex;
        flex-wrap: wrap;
        justify-content: space-between;
        gap: 4px 16px;
        margin: 12px 0;
      }
      .board {
        display: grid;
        grid-template-columns: minmax(0, 1fr) 336px;
        gap: var(--gap);
        align-items: start;
      }
      main {
        display: grid;
        grid-template-columns: repeat(12, minmax(0, 1fr));
        gap: var(--gap);
      }
      /* Every panel has its height before its answer comes: nothing moves when it does. */
      main > * {
        grid-column: span 12;
        height: var(--height);
        min-width: 0;
      }
      main > .by {
        height: auto;
        min-height: 0;
        font-size: 14px;
      }
      .by b {
        display: block;
        font-size: 18px;
        letter-spacing: -0.01em;
      }
      flights-overview {
        --height: 170px;
      }
      flights-overview.half {
        --height: 262px;
      }
      flights-traffic {
        --height: 280px;
      }
      flights-destinations,
      flights-punctuality {
        --height: 500px;
      }
      flights-carriers,
      flights-hours {
        --height: 480px;
      }
      flights-carrier-months,
      flights-distribution {
        --height: 500px;
      }
      flights-weather,
      flights-aircraft {
        --height: 372px;
      }
      flights-worst-days,
      flights-board {
        --height: 500px;
      }
      .seven {
        grid-column: span 7;
      }
      .five {
        grid-column: span 5;
      }
      .half {
        grid-column: span 6;
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
        .board {
          grid-template-columns: minmax(0, 1fr);
        }
        aside {
          position: static;
          order: -1;
          min-width: 0;
        }
      }
      @media (max-width: 900px) {
        main > * {
          grid-column: span 12 !important;
        }
      }
      @media (max-width: 640px) {
        flights-overview,
        flights-overview.half {
          --height: 352px;
        }
        flights-carrier-months {
          --height: 590px;
        }
        flights-weather {
          --height: 410px;
        }
        flights-carriers,
        flights-hours,
        flights-distribution {
          --height: 430px;
        }
        flights-destinations {
          --height: 440px;
        }
        flights-punctuality {
          --height: 380px;
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
        <main @flight=${this.#open} @narrow=${pick}>
          ${this.#other ? this.#pair(asker, this.#other) : this.#panels(this.#desk(asker))}
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

  #panels(desk: Desk): TemplateResult {
    return html`
      <flights-overview .desk=${desk}></flights-overview>
      <flights-traffic .desk=${desk}></flights-traffic>
      <flights-destinations class="seven" .desk=${desk}></flights-destinations>
      <flights-punctuality class="five" .desk=${desk}></flights-punctuality>
      <flights-carriers class="seven" .desk=${desk}></flights-carriers>
      <flights-hours class="five" .desk=${desk}></flights-hours>
      <flights-carrier-months class="seven" .desk=${desk}></flights-carrier-months>
      <flights-distribution class="five" .desk=${desk}></flights-distribution>
      <flights-weather class="five" .desk=${desk}></flights-weather>
      <flights-aircraft class="seven" .desk=${desk}></flights-aircraft>
      <flights-worst-days class="five" .desk=${desk}></flights-worst-days>
      <flights-board class="seven" .desk=${desk}></flights-board>
    `;
  }

  /** The same questions, asked by two people: their answers stand side by side. */
  #pair(one: Asker, other: Asker): TemplateResult {
    const desks = [this.#desk(one), this.#desk(other)];
    const { user, beside } = this.picks;
    return html`
      ${[user, beside].map((label) => html`<p class="half by soft"><b>${firstName(label)}</b> ${about(label)}</p>`)}
      ${desks.map((desk) => html`<flights-overview class="half" .desk=${desk}></flights-overview>`)}
      ${desks.map((desk) => html`<flights-traffic class="half" .desk=${desk}></flights-traffic>`)}
      ${desks.map((desk) => html`<flights-destinations class="half" .desk=${desk}></flights-destinations>`)}
      ${desks.map((desk) => html`<flights-punctuality class="half" .desk=${desk}></flights-punctuality>`)}
      ${desks.map((desk) => html`<flights-carriers class="half" .desk=${desk}></flights-carriers>`)}
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

  #open(event: CustomEvent<FlightPick>): void {
    this.flight = event.detail;
  }

  #turnTheme(): void {
    this.theme = nextTheme(this.theme);
    applyTheme(this.theme);
  }
}

/** "Cleo (northwind: LGA)" → "Cleo". */
function firstName(label: string): string {
  return label.split(' ')[0] ?? label;
}

/** "Cleo (northwind: LGA)" → "northwind: LGA". */
function about(label: string): string {
  return /\((.*)\)/.exec(label)?.[1] ?? '';
}
