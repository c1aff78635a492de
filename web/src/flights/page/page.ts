import { css, html, LitElement, nothing, type TemplateResult } from 'lit';
import { createPlane, type Plane } from '../../client/index.js';
import type { Airline, Rows } from '../asking/operations.js';
import { change, EVERYTHING, ORIGINS, type Picks, readPicks, writePicks } from '../asking/picks.js';
import { Question } from '../asking/question.js';
import { Requests } from '../asking/requests.js';
import { shared } from '../look/styles.js';
import { applyTheme, nextTheme, readTheme, type Theme } from '../look/theme.js';
import type { Round } from '../panels/asking.js';
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
  #plane: Plane | null = null;

  static override styles = [
    shared,
    css`
      :host {
        max-width: 1500px;
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
      flights-picks {
        margin-bottom: 18px;
      }
      .board {
        display: grid;
        grid-template-columns: minmax(0, 1fr) 340px;
        gap: var(--gap);
        align-items: start;
      }
      main {
        display: grid;
        grid-template-columns: repeat(12, minmax(0, 1fr));
        gap: var(--gap);
      }
      .wide {
        grid-column: span 12;
      }
      .left {
        grid-column: span 7;
      }
      .right {
        grid-column: span 5;
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
        .left,
        .right {
          grid-column: span 12;
        }
        .wide,
        .left {
          --chart-height: 210px;
        }
      }
    `,
  ];

  override connectedCallback(): void {
    super.connectedCallback();
    applyTheme(this.theme);
    void this.#load();
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
      ${this.#plane ? this.#questions(this.#plane) : this.trouble ? this.#help() : nothing}
    `;
  }

  #questions(plane: Plane): TemplateResult {
    const requests = this.#requests;
    const { picks, round, flight } = this;
    const home = ORIGINS.find((code) => this.#person?.scope.includes(code)) ?? ORIGINS[0];
    return html`
      <flights-picks
        .picks=${picks}
        .people=${this.people}
        .airlines=${this.#airlines.result?.rows ?? []}
        @pick=${(event: CustomEvent<Partial<Picks>>) => this.#pick(event.detail)}
        @again=${(event: CustomEvent<{ fresh: boolean }>) => this.#again(plane, event.detail.fresh)}
      ></flights-picks>
      <div class="board">
        <main @flight=${this.#open}>
          <flights-traffic class="wide" .plane=${plane} .requests=${requests} .picks=${picks} .round=${round}></flights-traffic>
          <flights-carriers class="left" .plane=${plane} .requests=${requests} .picks=${picks} .round=${round}></flights-carriers>
          <flights-hours class="right" .plane=${plane} .requests=${requests} .picks=${picks} .round=${round}></flights-hours>
          <flights-board class="wide" .plane=${plane} .requests=${requests} .picks=${picks} .round=${round} .home=${home}></flights-board>
        </main>
        <aside><flights-requests .requests=${requests}></flights-requests></aside>
      </div>
      <flights-details
        .plane=${plane}
        .requests=${requests}
        .flight=${flight}
        @closed=${() => {
          this.flight = null;
        }}
      ></flights-details>
    `;
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
    const picks = readPicks(location.search);
    const known = this.people.find(({ label }) => label === picks.user) ?? this.people[0];
    this.#pick({ ...picks, user: known?.label ?? '' });
  }

  #pick(part: Partial<Picks>): void {
    const another = part.user !== undefined && part.user !== this.picks.user;
    this.picks = change(this.picks, part);
    history.replaceState(null, '', `${location.pathname}${writePicks(this.picks)}`);
    if (another) this.#become();
  }

  /** Asks as the picked person from now on. */
  #become(): void {
    const { user } = this.picks;
    const find = (people: readonly Person[]) => people.find(({ label }) => label === user)?.token ?? '';
    const token = async ({ refresh }: { refresh: boolean }) => {
      if (refresh) this.people = await loadPeople();
      return find(this.people);
    };
    this.#plane = createPlane({ baseUrl: this.api, surface: this.surface, token });
    this.#airlines.ask(this.#requests, this.#plane, {});
  }

  #again(plane: Plane, fresh: boolean): void {
    this.round = { number: this.round.number + 1, fresh };
    this.#airlines.ask(this.#requests, plane, {}, fresh);
  }

  #open(event: CustomEvent<FlightPick>): void {
    this.flight = event.detail;
  }

  #turnTheme(): void {
    this.theme = nextTheme(this.theme);
    applyTheme(this.theme);
  }
}
