import { css, html, type TemplateResult } from 'lit';
import type { Punctuality, Rows } from '../asking/operations.js';
import { carrierPeriod } from '../asking/picks.js';
import { Question } from '../asking/question.js';
import type { HeatCell, HeatData } from '../charts/heat.js';
import { many, percent, WEEKDAYS } from '../look/format.js';
import { LATE } from '../look/scales.js';
import { shared } from '../look/styles.js';
import { Asking, memo, most, NOTHING_FLEW, nothingFlew } from './asking.js';

/** Hours with fewer flights than this say nothing of the hour. */
const FEW = 20;

/** When in the week flights leave late: one cell an hour. */
export class PunctualityPanel extends Asking<Rows<Punctuality>> {
  protected readonly question = new Question<Rows<Punctuality>>(this, 'punctuality');
  protected params = () => carrierPeriod(this.picks);
  readonly #data = memo(grid);

  static override styles = [
    shared,
    css`
      flights-heat {
        --name-width: 36px;
      }
    `,
  ];

  override render(): TemplateResult {
    return this.frame({
      heading: 'When to fly',
      hint: 'share late or cancelled',
      finding: ({ rows }) => words(rows),
      answer: ({ rows }) =>
        rows.length === 0
          ? nothingFlew()
          : html`<flights-heat
              .data=${this.#data(rows)}
              .scale=${LATE}
              label="Share of flights late or cancelled, by day of the week and hour"
            ></flights-heat>`,
    });
  }
}

function grid(rows: readonly Punctuality[]): HeatData {
  const columns = [...new Set(rows.map(({ hour }) => hour))].toSorted((a, b) => a - b);
  const at = new Map(rows.map((row) => [`${row.weekday} ${row.hour}`, row]));
  return {
    columns: columns.map(String),
    rows: WEEKDAYS.map((title, index) => ({
      name: title.slice(0, 3),
      title,
      cells: columns.map((hour) => cell(at.get(`${index + 1} ${hour}`))),
    })),
  };
}

function cell(row: Punctuality | undefined): HeatCell | null {
  if (!row) return null;
  const share = percent(row.late, row.flights);
  return {
    value: row.late / row.flights,
    text: '',
    words: `${place(row)}: ${share} of ${many(row.flights, 'flight')}`,
  };
}

function place({ weekday, hour }: Punctuality): string {
  return `${WEEKDAYS[weekday - 1]} ${hour} h`;
}

function words(rows: readonly Punctuality[]): string {
  const full = rows.filter(({ flights }) => flights >= FEW);
  const told = full.length > 0 ? full : rows;
  const worst = most(told, ({ late, flights }) => late / flights);
  const best = most(told, ({ late, flights }) => -late / flights);
  if (!worst || !best) return NOTHING_FLEW;
  const share = (row: Punctuality) => `${place(row)}, ${percent(row.late, row.flights)}`;
  return `Best: ${share(best)} late or cancelled. Worst: ${share(worst)}.`;
}
