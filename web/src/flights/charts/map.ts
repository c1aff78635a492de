import { borders, nation } from 'virtual:united-states';
import { geoAlbersUsa } from 'd3-geo';
import { css, html, LitElement, nothing, type SVGTemplateResult, svg, type TemplateResult } from 'lit';
import { colourOf, DELAY, legend, legends } from '../look/scales.js';
import { shared } from '../look/styles.js';

/** A place on the map: its size by a count, its colour by a delay. */
export interface MapPlace {
  readonly code: string;
  /** All of it in words. */
  readonly words: string;
  readonly lat: number;
  readonly lon: number;
  readonly count: number;
  readonly delay: number | null;
}

/** The frame that the states are drawn in. */
const WIDTH = 975;
const HEIGHT = 610;
/** Radius of the largest circle. */
const LARGEST = 24;
const SMALLEST = 3.5;
/** Circles this large have their code written beside them. */
const NAMED = 13;
/** What a code takes up. */
const NAME_WIDTH = 40;
const NAME_HEIGHT = 16;

const project = geoAlbersUsa()
  .scale(1300)
  .translate([WIDTH / 2, HEIGHT / 2]);

interface Spot extends MapPlace {
  readonly x: number;
  readonly y: number;
  readonly radius: number;
}

/** Places in the United States, largest first; fires `choose` with a code. */
export class UsMap extends LitElement {
  static override properties = {
    places: { attribute: false },
    from: { attribute: false },
    largest: { type: Number },
    chosen: {},
    label: {},
    at: { state: true },
    seen: { state: true },
  };
  places: readonly MapPlace[] = [];
  /** Where the flights leave: longitude and latitude. */
  from: readonly [number, number] | null = null;
  /** The count that has the largest circle. */
  largest = 1;
  chosen = '';
  label = '';
  /** The one circle that Tab comes to. */
  at = 0;
  /** The circle that is read out. */
  seen: number | null = null;

  static override styles = [
    shared,
    legends,
    css`
      :host {
        display: flex;
        flex-direction: column;
        min-width: 0;
        min-height: 0;
      }
      svg {
        flex: 1;
        width: 100%;
        min-height: 0;
        overflow: visible;
      }
      .land {
        fill: var(--land);
      }
      .borders {
        fill: none;
        stroke: var(--card);
        stroke-width: 1.2;
      }
      circle {
        stroke: var(--ink);
        stroke-opacity: 0.55;
        stroke-width: 0.8;
        cursor: pointer;
        vector-effect: non-scaling-stroke;
      }
      circle:hover,
      circle:focus-visible {
        stroke-opacity: 1;
        stroke-width: 2.5;
        outline: none;
      }
      circle[aria-pressed='true'] {
        stroke: var(--accent);
        stroke-opacity: 1;
        stroke-width: 4;
      }
      .home {
        fill: var(--accent);
        stroke: var(--card);
        stroke-width: 2;
        pointer-events: none;
      }
      text {
        fill: var(--ink);
        paint-order: stroke;
        pointer-events: none;
        stroke: var(--land);
        stroke-linejoin: round;
        stroke-width: 3px;
        font: 600 15px var(--sans);
      }
    `,
  ];

  override render(): TemplateResult {
    const spots = this.#spots();
    const read = this.seen === null ? undefined : spots[this.seen];
    const home = this.from && project([...this.from]);
    return html`
      <svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="group" aria-label=${this.label} @keydown=${this.#key} @pointerleave=${() => this.#read(null)}>
        <path class="land" d=${nation} />
        <path class="borders" d=${borders} />
        ${spots.map((spot, index) => this.#circle(spot, index))}
        ${home ? svg`<path class="home" d="M${home[0]} ${home[1] - 9}l9 9-9 9-9-9z" />` : nothing}
        ${this.#named(spots).map(
          ({ x, y, radius, code }) =>
            svg`<text x=${x} y=${y + radius + 14} text-anchor="middle" aria-hidden="true">${code}</text>`,
        )}
      </svg>
      ${legend(DELAY, read?.words ?? null, 'Point at a circle, or use the arrow keys.')}
    `;
  }

  #circle({ x, y, radius, code, words, delay }: Spot, index: number): SVGTemplateResult {
    return svg`<circle
      cx=${x}
      cy=${y}
      r=${radius}
      style="fill:${colourOf(DELAY, delay)}"
      role="button"
      tabindex=${index === this.#first ? 0 : -1}
      aria-label=${words}
      aria-pressed=${code === this.chosen}
      @pointerenter=${() => this.#read(index)}
      @focus=${() => this.#read(index)}
      @blur=${() => this.#read(null)}
      @click=${() => this.#choose(code)}
    />`;
  }

  get #first(): number {
    return Math.min(this.at, this.places.length - 1);
  }

  /** Where the places lie, the largest first and so beneath the others. */
  #spots(): Spot[] {
    return this.places.flatMap((place) => {
      const point = project([place.lon, place.lat]);
      if (!point) return [];
      const radius = Math.max(SMALLEST, LARGEST * Math.sqrt(place.count / this.largest));
      return [{ ...place, x: point[0], y: point[1], radius }];
    });
  }

  /** The spots with room for their code: the chosen one, then the largest. */
  #named(spots: readonly Spot[]): Spot[] {
    const named: Spot[] = [];
    const first = spots.filter(({ code }) => code === this.chosen);
    const large = spots.filter(({ radius, code }) => radius >= NAMED && code !== this.chosen);
    for (const spot of [...first, ...large]) {
      const bottom = spot.y + spot.radius;
      const free = named.every(
        ({ x, y, radius }) =>
          Math.abs(x - spot.x) > NAME_WIDTH || Math.abs(y + radius - bottom) > NAME_HEIGHT,
      );
      if (free) named.push(spot);
    }
    return named;
  }

  #read(index: number | null): void {
    this.seen = index;
  }

  #choose(code: string): void {
    this.dispatchEvent(new CustomEvent('choose', { detail: code }));
  }

  #key(event: KeyboardEvent): void {
    const last = this.places.length - 1;
    const at = this.#first;
    const steps: Record<string, number> = {
      ArrowRight: at + 1,
      ArrowDown: at + 1,
      ArrowLeft: at - 1,
      ArrowUp: at - 1,
      Home: 0,
      End: last,
    };
    if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      this.#choose(this.places[at]?.code ?? '');
      return;
    }
    const next = steps[event.key];
    if (next === undefined) return;
    event.preventDefault();
    void this.#go(Math.min(last, Math.max(0, next)));
  }

  async #go(index: number): Promise<void> {
    this.at = index;
    await this.updateComplete;
    this.renderRoot.querySelector<SVGElement>('circle[tabindex="0"]')?.focus();
  }
}
