import { css, html, LitElement, type PropertyValues, type TemplateResult, unsafeCSS } from 'lit';
import uPlot from 'uplot';
import sheet from 'uplot/dist/uPlot.min.css?inline';
import { brief } from '../look/format.js';
import { shared } from '../look/styles.js';

/** What a chart shows: bars and curves over one row of places. */
export interface ChartData {
  /** The places' names, in order: days, hours. */
  readonly places: readonly string[];
  /** The same names as short as an axis needs them. */
  readonly ticks: readonly string[];
  readonly series: readonly ChartSeries[];
}

/** How far the scales go at least. */
export interface ChartReach {
  readonly count?: number;
  readonly minutes?: number;
}

export interface ChartSeries {
  readonly label: string;
  readonly values: readonly (number | null)[];
  readonly shape: 'bars' | 'curve' | 'dashes';
  /** A custom property of theme.css. */
  readonly colour: string;
  readonly text: (value: number | null) => string;
}

/** A curve over so few places has its points marked: it may be one alone. */
const FEW = 10;

/** A chart on a canvas, with its values read out under the cursor and by the arrow keys; fires `choose`. */
export class Chart extends LitElement {
  static override properties = {
    data: { attribute: false },
    summary: {},
    choosable: { type: Boolean },
    reach: {
      attribute: false,
      hasChanged: (a: ChartReach, b: ChartReach) => JSON.stringify(a) !== JSON.stringify(b),
    },
    at: { state: true },
  };
  data: ChartData = { places: [], ticks: [], series: [] };
  /** The chart in a sentence, for those who do not see it. */
  summary = '';
  /** A click or Enter at a place fires `choose` with its number. */
  choosable = false;
  reach: ChartReach = {};
  /** The place under the cursor. */
  at: number | null = null;

  #plot: uPlot | null = null;
  readonly #sized = new ResizeObserver(() => this.#resize());
  readonly #dark = matchMedia('(prefers-color-scheme: dark)');
  readonly #themed = new MutationObserver(() => this.#draw());
  readonly #repaint = () => this.#draw();

  static override styles = [
    unsafeCSS(sheet),
    shared,
    css`
      .legend {
        display: flex;
        flex-wrap: wrap;
        gap: 2px 16px;
        min-height: 22px;
        margin-bottom: 6px;
        font-size: 13px;
      }
      .legend span {
        display: inline-flex;
        align-items: center;
        gap: 6px;
      }
      .legend b {
        font-weight: 600;
        font-variant-numeric: tabular-nums;
      }
      .key {
        width: 12px;
        height: 10px;
        border-radius: 3px;
      }
      .key.curve,
      .key.dashes {
        height: 0;
        border-top: 3px solid;
        border-radius: 0;
        background: none !important;
      }
      .key.dashes {
        border-top-style: dotted;
      }
      :host {
        display: flex;
        flex-direction: column;
        height: 100%;
      }
      .plot {
        position: relative;
        flex: 1;
        min-height: 0;
        border-radius: 8px;
        overflow: hidden;
      }
      :host([choosable]) .u-over {
        cursor: pointer;
      }
      .uplot {
        position: absolute;
      }
      .u-select {
        background: color-mix(in srgb, var(--accent) 15%, transparent);
      }
      .u-cursor-x {
        border-color: var(--soft) !important;
      }
    `,
  ];

  override render(): TemplateResult {
    const { at, data } = this;
    return html`
      <div class="legend" aria-live=${this.#keyed ? 'polite' : 'off'}>
        ${at === null ? '' : html`<b>${data.places[at]}</b>`}
        ${data.series.map(
          ({ label, shape, colour, values, text }) => html`<span>
            <i class="key ${shape}" style="background:var(${colour});border-color:var(${colour})"></i>
            <span class="soft">${label}</span>
            ${at === null ? '' : html`<b>${text(values[at] ?? null)}</b>`}
          </span>`,
        )}
      </div>
      <div
        class="plot"
        role="img"
        tabindex="0"
        aria-label="${this.summary} Use the arrow keys to read single values${this.choosable ? ', Enter to pick one' : ''}."
        @keydown=${this.#key}
        @blur=${() => this.#point(null)}
      ></div>
    `;
  }
  #keyed = false;
  /** The place that a finger has touched: the first touch reads it, the second chooses it. */
  #touched: number | null = null;

  override connectedCallback(): void {
    super.connectedCallback();
    this.#dark.addEventListener('change', this.#repaint);
    this.#themed.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    if (this.hasUpdated) this.#draw();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#dark.removeEventListener('change', this.#repaint);
    this.#themed.disconnect();
    this.#sized.disconnect();
    this.#plot?.destroy();
    this.#plot = null;
  }

  override updated(changed: PropertyValues<this>): void {
    if (changed.has('data') || changed.has('reach')) this.#draw();
  }

  get #box(): HTMLElement {
    return this.renderRoot.querySelector<HTMLElement>('.plot') as HTMLElement;
  }

  #draw(): void {
    if (!this.hasUpdated || !this.isConnected) return;
    this.#plot?.destroy();
    const { places, series } = this.data;
    const values = series.map((one) => [...one.values]) as (number | null)[][];
    const data = [places.map((_, index) => index), ...values] as uPlot.AlignedData;
    this.#plot = new uPlot(this.#options(), data, this.#box);
    this.#sized.observe(this.#box);
  }

  #resize(): void {
    const { clientWidth: width, clientHeight: height } = this.#box;
    if (this.#plot && (this.#plot.width !== width || this.#plot.height !== height))
      this.#plot.setSize({ width, height });
  }

  #options(): uPlot.Options {
    const paint = (name: string) => getComputedStyle(this).getPropertyValue(name).trim();
    const { reach } = this;
    const { places, ticks, series } = this.data;
    const axis: uPlot.Axis = {
      stroke: this.#resolved('--soft'),
      font: `12px ${paint('--sans')}`,
      ticks: { show: false },
      grid: { stroke: this.#resolved('--line'), width: 1 },
    };
    const plain = { ...axis, grid: { show: false } };
    const timed = series.some(({ shape }) => shape !== 'bars');
    return {
      width: this.#box.clientWidth,
      height: this.#box.clientHeight,
      padding: [8, timed ? 4 : 12, 0, 0],
      legend: { show: false },
      cursor: { points: { size: 7 }, y: false, drag: { x: false, y: false } },
      hooks: {
        setCursor: [(plot) => this.#seen(plot.cursor.idx ?? null)],
        ready: [
          (plot) => plot.over.addEventListener('click', (event) => this.#clicked(event as PointerEvent)),
        ],
      },
      scales: {
        x: { time: false, range: () => [-0.6, places.length - 0.4] },
        count: { range: (_, __, max) => [0, Math.max(1, Math.max(max, reach.count ?? 0) * 1.08)] },
        minutes: {
          range: (_, min, max) => [
            Math.min(0, Math.floor(min ?? 0)),
            Math.max(10, Math.max(max ?? 0, reach.minutes ?? 0) * 1.1),
          ],
        },
      },
      axes: [
        {
          ...plain,
          size: 28,
          space: 18 + 7 * Math.max(...ticks.map(({ length }) => length)),
          values: (_, at) => at.map((n) => (Number.isInteger(n) ? (ticks[n] ?? '') : '')),
        },
        { ...axis, scale: 'count', size: 46, values: (_, at) => at.map(brief) },
        ...(timed
          ? [
              {
                ...plain,
                scale: 'minutes',
                side: 1 as const,
                size: 44,
                values: (_: uPlot, at: number[]) => at.map((n) => `${n}′`),
              },
            ]
          : []),
      ],
      series: [{}, ...series.map((one) => this.#series(one))],
    };
  }

  #series({ label, shape, colour }: ChartSeries): uPlot.Series {
    const ink = this.#resolved(colour);
    if (shape === 'bars') {
      const paths = uPlot.paths.bars?.({ size: [0.82, 48], radius: 0.18 });
      return {
        label,
        scale: 'count',
        fill: ink,
        stroke: ink,
        width: 0,
        points: { show: false },
        ...(paths && { paths }),
      };
    }
    const dash = shape === 'dashes' ? { dash: [2, 4] } : {};
    return {
      label,
      scale: 'minutes',
      stroke: ink,
      width: 2,
      points: { show: this.data.places.length <= FEW, size: 6, fill: ink },
      spanGaps: true,
      ...dash,
    };
  }

  /** A theme colour as the canvas understands it: light-dark() resolved for the scheme in use. */
  #resolved(name: string): string {
    const probe = this.#box;
    probe.style.color = `var(${name})`;
    const colour = getComputedStyle(probe).color;
    probe.style.color = '';
    return colour;
  }

  #seen(index: number | null): void {
    this.at = index;
  }

  #clicked({ pointerType }: PointerEvent): void {
    const reads = pointerType === 'touch' && this.#touched !== this.at;
    this.#touched = this.at;
    if (!reads) this.#choose();
  }

  #choose(): void {
    if (this.choosable && this.at !== null)
      this.dispatchEvent(new CustomEvent('choose', { detail: this.at }));
  }

  #key(event: KeyboardEvent): void {
    if (event.key === 'Enter') this.#choose();
    const last = this.data.places.length - 1;
    const at = this.at ?? -1;
    const steps: Record<string, number> = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: last };
    const next = steps[event.key];
    if (next === undefined) return;
    event.preventDefault();
    this.#keyed = true;
    this.#point(Math.min(last, Math.max(0, next)));
  }

  #point(index: number | null): void {
    const left = index === null ? -10 : (this.#plot?.valToPos(index, 'x') ?? -10);
    this.#plot?.setCursor({ left, top: 0 });
  }
}
