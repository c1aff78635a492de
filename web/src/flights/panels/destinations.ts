import { css, html, nothing, type TemplateResult } from 'lit';
import type { Destination, Rows } from '../asking/operations.js';
import { carrierPeriod } from '../asking/picks.js';
import { Question } from '../asking/question.js';
import type { MapPlace } from '../charts/map.js';
import { count, many, mins } from '../look/format.js';
import { shared } from '../look/styles.js';
import { Asking, memo, most, NOTHING_FLEW, nothingFlew } from './asking.js';

/** Longitude and latitude of New York. */
const NEW_YORK: readonly [number, number] = [-74, 40.7];
const FEW = 100;

interface Shown {
  readonly places: readonly MapPlace[];
  /** Destinations whose airport is not known. */
  readonly unknown: readonly Destination[];
}

/** Where New York flies to, on a map; a destination can be picked. */
export class DestinationsPanel extends Asking<Rows<Destination>> {
  protected readonly question = new Question<Rows<Destination>>(this, 'destinations');
  protected params = () => carrierPeriod(this.picks);
  readonly #shown = memo(placed);

  static override styles = [
    shared,
    css`
      flights-map {
        flex: 1;
      }
      .see {
        margin-inline-start: auto;
      }
      .unknown {
        display: flex;
        flex-wrap: wrap;
        gap: 2px 10px;
        min-height: 20px;
        font-size: 13px;
      }
    `,
  ];

  override connectedCallback(): void {
    super.connectedCallback();
    void defineMap();
  }

  override render(): TemplateResult {
    return this.frame({
      heading: 'Where they go',
      hint: 'a click narrows the departures',
      finding: ({ rows }) => words(rows),
      answer: ({ rows }) => (rows.length === 0 ? nothingFlew() : this.#map(this.#shown(rows))),
    });
  }

  #map({ places, unknown }: Shown): TemplateResult {
    return html`
      <div class="fill">
        <flights-map
          .places=${places}
          .from=${NEW_YORK}
          .largest=${Math.max(
            1,
            this.reach(
              'flights to a place',
              places.map(({ count }) => count),
            ),
          )}
          .chosen=${this.picks.dest}
          label="Destinations on a map of the United States, most flights first"
          @choose=${(event: CustomEvent<string>) => this.#choose(event.detail)}
        ></flights-map>
        <p class="unknown soft">
          ${unknown.length === 0 ? nothing : 'Not on the map:'}
          ${unknown.map(
            (
              row,
            ) => html`<button class="plain link" aria-pressed=${row.faa === this.picks.dest} @click=${() => this.#choose(row.faa)}>
              ${row.faa} ${count(row.flights)}
            </button>`,
          )}
          ${this.picks.dest && !this.picks.beside ? html`<button class="plain link see" @click=${this.#see}>See the departures to ${this.picks.dest}</button>` : nothing}
        </p>
      </div>
    `;
  }

  /** The departures stand further down. */
  #see(): void {
    this.dispatchEvent(new CustomEvent('see', { bubbles: true, composed: true }));
  }

  /** Narrows to one destination; once more, and all are shown again. */
  #choose(code: string): void {
    this.narrow({ dest: code === this.picks.dest ? '' : code });
  }
}

function placed(rows: readonly Destination[]): Shown {
  return {
    places: rows.flatMap((row) => {
      const { faa, lat, lon, flights, mean_delay } = row;
      if (lat === null || lon === null) return [];
      return [{ code: faa, words: rowWords(row), lat, lon, count: flights, delay: mean_delay }];
    }),
    unknown: rows.filter(({ lat, lon }) => lat === null || lon === null),
  };
}

function place({ faa, name }: Destination): string {
  return name === null ? faa : `${name} (${faa})`;
}

function rowWords(row: Destination): string {
  const { flights, mean_delay } = row;
  return `${place(row)}: ${many(flights, 'flight')}, ${mins(mean_delay)} min late on average`;
}

function words(rows: readonly Destination[]): string {
  const [first] = rows;
  const worst = most(
    rows.filter(({ flights }) => flights >= FEW),
    ({ mean_delay }) => mean_delay,
  );
  if (!first) return NOTHING_FLEW;
  const latest = worst
    ? ` Latest, of those with ${FEW} flights: ${place(worst)}, by ${mins(worst.mean_delay)} min.`
    : '';
  return `Most fly to ${place(first)}.${latest}`;
}

/** The map comes when it is first needed: it is a third of the page. */
async function defineMap(): Promise<void> {
  const { UsMap } = await import('../charts/map.js');
  if (!customElements.get('flights-map')) customElements.define('flights-map', UsMap);
}
