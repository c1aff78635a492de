import type { TemplateResult } from 'lit';
import type { HourDelays, Rows } from '../asking/operations.js';
import { carrierPeriod } from '../asking/picks.js';
import { Question } from '../asking/question.js';
import type { ChartData } from '../charts/chart.js';
import { mins } from '../look/format.js';
import { shared } from '../look/styles.js';
import { Asking, memo, most, NOTHING_FLEW } from './asking.js';
import { chart, flightsAndDelay } from './charted.js';

/** How the delay grows over the day, and what rain adds. */
export class HoursPanel extends Asking<Rows<HourDelays>> {
  static override styles = shared;
  protected readonly question = new Question<Rows<HourDelays>>(this, 'delays_by_hour');
  protected params = () => carrierPeriod(this.picks);
  readonly #data = memo(hoursData);

  override render(): TemplateResult {
    return this.frame({
      heading: 'Hour by hour',
      finding: ({ rows }) => hoursWords(rows),
      answer: ({ rows }) => chart(this.#data(rows), hoursWords(rows)),
    });
  }
}

function hoursData(rows: readonly HourDelays[]): ChartData {
  return {
    places: rows.map(({ hour }) => `${hour} to ${hour + 1} h`),
    ticks: rows.map(({ hour }) => `${hour} h`),
    series: [
      ...flightsAndDelay(rows),
      {
        label: 'when wet',
        shape: 'dashes',
        colour: '--accent',
        values: rows.map((row) => row.wet_mean_delay),
        text: mins,
      },
    ],
  };
}

function hoursWords(rows: readonly HourDelays[]): string {
  const worst = most(rows, (row) => row.mean_delay);
  const best = most(rows, (row) => (row.mean_delay === null ? null : -row.mean_delay));
  if (!worst || !best) return NOTHING_FLEW;
  if (worst === best) return `At ${worst.hour} h flights left ${mins(worst.mean_delay)} min late on average.`;
  return `Fly early: ${mins(best.mean_delay)} min late on average at ${best.hour} h, ${mins(worst.mean_delay)} at ${worst.hour} h.`;
}
