import { css, html, type TemplateResult } from 'lit';
import type { CarrierMonth, Rows } from '../asking/operations.js';
import { period } from '../asking/picks.js';
import { Question } from '../asking/question.js';
import type { HeatCell, HeatData, HeatPlace } from '../charts/heat.js';
import { airlineName, MONTHS, many, mins, monthDays } from '../look/format.js';
import { DELAY } from '../look/scales.js';
import { shared } from '../look/styles.js';
import { Asking, memo, most, NOTHING_FLEW, nothingFlew } from './asking.js';

/** Of fewer flights than this a mean says little: it has no colour. */
const FEW = 10;
/** A month to speak of. */
const MANY = 100;

interface Shown extends HeatData {
  readonly carriers: readonly string[];
  readonly months: readonly number[];
}

/** Each airline's year: one cell a month, which can be picked. */
export class CarrierMonthsPanel extends Asking<Rows<CarrierMonth>> {
  protected readonly question = new Question<Rows<CarrierMonth>>(this, 'carrier_months');
  protected params = () => period(this.picks);
  readonly #data = memo(grid);

  static override styles = [
    shared,
    css`
      :host {
        container-type: inline-size;
      }
      flights-heat {
        --name-width: 128px;
      }
      @container (max-width: 480px) {
        flights-heat {
          --name-width: 84px;
        }
      }
    `,
  ];

  override render(): TemplateResult {
    return this.frame({
      heading: 'Airlines by month',
      hint: 'a click picks airline and month',
      finding: ({ rows }) => words(rows),
      answer: ({ rows }) =>
        rows.length === 0
          ? nothingFlew()
          : html`<flights-heat
              choosable
              .data=${this.#data(rows)}
              .scale=${DELAY}
              label="Mean departure delay in minutes, by airline and month"
              @choose=${(event: CustomEvent<HeatPlace>) => this.#choose(this.#data(rows), event.detail)}
            ></flights-heat>`,
    });
  }

  #choose({ carriers, months }: Shown, { row, column }: HeatPlace): void {
    const { from, to } = monthDays((months[column] ?? 1) - 1);
    this.narrow({ carrier: carriers[row] ?? '', from, to });
  }
}

/** Airlines with the most flights first. */
function grid(rows: readonly CarrierMonth[]): Shown {
  const flights = new Map<string, number>();
  const names = new Map<string, string>();
  for (const row of rows) {
    flights.set(row.carrier, (flights.get(row.carrier) ?? 0) + row.flights);
    names.set(row.carrier, row.name);
  }
  const carriers = [...flights].toSorted(([, a], [, b]) => b - a).map(([carrier]) => carrier);
  const months = [...new Set(rows.map(({ month }) => month))].toSorted((a, b) => a - b);
  const at = new Map(rows.map((row) => [`${row.carrier} ${row.month}`, row]));
  return {
    carriers,
    months,
    columns: months.map((month) => (MONTHS[month - 1] ?? '').slice(0, 3)),
    rows: carriers.map((carrier) => ({
      name: airlineName(names.get(carrier) ?? carrier),
      title: names.get(carrier) ?? carrier,
      cells: months.map((month) => cell(at.get(`${carrier} ${month}`))),
    })),
  };
}

function cell(row: CarrierMonth | undefined): HeatCell | null {
  if (!row) return null;
  const { name, month, mean_delay, flights } = row;
  return {
    value: flights < FEW ? null : mean_delay,
    text: mean_delay === null ? '–' : String(Math.round(mean_delay)).replace('-', '−'),
    words: `${name}, ${MONTHS[month - 1]}: ${mins(mean_delay)} min, ${many(flights, 'flight')}`,
  };
}

function words(rows: readonly CarrierMonth[]): string {
  const full = rows.filter(({ flights }) => flights >= MANY);
  const worst = most(full.length > 0 ? full : rows, ({ mean_delay }) => mean_delay);
  if (!worst) return NOTHING_FLEW;
  return `Latest: ${airlineName(worst.name)} in ${MONTHS[worst.month - 1]}, by ${mins(worst.mean_delay)} min on average.`;
}
